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
)
from factcheck.fields.types import FieldResult
from factcheck.fields.values import value_key
from factcheck.stats.intervals import assign

Matrix = np.ndarray[Any, np.dtype[np.float64]]
"""A float per pair, gold by extracted."""

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
    """Matched weight and stake (gold plus extracted weight) of each pair, which determine F1.

    Args:
        element: Node of the elements.
        values: The gold elements, followed by the extracted ones; may be `MISSING`.
        n: Number of gold elements.
        weights: Weights by schema path.
    """

    def __init__(
        self, element: Node, values: Sequence[Any], n: int, weights: Mapping[str, float]
    ) -> None:
        self._n, self._m, self._weights = n, len(values) - n, weights
        self._cells = np.zeros((4, n, self._m))
        self.matched, self.stake, self._failed, self.open = self._cells
        """By pair: matched weight, weight of its gold and extracted fields, whether a field could
        not be compared, and whether one awaits a batch comparator; it is counted as matched."""
        self._alone = np.zeros(len(values))
        """Part of the stake that depends on one side only."""
        self._codes: defaultdict[Hashable, int] = defaultdict(itertools.count().__next__)
        self._coded: list[tuple[float, list[int]]] = []
        """By field, its weight and a code for each value; -1 for a missing one."""
        self._add(element, values)
        self._compare_codes()
        self.stake += self._alone[:n, None] + self._alone[n:]

    def f1(self) -> tuple[Matrix, Matrix]:
        """Return F1 of each pair, and the preference of each undecided pair, else 0.

        A pair is undecided if no field in it could be scored, or if none matched and one could not
        be compared; the smaller its stake, the higher its preference.
        """
        is_scored = self.stake > 0
        f1 = 2 * self.matched / np.where(is_scored, self.stake, 1.0)
        undecided = ~is_scored | ((self._failed > 0) & (f1 == 0))
        return f1, undecided / (1 + self.stake)

    def _add(self, node: Node, values: Sequence[Any]) -> None:
        """Score one field for all pairs."""
        if isinstance(node, RecursiveNode) and not isinstance(inner := node.compiled(), str):
            node = inner
        if isinstance(node, Leaf):
            self._add_leaf(node, values)
        elif isinstance(node, ObjectNode) and node.kind is dict:
            self._add_typed(node, dict, values, self._add_objects)
        elif isinstance(node, ArrayNode) and node.align is by_position and not node.search:
            self._add_typed(node, list, values, self._add_arrays)
        elif not isinstance(node, Skipped):
            self._score_pairs(node, values, itertools.product(range(self._n), range(self._m)))

    def _weight(self, node: Node) -> float:
        return self._weights.get(node.path, 1.0)

    def _add_typed(
        self, node: Any, kind: type, values: Sequence[Any], add: Callable[[Any, Any], None]
    ) -> None:
        """Score containers; pairs with a value of another type are scored one by one."""
        n = self._n
        typed = [
            place
            for place, value in enumerate(values)
            if value is None or value is MISSING or isinstance(value, kind)
        ]
        if len(typed) == len(values):
            add(node, values)
            return
        rows, columns = [k for k in typed if k < n], [k - n for k in typed if k >= n]
        inner = Grid(node, [values[k] for k in typed], len(rows), self._weights)
        self._cells[np.ix_(range(4), rows, columns)] += inner._cells
        pairs = itertools.product(range(n), range(self._m))
        typed_pairs = set(itertools.product(rows, columns))
        self._score_pairs(node, values, (pair for pair in pairs if pair not in typed_pairs))

    def _add_objects(self, node: ObjectNode, values: Sequence[Any]) -> None:
        n, objects = self._n, values
        if None in values or MISSING in values:
            objects = [value if isinstance(value, dict) else {} for value in values]
        children = dict(node.children)
        if node.rest is not None:
            for key in itertools.chain.from_iterable(objects):
                children.setdefault(key, node.rest)
        for name, child in children.items():
            self._add(child, [value.get(name, MISSING) for value in objects])
        known = children.keys()
        if not all(value.keys() <= known for value in objects[n:]):
            n_unknown = np.array([len(value.keys() - known) for value in objects[n:]])
            self.stake += np.outer([isinstance(value, dict) for value in values[:n]], n_unknown)
        if {} in values[:n] and {} in values[n:]:
            is_empty = np.array([value == {} for value in values], dtype=float)
            both_empty = self._weight(node) * np.outer(is_empty[:n], is_empty[n:])
            self.matched += both_empty
            self.stake += 2 * both_empty

    def _add_arrays(self, node: ArrayNode, values: Sequence[Any]) -> None:
        kinds = [
            _ABSENT if v is MISSING else _NULL if v is None else _FULL if v else _EMPTY
            for v in values
        ]
        if _NULL in kinds or _EMPTY in kinds:
            cells = np.ix_(kinds[: self._n], kinds[self._n :])
            self.stake += self._weight(node) * _ARRAY_STAKE[cells]
            self.matched += self._weight(node) * _ARRAY_MATCHED[cells]
        arrays = [value if isinstance(value, list) else () for value in values]
        for elements in itertools.zip_longest(*arrays, fillvalue=MISSING):
            self._add(node.element, elements)

    def _add_leaf(self, node: Leaf, values: Sequence[Any]) -> None:
        if node.prepare:
            values = [v if v is MISSING else _prepared(node.prepare, v) for v in values]
        is_read = not node.prepare or not any(v is _UNREAD or v is _FAILED for v in values)
        if is_read and node.bound and node.bound.key:
            key, code = node.bound.key, self._codes.__getitem__
            codes = [-1 if value is MISSING else code(key(value)) for value in values]
            self._coded.append((self._weight(node), codes))
            return
        weight, n, scores = self._weight(node), self._n, None
        places = [place for place, value in enumerate(values) if value is not MISSING]
        self._alone[places] += weight
        rows, columns = [k for k in places if k < n], [k - n for k in places if k >= n]
        cells = np.ix_(rows, columns)
        gold, extracted = [values[i] for i in rows], [values[n + j] for j in columns]
        if is_read and node.bound is None:
            scores = np.ones((len(gold), len(extracted)))
        elif is_read and node.bound and node.bound.scores:
            scores = node.bound.scores(gold, extracted)
        if scores is None:
            scores = _scores(node, gold, extracted)
            failed = np.isnan(scores)
            scores[failed] = 0.0
            self.stake[cells] -= 2 * weight * failed
            self._failed[cells] += failed
        self.matched[cells] += weight * scores
        if node.bound is None:
            self.open[cells] += scores == 1

    def _compare_codes(self) -> None:
        if not self._coded:
            return
        weights, codes = (
            np.array([w for w, _ in self._coded]),
            np.array([c for _, c in self._coded]),
        )
        self._alone += weights @ (codes >= 0)
        gold, extracted = codes[:, : self._n], codes[:, self._n :]
        extracted = np.where(extracted < 0, -2, extracted)  # missing on both sides is not a match
        if self.matched.size > _MAX_VECTORIZED:
            for weight, own, other in zip(weights, gold, extracted, strict=True):
                self.matched += weight * (own[:, None] == other)
        else:
            matches = (gold[:, :, None] == extracted[:, None, :]).astype(float)
            rows = matches.reshape(len(weights), -1)
            self.matched += (weights @ rows).reshape(self.matched.shape)

    def _score_pairs(
        self, node: Node, values: Sequence[Any], pairs: Iterable[tuple[int, int]]
    ) -> None:
        for i, j in pairs:
            gold, extracted = values[i], values[self._n + j]
            if gold is MISSING and extracted is MISSING:
                continue
            out: Out = []
            node.score(gold, extracted, node.path, out)
            results = [entry for entry in out if isinstance(entry, FieldResult)]
            pending = [result for result in results if result.status == "pending"]
            for result in pending:
                result.status, result.score = "match", 1.0
            counts = count(results, self._weights)
            most = sum(entry.most for entry in out if not isinstance(entry, FieldResult))
            self._cells[:, i, j] += (
                counts.matched + most,
                counts.n_extracted + counts.n_gold + 2 * most,
                any(result.status == "error" for result in results),
                bool(pending) or len(results) < len(out),
            )

    def most_matched(self) -> float:
        """Return the maximum total matched weight over all alignments."""
        return sum(float(self.matched[pair]) for pair in assign(self.matched).items())


def _prepared(prepare: Callable[[Any], Any], value: Any) -> Any:
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
    first: dict[Hashable, tuple[int, Any]] = {}
    places = [first.setdefault(value_key(value), (len(first), value))[0] for value in values]
    return places, [value for _, value in first.values()]


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
