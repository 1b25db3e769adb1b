"""Parsing and comparison of lists, objects and alternatives."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from math import isqrt
from typing import Any, NamedTuple, Union

from factcheck.judges.local.pairs.closed import is_absent
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
Compare = Callable[[Value, Value, bool], Finding]
"""Compares two parts; the last argument allows the use of the networks."""
_DEEPEST = 32
_ALTERNATIVES = re.compile(r"(?<=\s)/(?=\s)")
_BULLET = re.compile(r"\s*(?:[-*\u2022\u2023\u00b7\u2013]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+(?=\S)")
_HARD_BREAK = re.compile(r"\s*(?:;|\r?\n)+\s*")
_SOFT_BREAK = re.compile(r"\s*,\s+(?:(?:and|und|et|y|e|&)\s+)?|(?<=\w),(?=[^\W\d])")
_AND = re.compile(r"\s+(?:and|und|et|y|&)\s+")
_FEWEST_ITEMS, _LONGEST_ITEM = 2, 8
"""Minimum number of items in a list; maximum number of words in an item, above which it is a
clause."""
_MOST_CHARACTERS, _LEAST_SIZE = 60_000, 10
"""Bound on the total length of pairs of items that are compared; length added to each item."""
_MOST_NESTED, _MOST_READ, _FEW = 4, 4, 3
"""Maximum numbers of compared items of nested lists, of pairs read by the networks, and of items in
a reason."""


class TextList(NamedTuple):
    """A list written as text."""

    items: tuple[str, ...] = ()
    """Items; empty if the text is not a list, or a list of clauses."""
    is_certain: bool = False
    """Whether it must be a list: lines, semicolons, `and`, or at least three items."""
    has_breaks: bool = False
    """Whether items are separated by lines or semicolons."""


def read_value(text: str) -> Value:
    """Parse a JSON list or object; return any other text unchanged."""
    stripped = text.strip()
    if stripped[:1] + stripped[-1:] not in {"[]", "{}"} or _is_deep(stripped):
        return text
    try:
        parsed = json.loads(stripped, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return text
    return _from_json(parsed)


def _is_deep(text: str) -> bool:
    """Whether brackets are nested too deeply, without parsing."""
    depth = deepest = 0
    for bracket in re.findall(r"[][{}]", text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest > _DEEPEST


def _from_json(parsed: Any) -> Value:
    if isinstance(parsed, dict):
        return {str(key): _from_json(value) for key, value in parsed.items()}
    if isinstance(parsed, list):
        return tuple(_from_json(value) for value in parsed)
    return parsed if isinstance(parsed, str) else json.dumps(parsed)


def as_text(value: Value, *, with_keys: bool = True) -> str:
    """Format a value as text, with or without the keys of objects."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return ", ".join(as_text(item, with_keys=with_keys) for item in value)
    parts = {key: as_text(item, with_keys=with_keys) for key, item in value.items()}
    return ", ".join(f"{key} {part}" if with_keys else part for key, part in parts.items())


def alternatives(text: str) -> tuple[str, ...]:
    """Split alternatives separated by ` / `; a text without any is its only one."""
    parts = [part.strip() for part in _ALTERNATIVES.split(text) if part.strip()]
    if len(parts) < _FEWEST_ITEMS or is_absent(plain(tidy(text))):
        return (text,)
    return tuple(dict.fromkeys(parts))


def read_list(text: str) -> TextList:
    """Split a list written as text; texts longer than `LONG` are not split."""
    if len(text) > LONG:
        return TextList()
    parts = [_BULLET.sub("", part, count=1) for part in _HARD_BREAK.split(text.strip())]
    parts = [part for part in parts if part.strip()]
    has_breaks, has_and = len(parts) > 1, bool(_AND.search(text))
    if not has_breaks:
        parts = [part for part in _SOFT_BREAK.split(" ".join(text.split())) if part.strip()]
        parts = [*parts[:-1], *_AND.split(parts[-1])] if parts else []
    is_wordy = any(len(part.split()) > _LONGEST_ITEM for part in parts)
    if len(parts) < _FEWEST_ITEMS or (is_wordy and not has_breaks):
        return TextList()
    is_certain = has_breaks or has_and or len(parts) > _FEWEST_ITEMS
    return TextList(tuple(part.strip() for part in parts), is_certain, has_breaks)


def compare_lists(
    first: Sequence[Value],
    second: Sequence[Value],
    specificity: Specificity,
    compare: Compare,
    *,
    is_nested: bool = False,
) -> Finding:
    """Compare two lists regardless of order.

    Equal items are found in lists of any length; of the remaining ones in long lists, only the
    first few are compared with each other, and the reason says so.
    """
    if not first or not second:
        if not first and not second:
            return Finding(SAME, "no value on either side")
        return Finding(OTHER, f"no value in {'extracted' if first else 'gold'}")
    ones, others = _unequal(first, second)
    met = [Finding(SAME, "same items")] * (len(first) - len(ones))
    note = ""
    n_compared = _n_compared(ones, others, is_nested=is_nested)
    if n_compared < min(len(ones), len(others)):
        note = f" (of the rest, only the first {n_compared} items compared with each other)"
    pairs = _closest(ones[:n_compared], others[:n_compared], compare)
    met += [finding for finding, _, _ in pairs]
    ones = [item for i, item in enumerate(ones) if i not in {i for _, i, _ in pairs}]
    others = [item for j, item in enumerate(others) if j not in {j for _, _, j in pairs}]
    finding = _on_the_rest(met, ones, others, specificity, max(len(first), len(second)))
    return finding._replace(reason=finding.reason + note)


def _unequal(first: Sequence[Value], second: Sequence[Value]) -> tuple[list[Value], list[Value]]:
    """Return the items of two lists without equal ones."""
    keys: dict[str, list[int]] = {}
    for at, item in enumerate(second):
        keys.setdefault(_key(item), []).append(at)
    ones, taken = [], set()
    for item in first:
        if places := keys.get(_key(item)):
            taken.add(places.pop(0))
        else:
            ones.append(item)
    return ones, [item for at, item in enumerate(second) if at not in taken]


def _key(item: Value) -> str:
    """Return a key that is equal for equal items, regardless of the order of their parts."""
    if isinstance(item, str):
        return plain(tidy(item)).text or item
    if isinstance(item, Mapping):
        entries = sorted(f"{_key(name)}: {_key(part)}" for name, part in item.items())
        return "{" + "; ".join(entries) + "}"
    return "[" + "; ".join(sorted(_key(part) for part in item)) + "]"


def _n_compared(ones: Sequence[Value], others: Sequence[Value], *, is_nested: bool) -> int:
    """Return the maximum number of items of each list to compare pairwise."""
    longest = max((len(as_text(item)) for item in (*ones, *others)), default=0)
    most = max(isqrt(_MOST_CHARACTERS // (longest + _LEAST_SIZE)), _FEWEST_ITEMS)
    return min(most, _MOST_NESTED) if is_nested else most


def _closest(
    ones: Sequence[Value], others: Sequence[Value], compare: Compare
) -> list[tuple[Finding, int, int]]:
    """Pair equivalent items, most probable first; the networks read only a few pairs."""
    chosen: list[tuple[Finding, int, int]] = []
    for reads in (False, True):
        free = [i for i in range(len(ones)) if i not in {i for _, i, _ in chosen}]
        left = [j for j in range(len(others)) if j not in {j for _, _, j in chosen}]
        if reads and len(free) * len(left) > _MOST_READ:
            break
        found = [(compare(ones[i], others[j], reads), i, j) for i in free for j in left]
        found.sort(key=lambda c: (-c[0].probability, abs(c[1] - c[2]), c[1] + c[2]))
        for finding, i, j in found:
            if finding.probability >= DECISION and all(i != a and j != b for _, a, b in chosen):
                chosen.append((finding, i, j))
    return chosen


def _on_the_rest(
    met: Sequence[Finding],
    ones: Sequence[Value],
    others: Sequence[Value],
    specificity: Specificity,
    n_items: int,
) -> Finding:
    if ones and others:
        reason = against(_listed(ones), _listed(others))
        return Finding(OTHER + (VAGUE - OTHER) * len(met) / n_items, reason)
    weakest = min(met, key=lambda finding: finding.probability, default=Finding(0.0, ""))
    if not ones and not others:
        return weakest if weakest.probability < SAME else Finding(SAME, "same items")
    finding = settle("less", specificity, f"only in gold: {_listed(ones)}")
    if others:
        finding = settle("more", specificity, f"only in extracted: {_listed(others)}")
    return finding._replace(probability=min(finding.probability, weakest.probability))


def _listed(values: Sequence[Value]) -> str:
    more = ", …" if len(values) > _FEW else ""
    return quoted(", ".join(sorted(as_text(value) for value in values[:_FEW]))) + more


def compare_objects(
    first: Mapping[str, Value],
    second: Mapping[str, Value],
    specificity: Specificity,
    compare: Compare,
) -> Finding:
    """Compare two objects by entry."""
    ones = {_key(key): value for key, value in first.items()}
    others = {_key(key): value for key, value in second.items()}
    shared = sorted(ones.keys() & others.keys())
    reads = len(shared) <= _MOST_READ
    found = [(compare(ones[key], others[key], reads), key) for key in shared]
    weakest, name = min(found, key=lambda pair: pair[0].probability, default=(None, ""))
    if weakest is not None and weakest.probability < DECISION:
        return weakest._replace(reason=f"{quoted(name)}: {weakest.reason}")
    own = [sorted(ones.keys() - others.keys()), sorted(others.keys() - ones.keys())]
    if not any(own):
        if weakest is None or weakest.probability >= SAME:
            return Finding(SAME, "same entries")
        return weakest
    met = [finding for finding, _ in found]
    return _on_the_rest(met, own[0], own[1], specificity, len(ones) + len(others))
