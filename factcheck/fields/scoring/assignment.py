"""Optimal alignment: the pairing of two arrays with the highest total F1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from factcheck.fields.scoring.nodes import Node
from factcheck.fields.scoring.pairing import Pairing, by_position
from factcheck.stats.assignment import assign


class OptimalMatch:
    """Pairs elements so that the sum of F1 over all pairs is as high as possible.

    Args:
        element: Scores a pair of elements.
        threshold: Lowest F1 of a pair; `None`: above 0. A pair in which nothing could be scored
            never takes an element from another pair.
        weights: Weight of each field by schema path; 1 for any other.
    """

    def __init__(
        self, element: Node, threshold: float | None, weights: Mapping[str, float]
    ) -> None:
        self._element = element
        self._threshold = threshold
        self.weights = weights

    def __call__(self, gold: Sequence[Any], extracted: Sequence[Any], _path: str) -> Pairing:
        """The optimal pairing."""
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
