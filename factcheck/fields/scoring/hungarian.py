"""The pairing of two arrays with the highest total F1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from factcheck.fields.scoring.alignment import Pairing, by_position
from factcheck.fields.scoring.nodes import Node

if TYPE_CHECKING:
    from factcheck.fields.scoring.grid import Matrix


class BestMatch:
    """Pairs elements such that the sum of the pairs' F1 is as high as can be.

    Args:
        element: What scores a pair.
        threshold: F1 that a pair needs; `None`: more than 0. A pair in which nothing could be
            scored never takes an element from another one.
        weights: How much each field counts, by schema path.

    Source:
        The assignment problem (Kuhn, 1955), solved by `scipy.optimize.linear_sum_assignment`.
    """

    def __init__(
        self, element: Node, threshold: float | None, weights: Mapping[str, float]
    ) -> None:
        self._element = element
        self._threshold = threshold
        self.weights = weights

    def __call__(self, gold: Sequence[Any], extracted: Sequence[Any], _path: str) -> Pairing:
        """Which elements belong together."""
        if not gold or not extracted:
            return by_position(len(gold), len(extracted))
        from factcheck.fields.scoring.grid import Grid

        grid = Grid(len(gold), len(extracted), self.weights)
        grid.add(self._element, gold, extracted)
        return self.of(*grid.outcome())

    def of(self, f1: Matrix, is_open: Matrix | None) -> Pairing:
        """The best pairing.

        Args:
            f1: F1 of each pair, gold by extracted.
            is_open: 1 where nothing could be scored, or nothing matched and a field could not be
                compared; `None`: nowhere. Elements that are left over are paired there: for all
                one knows they are neither lost nor invented.
        """
        if self._threshold is not None:
            f1[f1 < self._threshold] = 0.0
        partner = _assign(f1)
        if is_open is not None and len(partner) < min(f1.shape):
            is_open[list(partner)] = 0.0
            is_open[:, list(partner.values())] = 0.0
            partner.update(_assign(is_open))
        taken = set(partner.values())
        n, m = f1.shape
        return Pairing(
            sorted(partner.items()),
            [i for i in range(n) if i not in partner],
            [j for j in range(m) if j not in taken],
        )


def _assign(gains: Matrix) -> dict[int, int]:
    """For each row its column, such that the sum of gains is highest; only where there is one."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(gains, maximize=True)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return {i: j for i, j in pairs if gains[i, j] > 0}
