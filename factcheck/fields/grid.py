"""F1 of all pairs of elements of two arrays, computed field by field.

Each field is scored for all pairs at once: values that a comparator considers equal share a code,
some comparators are vectorized, and others are called once per pair of distinct values. Values of
an unexpected type are scored pair by pair. With nested arrays that are not aligned by position, the
F1 of a pair is an upper bound.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from factcheck.fields.nodes import (
    MISSING,
    ArrayNode,
    Leaf,
    Node,
    ObjectNode,
    RecursiveNode,
    by_position,
    differ,
)
from factcheck.fields.records import count
from factcheck.fields.types import NOT_OF_THE_VALUE
from factcheck.fields.values import value_key

Matrix = np.ndarray[Any, np.dtype[np.float64]]
"""A float per pair, gold by extracted."""

_MAX_CELLS = 1_000_000
"""Approximate maximum number of pairs of elements of nested arrays that are held at a time."""
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
        not be compared, and whether one is open: it awaits a batch comparator or the alignment of a
        nested array, and is counted as matched."""
        self._alone = np.zeros(len(values))
        """Part of the stake that depends on one side only."""
        self._add(element, values)
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
        if isinstance(node, RecursiveNode):
            if all(value is MISSING for value in values):  # the data ends here, the schema does not
                return
            node = inner if not isinstance(inner := node.compiled(), str) else node
        if isinstance(node, Leaf):
            self._add_leaf(node, values)
        elif isinstance(node, ObjectNode):
            self._add_typed(node, dict, values, self._add_objects)
        elif isinstance(node, ArrayNode):
            self._add_typed(node, list, values, self._add_arrays)

    def _weight(self, node: Node) -> float:
        return self._weights.get(node.path, 1.0)

    def _add_typed(
        self, node: Any, kind: type, values: Sequence[Any], add: Callable[[Any, Any], None]
    ) -> None:
        """Score containers; a value of another type is scored as a whole, pair by pair."""
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
        typed_pairs = set(itertools.product(rows, columns))
        for i, j in itertools.product(range(n), range(self._m)):
            if (i, j) not in typed_pairs:
                out: list[Any] = []
                node.score(values[i], values[n + j], node.path, out)
                counts = count(out, self._weights)
                self.matched[i, j] += counts.matched
                self.stake[i, j] += counts.n_extracted + counts.n_gold

    def _add_objects(self, node: ObjectNode, values: Sequence[Any]) -> None:
        n, objects = self._n, values
        if None in values or MISSING in values:
            objects = list(map(_members, values))
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
        kinds = list(map(_kind, values))
        if _NULL in kinds or _EMPTY in kinds:
            cells = np.ix_(kinds[: self._n], kinds[self._n :])
            self.stake += self._weight(node) * _ARRAY_STAKE[cells]
            self.matched += self._weight(node) * _ARRAY_MATCHED[cells]
        if node.align is by_position and not node.search:
            arrays = map(_elements, values)
            for elements in itertools.zip_longest(*arrays, fillvalue=MISSING):
                self._add(node.element, elements)
            return
        n, is_full = self._n, np.array(kinds) == _FULL
        if is_full[:n].any() and is_full[n:].any():
            self._add_bounds(node.element, list(map(_elements, values)))
        if not is_full.all():
            in_order = replace(node, align=by_position, search=None)
            alone = Grid(in_order, [*values, MISSING], len(values), self._weights).stake[:, 0]
            alone *= is_full
            self.stake += np.outer(alone[:n], ~is_full[n:]) + np.outer(~is_full[:n], alone[n:])

    def _add_bounds(self, element: Node, arrays: Sequence[list[Any]]) -> None:
        """Add bounds for pairs of arrays: as if each element had its best partner, or none."""
        lengths = np.array([len(array) for array in arrays])
        rows, columns = lengths[: self._n].nonzero()[0], lengths[self._n :].nonzero()[0]
        others = [one for array in arrays[self._n :] for one in array]
        other_starts = _starts(lengths[self._n :][columns])
        n_rows = max(1, _MAX_CELLS * len(rows) // (len(others) * lengths[: self._n].sum()))
        for first in range(0, len(rows), n_rows):
            some = rows[first : first + n_rows]
            starts, gold = _starts(lengths[some]), [one for k in some for one in arrays[k]]
            values = [*gold, MISSING, *others, MISSING]
            grid = Grid(element, values, len(gold) + 1, self._weights)
            most, least = _bounds(grid.matched, grid.stake, starts, other_starts)
            other_most, other_least = _bounds(grid.matched.T, grid.stake.T, other_starts, starts)
            most = np.minimum(most, other_most.T)
            failed = np.add.reduceat(grid._failed[:-1, :-1], other_starts, 1)
            self._cells[np.ix_(np.arange(4), some, columns)] += (
                most,
                np.maximum(2 * most, least + other_least.T),
                np.add.reduceat(failed, starts),
                np.ones_like(most),
            )

    def _add_leaf(self, node: Leaf, values: Sequence[Any]) -> None:
        units = [node.units(value) for value in values] if node.units else []
        has_units = len({*units}) > 1
        if node.prepare:
            values = [_prepared(node.prepare, value) for value in values]
        is_read = not node.prepare or not any(v is _UNREAD or v is _FAILED for v in values)
        weight, n, scores = self._weight(node), self._n, None
        places = [place for place, value in enumerate(values) if value is not MISSING]
        self._alone[places] += weight
        if is_read and node.bound and node.bound.key and not has_units:
            codes: dict[Hashable, int] = {}
            codes_of = []
            for place, value in enumerate(values):
                key = object() if value is MISSING else node.bound.key(value)
                codes_of.append(codes.setdefault(key, place))
            coded = np.array(codes_of)
            self.matched += weight * (coded[:n, None] == coded[n:])
            return
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
        if has_units:
            pairs = itertools.product(rows, columns)
            alike = np.array([not differ(units[i], units[n + j]) for i, j in pairs])
            scores = scores * alike.reshape(len(rows), len(columns))
        self.matched[cells] += weight * scores
        if node.bound is None:
            self.open[cells] += scores == 1


def _members(value: Any) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


def _elements(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _kind(value: Any) -> int:
    if value is MISSING:
        return _ABSENT
    if value is None:
        return _NULL
    return _FULL if value else _EMPTY


def _starts(lengths: Any) -> Any:
    """Return the positions where arrays of these lengths start when joined."""
    return np.cumsum([0, *lengths[:-1]])


def _bounds(
    matched: Matrix, stake: Matrix, starts: Any, other_starts: Any
) -> tuple[Matrix, Matrix]:
    """Return, for pairs of arrays, the maximum weight matched and the minimum stake of one side.

    Args:
        matched: Matched weight by pair of elements; the last row and column are for no partner.
        stake: Stake by pair of elements.
        starts: First row of each array.
        other_starts: First column of each array.
    """
    best = np.maximum.reduceat(matched[:-1, :-1], other_starts, 1)
    least = np.minimum.reduceat(stake[:-1, :-1] / 2, other_starts, 1)
    least = np.minimum(least, stake[:-1, -1:])
    return np.add.reduceat(best, starts), np.add.reduceat(least, starts)


def _prepared(prepare: Callable[[Any], Any], value: Any) -> Any:
    if value is MISSING:
        return value
    try:
        return prepare(value)
    except NOT_OF_THE_VALUE:
        return _FAILED
    except Exception:  # noqa: BLE001 - reported if the pair is chosen
        return _UNREAD


def _scores(node: Leaf, gold: Sequence[Any], extracted: Sequence[Any]) -> Matrix:
    """Score all pairs, calling the comparator once per distinct pair; NaN if it fails."""
    rows, places = np.unique(first_equal(gold), return_inverse=True)
    columns, other_places = np.unique(first_equal(extracted), return_inverse=True)
    pairs = itertools.product(rows, columns)
    table = [_score(node, gold[i], extracted[j]) for i, j in pairs]
    scores = np.array(table, dtype=float).reshape(len(rows), len(columns))
    return scores[np.ix_(places, other_places)]


def first_equal(values: Sequence[Any]) -> list[int]:
    """Return, for each value, the position of the first one that no comparator can tell from it."""
    first: dict[Hashable, int] = {}
    return [first.setdefault(value_key(value), place) for place, value in enumerate(values)]


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
        if node.fault(gold, error) == "error":
            return math.nan
        return 0.0
