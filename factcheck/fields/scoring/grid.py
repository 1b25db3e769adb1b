"""F1 of every pair of elements of two arrays, without scoring them pair by pair.

Each field is scored for all pairs at once. Values that a comparator cannot tell apart share a
number, and numbers are compared as arrays; other comparators are asked once for each two different
values. Only where a value is of another type than the schema says, and for nested arrays that are
aligned by content, is a pair scored by itself.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from factcheck.fields.comparators.builtin import value_key
from factcheck.fields.runs.metrics import Weighing
from factcheck.fields.scoring.alignment import MISSING, in_order
from factcheck.fields.scoring.nodes import ArrayNode, Leaf, Node, ObjectNode, Skipped
from factcheck.fields.types import Numbers

Matrix = np.ndarray[Any, np.dtype[np.float64]]
"""One number for each pair: gold by extracted."""

_SMALL = 4_000
"""Pairs up to which all fields are compared in one step."""
_FAILED: Any = object()
"""Stands for a value that its transforms cannot take."""
_ABSENT, _NULL, _EMPTY, _FULL = range(4)
_OWN_STAKE = np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 2, 0], [0, 0, 0, 0]], dtype=float)
"""What an array has at stake beside its elements, by what gold and extracted side hold."""
_OWN_MATCH = np.diag([0.0, 0.0, 1.0, 0.0])
"""What it has matched beside them: two empty arrays are alike."""


class Grid:
    """What each pair of elements has matched, and what is at stake in it.

    Args:
        n: Number of gold elements.
        m: Number of extracted elements.
        weights: How much each field counts, by schema path; 1 for what is not in it.
    """

    def __init__(self, n: int, m: int, weights: Mapping[str, float]) -> None:
        self._weights = weights
        self._weigh = Weighing(weights)
        self._matched = np.zeros((n, m))
        self._stake = np.zeros((n, m))
        """What is found and what is wanted, as far as it depends on the pair."""
        self._of_gold = np.zeros((n, 1))
        self._of_extracted = np.zeros(m)
        self._failed: Matrix | None = None
        """Where it is not 0, a field of the pair could not be compared; `None`: nowhere."""
        self._codes: defaultdict[Hashable, int] = defaultdict(count().__next__)
        self._coded: list[tuple[float, list[int], list[int]]] = []
        self._numbers: defaultdict[Numbers, list[tuple[float, Any, Any]]] = defaultdict(list)

    def outcome(self) -> tuple[Matrix, Matrix | None]:
        """F1 of each pair, twice the matched sum over the stake; and 1 where it is open.

        That is where nothing could be scored, or nothing matched and a field could not be compared;
        `None`: nowhere.
        """
        matched, stake = self._totals()
        scored = stake > 0
        if self._failed is None and scored.all():
            return 2 * matched / stake, None
        f1 = np.divide(2 * matched, stake, out=np.zeros_like(matched), where=scored)
        is_open = ~scored
        if self._failed is not None:
            is_open |= (self._failed > 0) & (f1 == 0)
        return f1, is_open.astype(float)

    def _totals(self) -> tuple[Matrix, Matrix]:
        self._compare_codes()
        self._compare_numbers()
        return self._matched, self._stake + self._of_gold + self._of_extracted

    def add(self, node: Node, gold: Sequence[Any], extracted: Sequence[Any]) -> None:
        """Score one field of all pairs; values may be `MISSING`."""
        if type(node) is Leaf:
            self._add_leaf(node, gold, extracted)
        elif isinstance(node, ObjectNode):
            self._add_container(node, dict, gold, extracted)
        elif isinstance(node, ArrayNode) and node.align is in_order:
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
        odd_gold = _of_another_type(gold, kind)
        odd_extracted = _of_another_type(extracted, kind)
        if odd_gold or odd_extracted:
            inner = Grid(len(gold), len(extracted), self._weights)
            inner.add(node, _without(gold, odd_gold), _without(extracted, odd_extracted))
            matched, stake = inner._totals()
            for i in range(len(gold)):
                for j in range(len(extracted)) if i in odd_gold else odd_extracted:
                    matched[i, j] = stake[i, j] = 0.0
            self._matched += matched
            self._stake += stake
            if inner._failed is not None:
                self._fail(..., inner._failed)
            self._score_pairs(node, gold, extracted, odd_gold, range(len(extracted)))
            regular = [i for i in range(len(gold)) if i not in odd_gold]
            self._score_pairs(node, gold, extracted, regular, odd_extracted)
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
        if not all(value.keys() <= known for value in others):
            unknown = np.array([len(value.keys() - known) for value in others])
            self._stake += np.array([[isinstance(value, dict)] for value in gold]) * unknown
        if {} in gold and {} in extracted:
            empty = np.array([[g == {}] for g in gold]) & np.array([e == {} for e in extracted])
            self._matched += self._weight(node) * empty
            self._stake += 2 * self._weight(node) * empty

    def _add_arrays(self, node: ArrayNode, gold: Sequence[Any], extracted: Sequence[Any]) -> None:
        kinds, other_kinds = _kinds(gold), _kinds(extracted)
        if {_NULL, _EMPTY} & {*kinds, *other_kinds}:
            place = np.ix_(kinds, other_kinds)
            self._stake += self._weight(node) * _OWN_STAKE[place]
            self._matched += self._weight(node) * _OWN_MATCH[place]
        longest = max(map(len, (v for v in (*gold, *extracted) if isinstance(v, list))), default=0)
        for k in range(longest):
            self.add(node.element, _elements(gold, k), _elements(extracted, k))

    def _add_leaf(self, node: Leaf, gold: Sequence[Any], extracted: Sequence[Any]) -> None:
        gold, extracted = _prepared(node, gold), _prepared(node, extracted)
        bound, weight = node.bound, self._weight(node)
        if node.prepare is not None and _any_failed(gold, extracted):
            self._compare(node, gold, extracted)
        elif bound.key is not None:
            codes = (self._codes_of(gold, bound.key), self._codes_of(extracted, bound.key))
            self._coded.append((weight, *codes))
        elif bound.numbers is not None and self._add_numbers(
            bound.numbers, weight, gold, extracted
        ):
            return
        elif bound.scores is not None:
            self._score_all(bound.scores, weight, gold, extracted)
        else:
            self._compare(node, gold, extracted)

    def _add_numbers(
        self, numbers: Numbers, weight: float, gold: Sequence[Any], extracted: Sequence[Any]
    ) -> bool:
        """Put a field aside to be compared as arrays; false if its values are not all plain."""
        columns = [_as_numbers(numbers, values) for values in (gold, extracted)]
        if columns[0] is None or columns[1] is None:
            return False
        self._numbers[numbers].append((weight, columns[0], columns[1]))
        return True

    def _compare_numbers(self) -> None:
        """Compare what `_add_numbers` has put aside, all fields with the same limits at once."""
        for numbers, columns in self._numbers.items():
            weights, gold_columns, extracted_columns = zip(*columns, strict=True)
            weight = np.array(weights)
            gold, extracted = np.array(gold_columns), np.array(extracted_columns)
            self._of_gold += (weight @ ~np.isnan(gold))[:, None]
            self._of_extracted += weight @ ~np.isnan(extracted)
            if self._matched.size <= _SMALL:
                near = numbers.near(gold[:, :, None], extracted[:, None, :])
                self._matched += _weighted(weight, near)
                continue
            for k, own_weight in enumerate(weights):
                self._matched += own_weight * numbers.near(gold[k][:, None], extracted[k])
        self._numbers.clear()

    def _score_all(
        self,
        scores: Callable[[Sequence[Any], Sequence[Any]], Matrix],
        weight: float,
        gold: Sequence[Any],
        extracted: Sequence[Any],
    ) -> None:
        """Score a field by a comparator that takes all pairs at once."""
        if MISSING not in gold and MISSING not in extracted:
            self._of_gold += weight
            self._of_extracted += weight
            self._matched += weight * scores(gold, extracted)
            return
        rows, columns = _present(gold), _present(extracted)
        self._of_gold[rows] += weight
        self._of_extracted[columns] += weight
        if rows and columns:
            values = [gold[i] for i in rows], [extracted[j] for j in columns]
            self._matched[np.array(rows)[:, None], columns] += weight * scores(*values)

    def _codes_of(self, values: Sequence[Any], key: Callable[[Any], Hashable]) -> list[int]:
        """A number for each value, the same for the same key; negative where there is none."""
        code = self._codes.__getitem__
        if MISSING not in values:
            return list(map(code, map(key, values)))
        return [-1 if value is MISSING else code(key(value)) for value in values]

    def _compare_codes(self) -> None:
        """Compare what `_add_leaf` has put aside, many fields at once."""
        if not self._coded:
            return
        weights, gold_lists, extracted_lists = zip(*self._coded, strict=True)
        self._coded = []
        weight = np.array(weights)
        gold, extracted = np.array(gold_lists), np.array(extracted_lists)
        self._of_gold += (weight @ (gold >= 0))[:, None]
        self._of_extracted += weight @ (extracted >= 0)
        extracted[extracted < 0] = -2  # what neither side has is no match
        if self._matched.size <= _SMALL:
            equal = gold[:, :, None] == extracted[:, None, :]
            self._matched += _weighted(weight, equal)
            return
        for k, own_weight in enumerate(weights):
            self._matched += own_weight * (gold[k][:, None] == extracted[k])

    def _compare(self, node: Leaf, gold: Sequence[Any], extracted: Sequence[Any]) -> None:
        """Score a field by its comparator, once for each two different values."""
        weight = self._weight(node)
        present, other_present = _present(gold), _present(extracted)
        self._of_gold[present] += weight
        self._of_extracted[other_present] += weight
        places, values = _distinct([gold[i] for i in present])
        other_places, other_values = _distinct([extracted[j] for j in other_present])
        scores = _scores(node, values, other_values)[np.ix_(places, other_places)]
        undecided = np.isnan(scores)
        cells = np.ix_(present, other_present)
        self._matched[cells] += weight * np.where(undecided, 0.0, scores)
        if undecided.any():
            self._stake[cells] -= 2 * weight * undecided
            self._fail(cells, undecided)

    def _fail(self, cells: Any, failed: Any) -> None:
        if self._failed is None:
            self._failed = np.zeros_like(self._matched)
        self._failed[cells] += failed

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
                results = _results(node, gold[i], extracted[j])
                sums = self._weigh(results)
                self._matched[i, j] += sums.matched
                self._stake[i, j] += sums.found + sums.wanted
                if any(result.status == "error" for result in results):
                    self._fail((i, j), 1.0)


def _results(node: Node, gold: Any, extracted: Any) -> list[Any]:
    """The results of one pair."""
    out: list[Any] = []
    if gold is not MISSING and extracted is not MISSING:
        node.pair(gold, extracted, node.path, out)
    elif gold is not MISSING:
        node.omission(gold, node.path, out)
    elif extracted is not MISSING:
        node.hallucination(extracted, node.path, out)
    return out


def _weighted(weight: Matrix, matches: Any) -> Matrix:
    """The weighted sum over fields of what matches, for each pair."""
    count, n, m = matches.shape
    total: Matrix = weight @ matches.reshape(count, n * m).astype(float)
    return total.reshape(n, m)


def _of_another_type(values: Sequence[Any], kind: type) -> list[int]:
    if set(map(type, values)) <= {kind, type(None), type(MISSING)}:
        return []
    return [
        place
        for place, value in enumerate(values)
        if not isinstance(value, kind) and value is not None and value is not MISSING
    ]


def _objects(values: Sequence[Any]) -> Sequence[Mapping[str, Any]]:
    """The values, with an empty object wherever there is none."""
    if set(map(type, values)) == {dict}:
        return values
    return [value if isinstance(value, dict) else {} for value in values]


def _without(values: Sequence[Any], places: list[int]) -> Sequence[Any]:
    left = list(values)
    for place in places:
        left[place] = MISSING
    return left


def _elements(values: Sequence[Any], k: int) -> list[Any]:
    return [v[k] if isinstance(v, list) and k < len(v) else MISSING for v in values]


def _kinds(values: Sequence[Any]) -> list[int]:
    return [
        _ABSENT if v is MISSING else _NULL if v is None else _FULL if v else _EMPTY for v in values
    ]


def _present(values: Sequence[Any]) -> list[int]:
    return [place for place, value in enumerate(values) if value is not MISSING]


def _prepared(node: Leaf, values: Sequence[Any]) -> Sequence[Any]:
    """The values after their transforms."""
    if node.prepare is None:
        return values
    return [_prepare(node.prepare, value) for value in values]


def _prepare(prepare: Callable[[Any], Any], value: Any) -> Any:
    try:
        return value if value is MISSING else prepare(value)
    except Exception:  # noqa: BLE001 - said where the chosen pair is scored
        return _FAILED


def _as_numbers(numbers: Numbers, values: Sequence[Any]) -> Any:
    """Values as an array, NaN where there is none; `None` if they are not all plain numbers."""
    if MISSING not in values:
        return numbers.array(values)
    places = _present(values)
    plain = numbers.array([values[place] for place in places])
    if plain is None:
        return None
    column = np.full(len(values), np.nan)
    column[places] = plain
    return column


def _any_failed(*columns: Sequence[Any]) -> bool:
    return any(value is _FAILED for values in columns for value in values)


def _distinct(values: Sequence[Any]) -> tuple[list[int], list[Any]]:
    """For each value the place of its equal in a list without repetition, and that list."""
    place_of: dict[Any, int] = {}
    places = []
    distinct: list[Any] = []
    for value in values:
        place = place_of.setdefault(value_key(value), len(distinct))
        if place == len(distinct):
            distinct.append(value)
        places.append(place)
    return places, distinct


def _scores(node: Leaf, gold: Sequence[Any], extracted: Sequence[Any]) -> Matrix:
    """The scores of all pairs of values; NaN where there is none."""
    rows = [[_score(node, g, e) for e in extracted] for g in gold]
    return np.array(rows, dtype=float).reshape(len(gold), len(extracted))


def _score(node: Leaf, gold: Any, extracted: Any) -> float:
    if gold is _FAILED or extracted is _FAILED:
        return math.nan
    try:
        return node.compare(gold, extracted)[0]
    except Exception:  # noqa: BLE001 - said where the chosen pair is scored
        return math.nan
