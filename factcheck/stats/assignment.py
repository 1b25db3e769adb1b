"""Optimal assignment of rows to columns."""

from __future__ import annotations

from typing import Any


def assign(gains: Any) -> dict[int, int]:
    """The column of each row, in order, with the highest sum of gains; only gains above 0.

    Args:
        gains: Array of rows by columns, finite and at least 0; either number may be larger, or 0.

    Source:
        The assignment problem (Kuhn, 1955), solved by the algorithm of Jonker and Volgenant (1987)
        in `lapx`.
    """
    if not gains.size:
        return {}
    from lap import lapjvx

    rows, columns = lapjvx(gains.max() - gains, extend_cost=True, return_cost=False)
    pairs = sorted(zip(rows.tolist(), columns.tolist(), strict=True))
    return {i: j for i, j in pairs if gains[i, j] > 0}
