"""Lists and objects: every part of one value must be met by a part of the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from factcheck.judges.local.pairs.findings import (
    OTHER,
    SAME,
    VAGUE,
    Finding,
    against,
    quoted,
    settle,
)
from factcheck.judges.local.pairs.structures import Value, as_text
from factcheck.judges.local.pairs.text import plain, tidy
from factcheck.judges.ports import Specificity

Compare = Callable[[Value, Value], Finding]
"""Compares two parts."""

DECISION = 0.5
_MOST_CHARACTERS = 200_000
"""Of all pairs of items of two lists that are compared one by one."""
_MOST_NESTED = 4
"""Items of nested lists that are compared so."""
_LEAST_SIZE = 10
_FEW = 3


class _Left(NamedTuple):
    met: list[Finding]
    first: list[Value]
    second: list[Value]
    note: str
    """What of the rest was not looked at."""


def compare_lists(
    first: Sequence[Value],
    second: Sequence[Value],
    specificity: Specificity,
    compare: Compare,
    *,
    is_nested: bool = False,
) -> Finding:
    """Whether two lists hold the same items, in whatever order.

    Equal items are found in lists of any length. Of what remains, long lists are compared place by
    place, and only the first few items with all others; the reason says so.
    """
    if not first or not second:
        if not first and not second:
            return Finding(SAME, "no value on either side")
        return Finding(OTHER, f"no value in {'extracted' if first else 'gold'}")
    left = _meet(first, second, compare, is_nested=is_nested)
    finding = _on_the_rest(left, max(len(first), len(second)), specificity)
    return finding._replace(reason=finding.reason + left.note)


def _on_the_rest(left: _Left, n_items: int, specificity: Specificity) -> Finding:
    if left.first and left.second:
        reason = against(_listed(left.first), _listed(left.second))
        return Finding(OTHER + (VAGUE - OTHER) * len(left.met) / n_items, reason)
    if left.first:
        finding = settle("less", specificity, f"only in gold: {_listed(left.first)}")
        return _partly(left.met, finding)
    if left.second:
        finding = settle("more", specificity, f"only in extracted: {_listed(left.second)}")
        return _partly(left.met, finding)
    weakest = min(left.met, key=lambda finding: finding.probability)
    return weakest if weakest.probability < SAME else Finding(SAME, "same items")


def _partly(met: Sequence[Finding], finding: Finding) -> Finding:
    weakest = min((found.probability for found in met), default=0.0)
    return finding._replace(probability=min(finding.probability, weakest))


def _listed(values: Sequence[Value]) -> str:
    more = ", …" if len(values) > _FEW else ""
    return quoted(", ".join(sorted(as_text(value) for value in values[:_FEW]))) + more


def _meet(
    first: Sequence[Value], second: Sequence[Value], compare: Compare, *, is_nested: bool
) -> _Left:
    """Pair equal items, then those most surely the same; what remains is left."""
    keys: dict[str, list[int]] = {}
    for place, item in enumerate(second):
        keys.setdefault(_key(item), []).append(place)
    ones: list[Value] = []
    taken: set[int] = set()
    for item in first:
        places = keys.get(_key(item), [])
        if places:
            taken.add(places.pop(0))
        else:
            ones.append(item)
    others = [item for place, item in enumerate(second) if place not in taken]
    met = [Finding(SAME, "same items")] * len(taken)
    n_first = _n_compared(ones, others, is_nested=is_nested)
    note = ""
    if n_first < max(len(ones), len(others)):
        met += _in_place(ones, others, compare)
        n_first = _n_compared(ones, others, is_nested=is_nested)
        if n_first < min(len(ones), len(others)):
            note = f" (of the rest, only the first {n_first} items compared with each other)"
    pairs = _closest(ones[:n_first], others[:n_first], compare)
    paired = ({i for _, i, _ in pairs}, {j for _, _, j in pairs})
    return _Left(
        [*met, *(finding for finding, _, _ in pairs)],
        [item for i, item in enumerate(ones) if i not in paired[0]],
        [item for j, item in enumerate(others) if j not in paired[1]],
        note,
    )


def _n_compared(ones: Sequence[Value], others: Sequence[Value], *, is_nested: bool) -> int:
    """How many items of two lists can be compared each with each."""
    n_items = max(len(ones), len(others))
    if is_nested:
        return min(n_items, _MOST_NESTED)
    has_structures = not all(isinstance(item, str) for item in (*ones, *others))
    most = _MOST_CHARACTERS // _MOST_NESTED if has_structures else _MOST_CHARACTERS
    sizes = [[len(as_text(item)) + _LEAST_SIZE for item in items] for items in (ones, others)]
    while n_items and n_items * sum(sum(size[:n_items]) for size in sizes) > most:
        n_items = n_items * 3 // 4
    return n_items


def _in_place(ones: list[Value], others: list[Value], compare: Compare) -> list[Finding]:
    """Pair the items that are the same in the same place, and take them out of both lists."""
    found = [compare(one, other) for one, other in zip(ones, others, strict=False)]
    same = [place for place, finding in enumerate(found) if finding.probability >= DECISION]
    for place in reversed(same):
        del ones[place], others[place]
    return [found[place] for place in same]


def _key(item: Value) -> str:
    """The same for items that are equal, in whatever order their own parts are."""
    if isinstance(item, str):
        return plain(tidy(item)).text or item
    if isinstance(item, Mapping):
        entries = sorted(f"{_key(name)}: {_key(part)}" for name, part in item.items())
        return "{" + "; ".join(entries) + "}"
    return "[" + "; ".join(sorted(_key(part) for part in item)) + "]"


def _closest(
    ones: Sequence[Value], others: Sequence[Value], compare: Compare
) -> list[tuple[Finding, int, int]]:
    found = [
        (compare(one, other), i, j) for i, one in enumerate(ones) for j, other in enumerate(others)
    ]
    found = [candidate for candidate in found if candidate[0].probability >= DECISION]
    found.sort(key=lambda c: (-c[0].probability, abs(c[1] - c[2]), c[1] + c[2]))
    chosen: list[tuple[Finding, int, int]] = []
    for finding, i, j in found:
        if all(i != a and j != b for _, a, b in chosen):
            chosen.append((finding, i, j))
    return chosen


def compare_objects(
    first: Mapping[str, Value],
    second: Mapping[str, Value],
    specificity: Specificity,
    compare: Compare,
) -> Finding:
    """Whether two objects have the same entries."""
    ones = {_key(key): value for key, value in first.items()}
    others = {_key(key): value for key, value in second.items()}
    found = [(compare(ones[key], others[key]), key) for key in sorted(ones.keys() & others.keys())]
    weakest = min(found, key=lambda pair: (pair[0].probability, pair[1]), default=None)
    if weakest is not None and weakest[0].probability < DECISION:
        return weakest[0]._replace(reason=f"{quoted(weakest[1])}: {weakest[0].reason}")
    own = [sorted(one.keys() - other.keys()) for one, other in ((ones, others), (others, ones))]
    if own[0] and own[1]:
        return Finding(OTHER, against(_listed(own[0]), _listed(own[1])))
    met = [finding for finding, _ in found]
    if own[0]:
        return _partly(met, settle("less", specificity, f"only in gold: {_listed(own[0])}"))
    if own[1]:
        return _partly(met, settle("more", specificity, f"only in extracted: {_listed(own[1])}"))
    if weakest is None or weakest[0].probability >= SAME:
        return Finding(SAME, "same entries")
    return weakest[0]
