"""Arrays whose best pairing is only known after a batch comparator has answered.

Every pair of elements is scored with a path of its own (`items[2|0]`), all their questions go out
together with those of the record, and then the pairing is chosen and its results take their place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

from factcheck.fields.runs.metrics import Weighing
from factcheck.fields.scoring.alignment import Pairing
from factcheck.fields.scoring.hungarian import BestMatch
from factcheck.fields.scoring.nodes import ArrayNode, Node, Out
from factcheck.fields.types import FieldResult


class BatchArrayNode(ArrayNode):
    """An array to be paired at best, with fields below it that wait for a batch comparator."""

    __slots__ = ("_match",)

    def __init__(self, path: str, element: Node, match: BestMatch) -> None:
        super().__init__(path, element, match)
        self._match = match

    def _pair_elements(
        self, gold: Sequence[Any], extracted: Sequence[Any], path: str, out: Out
    ) -> None:
        if gold and extracted:
            out.append(Deferred(self, self._match, gold, extracted, path))
        else:
            super()._pair_elements(gold, extracted, path, out)


class Deferred:
    """The place of an array in a list of results, until its pairing is known."""

    def __init__(
        self,
        node: BatchArrayNode,
        match: BestMatch,
        gold: Sequence[Any],
        extracted: Sequence[Any],
        path: str,
    ) -> None:
        self._node = node
        self._match = match
        self._gold = gold
        self._extracted = extracted
        self._path = path
        self.pairs: list[list[Out]] = [
            [self._scored(g, e, f"{path}[{i}|{j}]") for j, e in enumerate(extracted)]
            for i, g in enumerate(gold)
        ]
        """The results of each pair, gold by extracted."""

    def _scored(self, gold: Any, extracted: Any, path: str) -> Out:
        out: Out = []
        self._node.element.pair(gold, extracted, path, out)
        return out

    def settle(self) -> list[FieldResult]:
        """The results of the array, once nothing below is pending any more."""
        import numpy as np

        pairs = [[settled(out) for out in row] for row in self.pairs]
        weigh = Weighing(self._match.weights)
        outcomes = np.array([[_outcome(results, weigh) for results in row] for row in pairs])
        pairing = self._match.of(outcomes[:, :, 0], outcomes[:, :, 1])
        results: Out = []
        for i, j in pairing.pairs:
            old = len(f"{self._path}[{i}|{j}]")
            for result in pairs[i][j]:
                result.path = f"{self._path}[{i}]{result.path[old:]}"
                results.append(result)
        rest = Pairing([], pairing.gold_only, pairing.extracted_only)
        self._node.score_pairing(self._gold, self._extracted, rest, self._path, results)
        return cast("list[FieldResult]", results)


def settled(out: Out) -> list[FieldResult]:
    """The results, with each deferred array replaced by its own."""
    if not any(isinstance(entry, Deferred) for entry in out):
        return cast("list[FieldResult]", out)
    results: list[FieldResult] = []
    for entry in out:
        if isinstance(entry, Deferred):
            results.extend(entry.settle())
        else:
            results.append(entry)
    return results


class Block(NamedTuple):
    """Pending results that belong together: of a record, or of one pair of elements."""

    results: list[FieldResult]
    in_array: bool


def pending_blocks(out: Out, *, in_array: bool = False) -> Iterator[Block]:
    """The pending results of a record, then those of each pair of its deferred arrays."""
    own = [entry for entry in out if isinstance(entry, FieldResult) and entry.status == "pending"]
    yield Block(own, in_array)
    for entry in out:
        if isinstance(entry, Deferred):
            for row in entry.pairs:
                for pair in row:
                    yield from pending_blocks(pair, in_array=True)


def _outcome(results: list[FieldResult], weigh: Weighing) -> tuple[float, bool]:
    """F1 of a pair, and whether it is open."""
    sums = weigh(results)
    stake = sums.found + sums.wanted
    failed = any(result.status in {"batch_error", "error"} for result in results)
    return (2 * sums.matched / stake if stake else 0.0), not stake or (failed and not sums.matched)
