"""Nodes of a compiled schema, which score values.

A node scores the values of both sides, or the value of one side beside `MISSING`, which is an
omission or a hallucination. Results are appended to a list in schema order.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, TypeAlias

from factcheck.documents import shown
from factcheck.errors import describe
from factcheck.fields.schemas import join, join_key, join_position
from factcheck.fields.types import (
    NOT_OF_THE_VALUE,
    BoundComparator,
    FieldResult,
    FieldStatus,
    is_of_extraction,
)


class _Missing:
    def __bool__(self) -> bool:
        return False


MISSING: Any = _Missing()
"""Sentinel for a missing value or key; false, like an empty container."""
NOT_IN_SCHEMA = "not in the schema"
"""Reason of a hallucination under a key that gold has, too."""
_log = logging.getLogger("factcheck.fields")

Pairs: TypeAlias = "list[tuple[int, int]]"
"""Alignment as (gold, extracted) positions in result order; -1 for a missing partner, extracted
elements without partner last."""
Align = Callable[[Sequence[Any], Sequence[Any], str], Pairs]
"""Aligns gold with extracted elements; the third argument is the path, for warnings."""


def by_position(gold: Sequence[Any], extracted: Sequence[Any], _path: str = "") -> Pairs:
    return list(zip_longest(range(len(gold)), range(len(extracted)), fillvalue=-1))


Out: TypeAlias = "list[Any]"
"""Results in schema order: `FieldResult`s, and in place of those of an array whose alignment
depends on a batch comparator its `OptimalArray`."""


def settled(out: Out) -> list[FieldResult]:
    """Replace arrays by their results."""
    results: list[FieldResult] = []
    for entry in out:
        if isinstance(entry, FieldResult):
            results.append(entry)
        else:
            entry.report(results)
    return results


def direct_in(out: Out) -> list[FieldResult]:
    """Return the pending results that are in no optimally aligned array."""
    return [one for one in out if isinstance(one, FieldResult) and one.status == "pending"]


def nested_in(out: Out) -> list[list[FieldResult]]:
    """Return the fields to score next in optimally aligned arrays, by pair of elements."""
    arrays = (entry for entry in out if not isinstance(entry, FieldResult))
    return [block for array in arrays for block in array.pending()]


Node: TypeAlias = "Leaf | Skipped | ObjectNode | RecursiveNode | ArrayNode"
"""A field of the schema, with its `path` there. Its `score` takes at most one value that is
`MISSING`; both may be null."""


@dataclass(slots=True, eq=False)
class Leaf:
    """A value compared as a whole."""

    path: str
    name: str = ""
    prepare: Callable[[Any], Any] | None = None
    threshold: float = 1.0
    bound: BoundComparator | None = None
    """`None` for a batch comparator, which leaves the field pending."""
    batch: Any = None
    """The batch comparator, if it is one."""
    params: Mapping[str, Any] = field(default_factory=dict)
    description: str = ""
    units: Callable[[Any], frozenset[Any]] | None = None
    """Returns the possible units of a value, if its transforms drop them."""

    def score(self, gold: Any, extracted: Any, path: str, out: Out) -> None:
        if gold is MISSING or extracted is MISSING:
            out.append(_one_sided(path, self.name, gold, extracted))
            return
        g, e = gold, extracted
        if self.prepare is not None:
            g, e = self.read(gold), self.read(extracted)
        status, score, reason = self.verdict(g, e)
        if isinstance(g, Unread):
            g = e = None
        elif isinstance(e, Unread):
            e = extracted
        elif self.units and not are_alike(self.units(gold), self.units(extracted)):
            status, score = "mismatch", 0.0
            reason = f"different units: {shown(gold)} and {shown(extracted)}"
        out.append(FieldResult(path, score, self.name, gold, extracted, status, reason, g, e))

    def read(self, value: Any) -> Any:
        """Transform a value; `Unread` if that fails."""
        try:
            return self.prepare(value) if self.prepare else value
        except Exception as error:  # noqa: BLE001 - the user's code, or an unsuitable value
            return Unread(error)

    def verdict(self, gold: Any, extracted: Any) -> tuple[FieldStatus, float, str | None]:
        """Compare two values after transforms; return status, score and reason."""
        if isinstance(gold, Unread):
            return "error", 0.0, f"transform of the gold value: {describe(gold.error)}"
        if isinstance(extracted, Unread):
            reason = f"transform of the extracted value: {describe(extracted.error)}"
            is_wrong = not isinstance(extracted.error, NOT_OF_THE_VALUE)
            return "mismatch" if is_wrong else "error", 0.0, reason
        if self.bound is None:
            return "pending", 0.0, None
        compare = self.bound.compare
        try:
            score, said = compare(gold, extracted)
        except Exception as error:  # noqa: BLE001 - the user's code
            is_wrong = is_of_extraction(error, lambda: compare(gold, gold))
            reason = f"comparator {self.name!r}: {describe(error)}"
            return "mismatch" if is_wrong else "error", 0.0, reason
        return "match" if score >= self.threshold else "mismatch", score, said


class Unread:
    """A value that its transforms cannot read."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def are_alike(units: frozenset[Any], others: frozenset[Any]) -> bool:
    """Whether two values may have the same unit; a value without unit may have any."""
    return not units or not others or not units.isdisjoint(others)


@dataclass(slots=True, eq=False)
class Skipped:
    """An excluded part of the record; appears in the results but is not counted."""

    path: str

    def score(self, gold: Any, extracted: Any, path: str, out: Out) -> None:
        if gold is not MISSING and extracted is not MISSING:
            out.append(FieldResult(path, 0.0, "", gold, extracted, "skipped"))


@dataclass(slots=True, eq=False)
class ObjectNode:
    """An object scored by property, or a map scored by key."""

    path: str
    children: Mapping[str, Node]
    rest: Node | None
    """Scores the values of all other keys; `None`: other keys are hallucinations."""

    def score(self, gold: Any, extracted: Any, path: str, out: Out) -> None:
        is_both = isinstance(gold, dict) and isinstance(extracted, dict)
        if not (is_both and gold) and not _has_parts(dict, gold, extracted, path, out):
            return
        if not is_both:
            gold = gold if isinstance(gold, dict) else {}
            extracted = extracted if isinstance(extracted, dict) else {}
        n_known = 0
        for name, child in self.children.items():
            g, e = gold.get(name, MISSING), extracted.get(name, MISSING)
            n_known += e is not MISSING
            if isinstance(child, Skipped):
                if is_both:
                    child.score(gold.get(name), extracted.get(name), join(path, name), out)
            elif g is not MISSING or e is not MISSING:
                child.score(g, e, join(path, name), out)
        is_invented = not n_known and bool(extracted)  # an element with other keys only
        if self.rest is not None or is_invented or (is_both and n_known < len(extracted)):
            self._score_rest(gold, extracted, path, out)

    def _score_rest(
        self, gold: Mapping[Any, Any], extracted: Mapping[Any, Any], path: str, out: Out
    ) -> None:
        if self.rest is None:
            for key in sorted((key for key in extracted if key not in self.children), key=str):
                place, reason = join(path, str(key)), NOT_IN_SCHEMA if key in gold else None
                found = FieldResult(place, 0.0, "", None, extracted[key], "hallucination", reason)
                out.append(found)
            return
        for key in dict.fromkeys((*gold, *extracted)):
            if key not in self.children:
                g, e = gold.get(key, MISSING), extracted.get(key, MISSING)
                self.rest.score(g, e, join_key(path, str(key)), out)


class RecursiveNode:
    """A recursive part of a schema, compiled as deep as the data is."""

    def __init__(self, path: str, compile_: Callable[[], Node]) -> None:
        self.path = path
        self.compiled = functools.cache(compile_)

    def score(self, gold: Any, extracted: Any, path: str, out: Out) -> None:
        self.compiled().score(gold, extracted, path, out)


@dataclass(slots=True, eq=False)
class ArrayNode:
    """An array, aligned and scored by element."""

    path: str
    element: Node
    align: Align = by_position
    search: Callable[[ArrayNode, list[Any], list[Any], str], Any] | None = None
    """Starts the search for the optimal alignment; `None` for other alignments."""

    def score(self, gold: Any, extracted: Any, path: str, out: Out) -> None:
        is_both = isinstance(gold, list) and isinstance(extracted, list)
        if not (is_both and gold) and not _has_parts(list, gold, extracted, path, out):
            return
        if not is_both:
            gold = gold if isinstance(gold, list) else ()
            extracted = extracted if isinstance(extracted, list) else ()
            self.score_pairs(gold, extracted, by_position(gold, extracted), path, out)
        elif self.search and gold and extracted:
            alignment = self.search(self, gold, extracted, path)
            if alignment.is_open:
                out.append(alignment)
            else:
                alignment.report(out)
        else:
            self.score_pairs(gold, extracted, self.align(gold, extracted, path), path, out)

    def score_pairs(
        self, gold: Sequence[Any], extracted: Sequence[Any], pairs: Pairs, path: str, out: Out
    ) -> None:
        element = self.element
        n_surplus = 0
        n_nulls = sum(one is None for one in extracted) - sum(one is None for one in gold)
        for i, j in pairs:
            g, e = gold[i] if i >= 0 else MISSING, extracted[j] if j >= 0 else MISSING
            n_surplus += i < 0
            place, n_known = join_position(path, i if i >= 0 else -n_surplus), len(out)
            element.score(g, e, place, out)
            is_uncounted = i < 0 and e is None and len(out) == n_known
            if is_uncounted and n_nulls > 0 and not isinstance(element, Skipped):
                n_nulls -= 1
                out.append(FieldResult(place, 0.0, "", None, None, "hallucination", "null"))


def _has_parts(kind: type, gold: Any, extracted: Any, path: str, out: Out) -> bool:
    """Score a container as a whole, unless its parts on both sides or on one are to be scored."""
    is_missing = gold is MISSING or extracted is MISSING
    if is_missing or gold is None or extracted is None:
        value = extracted if gold is None or gold is MISSING else gold
        if isinstance(value, kind) and (value or kind is dict):
            return True
        is_value = value is not None and value is not MISSING
        problem = None
        if is_value and not isinstance(value, kind):
            expected = "an object" if kind is dict else "a list"
            problem = f"expected {expected}, got {type(value).__name__}"
        if problem and kind is dict and extracted is MISSING:  # gold is wrong, nothing is lost
            _log.warning("%s: %s in gold", path, problem)
        elif is_value or (is_missing and kind is list):
            out.append(_one_sided(path, "", gold, extracted, problem))
        return False
    is_typed = isinstance(gold, kind) and isinstance(extracted, kind)
    if is_typed and (gold or extracted):
        return True
    if is_typed or _equal(gold, extracted):
        out.append(FieldResult(path, 1.0, "", gold, extracted, "match"))
    else:
        types = f"gold is {type(gold).__name__}, extracted is {type(extracted).__name__}"
        reason = f"type mismatch: {types}"
        out.append(FieldResult(path, 0.0, "", gold, extracted, "mismatch", reason))
    return False


def _one_sided(
    path: str, name: str, gold: Any, extracted: Any, reason: str | None = None
) -> FieldResult:
    if extracted is MISSING or (extracted is None and gold is not MISSING):
        return FieldResult(path, 0.0, name, gold, None, "omission", reason)
    return FieldResult(path, 0.0, name, None, extracted, "hallucination", reason)


def _equal(gold: Any, extracted: Any) -> bool:
    try:
        return bool(gold == extracted)
    except Exception:  # noqa: BLE001 - values of the user's own types, or nested too deeply
        return False
