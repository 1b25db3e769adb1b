"""Nodes of a compiled schema, which score values.

Each node handles two cases: both sides have a value (`pair`), or only one side has (`alone`), which
is an omission or a hallucination. Results are appended to a list in schema order.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal, Protocol, TypeAlias, cast

from factcheck.errors import SchemaError, describe
from factcheck.fields.schemas.structure import join, join_key
from factcheck.fields.types import BoundComparator, FieldResult, FieldStatus, UndecidableError

MISSING: Any = object()
"""Sentinel for a missing value or key."""


Pairs: TypeAlias = "list[tuple[int, int]]"
"""Alignment as (gold, extracted) positions in result order; -1 for a missing partner, extracted
elements without partner last."""
Align = Callable[[Sequence[Any], Sequence[Any], str], Pairs]
"""Aligns gold with extracted elements; the third argument is the path, for warnings."""


def by_position(gold: Sequence[Any], extracted: Sequence[Any], _path: str = "") -> Pairs:
    return list(zip_longest(range(len(gold)), range(len(extracted)), fillvalue=-1))


_MAX_PATHS = 50_000
"""Maximum number of cached paths; paths repeat from record to record."""
_log = logging.getLogger("factcheck.fields")


@functools.lru_cache(maxsize=_MAX_PATHS)
def _element_path(path: str, position: int) -> str:
    return f"{path}[{position}]"


class Deferred(Protocol):
    """Placeholder for results that depend on a batch comparator."""

    @property
    def most(self) -> float:
        """Upper bound of the matched weight."""
        ...

    @property
    def is_open(self) -> bool:
        """Whether any field awaits a batch comparator."""
        ...

    def pending(self) -> list[list[FieldResult]]:
        """Return the fields to score next, by pair of elements; empty when done."""
        ...

    def report(self, out: Out) -> None:
        """Append the results, once nothing is pending."""
        ...


Out: TypeAlias = "list[FieldResult | Deferred]"


def settled(out: Out) -> list[FieldResult]:
    """Replace placeholders by their results."""
    results: Out = out
    if not set(map(type, out)) <= {FieldResult}:
        results = []
        for entry in out:
            if isinstance(entry, FieldResult):
                results.append(entry)
            else:
                entry.report(results)
    return cast("list[FieldResult]", results)


def pending_in(out: Out) -> list[list[FieldResult]]:
    """Return the pending results of an element, followed by those of pairs in its arrays."""
    direct = [
        entry for entry in out if isinstance(entry, FieldResult) and entry.status == "pending"
    ]
    blocks = [direct] if direct else []
    for entry in out:
        if not isinstance(entry, FieldResult):
            blocks += entry.pending()
    return blocks


OneSided = Literal["omission", "hallucination"]
_Unread: TypeAlias = "tuple[FieldStatus, str]"
"""Status and reason of a field with an unreadable value."""
NOT_OF_THE_VALUE = (OSError, MemoryError, UndecidableError)
"""Errors that the extracted value does not cause."""


class Node(Protocol):
    """A field of the schema."""

    path: str
    """Schema path."""

    def pair(self, gold: Any, extracted: Any, path: str, out: Out) -> None:
        """Score a field with values on both sides, which may be null."""
        ...

    def alone(self, value: Any, status: OneSided, path: str, out: Out) -> None:
        """Score a value on one side: gold for an omission, extracted for a hallucination."""
        ...


@dataclass(slots=True, eq=False)
class Leaf:
    """A value compared as a whole."""

    path: str
    name: str
    prepare: Callable[[Any], Any] | None
    threshold: float
    bound: BoundComparator | None
    """`None` for a batch comparator, which leaves the field pending."""
    params: Mapping[str, Any]
    description: str

    def pair(self, gold: Any, extracted: Any, path: str, out: Out) -> None:
        g, e, failure = self.prepared(gold, extracted) if self.prepare else (gold, extracted, None)
        if failure is None and self.bound is not None:
            try:
                score, reason = self.bound.compare(g, e)
            except Exception as error:  # noqa: BLE001 - the user's code
                failure = self.fault(g, error), f"comparator {self.name!r}: {describe(error)}"
            else:
                status: FieldStatus = "match" if score >= self.threshold else "mismatch"
                out.append(
                    FieldResult(path, score, self.name, gold, extracted, status, reason, g, e)
                )
                return
        status, reason = failure or ("pending", None)
        out.append(FieldResult(path, 0.0, self.name, gold, extracted, status, reason, g, e))

    def alone(self, value: Any, status: OneSided, path: str, out: Out) -> None:
        out.append(_one_sided(path, self.name, value, status))

    def fault(self, gold: Any, error: Exception) -> FieldStatus:
        """Return the status of a comparison that raised.

        It is a mismatch if gold can be compared with itself, so that the extracted value is to
        blame, and an error otherwise.
        """
        if isinstance(error, NOT_OF_THE_VALUE) or self.bound is None:
            return "error"
        try:
            self.bound.compare(gold, gold)
        except Exception:  # noqa: BLE001 - the user's code
            return "error"
        return "mismatch"

    def prepared(self, gold: Any, extracted: Any) -> tuple[Any, Any, _Unread | None]:
        """Transform both values; on failure, also return its status and reason."""
        if self.prepare is None:
            return gold, extracted, None
        try:
            g = self.prepare(gold)
        except Exception as error:  # noqa: BLE001 - the user's code, or an unsuitable value
            return None, None, ("error", f"transform of the gold value: {describe(error)}")
        try:
            return g, self.prepare(extracted), None
        except Exception as error:  # noqa: BLE001 - the user's code, or an unsuitable value
            status: FieldStatus = "error" if isinstance(error, NOT_OF_THE_VALUE) else "mismatch"
            reason = f"transform of the extracted value: {describe(error)}"
            return g, extracted, (status, reason)


@dataclass(slots=True, eq=False)
class Skipped:
    """An excluded part of the record; appears in the results but is not counted."""

    path: str

    def pair(self, gold: Any, extracted: Any, path: str, out: Out) -> None:
        g = None if gold is MISSING else gold
        e = None if extracted is MISSING else extracted
        out.append(FieldResult(path, 0.0, "", g, e, "skipped"))

    def alone(self, value: Any, status: OneSided, path: str, out: Out) -> None:
        pass


class ObjectNode:
    """An object, scored by property, or a map, scored by key."""

    def __init__(self, path: str, children: Mapping[str, Node], rest: Node | None = None) -> None:
        self.path = path
        self.children = children
        self.rest = rest
        """Scores the values of all other keys; `None`: other keys are hallucinations."""
        self._places = functools.lru_cache(_MAX_PATHS)(self._places_at)

    def _places_at(self, path: str) -> tuple[tuple[str, Node, bool, str], ...]:
        return tuple(
            (name, child, isinstance(child, Skipped), join(path, name))
            for name, child in self.children.items()
        )

    def pair(self, gold: Any, extracted: Any, path: str, out: Out) -> None:
        if not (isinstance(gold, dict) and isinstance(extracted, dict)):
            _pair_mistyped(self, dict, gold, extracted, path, out)
            return
        if not gold and not extracted:
            out.append(FieldResult(path, 1.0, "", gold, extracted, "match"))
            return
        n_known = 0
        for name, child, skipped, place in self._places(path):
            g, e = gold.get(name, MISSING), extracted.get(name, MISSING)
            n_known += e is not MISSING
            if skipped or (g is not MISSING and e is not MISSING):
                child.pair(g, e, place, out)
            elif g is not MISSING:
                child.alone(g, "omission", place, out)
            elif e is not MISSING:
                child.alone(e, "hallucination", place, out)
        if self.rest is not None or n_known < len(extracted):
            self._pair_rest(gold, extracted, path, out)

    def _pair_rest(
        self, gold: Mapping[Any, Any], extracted: Mapping[Any, Any], path: str, out: Out
    ) -> None:
        if self.rest is None:
            for key in sorted((key for key in extracted if key not in self.children), key=str):
                place = join(path, str(key))
                out.append(FieldResult(place, 0.0, "", None, extracted[key], "hallucination"))
            return
        for key in dict.fromkeys((*gold, *extracted)):
            if key not in self.children:
                g, e = gold.get(key, MISSING), extracted.get(key, MISSING)
                one_or_both(self.rest, g, e, join_key(path, str(key)), out)

    def alone(self, value: Any, status: OneSided, path: str, out: Out) -> None:
        if isinstance(value, dict):
            for name, child, _, place in self._places(path):
                if name in value:
                    child.alone(value[name], status, place, out)
            for name in value if self.rest else ():
                if self.rest and name not in self.children:
                    self.rest.alone(value[name], status, join_key(path, str(name)), out)
        elif value is not None:
            _log.warning("%s: expected an object, got %s", path, type(value).__name__)


def one_or_both(node: Node, gold: Any, extracted: Any, path: str, out: Out) -> None:
    """Score a field of which either or both values may be `MISSING`."""
    if gold is not MISSING and extracted is not MISSING:
        node.pair(gold, extracted, path, out)
    elif gold is not MISSING:
        node.alone(gold, "omission", path, out)
    elif extracted is not MISSING:
        node.alone(extracted, "hallucination", path, out)


class TupleNode:
    """An array with a schema per position, scored as an object with numeric names."""

    def __init__(self, positions: ObjectNode) -> None:
        self.path = positions.path
        self.positions = positions

    def pair(self, gold: Any, extracted: Any, path: str, out: Out) -> None:
        if isinstance(gold, list) and isinstance(extracted, list):
            self.positions.pair(_numbered(gold), _numbered(extracted), path, out)
        else:
            _pair_mistyped(self, list, gold, extracted, path, out)

    def alone(self, value: Any, status: OneSided, path: str, out: Out) -> None:
        if isinstance(value, list) and value:
            self.positions.alone(_numbered(value), status, path, out)
        else:
            out.append(_one_sided(path, "", value, status))


def _numbered(values: Sequence[Any]) -> dict[str, Any]:
    return {str(position): value for position, value in enumerate(values)}


class RecursiveNode:
    """A recursive part of a schema, compiled as deep as the data is."""

    def __init__(self, path: str, compile_: Callable[[], Node]) -> None:
        self.path = path
        self._compile = functools.cache(compile_)

    def compiled(self) -> Node | str:
        """Return the node, or the reason why it cannot be compiled."""
        try:
            return self._compile()
        except SchemaError as error:
            return str(error)

    def pair(self, gold: Any, extracted: Any, path: str, out: Out) -> None:
        node = self.compiled()
        if isinstance(node, str):
            out.append(FieldResult(path, 0.0, "", gold, extracted, "error", node))
        else:
            node.pair(gold, extracted, path, out)

    def alone(self, value: Any, status: OneSided, path: str, out: Out) -> None:
        node = self.compiled()
        if isinstance(node, str):
            out.append(_one_sided(path, "", value, status))
        else:
            node.alone(value, status, path, out)


@dataclass(slots=True, eq=False)
class ArrayNode:
    """An array, aligned and scored by element."""

    path: str
    element: Node
    align: Align = by_position
    search: Callable[[ArrayNode, Sequence[Any], Sequence[Any], str], Deferred] | None = None
    """Starts the search for the optimal alignment; `None` for other alignments."""

    def pair(self, gold: Any, extracted: Any, path: str, out: Out) -> None:
        if not (isinstance(gold, list) and isinstance(extracted, list)):
            _pair_mistyped(self, list, gold, extracted, path, out)
        elif not gold and not extracted:
            out.append(FieldResult(path, 1.0, "", gold, extracted, "match"))
        elif self.search and gold and extracted:
            alignment = self.search(self, gold, extracted, path)
            if alignment.is_open:
                out.append(alignment)
            else:
                alignment.report(out)
        else:
            self.score(gold, extracted, self.align(gold, extracted, path), path, out)

    def score(
        self, gold: Sequence[Any], extracted: Sequence[Any], pairs: Pairs, path: str, out: Out
    ) -> None:
        element = self.element
        n_surplus = 0
        for i, j in pairs:
            if i < 0:
                n_surplus += 1
                place = _element_path(path, -n_surplus)
                element.alone(extracted[j], "hallucination", place, out)
            elif j < 0:
                element.alone(gold[i], "omission", _element_path(path, i), out)
            else:
                element.pair(gold[i], extracted[j], _element_path(path, i), out)

    def alone(self, value: Any, status: OneSided, path: str, out: Out) -> None:
        if not isinstance(value, list) or not value:
            out.append(_one_sided(path, "", value, status))
        elif status == "omission":
            self.score(value, (), by_position(value, ()), path, out)
        else:
            self.score((), value, by_position((), value), path, out)


def _one_sided(path: str, name: str, value: Any, status: OneSided) -> FieldResult:
    gold, extracted = (value, None) if status == "omission" else (None, value)
    return FieldResult(path, 0.0, name, gold, extracted, status)


def _pair_mistyped(node: Node, kind: type, gold: Any, extracted: Any, path: str, out: Out) -> None:
    """Score a container that is null or has the wrong type on at least one side."""
    if gold is None and extracted is None:
        return
    if gold is None or extracted is None:
        value = gold if extracted is None else extracted
        status: OneSided = "omission" if extracted is None else "hallucination"
        if isinstance(value, kind):
            node.alone(value, status, path, out)
        else:
            out.append(_one_sided(path, "", value, status))
    elif _equal(gold, extracted):
        out.append(FieldResult(path, 1.0, "", gold, extracted, "match"))
    else:
        types = f"gold is {type(gold).__name__}, extracted is {type(extracted).__name__}"
        reason = f"type mismatch: {types}"
        out.append(FieldResult(path, 0.0, "", gold, extracted, "mismatch", reason))


def _equal(gold: Any, extracted: Any) -> bool:
    try:
        return bool(gold == extracted)
    except Exception:  # noqa: BLE001 - values of the user's own types, or nested too deeply
        return False
