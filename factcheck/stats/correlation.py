"""Correlation coefficients of short sequences: Pearson, Spearman, Kendall's tau-b."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
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

    x, y = _unit(np.asarray(xs, dtype=float)), _unit(np.asarray(ys, dtype=float))
    return math.nan if x is None or y is None else float(np.clip(np.dot(x, y), -1.0, 1.0))


def _unit(values: Any) -> Any:
    """The values around their mean, with length 1; `None` if they are all equal."""
    import numpy as np

    if not np.ptp(values):
        return None
    centred = values - values.mean()
    largest = np.abs(centred).max()
    return centred / (largest * np.linalg.norm(centred / largest, axis=-1))


def spearman(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Spearman's rho, in [-1, 1]; NaN where one side is constant."""
    import numpy as np

    x, y = ranks(xs), ranks(ys)
    if not np.ptp(x) or not np.ptp(y):
        return math.nan
    return float(np.corrcoef(x, y)[1, 0])


def kendall(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Kendall's tau-b, in [-1, 1]; NaN where one side is constant. Quadratic in the length."""
    concordance = sum(
        _sign(x2 - x1) * _sign(y2 - y1)
        for (x1, y1), (x2, y2) in combinations(zip(xs, ys, strict=True), 2)
    )
    n_pairs = len(xs) * (len(xs) - 1) // 2
    untied_x, untied_y = n_pairs - _tied_pairs(xs), n_pairs - _tied_pairs(ys)
    if not untied_x or not untied_y:
        return math.nan
    tau = concordance / math.sqrt(untied_x) / math.sqrt(untied_y)
    return min(1.0, max(-1.0, tau))


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _tied_pairs(values: Sequence[float]) -> int:
    return sum(n * (n - 1) // 2 for n in Counter(values).values())
