"""The mean score of a judge at each share of bullets left: the curve of the classic figure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from factcheck.calibration.bullets.measures import Path
from factcheck.calibration.resampling import interval_of_mean
from factcheck.stats import Interval

_TENTHS = tuple(tenth / 10 for tenth in range(10, 0, -1))


class CurvePoint(NamedTuple):
    """Where a curve stands when some bullets are left."""

    left: float
    """Share of the bullets, in (0, 1]."""
    score: float
    """Mean over texts, each with the mean of its removal orders, in [0, 1]."""
    interval: Interval | None
    """95 %, by resampling texts; `None` with fewer than two of them."""


def curve(paths: Sequence[Path]) -> list[CurvePoint]:
    """The curve of one judge, from all bullets to few.

    Where all texts have as many bullets, it has a point for each number of bullets left; else one
    for each tenth, with scores interpolated between the two nearest numbers of bullets. Missing
    answers are left out. A share that some text does not reach has no point, for a mean over other
    texts would be another curve.
    """
    by_text: dict[str, list[list[tuple[float, float]]]] = {}
    for path in paths:
        known = [(p.bullets, p.score) for p in reversed(path.points) if p.score is not None]
        if known:
            by_text.setdefault(path.text, []).append(known)
    shares = {tuple(point.bullets for point in path.points) for path in paths}
    grid = next(iter(shares)) if len(shares) == 1 else _TENTHS
    points = []
    for left in grid:
        values = [_mean_at(left, lines) for lines in by_text.values()]
        known_values = [value for value in values if value is not None]
        if known_values and len(known_values) == len(values):
            points.append(CurvePoint(left, fmean(known_values), interval_of_mean(known_values)))
    return points


def _mean_at(left: float, lines: Sequence[Sequence[tuple[float, float]]]) -> float | None:
    values = [value for line in lines if (value := _value_at(left, line)) is not None]
    return fmean(values) if values else None


def _value_at(left: float, line: Sequence[tuple[float, float]]) -> float | None:
    """The score of a path at a share, by its two neighbours; `None` outside of the path."""
    if not line[0][0] <= left <= line[-1][0]:
        return None
    import numpy as np

    return float(np.interp(left, [x for x, _ in line], [y for _, y in line]))
