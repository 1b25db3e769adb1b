"""Alignment of arrays by key, or optimally: the pairing of elements with the highest total F1.

If the F1 of pairs depends on a batch comparator, every pair is scored under a path of its own
(`items[2|0]`), the pending fields of all pairs are compared together with those of the record, and
then the pairing is chosen.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from factcheck.fields.runs.records import WeightedCounts
from factcheck.fields.scoring.nodes import (
    MISSING,
    ArrayNode,
    Deferred,
    Node,
    Out,
    Pairing,
    by_position,
)
from factcheck.fields.types import FieldResult
from factcheck.stats.correlation import assign


class OptimalMatch:
    """Pairs elements so that the sum of F1 over all pairs is as high as possible."""

    def __init__(
        self, element: Node, threshold: float | None, weights: Mapping[str, float]
    ) -> None:
        self._element = element
        self._threshold = threshold
        self.weights = weights

    def __call__(self, gold: Sequence[Any], extracted: Sequence[Any], _path: str) -> Pairing:
        if not gold or not extracted:
            return by_position(gold, extracted)
        from factcheck.fields.scoring.grid import Grid

        grid = Grid(len(gold), len(extracted), self.weights)
        grid.add(self._element, gold, extracted)
        return self.of(*grid.outcome())

    def of(self, f1: Any, undecided: Any) -> Pairing:
        """The optimal pairing for given pair scores.

        Args:
            f1: F1 of each pair, an array of gold by extracted elements.
            undecided: 1 for each pair in which nothing could be scored, or nothing matched and a
                field could not be compared; `None`: there is none. Elements that are left over are
                paired there, since they may be neither omitted nor hallucinated.
        """
        if self._threshold is not None:
            f1[f1 < self._threshold] = 0.0
        partner = assign(f1)
        if undecided is not None and len(partner) < min(f1.shape):
            undecided[list(partner)] = 0.0
            undecided[:, list(partner.values())] = 0.0
            partner.update(assign(undecided))
        taken = set(partner.values())
        n, m = f1.shape
        return Pairing(
            sorted(partner.items()),
            [i for i in range(n) if i not in partner],
            [j for j in range(m) if j not in taken],
        )


class BatchArrayNode(ArrayNode):
    """An optimally aligned array with batch comparators below it."""

    __slots__ = ("match",)

    def __init__(self, path: str, element: Node, match: OptimalMatch) -> None:
        super().__init__(path, element, match)
        self.match = match

    def pair_elements(
        self, gold: Sequence[Any], extracted: Sequence[Any], path: str, out: Out
    ) -> None:
        if gold and extracted:
            out.append(_DeferredArray(self, gold, extracted, path))
        else:
            super().pair_elements(gold, extracted, path, out)


class _DeferredArray(Deferred):
    def __init__(
        self, node: BatchArrayNode, gold: Sequence[Any], extracted: Sequence[Any], path: str
    ) -> None:
        self._node = node
        self._gold = gold
        self._extracted = extracted
        self._path = path
        self.pairs = [
            [self._scored(g, e, f"{path}[{i}|{j}]") for j, e in enumerate(extracted)]
            for i, g in enumerate(gold)
        ]

    def _scored(self, gold: Any, extracted: Any, path: str) -> Out:
        out: Out = []
        self._node.element.pair(gold, extracted, path, out)
        return out

    def settle(self) -> list[FieldResult]:
        import numpy as np

        node, path = self._node, self._path
        pairs = [[settled(out) for out in row] for row in self.pairs]
        count = WeightedCounts(node.match.weights)
        outcomes = np.array([[_outcome(results, count) for results in row] for row in pairs])
        pairing = node.match.of(outcomes[:, :, 0], outcomes[:, :, 1])
        results: Out = []
        for i, j in pairing.pairs:
            n_prefix = len(f"{path}[{i}|{j}]")
            for result in pairs[i][j]:
                result.path = f"{path}[{i}]{result.path[n_prefix:]}"
                results.append(result)
        rest = Pairing([], pairing.gold_only, pairing.extracted_only)
        node.score(self._gold, self._extracted, rest, path, results)
        return cast("list[FieldResult]", results)


def settled(out: Out) -> list[FieldResult]:
    if not any(isinstance(entry, Deferred) for entry in out):
        return cast("list[FieldResult]", out)
    results: list[FieldResult] = []
    for entry in out:
        results += entry.settle() if isinstance(entry, Deferred) else [entry]
    return results


def pending_blocks(out: Out, *, in_array: bool = False) -> Iterator[tuple[list[FieldResult], bool]]:
    """The pending results of a record, then of each pair of elements in its deferred arrays.

    With each list, whether it is of a pair of elements.
    """
    own = [entry for entry in out if isinstance(entry, FieldResult) and entry.status == "pending"]
    yield own, in_array
    for entry in out:
        if isinstance(entry, Deferred):
            for row in entry.pairs:
                for pair in row:
                    yield from pending_blocks(pair, in_array=True)


def _outcome(results: list[FieldResult], count: WeightedCounts) -> tuple[float, bool]:
    counts = count(results)
    stake = counts.n_extracted + counts.n_gold
    failed = any(result.status in {"batch_error", "error"} for result in results)
    undecided = not stake or (failed and not counts.matched)
    return (2 * counts.matched / stake if stake else 0.0), undecided


_log = logging.getLogger("factcheck.fields")


class KeyMatch:
    """Pairs elements with equal keys; of several with the same key, the first."""

    def __init__(self, key_of: Callable[[Any], Any]) -> None:
        self._key_of = key_of
        self._has_warned = False

    def __call__(self, gold: Sequence[Any], extracted: Sequence[Any], path: str) -> Pairing:
        free: dict[Any, int] = {}
        unkeyed = []
        for place, element in enumerate(extracted):
            key = self._key_of(element)
            if key is MISSING or key in free:
                unkeyed.append(place)
            else:
                free[key] = place
        n_unkeyed = len(unkeyed)
        pairs, gold_only = [], []
        for place, element in enumerate(gold):
            key = self._key_of(element)
            n_unkeyed += key is MISSING
            if key is not MISSING and key in free:
                pairs.append((place, free.pop(key)))
            else:
                gold_only.append(place)
        if n_unkeyed and not self._has_warned:
            self._has_warned = True
            _log.warning(
                "%s: %d elements have no unique key and stay unmatched, here and in later records",
                path,
                n_unkeyed,
            )
        return Pairing(pairs, gold_only, [*free.values(), *unkeyed], in_gold_order=True)


def is_key(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isnan(value)
    return isinstance(value, (str, int)) and not isinstance(value, bool)
