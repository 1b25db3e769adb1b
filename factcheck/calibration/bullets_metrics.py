"""Scores of a judge while bullets are removed: rows, metrics and curves, with intervals.

A score is that of a report: facts that the judge leaves open as unsure are outside it. A variant
that lacks an answer for another reason is missing, and so is every step to or from it. A metric is
the mean of a text, then over the texts, whose spread gives its interval, since variants of one text
are not independent.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from factcheck.calibration.conclusions import Labels
from factcheck.documents import to_plain
from factcheck.facts import CoverageReport, Usage, Verdict
from factcheck.reports.text import percent, plural, short, shorten_middle, visible
from factcheck.stats.intervals import Estimate, Interval, kendall, share_interval
from factcheck.stats.resampling import FEW_UNITS, mean_estimate, mean_interval

TRUTH = "truth"
"""Name of the curve of the true scores, where they are known."""
UNSURE = "?unsure"
"""Label of a fact that the judge leaves open."""
_TENTHS = tuple(tenth / 10 for tenth in range(10, 0, -1))
_WIDTH, _HEIGHT = 720, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 700, 40, 390
"""Edges of the area of the curves."""
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a57b8")
"""Okabe and Ito's, which can be told apart with any colour vision."""
_GREY = "#808080"
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_LEGEND_STEP = 18
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

    @property
    def n_unsure(self) -> int:
        return list(self.verdicts.values()).count(UNSURE)

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


LABELS: Labels = {
    "kendall": ("rank correlation with the facts left", short),
    "kendall_bullets": ("rank correlation with the bullets left", short),
    "rising_steps": ("removals that raise the score", percent),
    "unchanged_steps": ("removals that change nothing", percent),
    "at_ceiling": ("variants with the highest score", percent),
    "full_score": ("score of the whole summary", short),
    "error": ("mean error against the true score", short),
    "found": ("facts present, judged entailed", percent),
    "invented": ("facts absent, judged entailed", percent),
}
"""All metrics, by their label and form in the report:

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
LEGEND = (
    "in brackets: 95 % interval over texts; a variant is the summary with some bullets removed",
    "rank correlation (Kendall): 1 if more left always scores higher, 0 if there is no relation",
)


def measure_texts(texts: Iterable[TextScores]) -> dict[str, Estimate]:
    """Compute all metrics of one judge, by name."""
    by_text = [_values(text) for text in texts]
    estimates = {}
    for name in LABELS:
        values = [of_text[name] for of_text in by_text if of_text[name]]
        estimates[name] = _estimate(name, values)
    return estimates


def _estimate(name: str, values: Sequence[Sequence[float]]) -> Estimate:
    means = [fmean(of_text) for of_text in values]
    found = mean_estimate(means, low=-1.0 if name.startswith("kendall") else 0.0)
    is_share = LABELS[name][1] is percent
    if is_share and means and (len(means) < FEW_UNITS or len(set(means)) == 1):
        trials = sum(map(len, values))
        return found._replace(interval=share_interval([(1, mean) for mean in means], trials))
    return found


def _values(text: TextScores) -> dict[str, list[float]]:
    """Return the values whose mean is the metric of a text: of orders, steps, variants or facts."""
    found: dict[str, list[float]] = {name: [] for name in LABELS}
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


def curves_svg(judges: Mapping[str, Sequence[CurvePoint]], n_texts: int) -> str:
    """Draw a line with its 95 % band for each judge, and the truth dashed, if it is known."""
    title = f"Bullets are removed one by one ({plural(n_texts, 'text')})"
    parts = [*_axes(title)]
    colours = itertools.cycle(_COLOURS)
    y = _BOTTOM - 12 - (len(judges) - 1) * _LEGEND_STEP
    for name, points in judges.items():
        words, stroke = shorten_middle(visible(name)), f'stroke="{next(colours)}"'
        if name == TRUTH:
            words, stroke = "true share of facts", f'stroke="{_GREY}" stroke-dasharray="6 4"'
        parts += _curve(points, stroke)
        parts.append(f'<path d="M{_LEFT + 12} {y - 4}h24" {stroke}/>')
        parts.append(_text(_LEFT + 42, y, words, "start"))
        y += _LEGEND_STEP
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" fill="none" '
        'stroke-width="2" font-family="sans-serif" font-size="12" color="#808080" role="img" '
        f'aria-label="{title}">\n{body}\n</svg>\n'
    )


def _axes(title: str) -> Iterator[str]:
    middle = (_LEFT + _RIGHT) // 2
    yield _text(middle, _TOP - 16, title)
    yield _text(middle, _HEIGHT - 12, "share of bullets left")
    yield _text(_LEFT, _TOP - 16, "score")
    for tick in _TICKS:
        x, y = _place(tick, tick).split(",")
        grid = 'stroke="currentColor" stroke-width="1" opacity="0.25"'
        yield f'<path d="M{x} {_TOP}V{_BOTTOM}M{_LEFT} {y}H{_RIGHT}" {grid}/>'
        yield _text(x, _BOTTOM + 18, f"{tick:g}")
        yield _text(_LEFT - 8, float(y) + 4, f"{tick:g}", "end")


def _curve(points: Sequence[CurvePoint], stroke: str) -> Iterator[str]:
    bands = [(point.left, point.interval) for point in points if point.interval]
    if len(bands) == len(points):
        outline = [_place(left, band.high) for left, band in bands]
        outline += [_place(left, band.low) for left, band in reversed(bands)]
        fill = stroke.replace("stroke", "fill", 1)
        yield f'<polygon points="{" ".join(outline)}" {fill} opacity="0.12"/>'
    line = " ".join(_place(point.left, point.score) for point in points)
    yield f'<polyline points="{line}" {stroke}/>'


def _place(left: float, score: float) -> str:
    x = _RIGHT - left * (_RIGHT - _LEFT)
    y = _BOTTOM - score * (_BOTTOM - _TOP)
    return f"{x:.1f},{y:.1f}"


def _text(x: object, y: float, words: str, anchor: str = "middle") -> str:
    where = f'x="{x}" y="{y:g}" text-anchor="{anchor}"'
    return f'<text {where} fill="currentColor">{escape(words)}</text>'
