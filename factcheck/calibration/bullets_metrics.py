"""Metrics of a judge's score while bullets are removed, and its curve, with intervals.

Only complete answers count: a variant with an undecided fact is missing, and so is every step to or
from it. A metric is the mean over the removal orders of a text, then over the texts; its interval
comes from resampling texts, since variants of one text are not independent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Any, NamedTuple

from factcheck.stats.correlation import kendall, spearman
from factcheck.stats.intervals import Estimate, Interval
from factcheck.stats.resampling import bootstrap_mean, mean_estimate

_TENTHS = tuple(tenth / 10 for tenth in range(10, 0, -1))


class Point(NamedTuple):
    """A variant on a path: what the judge says of it, and what is left in truth."""

    bullets: float
    """Share of the bullets that are left, in (0, 1]."""
    characters: float
    """Share of their characters, in (0, 1]."""
    facts: float | None
    """Share of the facts that the bullets left carry; `None` if unknown."""
    expected: float | None
    """The true score; `None` if unknown."""
    score: float | None
    """`None` for a missing answer."""
    found: float | None = None
    """Of the facts that are really there, the share called entailed; `None` if unknown."""
    invented: float | None = None
    """Of the facts that are not there, the share called entailed; `None` if unknown."""


class Path(NamedTuple):
    """One removal order of one text, from the whole summary to the last bullet."""

    text: str
    order: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class BulletMetrics:
    """The behaviour of one judge's scores while information is removed."""

    metrics: Mapping[str, Estimate]
    """By name:

    - `kendall`, `spearman`: rank correlation (tau-b, rho) of score and facts left, in [-1, 1];
      undefined where a judge gives one score to all variants; `..._bullets`, `..._characters`: the
      same with the share of bullets and of characters left.
    - `rising_steps`: share of steps at which the score rises, although text was only removed.
    - `unchanged_steps`: share of steps at which it stays; `missed_drops`: of the steps at which a
      fact is lost, the share at which it does not fall.
    - `distinct_scores`: distinct scores on a path, over the variants on it.
    - `at_ceiling`: share of variants with the highest possible score.
    - `drop_per_bullet`: mean fall of the score at a step. `full_score`: that of the whole summary.
    - `error`: mean absolute difference to the true score, where it is known. A small one may be two
      errors that cancel out: `found` and `invented` are the shares of the facts that are, and that
      are not, in the whole summary which the judge calls entailed.
    """
    n_texts: int
    n_paths: int
    n_constant_paths: int
    """Paths on which every score is the same, so that no correlation is defined."""
    n_variants: int
    n_missing: int
    """Variants without a complete answer, on the paths."""
    n_rising: int
    """Steps at which the score rises, in all."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        return {
            "metrics": {name: one.to_dict() for name, one in self.metrics.items()},
            "n_texts": self.n_texts,
            "n_paths": self.n_paths,
            "n_constant_paths": self.n_constant_paths,
            "n_variants": self.n_variants,
            "n_missing": self.n_missing,
            "n_rising": self.n_rising,
        }


def measure_paths(paths: Sequence[Path]) -> BulletMetrics:
    """All metrics of one judge."""
    by_text: dict[str, list[dict[str, float | None]]] = {}
    for path in paths:
        by_text.setdefault(path.text, []).append(_metrics_of(path))
    points = [point for path in paths for point in path.points]
    distinct = [{answer.score for answer in _answers(path)} for path in paths]
    return BulletMetrics(
        metrics={name: _estimate(name, by_text.values()) for name in METRICS},
        n_texts=len(by_text),
        n_paths=len(paths),
        n_constant_paths=sum(len(scores) == 1 for scores in distinct),
        n_variants=len(points),
        n_missing=sum(point.score is None for point in points),
        n_rising=sum(fall < 0 for path in paths for fall, _ in _steps(path)),
    )


def _estimate(name: str, texts: Iterable[Sequence[Mapping[str, float | None]]]) -> Estimate:
    means = (_mean(values[name] for values in paths) for paths in texts)
    return mean_estimate([mean for mean in means if mean is not None])


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


class _Answer(NamedTuple):
    """A point with a score, rounded so that scores do not differ by rounding alone."""

    score: float
    point: Point


def _answer(point: Point) -> _Answer | None:
    return None if point.score is None else _Answer(round(point.score, 9), point)


def _answers(path: Path) -> list[_Answer]:
    return [answer for point in path.points if (answer := _answer(point))]


def _steps(path: Path) -> list[tuple[float, bool]]:
    """Of each step between two answers: the fall of the score, and whether a fact is lost."""
    return [
        (before.score - now.score, (before.point.facts or 0) > (now.point.facts or 0))
        for before, now in pairwise(map(_answer, path.points))
        if before and now
    ]


def _metrics_of(path: Path) -> dict[str, float | None]:
    """Every metric of one path."""
    answers, steps = _answers(path), _steps(path)
    scores = [answer.score for answer in answers]
    errors = (abs(s - p.expected) if p.expected is not None else None for s, p in answers)
    values = {
        name: _rank_correlation(rank, [getattr(p, left) for _, p in answers], scores)
        for name, (rank, left) in _CORRELATIONS.items()
    }
    return values | {
        "rising_steps": _mean(fall < 0 for fall, _ in steps),
        "unchanged_steps": _mean(fall == 0 for fall, _ in steps),
        "missed_drops": _mean(fall <= 0 for fall, is_lossy in steps if is_lossy),
        "distinct_scores": len(set(scores)) / len(scores) if scores else None,
        "at_ceiling": _mean(score >= 1.0 for score in scores),
        "drop_per_bullet": _mean(fall for fall, _ in steps),
        "full_score": path.points[0].score,
        "error": _mean(errors),
        "found": path.points[0].found,
        "invented": path.points[0].invented,
    }


def _rank_correlation(
    rank: Callable[[Sequence[float], Sequence[float]], float],
    left: Sequence[float | None],
    scores: Sequence[float],
) -> float | None:
    known = [value for value in left if value is not None]
    if len(known) < len(left) or len(set(known)) < 2 or len(set(scores)) < 2:  # noqa: PLR2004
        return None
    return rank(known, scores)


_CORRELATIONS = {
    "kendall": (kendall, "facts"),
    "spearman": (spearman, "facts"),
    "kendall_bullets": (kendall, "bullets"),
    "spearman_bullets": (spearman, "bullets"),
    "kendall_characters": (kendall, "characters"),
    "spearman_characters": (spearman, "characters"),
}
METRICS = (
    *_CORRELATIONS,
    "rising_steps",
    "unchanged_steps",
    "missed_drops",
    "distinct_scores",
    "at_ceiling",
    "drop_per_bullet",
    "full_score",
    "error",
    "found",
    "invented",
)


class CurvePoint(NamedTuple):
    """A point of the curve of mean scores."""

    left: float
    """Share of the bullets left, in (0, 1]."""
    score: float
    """Mean over texts, each with the mean of its removal orders, in [0, 1]."""
    interval: Interval | None
    """95 %, by resampling texts; `None` with fewer than two."""


def mean_curve(paths: Sequence[Path]) -> list[CurvePoint]:
    """The mean score of one judge by the share of bullets left, from all bullets to few.

    Where all texts have the same number of bullets, there is a point for each number left; else one
    for each tenth, with scores interpolated between the two nearest numbers. Missing answers are
    left out. A share that some text does not reach has no point: a mean over the other texts would
    be another curve.
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
        means = [_mean(_value_at(left, line) for line in lines) for lines in by_text.values()]
        values = [mean for mean in means if mean is not None]
        if values and len(values) == len(means):
            points.append(CurvePoint(left, fmean(values), bootstrap_mean(values)))
    return points


def _value_at(left: float, line: Sequence[tuple[float, float]]) -> float | None:
    """The score of a path at a share, by its two neighbours; `None` outside the path."""
    if not line[0][0] <= left <= line[-1][0]:
        return None
    import numpy as np

    return float(np.interp(left, [x for x, _ in line], [y for _, y in line]))
