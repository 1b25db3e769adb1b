"""A schema compiled into nodes that score: each knows its own kind of value and its children.

Every node answers three questions about a place in a record: what if both sides have a value
(`pair`), only the gold one (`omission`), or only the extracted one (`hallucination`). Results are
appended to a list, in the order of the schema.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from factcheck.fields.schemas.structure import join
from factcheck.fields.scoring.alignment import MISSING, Pairing
from factcheck.fields.types import BoundComparator, FieldResult, FieldStatus

if TYPE_CHECKING:
    from factcheck.fields.scoring.deferred import Deferred

Out: TypeAlias = "list[FieldResult | Deferred]"
"""Results as they come; an array whose pairing is not known yet holds the place of its own."""
_MOST_PATHS = 50_000
"""Paths a node remembers; they repeat from record to record."""
_log = logging.getLogger("factcheck.fields")


class Node(Protocol):
    """One field of the schema, ready to score."""

    path: str
    """Schema path."""

    def pair(self, gold: Any, extracted: Any, path: str, out: Out) -> None:
        """Both sides have a value, which may be null."""
        ...

    def omission(self, gold: Any, path: str, out: Out) -> None:
        """Only the gold side has a value."""
        ...

    def hallucination(self, extracted: Any, path: str, out: Out) -> None:
        """Only the extracted side has a value."""
        ...


class Leaf:
    """A value that is compared as a whole, at once."""

    __slots__ = ("bound", "compare", "name", "path", "prepare", "threshold")

    def __init__(
        self,
        path: str,
        name: str,
        bound: BoundComparator,
        prepare: Callable[[Any], Any] | None,
        threshold: float,
    ) -> None:
        self.path = path
        self.name = name
        self.bound = bound
        self.compare = bound.compare
        self.prepare = prepare
        self.threshold = threshold

    def pair(self, gold: Any, extracted: Any, path: str, out: Out) -> None:
        """Compare; whatever the comparator or a transform raises is this field's own error."""
        g, e = gold, extracted
        if self.prepare is not None:
            g, e, reason = _both_prepared(self.prepare, gold, extracted)
            if reason is not None:
                out.append(_error(path, self.name, gold, extracted, reason))
                return
        try:
            score, reason = self.compare(g, e)
        except Exception as error:  # noqa: BLE001 - the user's code
            reason = f"comparator {self.name!r}: {told(error)}"
            out.append(_error(path, self.name, gold, extracted, reason))
            return
        status: FieldStatus = "match" if score >= self.threshold else "mismatch"
        out.append(FieldResult(path, score, self.name, gold, extracted, status, reason, g, e))

    def omission(self, gold: Any, path: str, out: Out) -> None:
        """One omission."""
        out.append(FieldResult(path, 0.0, self.name, gold, None, "omission"))

    def hallucination(self, extracted: Any, path: str, out: Out) -> None:
        """One hallucination."""
        out.append(FieldResult(path, 0.0, self.name, None, extracted, "hallucination"))


class BatchLeaf(Leaf):
    """A value whose comparator takes many fields at once: it waits for that call."""

    __slots__ = ("description", "params")

    def __init__(
        self,
        path: str,
        name: str,
        prepare: Callable[[Any], Any] | None,
        threshold: float,
        params: Mapping[str, Any],
        description: str,
    ) -> None:
        super().__init__(path, name, BoundComparator(_unasked), prepare, threshold)
        self.params = params
        self.description = description

    def pair(self, gold: Any, extracted: Any, path: str, out: Out) -> None:
        """Leave the field pending, with the values that will be compared."""
        g, e = gold, extracted
        if self.prepare is not None:
            g, e, reason = _both_prepared(self.prepare, gold, extracted)
            if reason is not None:
                out.append(_error(path, self.name, gold, extracted, reason))
                return
        out.append(FieldResult(path, 0.0, self.name, gold, extracted, "pending", None, g, e))


class Skipped:
    """A part of the record that is left out; it is seen in the results and counts nowhere."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    def pair(self, gold: Any, extracted: Any, path: str, out: Out) -> None:
        """One skipped result, with whatever there is."""
        g = None if gold is MISSING else gold
        e = None if extracted is MISSING else extracted
        out.append(FieldResult(path, 0.0, "", g, e, "skipped"))

    def omission(self, gold: Any, path: str, out: Out) -> None:
        """Nothing."""

    def hallucination(self, extracted: Any, path: str, out: Out) -> None:
        """Nothing."""


class ObjectNode:
    """A record or an object in it, scored property by property."""

    __slots__ = ("_paths", "children", "path")

    def __init__(self, path: str, children: Mapping[str, Node]) -> None:
        self.path = path
        self.children = children
        self._paths: dict[str, tuple[tuple[str, Node, bool, str], ...]] = {}

    def pair(self, gold: Any, extracted: Any, path: str, out: Out) -> None:
        """Score the properties of the schema, then report what only the extracted side has."""
        if not (isinstance(gold, dict) and isinstance(extracted, dict)):
            pair_unlike(self, dict, gold, extracted, path, out)
            return
        if not gold and not extracted:
            out.append(FieldResult(path, 1.0, "", gold, extracted, "match"))
            return
        n_known = 0
        for name, child, skipped, place in self._paths.get(path) or self._places(path):
            g, e = gold.get(name, MISSING), extracted.get(name, MISSING)
            n_known += e is not MISSING
            if skipped or (g is not MISSING and e is not MISSING):
                child.pair(g, e, place, out)
            elif g is not MISSING:
                child.omission(g, place, out)
            elif e is not MISSING:
                child.hallucination(e, place, out)
        if n_known < len(extracted):
            self._report_unknown(extracted, path, out)

    def _places(self, path: str) -> tuple[tuple[str, Node, bool, str], ...]:
        if len(self._paths) > _MOST_PATHS:
            self._paths.clear()
        places = tuple(
            (name, child, isinstance(child, Skipped), join(path, name))
            for name, child in self.children.items()
        )
        self._paths[path] = places
        return places

    def _report_unknown(self, extracted: Mapping[Any, Any], path: str, out: Out) -> None:
        for name in sorted((key for key in extracted if key not in self.children), key=str):
            place = join(path, str(name))
            out.append(FieldResult(place, 0.0, "", None, extracted[name], "hallucination"))

    def omission(self, gold: Any, path: str, out: Out) -> None:
        """One omission for each value below."""
        if isinstance(gold, dict):
            for name, child, _, place in self._paths.get(path) or self._places(path):
                if name in gold:
                    child.omission(gold[name], place, out)
        elif gold is not None:
            _log.warning("%s: gold has %s instead of an object", path, type(gold).__name__)

    def hallucination(self, extracted: Any, path: str, out: Out) -> None:
        """One hallucination for each value below that the schema knows."""
        if isinstance(extracted, dict):
            for name, child, _, place in self._paths.get(path) or self._places(path):
                if name in extracted:
                    child.hallucination(extracted[name], place, out)
        elif extracted is not None:
            _log.warning("%s: found %s instead of an object", path, type(extracted).__name__)


Align = Callable[[Sequence[Any], Sequence[Any], str], Pairing]


class ArrayNode:
    """An array, scored element by element once it is known which belong together."""

    __slots__ = ("_paths", "align", "element", "path")

    def __init__(self, path: str, element: Node, align: Align) -> None:
        self.path = path
        self.element = element
        self.align = align
        self._paths: dict[str, list[str]] = {}

    def pair(self, gold: Any, extracted: Any, path: str, out: Out) -> None:
        """Score the elements that belong together, then those that are left over."""
        if not (isinstance(gold, list) and isinstance(extracted, list)):
            pair_unlike(self, list, gold, extracted, path, out)
        elif not gold and not extracted:
            out.append(FieldResult(path, 1.0, "", gold, extracted, "match"))
        else:
            self._pair_elements(gold, extracted, path, out)

    def _pair_elements(
        self, gold: Sequence[Any], extracted: Sequence[Any], path: str, out: Out
    ) -> None:
        self.score_pairing(gold, extracted, self.align(gold, extracted, path), path, out)

    def score_pairing(
        self,
        gold: Sequence[Any],
        extracted: Sequence[Any],
        pairing: Pairing,
        path: str,
        out: Out,
    ) -> None:
        """Score an array whose elements have been aligned."""
        places = self.places(path, len(gold))
        element = self.element
        if pairing.in_gold_order:
            partner = dict(pairing.pairs)
            for i, value in enumerate(gold):
                if i in partner:
                    element.pair(value, extracted[partner[i]], places[i], out)
                else:
                    element.omission(value, places[i], out)
        else:
            for i, j in pairing.pairs:
                element.pair(gold[i], extracted[j], places[i], out)
            for i in pairing.gold_only:
                element.omission(gold[i], places[i], out)
        self._report_surplus((extracted[j] for j in pairing.extracted_only), path, out)

    def places(self, path: str, n: int) -> list[str]:
        """The paths of at least the first `n` elements."""
        places = self._paths.get(path)
        if places is None:
            if len(self._paths) > _MOST_PATHS:
                self._paths.clear()
            places = self._paths[path] = []
        if len(places) < n:
            places.extend(f"{path}[{i}]" for i in range(len(places), n))
        return places

    def _report_surplus(self, values: Any, path: str, out: Out) -> None:
        for n, value in enumerate(values, 1):
            self.element.hallucination(value, f"{path}[-{n}]", out)

    def omission(self, gold: Any, path: str, out: Out) -> None:
        """One omission for each value below; for an array that holds none, itself."""
        if isinstance(gold, list) and gold:
            for value, place in zip(gold, self.places(path, len(gold)), strict=False):
                self.element.omission(value, place, out)
        else:
            out.append(FieldResult(path, 0.0, "", gold, None, "omission"))

    def hallucination(self, extracted: Any, path: str, out: Out) -> None:
        """One hallucination for each value below; for an array that holds none, itself."""
        if isinstance(extracted, list) and extracted:
            self._report_surplus(extracted, path, out)
        else:
            out.append(FieldResult(path, 0.0, "", None, extracted, "hallucination"))


def pair_unlike(
    node: ObjectNode | ArrayNode, kind: type, gold: Any, extracted: Any, path: str, out: Out
) -> None:
    """Score a container where at least one side is null or of another type."""
    if gold is None and extracted is None:
        return
    if extracted is None:
        if isinstance(gold, kind):
            node.omission(gold, path, out)
        else:
            out.append(FieldResult(path, 0.0, "", gold, None, "omission"))
    elif gold is None:
        if isinstance(extracted, kind):
            node.hallucination(extracted, path, out)
        else:
            out.append(FieldResult(path, 0.0, "", None, extracted, "hallucination"))
    elif same(gold, extracted):
        out.append(FieldResult(path, 1.0, "", gold, extracted, "match"))
    else:
        reason = f"type mismatch: gold is {_type(gold)}, extracted is {_type(extracted)}"
        out.append(FieldResult(path, 0.0, "", gold, extracted, "mismatch", reason))


def same(gold: Any, extracted: Any) -> bool:
    """Whether two values of an unexpected type are equal."""
    try:
        return bool(gold == extracted)
    except Exception:  # noqa: BLE001 - values of the user's own types, or nested too deeply
        return False


def told(error: Exception) -> str:
    """An exception in one line."""
    return f"{type(error).__name__}: {error}".split("\n", maxsplit=1)[0][:300]


def _type(value: Any) -> str:
    return type(value).__name__


def _both_prepared(
    prepare: Callable[[Any], Any], gold: Any, extracted: Any
) -> tuple[Any, Any, str | None]:
    """Both values after their transforms; or the first that they cannot take, and why."""
    side = "gold"
    try:
        g = prepare(gold)
        side = "extracted"
        return g, prepare(extracted), None
    except Exception as error:  # noqa: BLE001 - the user's code, or a value it cannot take
        return None, None, f"transform of the {side} value: {told(error)}"


def _error(path: str, name: str, gold: Any, extracted: Any, reason: str) -> FieldResult:
    return FieldResult(path, 0.0, name, gold, extracted, "error", reason)


def _unasked(gold: Any, extracted: Any) -> tuple[float, str | None]:
    raise NotImplementedError("a batch comparator answers for many fields at once")
