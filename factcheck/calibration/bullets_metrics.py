"""Scores of a judge while bullets are removed: rows, metrics and the curve, with intervals.

A score is that of a report: facts that the judge leaves open as unsure are outside it. A variant
that lacks an answer for another reason is missing, and so is every step to or from it. A metric is
the mean over the removal orders of a text, then over the texts; its interval comes from resampling
texts, since variants of one text are not independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from factcheck.documents import to_plain
from factcheck.facts import CoverageReport, Usage, Verdict
from factcheck.stats.intervals import Estimate, Interval, kendall
from factcheck.stats.resampling import bootstrap_mean, mean_estimate

UNSURE = "?unsure"
"""Label of a fact that the judge leaves open."""
_TENTHS = tuple(tenth / 10 for tenth in range(10, 0, -1))


@dataclass(frozen=True, slots=True)
class VariantRow:
    """One judge's score of a summary of which some bullets are left."""

    text: str
    judge: str
    kept: frozenset[int]
    """Bullets left, from 0."""
    score: float | None
    """In [0, 1]; `None` if the judge decided nothing."""
    low: float = 0.0
    """The score if every undecided fact were dropped, in [0, 1]."""
    high: float = 1.0
    """The score if every undecided fact were kept, in [0, 1]."""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    """For the id of each fact its label, or `"?"` and the code of the failure; empty for a judge
    that gives one number for the whole text."""
    note: str = ""
    """Why there is no score, or a remark of the judge."""
    usage: Usage = field(default_factory=Usage)

    @property
    def complete(self) -> bool:
        """Whether no answer is missing; an unsure one is not."""
        is_missing = (label[0] == "?" and label != UNSURE for label in self.verdicts.values())
        return self.score is not None and not any(is_missing)

    @property
    def n_unsure(self) -> int:
        return list(self.verdicts.values()).count(UNSURE)

    @classmethod
    def of(cls, text: str, judge: str, kept: frozenset[int], report: CoverageReport) -> VariantRow:
        verdicts = {
            result.fact.id: result.label if isinstance(result, Verdict) else f"?{result.code}"
            for result in report.results
        }
        note = report.undecided[0].message if report.undecided else ""
        bounds = (report.score, report.low, report.high)
        return cls(text, judge, kept, *bounds, verdicts, note, report.usage)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data; bullets are counted from 1."""
        kept = sorted(bullet + 1 for bullet in self.kept)
        first = {"text": self.text, "judge": self.judge, "bullets_left": len(kept), "kept": kept}
        return {**first, **to_plain(self), **first}


class Point(NamedTuple):
    """A variant on a path: the judge's answer, and what is left in truth; `None` if unknown."""

    bullets: float
    """Share of the bullets that are left, in (0, 1]."""
    facts: float | None
    """Share of the facts that the bullets left carry: the true score."""
    score: float | None
    found: float | None = None
    """Of the decided facts that are really there, the share called entailed."""
    invented: float | None = None
    """Of the decided facts that are not there, the share called entailed."""


Paths = Mapping[str, Sequence[Sequence[Point]]]
"""By text, every removal order: from the whole summary to the last bullet."""


LABELS = {
    "kendall": ("Kendall, facts left", ""),
    "kendall_bullets": ("Kendall, bullets left", ""),
    "rising_steps": ("steps at which it rises", " %"),
    "unchanged_steps": ("steps without a change", " %"),
    "at_ceiling": ("variants at the top", " %"),
    "full_score": ("the whole summary", ""),
    "error": ("error against the truth", ""),
    "found": ("present, called entailed", " %"),
    "invented": ("absent, called entailed", " %"),
}
"""All metrics, by their label and unit in the report:

- `kendall`: rank correlation (tau-b) of score and facts left, in [-1, 1]; undefined where a judge
  gives one score to all variants. `kendall_bullets`: the same with the bullets left.
- `rising_steps`: share of steps at which the score rises, although text was only removed.
- `unchanged_steps`: share of steps at which it stays.
- `at_ceiling`: share of variants with the highest possible score.
- `full_score`: the score of the whole summary.
- `error`: mean absolute difference to the true score, where it is known. A small one may be two
  errors that cancel out: `found` and `invented` are the shares of the decided facts that are, and
  that are not, in the whole summary which the judge calls entailed.
"""


def measure_paths(paths: Paths) -> dict[str, Estimate]:
    """All metrics of one judge, by name."""
    by_text = [[_metrics_of(path) for path in of] for of in paths.values()]
    means = {name: [_mean(values[name] for values in of) for of in by_text] for name in LABELS}
    return {
        name: mean_estimate([mean for mean in of if mean is not None]) for name, of in means.items()
    }


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _answers(path: Sequence[Point]) -> list[tuple[float, Point]]:
    """The points with a score, rounded so that scores do not differ by rounding alone."""
    return [(round(point.score, 9), point) for point in path if point.score is not None]


def _metrics_of(path: Sequence[Point]) -> dict[str, float | None]:
    answers = _answers(path)
    scores = [score for score, _ in answers]
    errors = (abs(s - p.facts) if p.facts is not None else None for s, p in answers)
    falls = [
        round(a.score, 9) - round(b.score, 9)
        for a, b in pairwise(path)
        if a.score is not None and b.score is not None
    ]
    return {
        "kendall": _kendall([point.facts for _, point in answers], scores),
        "kendall_bullets": _kendall([point.bullets for _, point in answers], scores),
        "rising_steps": _mean(fall < 0 for fall in falls),
        "unchanged_steps": _mean(fall == 0 for fall in falls),
        "at_ceiling": _mean(score >= 1.0 for score in scores),
        "full_score": path[0].score,
        "error": _mean(errors),
        "found": path[0].found,
        "invented": path[0].invented,
    }


def _kendall(left: Sequence[float | None], scores: Sequence[float]) -> float | None:
    known = [value for value in left if value is not None]
    if len(known) < len(left) or len(set(known)) < 2 or len(set(scores)) < 2:  # noqa: PLR2004
        return None
    return kendall(known, scores)


class CurvePoint(NamedTuple):
    """A point of the curve of mean scores."""

    left: float
    """Share of the bullets left, in (0, 1]."""
    score: float
    """Mean over texts, each with the mean of its removal orders, in [0, 1]."""
    interval: Interval | None
    """95 %, by resampling texts; `None` with fewer than two."""


def mean_curve(paths: Paths) -> list[CurvePoint]:
    """The mean score of one judge by the share of bullets left, from all bullets to few.

    Where all texts have the same number of bullets, there is a point for each number left; else one
    for each tenth, with scores interpolated between the two nearest numbers. Missing answers are
    left out. A share that some text does not reach has no point: a mean over the other texts would
    be another curve.
    """
    by_text = []
    for of in paths.values():
        lines = [
            [(p.bullets, p.score) for p in reversed(path) if p.score is not None] for path in of
        ]
        by_text += [known] if (known := [line for line in lines if line]) else []
    shares = {tuple(point.bullets for point in path) for of in paths.values() for path in of}
    grid = next(iter(shares)) if len(shares) == 1 else _TENTHS
    points = []
    for left in grid:
        means = [_mean(_value_at(left, line) for line in lines) for lines in by_text]
        values = [mean for mean in means if mean is not None]
        if values and len(values) == len(means):
            points.append(CurvePoint(left, fmean(values), bootstrap_mean(values)))
    return points


def _value_at(left: float, line: Sequence[tuple[float, float]]) -> float | None:
    """The score of a path at a share, by its two neighbours; `None` outside the path."""
    if not line[0][0] <= left <= line[-1][0]:
        return None
    return float(np.interp(left, [x for x, _ in line], [y for _, y in line]))
