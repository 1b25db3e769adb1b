"""Lists, objects and alternatives: read from texts, and compared part by part."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Union

from factcheck.judges.local.pairs.codes import is_absent
from factcheck.judges.local.pairs.model import (
    DECISION,
    OTHER,
    SAME,
    VAGUE,
    Finding,
    against,
    quoted,
    settle,
)
from factcheck.judges.local.pairs.normal import LONG, plain, tidy
from factcheck.judges.ports import Specificity

Value = Union[str, "tuple[Value, ...]", "Mapping[str, Value]"]
"""A text, a list whose order does not matter, or an object."""

_ALIKE = 5
"""Letters that two spellings begin with."""
_DEEPEST = 32
_MOST_LOOKED_AT = 256
_ALTERNATIVES = re.compile(r"(?<=\s)/(?=\s)")
_BLANKS = re.compile(r"[^\S\r\n]+")
_SLASH = re.compile(r"(?<!/)/(?!/)")
_BULLET = re.compile(r"\s*(?:[-*\u2022\u2023\u00b7\u2013]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+(?=\S)")
_HARD_BREAK = re.compile(r"\s*(?:;|\r?\n)+\s*")
_SOFT_BREAK = re.compile(r"\s*,\s+(?:(?:and|und|et|y|e|&)\s+)?|(?<=\w),(?=[^\W\d])")
_AND = re.compile(r"\s+(?:and|und|et|y|&)\s+")
_FEWEST_ITEMS = 2
_LONGEST_ITEM = 8
"""Words; what is longer is a clause."""
Compare = Callable[[Value, Value], Finding]
"""Compares two parts."""

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


def read_value(text: str) -> Value:
    """A value as it was written: JSON lists and objects, else the text itself."""
    stripped = text.strip()
    if stripped[:1] not in {"[", "{"} or stripped[-1:] not in {"]", "}"} or _is_deep(stripped):
        return text
    try:
        parsed = json.loads(stripped, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return text
    value = _from_json(parsed)
    return text if isinstance(value, str) else value


def _is_deep(text: str) -> bool:
    """Whether brackets are nested deeper than any value is, counted without parsing."""
    depth = deepest = 0
    for character in text:
        if character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    return deepest > _DEEPEST


def _from_json(parsed: Any) -> Value:
    if isinstance(parsed, dict):
        return {str(key): _from_json(value) for key, value in parsed.items()}
    if isinstance(parsed, list):
        return tuple(_from_json(value) for value in parsed)
    if isinstance(parsed, bool):
        return "true" if parsed else "false"
    return "null" if parsed is None else str(parsed)


def as_text(value: Value) -> str:
    """A value as a text that says the same."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return ", ".join(as_text(item) for item in value)
    return ", ".join(f"{key} {as_text(item)}" for key, item in value.items())


def values_as_text(value: Value) -> str:
    """A value as a text without the names of its entries."""
    if isinstance(value, str):
        return value
    parts = value if isinstance(value, tuple) else tuple(value.values())
    return ", ".join(values_as_text(part) for part in parts)


def alternatives(text: str) -> tuple[str, ...]:
    """The values of which each is right: those that ` / ` joins, else the text itself.

    A bare slash joins alternatives where two of them share a word: `Nikkei/Nikkei (index)`.
    """
    if "/" not in text:
        return (text,)
    parts = [part.strip() for part in _ALTERNATIVES.split(text) if part.strip()]
    if len(parts) < _FEWEST_ITEMS:
        parts = [part.strip() for part in _SLASH.split(text) if part.strip()]
        if not _are_spellings(text, parts):
            return (text,)
    if len(parts) < _FEWEST_ITEMS or is_absent(plain(tidy(text))):
        return (text,)
    return tuple(dict.fromkeys(parts))


def _are_spellings(text: str, parts: Sequence[str]) -> bool:
    """Whether parts that bare slashes join are spellings of one thing, and no path or date."""
    if "://" in text or text.lstrip().startswith("/"):
        return False
    seen: set[str] = set()
    for part in parts[:_MOST_LOOKED_AT]:
        words = {token[:_ALIKE] for token in plain(tidy(part)).tokens if token[:1].isalpha()}
        if any(len(word) > 1 for word in words & seen):
            return True
        seen |= words
    return False


class TextList(NamedTuple):
    """A list written as text."""

    items: tuple[str, ...]
    """Empty if the text is no list, or one of clauses."""
    is_certain: bool
    """Whether it can be nothing but a list: lines, semicolons, `and`, or three items and more."""
    has_breaks: bool
    """Whether lines or semicolons divide it."""


_NO_LIST = TextList((), is_certain=False, has_breaks=False)


def read_list(text: str) -> TextList:
    """The items of a list written as text; long texts are none."""
    if len(text) > LONG:
        return _NO_LIST
    stripped = _BLANKS.sub(" ", text.strip())
    parts = [_BULLET.sub("", part, count=1) for part in _HARD_BREAK.split(stripped)]
    parts = [part for part in parts if part.strip()]
    has_breaks = len(parts) > 1
    has_and = False
    if not has_breaks:
        parts = [part for part in _SOFT_BREAK.split(stripped) if part.strip()]
        parts = [*parts[:-1], *_AND.split(parts[-1])] if parts else []
        has_and = bool(_AND.search(stripped))
    is_wordy = any(len(part.split()) > _LONGEST_ITEM for part in parts)
    if len(parts) < _FEWEST_ITEMS or (is_wordy and not has_breaks):
        return _NO_LIST
    is_certain = has_breaks or has_and or len(parts) > _FEWEST_ITEMS
    return TextList(tuple(part.strip() for part in parts), is_certain, has_breaks)
