"""Parsing and comparison of lists, objects and alternatives."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from math import isqrt
from typing import Any, NamedTuple, Union

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
from factcheck.judges.local.pairs.normal import LONG, is_absent, plain, tidy
from factcheck.judges.ports import Specificity

Value = Union[str, "tuple[Value, ...]", "Mapping[str, Value]"]
"""A text, a list whose order does not matter, or an object."""
Compare = Callable[[Value, Value, bool], Finding]
"""Compares two parts; the last argument allows the use of the networks."""
_DEEPEST = 32
_DEPTHS = {"[": 1, "{": 1, "]": -1, "}": -1}
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
    is_json = stripped[:1] + stripped[-1:] in {"[]", "{}"}
    if not is_json or max(accumulate(_DEPTHS.get(c, 0) for c in stripped)) > _DEEPEST:
        return text
    try:
        return _from_json(json.loads(stripped, parse_int=str, parse_float=str, parse_constant=str))
    except (ValueError, RecursionError):
        return text


def _from_json(parsed: Any) -> Value:
    if isinstance(parsed, dict):
        return {str(key): _from_json(value) for key, value in parsed.items()}
    if isinstance(parsed, list):
        return tuple(map(_from_json, parsed))
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
    has_breaks = len(parts) > 1
    if not has_breaks:
        parts = [part for part in _SOFT_BREAK.split(" ".join(text.split())) if part.strip()]
        parts = [*parts[:-1], *_AND.split(parts[-1])] if parts else []
    is_wordy = any(len(part.split()) > _LONGEST_ITEM for part in parts)
    if len(parts) < _FEWEST_ITEMS or (is_wordy and not has_breaks):
        return TextList()
    is_certain = has_breaks or bool(_AND.search(text)) or len(parts) > _FEWEST_ITEMS
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
    if not (first or second):
        return Finding(SAME, "no value on either side")
    if not (first and second):
        return Finding(OTHER, f"no value in {'extracted' if first else 'gold'}")
    ones, others = _without(first, second), _without(second, first)
    met = [Finding(SAME, "same items")] * (len(first) - len(ones))
    longest = max((len(as_text(item)) for item in (*ones, *others)), default=0)
    most = max(isqrt(_MOST_CHARACTERS // (longest + _LEAST_SIZE)), _FEWEST_ITEMS)
    most = min(most, _MOST_NESTED) if is_nested else most
    is_cut = most < min(len(ones), len(others))
    note = f" (of the rest, only the first {most} items compared with each other)" if is_cut else ""
    pairs = _closest(ones[:most], others[:most], compare)
    met += [finding for finding, _, _ in pairs]
    ones = [item for i, item in enumerate(ones) if i not in {i for _, i, _ in pairs}]
    others = [item for j, item in enumerate(others) if j not in {j for _, _, j in pairs}]
    finding = _on_the_rest(met, ones, others, specificity, max(len(first), len(second)))
    return finding._replace(reason=finding.reason + note)


def _without(items: Sequence[Value], others: Sequence[Value]) -> list[Value]:
    """Return the items without those equal to one of the others."""
    free, rest = Counter(map(_key, others)), []
    for item in items:
        key = _key(item)
        free[key] -= 1
        if free[key] < 0:
            rest.append(item)
    return rest


def _key(item: Value) -> str:
    """Return a key that is equal for equal items, regardless of the order of their parts."""
    if isinstance(item, str):
        return plain(tidy(item)).text or item
    if isinstance(item, Mapping):
        return "{" + "; ".join(sorted(f"{_key(k)}: {_key(v)}" for k, v in item.items())) + "}"
    return "[" + "; ".join(sorted(map(_key, item))) + "]"


def _closest(
    ones: Sequence[Value], others: Sequence[Value], compare: Compare
) -> list[tuple[Finding, int, int]]:
    """Pair equivalent items, most probable first; the networks read only a few pairs."""
    chosen: list[tuple[Finding, int, int]] = []
    for reads in (False, True):
        free = sorted({*range(len(ones))} - {i for _, i, _ in chosen})
        left = sorted({*range(len(others))} - {j for _, _, j in chosen})
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
    """Return the finding on two lists, given those on equivalent items, and the other items."""
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
    found = {key: compare(ones[key], others[key], len(shared) <= _MOST_READ) for key in shared}
    for key, finding in sorted(found.items(), key=lambda entry: entry[1].probability)[:1]:
        if finding.probability < DECISION:
            return finding._replace(reason=f"{quoted(key)}: {finding.reason}")
    own = sorted(ones.keys() - others.keys()), sorted(others.keys() - ones.keys())
    finding = _on_the_rest([*found.values()], *own, specificity, len(ones) + len(others))
    is_same = finding.probability == SAME and not any(own)
    return Finding(SAME, "same entries") if is_same or not (ones or others) else finding
