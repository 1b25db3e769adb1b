"""Correlation of short sequences (Pearson, Kendall's tau-b), and optimal assignment."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


def ranks(values: Any) -> Any:
    """Ranks from 1, ties sharing their mean rank, as an array of floats."""
    import numpy as np

    _, place, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[place.reshape(-1)]


def pearson(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Pearson's r, in [-1, 1]; NaN where one side is constant."""
    import numpy as np

    units = []
    for values in (np.asarray(xs, dtype=float), np.asarray(ys, dtype=float)):
        if not np.ptp(values):
            return math.nan
        centred = values - values.mean()
        largest = np.abs(centred).max()  # tiny values would lose their squares
        units.append(centred / (largest * np.linalg.norm(centred / largest, axis=-1)))
    return float(np.clip(np.dot(*units), -1.0, 1.0))


def kendall(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Kendall's tau-b, in [-1, 1]; NaN where one side is constant. Quadratic in the length."""
    import numpy as np

    x, y = (np.sign(np.subtract.outer(values, values)).astype(int) for values in (xs, ys))
    untied_x, untied_y = int((x != 0).sum()) // 2, int((y != 0).sum()) // 2
    if not untied_x or not untied_y:
        return math.nan
    concordance = int((x * y).sum()) // 2
    tau = concordance / math.sqrt(untied_x) / math.sqrt(untied_y)
    return min(1.0, max(-1.0, tau))


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
