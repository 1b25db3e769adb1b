"""How a judge's score behaves while bullets are taken out, in figures with intervals.

Only complete answers count: a variant with an undecided fact is missing, and so is every step to or
from it. Each figure is first the mean over the removal orders of one text, then over the texts; its
interval comes from resampling the texts, since variants of one text are not independent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Any, NamedTuple

from factcheck.calibration.resampling import interval_of_mean
from factcheck.stats import Interval

CEILING = 1.0


class Point(NamedTuple):
    """A variant on the way: what the judge says, and what is left in truth."""

    bullets: float
    """Share of the bullets that are left, in (0, 1]; likewise the next two."""
    characters: float
    facts: float | None
    """Of the facts that the summary carries, the share that lies in the bullets left; `None` where
    nobody knows where they lie."""
    expected: float | None
    """The true score; `None` where it is not known."""
    score: float | None
    """`None` for a missing answer."""
    found: float | None = None
    """Of the facts that are there in truth, the share that the judge calls entailed; `None` where
    that is not known, or the judge gives no verdicts."""
    invented: float | None = None
    """Of the facts that are not there, the share that it calls entailed; likewise."""


class Path(NamedTuple):
    """One order of removal in one text, from the whole summary to the last bullet."""

    text: str
    order: str
    points: tuple[Point, ...]


class Figure(NamedTuple):
    """A mean over texts."""

    value: float | None
    """`None` where it is undefined for every text."""
    interval: Interval | None
    """95 %, by resampling texts; `None` with fewer than two of them."""


MEASURES = (
    "kendall",
    "spearman",
    "kendall_bullets",
    "spearman_bullets",
    "kendall_characters",
    "spearman_characters",
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


@dataclass(frozen=True, slots=True)
class JudgeMeasures:
    """What a judge's scores do while information is taken away."""

    figures: Mapping[str, Figure]
    """By the names in `MEASURES`:

    - `kendall`, `spearman`: rank correlation (tau-b, rho) of score and facts left, in [-1, 1];
      undefined where a judge gives one score to all variants; `..._bullets`, `..._characters`
      likewise with the share of bullets and of characters left.
    - `rising_steps`: share of steps at which the score rises, although only text was removed.
    - `unchanged_steps`: share of steps at which it stays; `missed_drops`: of the steps at which a
      fact is lost, the share at which it does not fall.
    - `distinct_scores`: distinct scores on a path, over the variants on it.
    - `at_ceiling`: share of variants with the highest score there is.
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
            "figures": {
                name: {"value": figure.value, "interval": figure.interval and [*figure.interval]}
                for name, figure in self.figures.items()
            },
            "n_texts": self.n_texts,
            "n_paths": self.n_paths,
            "n_constant_paths": self.n_constant_paths,
            "n_variants": self.n_variants,
            "n_missing": self.n_missing,
            "n_rising": self.n_rising,
        }


def measure(paths: Sequence[Path]) -> JudgeMeasures:
    """All figures of one judge."""
    by_text: dict[str, list[Path]] = {}
    for path in paths:
        by_text.setdefault(path.text, []).append(path)
    points = [point for path in paths for point in path.points]
    return JudgeMeasures(
        figures={name: _figure(name, list(by_text.values())) for name in MEASURES},
        n_texts=len(by_text),
        n_paths=len(paths),
        n_constant_paths=sum(len(set(_scores(path))) == 1 for path in paths),
        n_variants=len(points),
        n_missing=sum(point.score is None for point in points),
        n_rising=sum(_rises(*step) for path in paths for step in _steps(path)),
    )


def _figure(name: str, texts: Sequence[Sequence[Path]]) -> Figure:
    of_path = _OF_PATH[name]
    means = [_mean(of_path(path) for path in paths) for paths in texts]
    values = [value for value in means if value is not None]
    if not values:
        return Figure(None, None)
    return Figure(fmean(values), interval_of_mean(values))


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


class _Answered(NamedTuple):
    """A point with a score."""

    bullets: float
    characters: float
    facts: float | None
    expected: float | None
    score: float


def _answered(point: Point) -> _Answered | None:
    """The point, if it has a score; scores that differ by rounding alone are made equal."""
    if point.score is None:
        return None
    return _Answered(
        point.bullets, point.characters, point.facts, point.expected, round(point.score, 9)
    )


def _answers(path: Path) -> list[_Answered]:
    return [answer for point in path.points if (answer := _answered(point))]


def _scores(path: Path) -> list[float]:
    return [answer.score for answer in _answers(path)]


def _steps(path: Path) -> list[tuple[_Answered, _Answered]]:
    """Steps between two answers; `before` and `now` in what follows."""
    pairs = pairwise(_answered(point) for point in path.points)
    return [(before, now) for before, now in pairs if before and now]


def _share_of_steps(
    path: Path,
    hit: Callable[[_Answered, _Answered], bool],
    among: Callable[[_Answered, _Answered], bool] = lambda _before, _now: True,
) -> float | None:
    steps = [step for step in _steps(path) if among(*step)]
    return sum(hit(*step) for step in steps) / len(steps) if steps else None


def _rises(before: _Answered, now: _Answered) -> bool:
    return now.score > before.score


def _stays(before: _Answered, now: _Answered) -> bool:
    return now.score == before.score


def _loses_a_fact(before: _Answered, now: _Answered) -> bool:
    return before.facts is not None and now.facts is not None and now.facts < before.facts


def _correlation(kind: str, information: str) -> Callable[[Path], float | None]:
    def of_path(path: Path) -> float | None:
        answers = _answers(path)
        left = [getattr(answer, information) for answer in answers]
        if None in left:
            return None
        return _rank_correlation(kind, left, [answer.score for answer in answers])

    return of_path


def _rank_correlation(kind: str, xs: Sequence[float], ys: Sequence[float]) -> float | None:
    from scipy import stats

    if len(set(xs)) < 2 or len(set(ys)) < 2:  # noqa: PLR2004 - nothing to rank
        return None
    found = (stats.kendalltau if kind == "kendall" else stats.spearmanr)(xs, ys)
    return float(found.statistic)


def _full_score(path: Path) -> float | None:
    return path.points[0].score


def _error(path: Path) -> float | None:
    return _mean(
        None if answer.expected is None else abs(answer.score - answer.expected)
        for answer in _answers(path)
    )


_OF_PATH: Mapping[str, Callable[[Path], float | None]] = {
    "kendall": _correlation("kendall", "facts"),
    "spearman": _correlation("spearman", "facts"),
    "kendall_bullets": _correlation("kendall", "bullets"),
    "spearman_bullets": _correlation("spearman", "bullets"),
    "kendall_characters": _correlation("kendall", "characters"),
    "spearman_characters": _correlation("spearman", "characters"),
    "rising_steps": lambda path: _share_of_steps(path, _rises),
    "unchanged_steps": lambda path: _share_of_steps(path, _stays),
    "missed_drops": lambda path: _share_of_steps(
        path, lambda before, now: now.score >= before.score, _loses_a_fact
    ),
    "distinct_scores": lambda path: (
        len(set(_scores(path))) / len(_scores(path)) if _scores(path) else None
    ),
    "at_ceiling": lambda path: _mean(score >= CEILING for score in _scores(path)),
    "drop_per_bullet": lambda path: _mean(before.score - now.score for before, now in _steps(path)),
    "full_score": _full_score,
    "error": _error,
    "found": lambda path: path.points[0].found,
    "invented": lambda path: path.points[0].invented,
}
