"""Optimally aligned arrays whose pairing depends on a batch comparator.

Every pair of elements is scored under a path of its own (`items[2|0]`), the pending fields of all
pairs are compared together with those of the record, and then the pairing is chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

from factcheck.fields.runs.records import WeightedCounts
from factcheck.fields.scoring.assignment import OptimalMatch
from factcheck.fields.scoring.nodes import ArrayNode, Deferred, Node, Out
from factcheck.fields.scoring.pairing import Pairing
from factcheck.fields.types import FieldResult


class BatchArrayNode(ArrayNode):
    """An optimally aligned array with batch comparators below it."""

    __slots__ = ("match",)

    def __init__(self, path: str, element: Node, match: OptimalMatch) -> None:
        super().__init__(path, element, match)
        self.match = match

    def pair_elements(
        self, gold: Sequence[Any], extracted: Sequence[Any], path: str, out: Out
    ) -> None:
        """Score every pair of elements and leave the pairing for later."""
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
    """The results, with those of each deferred array in its place."""
    if not any(isinstance(entry, Deferred) for entry in out):
        return cast("list[FieldResult]", out)
    results: list[FieldResult] = []
    for entry in out:
        results += entry.settle() if isinstance(entry, Deferred) else [entry]
    return results


class Block(NamedTuple):
    """Pending results that belong together: of a record, or of one pair of elements."""

    results: list[FieldResult]
    in_array: bool


def pending_blocks(out: Out, *, in_array: bool = False) -> Iterator[Block]:
    """The pending results of a record, then those of each pair in its deferred arrays."""
    own = [entry for entry in out if isinstance(entry, FieldResult) and entry.status == "pending"]
    yield Block(own, in_array)
    for entry in out:
        if isinstance(entry, Deferred):
            for row in entry.pairs:
                for pair in row:
                    yield from pending_blocks(pair, in_array=True)


def _outcome(results: list[FieldResult], count: WeightedCounts) -> tuple[float, bool]:
    """F1 of a pair, and whether it is undecided."""
    counts = count(results)
    stake = counts.n_extracted + counts.n_gold
    failed = any(result.status in {"batch_error", "error"} for result in results)
    undecided = not stake or (failed and not counts.matched)
    return (2 * counts.matched / stake if stake else 0.0), undecided
