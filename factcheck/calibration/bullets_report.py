"""The result of a bullet removal: its numbers, its files and its report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from os import PathLike
from pathlib import Path as FilePath
from statistics import fmean
from typing import Any

from factcheck.calibration.bullets_metrics import (
    BulletMetrics,
    CurvePoint,
    Path,
    Point,
    VariantRow,
    mean_curve,
    measure_paths,
)
from factcheck.calibration.texts import RemovalOrder, Subject
from factcheck.documents import file_errors, json_text, write_text
from factcheck.facts import Usage
from factcheck.reports.page import Alert, Page, Section, Svg, Table, filled
from factcheck.reports.report import Report, render
from factcheck.reports.text import DASH, plural, short, shorten_middle, visible
from factcheck.stats.intervals import Estimate

TRUTH = "truth"
"""Stands for a judge where the true scores are known."""
_BAR = 20
_LABELS = {
    "kendall": ("Kendall, facts left", ""),
    "kendall_bullets": ("Kendall, bullets left", ""),
    "rising_steps": ("steps at which it rises", " %"),
    "unchanged_steps": ("steps without a change", " %"),
    "missed_drops": ("lost facts it overlooks", " %"),
    "distinct_scores": ("distinct scores", " %"),
    "at_ceiling": ("variants at the top", " %"),
    "drop_per_bullet": ("fall per bullet", ""),
    "full_score": ("the whole summary", ""),
    "error": ("error against the truth", ""),
    "found": ("present, called entailed", " %"),
    "invented": ("absent, called entailed", " %"),
}
"""Metrics shown, by their label and unit."""


@dataclass(frozen=True, repr=False)
class BulletRemoval(Report):
    """The scores of judges for summaries from which bullets were removed."""

    subjects: tuple[Subject, ...]
    rows: tuple[VariantRow, ...]
    """One for each judge, text and variant."""

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of the judges, in the order given."""
        return tuple(dict.fromkeys(row.judge for row in self.rows))

    @cached_property
    def _by_variant(self) -> Mapping[tuple[str, str, frozenset[int]], VariantRow]:
        return {(row.judge, row.text, row.kept): row for row in self.rows}

    def row(self, judge: str, text: str, kept: Iterable[int]) -> VariantRow:
        """The row of a judge for a text with these bullets, from 0; `KeyError` without one."""
        return self._by_variant[judge, text, frozenset(kept)]

    def paths(self, judge: str) -> list[Path]:
        """Every removal order of every text as a judge scores it; `"truth"` for true scores."""
        return [
            Path(subject.name, order.name, tuple(self._points(judge, subject, order)))
            for subject in self.subjects
            for order in subject.orders
            if judge != TRUTH or subject.carriers is not None
        ]

    def _points(self, judge: str, subject: Subject, order: RemovalOrder) -> Iterator[Point]:
        for kept in order.kept():
            left = subject.facts_left(kept)
            sizes = (len(kept) / len(subject.bullets), left)
            if judge == TRUTH:
                yield Point(*sizes, left)
                continue
            row = self.row(judge, subject.name, kept)
            found, invented = (_called_entailed(row, subject, there) for there in (True, False))
            yield Point(*sizes, row.score if row.complete else None, found, invented)

    def metrics(self, judge: str) -> BulletMetrics:
        """The metrics of one judge; `"truth"` for those of the true scores."""
        return measure_paths(self.paths(judge))

    def usage(self, judge: str) -> Usage:
        """What the answers of one judge cost."""
        return sum((row.usage for row in self.rows if row.judge == judge), Usage())

    def notes(self) -> list[str]:
        """Caveats that a reader must know before trusting the numbers."""
        return list(self._notes())

    def _notes(self) -> Iterator[str]:
        for subject in self.subjects:
            if len(subject.bullets) == 1:
                yield f"{subject.name}: only one bullet; there is nothing to remove"
            for first, second in subject.repeated():
                yield f"{subject.name}: bullet {second + 1} repeats bullet {first + 1}"
        for judge in self.judges:
            rows = [row for row in self.rows if row.judge == judge]
            missing = [row for row in rows if not row.complete]
            if missing:
                low, high = fmean(row.low for row in rows), fmean(row.high for row in rows)
                why = next((row.note for row in missing if row.note), "no reason given")
                yield (
                    f"{judge}: {len(missing)} of {len(rows)} variants lack an answer and are left "
                    f"out; the mean score of all is between {low:.3f} and {high:.3f} ({why})"
                )

    def to_dict(self) -> dict[str, Any]:
        """The metrics of every judge as JSON-ready data; `save` keeps the rows."""
        names = sorted(self._columns(), key=lambda name: name == TRUTH)
        texts = [subject.name for subject in self.subjects]
        judges = {
            name: {**self.metrics(name).to_dict(), "usage": self.usage(name).to_dict()}
            for name in names
        }
        notes = self.notes()
        return {"texts": texts, "judges": judges, "notes": notes}

    def save(self, folder: str | PathLike[str]) -> tuple[str, ...]:
        """Write the rows, the page and the plot into a folder, which is created.

        Returns:
            The names of the files.

        Raises:
            InputError: The folder or a file cannot be written.
        """
        place = FilePath(folder)
        rows = (json_text(row.to_dict()) for row in self.rows)
        files = {
            "rows.jsonl": "".join(f"{row}\n" for row in rows),
            "bullets.html": render(self.page(), "html"),
            "curves.svg": self._curves_svg(),
        }
        with file_errors(str(folder), "write"):
            place.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            write_text(place / name, text)
        return tuple(files)

    def curves(self) -> dict[str, list[CurvePoint]]:
        """The mean score of every judge by the share of bullets left; the truth first, if known."""
        return {name: mean_curve(self.paths(name)) for name in self._columns()}

    def _columns(self) -> tuple[str, ...]:
        return ((TRUTH,) if self.paths(TRUTH) else ()) + self.judges

    def _curves_svg(self) -> str:
        curves = self.curves()
        return curves_svg(curves, curves.pop(TRUTH, []), len(self.subjects))

    def _counts(self) -> str:
        variants = plural(len({(row.text, row.kept) for row in self.rows}), "variant")
        orders = plural(sum(len(subject.orders) for subject in self.subjects), "removal order")
        return f"{plural(len(self.subjects), 'text')}, {variants}, {orders}"

    def __repr__(self) -> str:
        return f"<BulletRemoval: Bullet removal   {self._counts()}>"  # without any metric

    def page(self) -> Page:
        """The report: the metrics and the mean curve of every judge."""
        names = self._columns()
        curves = [{one.left: one.score for one in curve} for curve in self.curves().values()]
        chart = tuple(
            (f"{100 * left:.0f} %", *(_bar(curve.get(left)) for curve in curves))
            for left in sorted({left for curve in curves for left in curve}, reverse=True)
        )
        return Page(
            "Bullet removal",
            counts=self._counts(),
            alerts=tuple(Alert(note, "unknown") for note in self.notes()),
            sections=filled(
                Section("Metrics", table=Table(("", *names), tuple(self._metric_rows(names)))),
                Section(
                    "Mean score by the share of bullets left",
                    table=Table(("left", *names), chart, n_names=1 + len(names)),
                    pictures=(Svg(self._curves_svg()),) if chart else (),
                ),
            ),
            columns=("text", "judge", "kept", "score", "low", "high", "note"),
            rows=lambda: (
                data | {"kept": " ".join(map(str, data["kept"]))}
                for data in (row.to_dict() for row in self.rows)
            ),
        )

    def _metric_rows(self, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """The label of each metric, count and cost, then its cell for each judge."""
        judges, usages = [self.metrics(name) for name in names], [self.usage(n) for n in names]
        for metric, (label, unit) in _LABELS.items():
            found = [judge.metrics[metric] for judge in judges]
            if any(one.value is not None for one in found):
                of = zip(names, found, strict=True)
                # The spread between the true scores is no uncertainty.
                cells = (one._replace(interval=None) if n == TRUTH else one for n, one in of)
                yield (label, *(_cell(one, unit) for one in cells))
        yield ("rises, in all", *(str(judge.n_rising) for judge in judges))
        if any(judge.n_constant_paths for judge in judges):
            yield ("constant orders", *(str(judge.n_constant_paths) for judge in judges))
        if any(judge.n_missing for judge in judges):
            missing = (f"{judge.n_missing} of {judge.n_variants}" for judge in judges)
            yield ("answers missing", *missing)
        if any(usage.calls or usage.cache_hits for usage in usages):
            yield ("calls", *(f"{usage.calls:,}" for usage in usages))
            yield ("tokens", *(f"{u.prompt_tokens + u.completion_tokens:,}" for u in usages))
            costs = (usage.cost_usd for usage in usages)
            yield ("cost", *("unknown" if usd is None else f"${usd:.4f}" for usd in costs))


def _cell(estimate: Estimate, unit: str) -> str:
    if estimate.value is None:
        return DASH
    shown: Callable[[float], str] = (lambda share: f"{100 * share:.0f}") if unit else short
    bounds = f" ({DASH.join(map(shown, estimate.interval))})" if estimate.interval else ""
    return f"{shown(estimate.value)}{unit}{bounds}"


def _bar(score: float | None) -> str:
    return DASH if score is None else f"{short(score)} {'█' * round(_BAR * score)}"


def _called_entailed(row: VariantRow, subject: Subject, is_there: bool) -> float | None:  # noqa: FBT001 - private
    """Of the facts that are really there, or not there, the share that is called entailed."""
    if subject.carriers is None or not row.complete:
        return None
    carriers = subject.carriers
    asked = (fact for fact in row.verdicts if carriers[fact].isdisjoint(row.kept) != is_there)
    labels = [row.verdicts[fact] for fact in asked]
    return labels.count("entailed") / len(labels) if labels else None


_WIDTH, _HEIGHT = 720, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 700, 40, 390
"""Edges of the area of the curves."""
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a57b8")
"""Okabe and Ito's, which can be told apart with any colour vision."""
_GREY = "#808080"
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_LEGEND_STEP = 18


def curves_svg(
    judges: Mapping[str, Sequence[CurvePoint]], truth: Sequence[CurvePoint], n_texts: int
) -> str:
    """A line with its 95 % band for each judge, and the truth dashed, if it is known."""
    curves = [("true share of facts", truth, _GREY)] if truth else []
    for place, (judge, points) in enumerate(judges.items()):
        if points:
            curves.append((judge, points, _COLOURS[place % len(_COLOURS)]))
    parts = list(_axes(f"Bullets are removed one by one ({plural(n_texts, 'text')})"))
    for place, (name, points, colour) in enumerate(curves):
        parts += _curve(points, colour)
        y = _BOTTOM - 12 - (len(curves) - 1 - place) * _LEGEND_STEP
        dashes = _dashes(colour)
        parts.append(f'<path d="M{_LEFT + 12} {y - 4}h24" stroke="{colour}"{dashes}/>')
        parts.append(_text(_LEFT + 42, y, shorten_middle(visible(name)), "start"))
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" fill="none" '
        'stroke-width="2" font-family="sans-serif" font-size="12" color="#808080" role="img">\n'
        f"{body}\n</svg>\n"
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


def _curve(points: Sequence[CurvePoint], colour: str) -> Iterator[str]:
    bands = [(point.left, point.interval) for point in points if point.interval]
    if len(bands) == len(points):
        outline = [_place(left, band.high) for left, band in bands]
        outline += [_place(left, band.low) for left, band in reversed(bands)]
        yield f'<polygon points="{" ".join(outline)}" fill="{colour}" opacity="0.12"/>'
    line = " ".join(_place(point.left, point.score) for point in points)
    yield f'<polyline points="{line}" stroke="{colour}"{_dashes(colour)}/>'


def _dashes(colour: str) -> str:
    return ' stroke-dasharray="6 4"' if colour == _GREY else ""


def _place(left: float, score: float) -> str:
    x = _RIGHT - left * (_RIGHT - _LEFT)
    y = _BOTTOM - score * (_BOTTOM - _TOP)
    return f"{x:.1f},{y:.1f}"


def _text(x: object, y: float, words: str, anchor: str = "middle") -> str:
    where = f'x="{x}" y="{y:g}" text-anchor="{anchor}"'
    return f'<text {where} fill="currentColor">{escape(words)}</text>'
