"""F1 of all pairs of elements of two arrays, computed field by field.

Each field is scored for all pairs at once: values that a comparator considers equal share a code,
some comparators are vectorized, and others are called once per pair of distinct values. Values
without parts, such as an empty object or a value of an unexpected type, are scored by their node.
With nested arrays that are not aligned by position, the F1 of a pair is an upper bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, product, zip_longest
from typing import Any

import numpy as np

from factcheck.fields.nodes import (
    MISSING,
    ArrayNode,
    Leaf,
    Node,
    ObjectNode,
    RecursiveNode,
    Unread,
    are_alike,
    by_position,
)
from factcheck.fields.records import count
from factcheck.fields.types import BoundComparator
from factcheck.fields.values import value_key
from factcheck.stats.resampling import Matrix

Side = Sequence[Any]
"""Values of gold, or extracted ones; both may be `MISSING`."""

_MAX_CELLS = 1_000_000
"""Approximate maximum number of pairs of elements of nested arrays that are held at a time."""


class Grid:
    """Matched weight and stake (gold plus extracted weight) of each pair, which determine F1."""

    def __init__(
        self, element: Node, gold: Side, extracted: Side, weights: Mapping[str, float]
    ) -> None:
        self._weights = weights
        self.cells = np.zeros((4, len(gold), len(extracted)))
        self.matched, self.stake, self.failed, self.open = self.cells
        """By pair: matched weight, weight of its gold and extracted fields, whether a field could
        not be compared, and whether one is open: it awaits a batch comparator or the alignment of a
        nested array, and is counted as matched."""
        self._alone, self._other_alone = np.zeros(len(gold)), np.zeros(len(extracted))
        """Parts of the stake that depend on one side only."""
        self._add(element, gold, extracted)
        self.stake += np.add.outer(self._alone, self._other_alone)

    def f1(self) -> tuple[Matrix, Matrix]:
        """Return F1 of each pair, and the preference of each undecided pair, else 0.

        A pair is undecided if no field in it could be scored, or if none matched and one could not
        be compared; the smaller its stake, the higher its preference.
        """
        is_scored = self.stake > 0
        f1 = 2 * self.matched / np.where(is_scored, self.stake, 1.0)
        undecided = ~is_scored | ((self.failed > 0) & (f1 == 0))
        return f1, undecided / (1 + self.stake)

    def _add(self, node: Node, gold: Side, extracted: Side) -> None:
        """Score one field for all pairs."""
        if isinstance(node, RecursiveNode):
            if all(value is MISSING for value in chain(gold, extracted)):
                return  # the data ends here, the schema does not
            node = node.compiled()
        if isinstance(node, Leaf):
            self._add_leaf(node, gold, extracted)
        elif isinstance(node, ObjectNode | ArrayNode):
            self._add_container(node, gold, extracted)

    def _add_container(self, node: ObjectNode | ArrayNode, gold: Side, extracted: Side) -> None:
        kind = dict if isinstance(node, ObjectNode) else list
        typed = (kind, type(None), type(MISSING))
        odd = [i for i, value in enumerate(gold) if not isinstance(value, typed)]
        other_odd = [j for j, value in enumerate(extracted) if not isinstance(value, typed)]
        if odd or other_odd:
            rows = [i for i in range(len(gold)) if i not in odd]
            columns = [j for j in range(len(extracted)) if j not in other_odd]
            values = [gold[i] for i in rows], [extracted[j] for j in columns]
            self.cells[np.ix_(range(4), rows, columns)] += Grid(node, *values, self._weights).cells
            self._add_whole(node, gold, extracted, odd, range(len(extracted)))
            self._add_whole(node, gold, extracted, rows, other_odd)
            return
        empty = [i for i, value in enumerate(gold) if not value]
        other_empty = [j for j, value in enumerate(extracted) if not value]
        self._add_whole(node, gold, extracted, empty, other_empty)
        if isinstance(node, ObjectNode):
            self._add_objects(node, gold, extracted)
        else:
            self._add_arrays(node, [one or [] for one in gold], [one or [] for one in extracted])

    def _add_whole(
        self, node: Node, gold: Side, extracted: Side, rows: Sequence[int], columns: Sequence[int]
    ) -> None:
        """Score some pairs by their node, one by one."""

        def score(one: Any, other: Any) -> tuple[float, float]:
            out: list[Any] = []
            if one is not MISSING or other is not MISSING:
                node.score(one, other, node.path, out)
            counts = count(out, self._weights)
            return counts.matched, counts.n_extracted + counts.n_gold

        if rows and columns:
            cells = np.ix_(range(2), rows, columns)
            self.cells[cells] += _table(
                score, [gold[i] for i in rows], [extracted[j] for j in columns]
            )

    def _add_objects(self, node: ObjectNode, gold: Side, extracted: Side) -> None:
        objects, others = [one or {} for one in gold], [one or {} for one in extracted]
        children = dict(node.children)
        if node.rest is not None:
            for key in chain(*objects, *others):
                children.setdefault(key, node.rest)
        for name, child in children.items():
            values = [value.get(name, MISSING) for value in objects]
            self._add(child, values, [value.get(name, MISSING) for value in others])
        known = children.keys()
        if not all(value.keys() <= known for value in others):
            n_unknown = [len(value.keys() - known) for value in others]
            are_objects = [isinstance(value, dict) for value in gold]
            have_no_known = [value.keys().isdisjoint(known) for value in others]
            self.stake += np.logical_or.outer(are_objects, have_no_known) * n_unknown

    def _add_arrays(self, node: ArrayNode, gold: Side, extracted: Side) -> None:
        if node.align is by_position and not node.search:
            for elements in zip_longest(*gold, *extracted, fillvalue=MISSING):
                self._add(node.element, elements[: len(gold)], elements[len(gold) :])
            return
        is_full, is_other_full = (np.array([*map(bool, side)], bool) for side in (gold, extracted))
        if is_full.any() and is_other_full.any():
            self._add_bounds(node.element, gold, extracted)
        if is_full.all() and is_other_full.all():
            return
        in_order = replace(node, align=by_position, search=None)
        alone = Grid(in_order, gold, [MISSING], self._weights).stake[:, 0] * is_full
        other_alone = Grid(in_order, [MISSING], extracted, self._weights).stake[0] * is_other_full
        self.stake += np.outer(alone, ~is_other_full) + np.outer(~is_full, other_alone)

    def _add_bounds(self, element: Node, gold: Side, extracted: Side) -> None:
        """Add bounds for pairs of arrays: as if each element had its best partner, or none."""
        rows = [i for i, array in enumerate(gold) if array]
        columns = [j for j, array in enumerate(extracted) if array]
        others = list(chain(*extracted))
        other_starts = _starts([extracted[j] for j in columns])
        n_rows = max(1, _MAX_CELLS * len(rows) // (len(others) * sum(map(len, gold))))
        for first in range(0, len(rows), n_rows):
            some = rows[first : first + n_rows]
            arrays = [gold[i] for i in some]
            starts = _starts(arrays)
            grid = Grid(element, [*chain(*arrays), MISSING], [*others, MISSING], self._weights)
            most, least = _bounds(grid.matched, grid.stake, starts, other_starts)
            other_most, other_least = _bounds(grid.matched.T, grid.stake.T, other_starts, starts)
            most = np.minimum(most, other_most.T)
            failed = np.add.reduceat(grid.failed[:-1, :-1], other_starts, 1)
            self.cells[np.ix_(range(4), some, columns)] += (
                most,
                np.maximum(2 * most, least + other_least.T),
                np.add.reduceat(failed, starts),
                np.ones_like(most),
            )

    def _add_leaf(self, node: Leaf, gold: Side, extracted: Side) -> None:
        weight = self._weights.get(node.path, 1.0)
        cells: Any = np.s_[:, :]
        rows = [place for place, value in enumerate(gold) if value is not MISSING]
        columns = [place for place, value in enumerate(extracted) if value is not MISSING]
        self._alone[rows] += weight
        self._other_alone[columns] += weight
        if not rows or not columns:
            return
        if len(rows) < len(gold) or len(columns) < len(extracted):
            cells = np.ix_(rows, columns)
            gold, extracted = [gold[i] for i in rows], [extracted[j] for j in columns]
        scores = _scores(node, gold, extracted)
        has_failed = np.isnan(scores)
        if has_failed.any():
            scores[has_failed] = 0.0
            self.stake[cells] -= 2 * weight * has_failed
            self.failed[cells] += has_failed
        self.matched[cells] += weight * scores
        if node.bound is None:
            self.open[cells] += scores == 1


def _starts(arrays: Sequence[list[Any]]) -> Any:
    """Return the positions where arrays start when joined."""
    return np.cumsum([0, *map(len, arrays[:-1])])


def _bounds(
    matched: Matrix, stake: Matrix, starts: Any, other_starts: Any
) -> tuple[Matrix, Matrix]:
    """Return, for pairs of arrays, the maximum weight matched and the minimum stake of one side.

    The last row and column of `matched` and `stake` are for elements without partner.
    """
    best = np.maximum.reduceat(matched[:-1, :-1], other_starts, 1)
    least = np.minimum.reduceat(stake[:-1, :-1] / 2, other_starts, 1)
    least = np.minimum(least, stake[:-1, -1:])
    return np.add.reduceat(best, starts), np.add.reduceat(least, starts)


def _scores(node: Leaf, gold: Side, extracted: Side) -> Any:
    """Score all pairs of values of a field; NaN if the comparison fails."""
    own, others = [*map(node.read, gold)], [*map(node.read, extracted)]
    scores = None
    if not any(isinstance(one, Unread) for one in chain(own, others)):
        scores = _at_once(node.bound, own, others)
    if scores is None:
        [scores] = _table(partial(_score, node), own, others)
    if node.units:
        [have_common] = _table(are_alike, [*map(node.units, gold)], [*map(node.units, extracted)])
        scores = scores * have_common
    return scores


def _at_once(bound: BoundComparator | None, gold: Side, extracted: Side) -> Matrix | None:
    """Score all pairs without comparing each; `None` if that is impossible."""
    if bound is None or bound.key is None:
        return bound.scores(gold, extracted) if bound and bound.scores else None
    codes: dict[Hashable, int] = {}
    keys = map(bound.key, chain(gold, extracted))
    coded = np.array([codes.setdefault(key, place) for place, key in enumerate(keys)])
    scores: Matrix = (coded[: len(gold), None] == coded[len(gold) :]).astype(float)
    return scores


def _score(node: Leaf, gold: Any, extracted: Any) -> float:
    """Score a pair; NaN if the comparison fails, 1 if the verdict is pending."""
    status, score, _ = node.verdict(gold, extracted)
    return {"error": math.nan, "pending": 1.0}.get(status, score)


def _table(score: Callable[[Any, Any], Any], gold: Side, extracted: Side) -> Any:
    """Call a function once per pair of distinct values; return its numbers, each by pair."""
    rows, columns = first_equal(gold), first_equal(extracted)
    own, others = list(dict.fromkeys(rows)), list(dict.fromkeys(columns))
    numbers = [score(gold[i], extracted[j]) for i, j in product(own, others)]
    by_pair = np.array(numbers, dtype=float).T.reshape(-1, len(own), len(others))
    return by_pair[:, np.searchsorted(own, rows)[:, None], np.searchsorted(others, columns)]


def first_equal(values: Side) -> list[int]:
    """Return, for each value, the position of the first one that no comparator can tell from it."""
    first: dict[Hashable, int] = {}
    return [first.setdefault(value_key(value), place) for place, value in enumerate(values)]
