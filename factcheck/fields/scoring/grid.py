"""F1 of all pairs of elements of two arrays, computed field by field.

Each field is scored for all pairs at once: values that a comparator considers equal share a code,
some comparators are vectorized, and others are called once per pair of distinct values. Only values
of an unexpected type and nested arrays aligned by content are scored pair by pair.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from factcheck.fields.runs.records import count
from factcheck.fields.scoring.nodes import (
    MISSING,
    NOT_OF_THE_VALUE,
    ArrayNode,
    Leaf,
    Node,
    ObjectNode,
    Out,
    RecursiveNode,
    Skipped,
    by_position,
    one_or_both,
)
from factcheck.fields.types import FieldResult
from factcheck.fields.values import value_key
from factcheck.stats.intervals import assign

Matrix = np.ndarray[Any, np.dtype[np.float64]]
"""A float per pair, gold by extracted."""
Mask = np.ndarray[Any, np.dtype[np.bool_]]
"""A boolean per pair, gold by extracted."""

_MAX_VECTORIZED = 4_000
"""Maximum number of pairs for which all fields are compared in one step."""
_UNREAD: Any = object()
"""Sentinel for a value that its transforms cannot read."""
_FAILED: Any = object()
"""Sentinel for a value whose transforms failed for another reason."""
_ABSENT, _NULL, _EMPTY, _FULL = range(4)
_ARRAY_STAKE = np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 2, 0], [0, 0, 0, 0]], dtype=float)
"""Stake of an array itself, without its elements, by kind of the gold and extracted array."""
_ARRAY_MATCHED = np.diag([0.0, 0.0, 1.0, 0.0])
"""Matched part of `_ARRAY_STAKE`: two empty arrays match."""


class Grid:
    """Matched weight and stake (gold plus extracted weight) of each pair, which determine F1."""

    def __init__(self, n: int, m: int, weights: Mapping[str, float]) -> None:
        self._weights = weights
        self._matched = np.zeros((n, m))
        self._stake = np.zeros((n, m))
        """Weight of extracted plus gold fields."""
        self._of_gold = np.zeros((n, 1))
        self._of_extracted = np.zeros(m)
        """Part of the stake that depends on one side only, with `_of_gold`."""
        self._failed = np.zeros((n, m), dtype=bool)
        """Pairs with a field that could not be compared."""
        self._open = np.zeros((n, m), dtype=bool)
        self._codes: defaultdict[Hashable, int] = defaultdict(itertools.count().__next__)
        self._coded: list[tuple[float, list[int], list[int]]] = []

    def outcome(self) -> tuple[Matrix, Matrix, Mask]:
        """Return F1 of each pair, the preference of each undecided pair (else 0), and open pairs.

        A pair is undecided if no field in it could be scored, or if none matched and one could not
        be compared; the smaller its stake, the higher its preference. A pair is open if a field in
        it awaits a batch comparator; its F1 is an upper bound, as if all such fields matched.
        """
        self._sum_up()
        scored = self._stake > 0
        if scored.all() and not self._failed.any():
            return 2 * self._matched / self._stake, np.zeros_like(self._stake), self._open
        f1 = np.divide(2 * self._matched, self._stake, out=np.zeros_like(self._stake), where=scored)
        undecided = ~scored | (self._failed & (f1 == 0))
        return f1, undecided / (1 + self._stake), self._open

    def most_matched(self) -> float:
        """Return the maximum total matched weight over all alignments."""
        self._sum_up()
        return sum(float(self._matched[pair]) for pair in assign(self._matched).items())

    def add(self, node: Node, gold: Sequence[Any], extracted: Sequence[Any]) -> None:
        """Score one field for all pairs; values may be `MISSING`."""
        if isinstance(node, RecursiveNode) and not isinstance(inner := node.compiled(), str):
            node = inner
        if isinstance(node, Leaf):
            self._add_leaf(node, gold, extracted)
        elif isinstance(node, ObjectNode):
            self._add_container(node, dict, gold, extracted)
        elif isinstance(node, ArrayNode) and node.align is by_position and not node.search:
            self._add_container(node, list, gold, extracted)
        elif not isinstance(node, Skipped):
            self._score_pairs(node, gold, extracted, range(len(gold)), range(len(extracted)))

    def _weight(self, node: Node) -> float:
        return self._weights.get(node.path, 1.0)

    def _add_container(
        self,
        node: ObjectNode | ArrayNode,
        kind: type,
        gold: Sequence[Any],
        extracted: Sequence[Any],
    ) -> None:
        rows, odd_rows = _split_by_type(gold, kind)
        columns, odd_columns = _split_by_type(extracted, kind)
        if odd_rows or odd_columns:
            inner = Grid(len(rows), len(columns), self._weights)
            inner.add(node, [gold[i] for i in rows], [extracted[j] for j in columns])
            inner._sum_up()
            cells = np.ix_(rows, columns)
            self._matched[cells] += inner._matched
            self._stake[cells] += inner._stake
            self._open[cells] |= inner._open
            self._failed[cells] |= inner._failed
            self._score_pairs(node, gold, extracted, odd_rows, range(len(extracted)))
            self._score_pairs(node, gold, extracted, rows, odd_columns)
        elif isinstance(node, ObjectNode):
            self._add_objects(node, gold, extracted)
        else:
            self._add_arrays(node, gold, extracted)

    def _add_objects(self, node: ObjectNode, gold: Sequence[Any], extracted: Sequence[Any]) -> None:
        known = node.children.keys()
        objects, others = _objects(gold), _objects(extracted)
        for name, child in node.children.items():
            self.add(
                child,
                [value.get(name, MISSING) for value in objects],
                [value.get(name, MISSING) for value in others],
            )
        if node.rest is not None:
            for name in dict.fromkeys(key for value in (*objects, *others) for key in value):
                if name not in known:
                    self.add(
                        node.rest,
                        [value.get(name, MISSING) for value in objects],
                        [value.get(name, MISSING) for value in others],
                    )
        elif not all(value.keys() <= known for value in others):
            unknown = np.array([len(value.keys() - known) for value in others])
            self._stake += np.array([isinstance(value, dict) for value in gold])[:, None] * unknown
        if {} in gold and {} in extracted:
            empty = np.array([g == {} for g in gold])[:, None] & np.array(
                [e == {} for e in extracted]
            )
            self._matched += self._weight(node) * empty
            self._stake += 2 * self._weight(node) * empty

    def _add_arrays(self, node: ArrayNode, gold: Sequence[Any], extracted: Sequence[Any]) -> None:
        kinds, other_kinds = _kinds(gold), _kinds(extracted)
        if {_NULL, _EMPTY} & {*kinds, *other_kinds}:
            cells = np.ix_(kinds, other_kinds)
            self._stake += self._weight(node) * _ARRAY_STAKE[cells]
            self._matched += self._weight(node) * _ARRAY_MATCHED[cells]
        longest = max((len(v) for v in (*gold, *extracted) if isinstance(v, list)), default=0)
        for k in range(longest):
            self.add(node.element, _elements(gold, k), _elements(extracted, k))

    def _add_leaf(self, node: Leaf, gold: Sequence[Any], extracted: Sequence[Any]) -> None:
        gold, extracted = _prepared(node, gold), _prepared(node, extracted)
        are_read = not node.prepare or not any(
            value is _UNREAD or value is _FAILED for value in (*gold, *extracted)
        )
        if are_read and node.bound and node.bound.key:
            key = node.bound.key
            codes = (self._codes_of(gold, key), self._codes_of(extracted, key))
            self._coded.append((self._weight(node), *codes))
            return
        weight, scores = self._weight(node), None
        if _complete(gold) and _complete(extracted):
            cells: Any = (slice(None), slice(None))
            self._of_gold += weight
            self._of_extracted += weight
        else:
            rows, columns = _present(gold), _present(extracted)
            gold, extracted = [gold[i] for i in rows], [extracted[j] for j in columns]
            cells = np.ix_(rows, columns)
            self._of_gold[rows] += weight
            self._of_extracted[columns] += weight
        if are_read and node.bound is None:
            scores = np.ones((len(gold), len(extracted)))
        elif are_read and node.bound and node.bound.scores:
            scores = node.bound.scores(gold, extracted)
        if scores is None:
            scores = _scores(node, gold, extracted)
            failed = np.isnan(scores)
            scores[failed] = 0.0
            self._stake[cells] -= 2 * weight * failed
            self._failed[cells] |= failed
        self._matched[cells] += weight * scores
        if node.bound is None:
            self._open[cells] |= scores == 1

    def _codes_of(self, values: Sequence[Any], key: Callable[[Any], Hashable]) -> list[int]:
        """Map values to codes, equal for equal keys, and -1 for missing values."""
        code = self._codes.__getitem__
        if _complete(values):
            return list(map(code, map(key, values)))
        return [-1 if value is MISSING else code(key(value)) for value in values]

    def _sum_up(self) -> None:
        """Compare the values collected as codes, and add the one-sided parts to the stake."""
        if self._coded:
            weights, gold, extracted = map(np.array, zip(*self._coded, strict=True))
            self._coded = []
            self._of_gold += (weights @ (gold >= 0))[:, None]
            self._of_extracted += weights @ (extracted >= 0)
            extracted[extracted < 0] = -2  # a value missing on both sides is not a match
            if self._matched.size > _MAX_VECTORIZED:
                for weight, own, other in zip(weights, gold, extracted, strict=True):
                    self._matched += weight * (own[:, None] == other)
            else:
                matches = (gold[:, :, None] == extracted[:, None, :]).astype(float)
                rows = matches.reshape(len(weights), -1)
                self._matched += (weights @ rows).reshape(self._matched.shape)
        self._stake += self._of_gold + self._of_extracted
        self._of_gold[:] = 0.0
        self._of_extracted[:] = 0.0

    def _score_pairs(
        self,
        node: Node,
        gold: Sequence[Any],
        extracted: Sequence[Any],
        rows: Iterable[int],
        columns: Sequence[int],
    ) -> None:
        for i in rows:
            for j in columns:
                out: Out = []
                one_or_both(node, gold[i], extracted[j], node.path, out)
                results = [entry for entry in out if isinstance(entry, FieldResult)]
                open_ = [result for result in results if result.status == "pending"]
                for result in open_:
                    result.status, result.score = "match", 1.0
                counts = count(results, self._weights)
                most = sum(entry.most for entry in out if not isinstance(entry, FieldResult))
                self._matched[i, j] += counts.matched + most
                self._stake[i, j] += counts.n_extracted + counts.n_gold + 2 * most
                self._open[i, j] |= bool(open_) or len(results) < len(out)
                self._failed[i, j] |= any(result.status == "error" for result in results)


def _split_by_type(values: Sequence[Any], kind: type) -> tuple[Sequence[int], Sequence[int]]:
    """Return positions of values of a type, null or missing, and positions of all others."""
    if set(map(type, values)) <= {kind, type(None), type(MISSING)}:
        return range(len(values)), ()
    odd = [
        place
        for place, value in enumerate(values)
        if not isinstance(value, kind) and value is not None and value is not MISSING
    ]
    others = set(range(len(values))) - set(odd)
    return sorted(others), odd


def _objects(values: Sequence[Any]) -> Sequence[Mapping[str, Any]]:
    if set(map(type, values)) == {dict}:
        return values
    return [value if isinstance(value, dict) else {} for value in values]


def _elements(values: Sequence[Any], k: int) -> list[Any]:
    return [v[k] if isinstance(v, list) and k < len(v) else MISSING for v in values]


def _kinds(values: Sequence[Any]) -> list[int]:
    return [
        _ABSENT if v is MISSING else _NULL if v is None else _FULL if v else _EMPTY for v in values
    ]


def _complete(values: Sequence[Any]) -> bool:
    """Whether no value is missing; checks types, since values may not support comparison."""
    return type(MISSING) not in set(map(type, values))


def _present(values: Sequence[Any]) -> list[int]:
    return [place for place, value in enumerate(values) if value is not MISSING]


def _prepared(node: Leaf, values: Sequence[Any]) -> Sequence[Any]:
    if node.prepare is None:
        return values
    return [value if value is MISSING else _prepare(node.prepare, value) for value in values]


def _prepare(prepare: Callable[[Any], Any], value: Any) -> Any:
    try:
        return prepare(value)
    except NOT_OF_THE_VALUE:
        return _FAILED
    except Exception:  # noqa: BLE001 - reported if the pair is chosen
        return _UNREAD


def _scores(node: Leaf, gold: Sequence[Any], extracted: Sequence[Any]) -> Matrix:
    """Score all pairs, calling the comparator once per distinct pair; NaN if it fails."""
    places, values = _distinct(gold)
    other_places, other_values = _distinct(extracted)
    table = [[_score(node, g, e) for e in other_values] for g in values]
    scores = np.array(table, dtype=float).reshape(len(values), len(other_values))
    return scores[np.ix_(places, other_places)]


def _distinct(values: Sequence[Any]) -> tuple[list[int], list[Any]]:
    """Return the position of each value in a list of distinct values, and that list."""
    place_of: dict[Any, int] = {}
    distinct: list[Any] = []
    places = []
    for value in values:
        place = place_of.setdefault(value_key(value), len(distinct))
        if place == len(distinct):
            distinct.append(value)
        places.append(place)
    return places, distinct


def _score(node: Leaf, gold: Any, extracted: Any) -> float:
    if gold is _UNREAD or gold is _FAILED or extracted is _FAILED:
        return math.nan
    if extracted is _UNREAD:
        return 0.0
    if node.bound is None:
        return 1.0
    try:
        return node.bound.compare(gold, extracted)[0]
    except Exception as error:  # noqa: BLE001 - reported if the pair is chosen
        return math.nan if node.fault(gold, error) == "error" else 0.0
