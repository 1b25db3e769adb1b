"""Scores of a judge while bullets are removed: rows, metrics and curves, with intervals.

A score is that of a report: facts that the judge leaves open as unsure are outside it. A variant
that lacks an answer for another reason is missing, and so is every step to or from it. A metric is
the mean of a text, then over the texts, whose spread gives its interval, since variants of one text
are not independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from factcheck.calibration.conclusions import Measurement
from factcheck.documents import to_plain
from factcheck.facts import CoverageReport, Usage, Verdict
from factcheck.reports.text import percent, share
from factcheck.stats.intervals import Estimate, Interval, kendall, share_interval
from factcheck.stats.resampling import FEW_UNITS, mean_estimate, mean_interval

TRUTH = "true share of facts"
"""Name of the curve of the true scores, where they are known."""
UNSURE = "?unsure"
"""Label of a fact that the judge leaves open."""
_TENTHS = tuple(tenth / 10 for tenth in range(10, 0, -1))
Array = Any
"""A numpy array."""


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

    @classmethod
    def of(cls, text: str, judge: str, kept: frozenset[int], report: CoverageReport) -> VariantRow:
        verdicts: dict[str, str] = {}
        for result in report.results:
            label = result.label if isinstance(result, Verdict) else f"?{result.code}"
            verdicts[result.fact.id] = label
        note = report.undecided[0].message if report.undecided else ""
        bounds = (report.score, report.low, report.high)
        return cls(text, judge, kept, *bounds, verdicts, note, report.usage)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data; bullets are counted from 1."""
        kept = sorted(bullet + 1 for bullet in self.kept)
        first = {"text": self.text, "judge": self.judge, "bullets_left": len(kept), "kept": kept}
        return {**first, **to_plain(self), **first}


class TextScores(NamedTuple):
    """One judge's scores of the variants of a text."""

    paths: Sequence[Array]
    """For every removal order the variants from the whole summary to the last bullet, in rows of
    three: the share of bullets left, the share of facts that they carry, which is the true score,
    and the judge's score; NaN where one is unknown."""
    found: Sequence[bool] = ()
    """For each decided fact that is in the whole summary, whether it is called entailed."""
    invented: Sequence[bool] = ()
    """The same for each decided fact that is not in it."""

    @property
    def truth(self) -> TextScores:
        """The true scores of the same variants."""
        return TextScores([path[:, [0, 1, 1]] for path in self.paths])


MEASUREMENT = Measurement(
    "Bullet removal",
    {
        "kendall": ("rank correlation with the facts left", share),
        "kendall_bullets": ("rank correlation with the bullets left", share),
        "rising_steps": ("removals that raise the score", percent),
        "unchanged_steps": ("removals that change nothing", percent),
        "at_ceiling": ("variants with the highest score", percent),
        "full_score": ("score of the whole summary", share),
        "error": ("mean error against the true score", share),
        "found": ("facts present, judged entailed", percent),
        "invented": ("facts absent, judged entailed", percent),
    },
    meaning="in brackets: 95 % interval over texts; rank correlation (Kendall): 1 if more left "
    "always scores higher, 0 if unrelated",
)
"""All metrics. A rank correlation is tau-b, in [-1, 1], and undefined where a judge gives one score
to all variants. A small `error` may be two that cancel out: `found` and `invented` are the shares
of the decided facts that are, and that are not, in the whole summary.
"""


def measure_texts(texts: Iterable[TextScores]) -> dict[str, Estimate]:
    """Compute all metrics of one judge, by name."""
    by_text = [_values(text) for text in texts]
    return {name: _estimate(name, by_text) for name in MEASUREMENT.labels}


def _estimate(name: str, by_text: Sequence[Mapping[str, Sequence[float]]]) -> Estimate:
    values = [of_text[name] for of_text in by_text if of_text[name]]
    means = [fmean(of_text) for of_text in values]
    found = mean_estimate(means, low=-1.0 if name.startswith("kendall") else 0.0)
    is_share = MEASUREMENT.labels[name][1] is percent
    if is_share and means and (len(means) < FEW_UNITS or len(set(means)) == 1):
        trials = sum(map(len, values))
        return found._replace(interval=share_interval([(1, mean) for mean in means], trials))
    return found


def _values(text: TextScores) -> dict[str, list[float]]:
    """Return the values whose mean is the metric of a text: of orders, steps, variants or facts."""
    found: dict[str, list[float]] = {name: [] for name in MEASUREMENT.labels}
    found |= {"found": [*text.found], "invented": [*text.invented]}
    for path in text.paths:
        bullets, facts, scores = path.round(9).T  # scores do not differ by rounding alone
        is_known = ~np.isnan(scores)
        falls, errors = -np.diff(scores), np.abs(scores - facts)
        found["kendall"] += _kendall(facts[is_known], scores[is_known])
        found["kendall_bullets"] += _kendall(bullets[is_known], scores[is_known])
        found["rising_steps"] += [*(falls[~np.isnan(falls)] < 0)]
        found["unchanged_steps"] += [*(falls[~np.isnan(falls)] == 0)]
        found["at_ceiling"] += [*(scores[is_known] >= 1.0)]
        found["error"] += [*errors[~np.isnan(errors)]]
    if text.paths and not np.isnan(text.paths[0][0, 2]):
        found["full_score"] = [float(text.paths[0][0, 2])]
    return found


def _kendall(left: Array, scores: Array) -> list[float]:
    if np.isnan(left).any() or len({*left}) < 2 or len({*scores}) < 2:  # noqa: PLR2004
        return []
    return [kendall(left, scores)]


class CurvePoint(NamedTuple):
    """A point of the curve of mean scores."""

    left: float
    """Share of the bullets left, in (0, 1]."""
    score: float
    """Mean over texts, each with the mean of its removal orders, in [0, 1]."""
    interval: Interval | None
    """95 %, over texts; `None` with fewer than two."""


def mean_curve(texts: Iterable[TextScores]) -> list[CurvePoint]:
    """Return the mean score of one judge by the share of bullets left, from all bullets to few.

    Where all texts have the same number of bullets, there is a point for each number left; else one
    for each tenth, with scores interpolated between the two nearest numbers. Missing answers are
    left out. A share that some text does not reach has no point: a mean over the other texts would
    be another curve.
    """
    by_text: list[list[Array]] = []
    shares = set()
    for text in texts:
        lines = []
        for path in text.paths:
            shares.add(tuple(path[:, 0]))
            known = path[~np.isnan(path[:, 2])]
            if len(known):
                lines.append(known[::-1])
        if lines:
            by_text.append(lines)
    curve = []
    for left in next(iter(shares)) if len(shares) == 1 else _TENTHS:
        values = [_mean_at(left, lines) for lines in by_text]
        reached = [value for value in values if value is not None]
        if reached and len(reached) == len(values):
            curve.append(CurvePoint(float(left), fmean(reached), mean_interval(reached)))
    return curve


def _mean_at(left: float, lines: Iterable[Array]) -> float | None:
    """Interpolate the mean of those lines that reach a share of bullets; `None` without any."""
    reached = [line for line in lines if line[0, 0] <= left <= line[-1, 0]]
    values = [float(np.interp(left, line[:, 0], line[:, 2])) for line in reached]
    return fmean(values) if values else None
