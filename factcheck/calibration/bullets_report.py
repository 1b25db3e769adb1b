"""The result of a bullet removal: its numbers, its files and its report."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from os import PathLike
from pathlib import Path as FilePath
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeVar

from factcheck.calibration import plots
from factcheck.calibration.bullets_metrics import (
    BulletMetrics,
    CurvePoint,
    Path,
    Point,
    VariantRow,
    mean_curve,
    measure_paths,
)
from factcheck.calibration.texts import TRUTH, RemovalOrder, Subject
from factcheck.documents import file_errors, json_lines, write_text
from factcheck.errors import InputError
from factcheck.facts import Usage
from factcheck.judges.local.containment import BASELINE
from factcheck.reports.page import Alert, Page, Section, Svg, Table, filled
from factcheck.reports.report import Report, render
from factcheck.reports.text import DASH, plural, short
from factcheck.stats.intervals import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BAR = 20
_LABELS = {
    "kendall": ("Kendall, facts left", ""),
    "spearman": ("Spearman, facts left", ""),
    "kendall_bullets": ("Kendall, bullets left", ""),
    "kendall_characters": ("Kendall, characters left", ""),
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
_STATES: Mapping[str, plots.State] = {"entailed": "kept", "contradicted": "distorted"}
T = TypeVar("T")
TEXTS_FILE = "texts.jsonl"
ROWS_FILE = "rows.jsonl"
PAGE_FILE = "bullets.html"


@dataclass(frozen=True, repr=False)
class BulletRemoval(Report):
    """The scores of judges for summaries from which bullets were removed.

    Only texts and rows are stored; every number is computed from them.
    """

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
            if judge != TRUTH or subject.has_truth
        ]

    def _points(self, judge: str, subject: Subject, order: RemovalOrder) -> Iterator[Point]:
        for kept in order.kept():
            left = subject.facts_left(kept)
            expected = left if subject.has_truth else None
            sizes = (len(kept) / len(subject.bullets), subject.characters(kept), left, expected)
            if judge == TRUTH:
                yield Point(*sizes, expected)
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

    def bullet_effects(self, judge: str, text: str) -> list[float | None]:
        """Mean fall of the score when a bullet is removed, for each bullet of a text, over orders.

        `None` for a bullet that no step between two complete answers removes.
        """
        subject = {one.name: one for one in self.subjects}[text]
        falls: list[list[float]] = [[] for _ in subject.bullets.texts]
        for order in subject.orders:
            points = list(self._points(judge, subject, order))
            for place, bullet in enumerate(order.removed):
                before, now = points[place].score, points[place + 1].score
                if before is not None and now is not None:
                    falls[bullet].append(before - now)
        return [fmean(fall) if fall else None for fall in falls]

    def notes(self) -> list[str]:
        """Caveats that a reader must know before trusting the numbers."""
        return list(self._notes())

    def _notes(self) -> Iterator[str]:
        for subject in self.subjects:
            if len(subject.bullets) == 1:
                yield f"{subject.name}: only one bullet; there is nothing to remove"
            for first, second in subject.repeated():
                yield f"{subject.name}: bullet {second + 1} repeats bullet {first + 1}"
            if not subject.has_truth and subject.carriers is not None:
                judge = subject.carriers_from
                yield f"{subject.name}: facts are located by the evidence of {judge}"
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
        """The metrics of every judge as JSON-ready data; `save` keeps texts and rows."""
        names = sorted(self._columns(), key=lambda name: name == TRUTH)
        texts = [subject.name for subject in self.subjects]
        judges = {
            name: {**self.metrics(name).to_dict(), "usage": self.usage(name).to_dict()}
            for name in names
        }
        effects = {
            judge: {text: self.bullet_effects(judge, text) for text in texts}
            for judge in self.judges
        }
        notes = self.notes()
        return {"texts": texts, "judges": judges, "bullet_effects": effects, "notes": notes}

    def save(self, folder: str | PathLike[str]) -> None:
        """Write texts and rows into a folder, which is created; `InputError` if it cannot be."""
        place = FilePath(folder)
        with file_errors(str(folder), "write"):
            place.mkdir(parents=True, exist_ok=True)
            for name, items in ((TEXTS_FILE, self.subjects), (ROWS_FILE, self.rows)):
                lines = (json.dumps(item.to_dict(), ensure_ascii=False) + "\n" for item in items)
                write_text(place / name, "".join(lines))

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> BulletRemoval:
        """Read what `save` wrote.

        Raises:
            InputError: A file is missing, or holds other data; names the line.
        """
        place = FilePath(folder)
        subjects = tuple(_read_lines(place / TEXTS_FILE, Subject.from_dict))
        rows = tuple(_read_lines(place / ROWS_FILE, VariantRow.from_dict))
        found = cls(subjects, rows)
        variants = [(one.name, kept) for one in subjects for kept in one.variants()]
        for judge, (name, kept) in product(found.judges, variants):
            if (judge, name, kept) not in found._by_variant:
                numbers = sorted(bullet + 1 for bullet in kept)
                raise InputError(
                    f"{place / ROWS_FILE}: no row of {judge} for {name} with the bullets {numbers}"
                )
        return found

    def curves(self) -> dict[str, list[CurvePoint]]:
        """The mean score of every judge by the share of bullets left; the truth first, if known."""
        return {name: mean_curve(self.paths(name)) for name in self._columns()}

    def _columns(self) -> tuple[str, ...]:
        return ((TRUTH,) if self.paths(TRUTH) else ()) + self.judges

    def plot_curves(self) -> Figure:
        """Plot of the curves; `ConfigError` without matplotlib."""
        curves = self.curves()
        return plots.plot_curves(curves, curves.pop(TRUTH, []), len(self.subjects))

    def plot_facts(self, judge: str, text: str, order: str = "end") -> Figure:
        """Plot of a judge's verdicts on each fact of a text as bullets are removed.

        Raises:
            ConfigError: matplotlib is not installed.
            KeyError: There is no such judge, text or order, or the judge gives no verdicts.
        """
        subject = {one.name: one for one in self.subjects}[text]
        kept_sets = list({one.name: one for one in subject.orders}[order].kept())
        rows = [self.row(judge, text, kept) for kept in kept_sets]
        states = [[_state(row.verdicts[fact.id]) for row in rows] for fact in subject.facts]
        truth = None
        if subject.carriers is not None and subject.has_truth:
            carriers = [subject.carriers[fact.id] for fact in subject.facts]
            truth = [[not held.isdisjoint(kept) for kept in kept_sets] for held in carriers]
        facts = [fact.text for fact in subject.facts]
        return plots.plot_facts(f"{text}, by {judge}", facts, states, truth, order)

    def _plotted(self) -> Iterator[tuple[str, str]]:
        """The judges and texts whose verdicts can be plotted."""
        for subject, judge in product(self.subjects, self.judges):
            has_verdicts = self.row(judge, subject.name, subject.whole).verdicts
            if judge != BASELINE and has_verdicts and subject.orders:
                yield judge, subject.name

    def write_report(self, folder: str | PathLike[str]) -> str:
        """Write the page, and with matplotlib the plots, into a folder; says what was written."""
        place = FilePath(folder)
        write_text(place / PAGE_FILE, render(self.page(with_texts=True), "html"))
        if not plots.can_plot():
            return f"{PAGE_FILE} and {ROWS_FILE} (for plots: pip install 'factcheck[plots]')"
        plots.save_figure(self.plot_curves(), place / "curves")
        for judge, text in self._plotted():
            stem = re.sub(r"[^\w.-]+", "-", f"facts-{text}-{judge}")
            plots.save_figure(self.plot_facts(judge, text), place / stem)
        return f"{PAGE_FILE}, {ROWS_FILE}, curves.png and .svg, and a heat map for each text"

    def _counts(self) -> str:
        variants = plural(len({(row.text, row.kept) for row in self.rows}), "variant")
        orders = plural(sum(len(subject.orders) for subject in self.subjects), "removal order")
        return f"{plural(len(self.subjects), 'text')}, {variants}, {orders}"

    def __repr__(self) -> str:
        return f"<BulletRemoval: Bullet removal   {self._counts()}>"  # without any metric

    def page(self, *, with_texts: bool = False) -> Page:
        """The report: the metrics and the mean curve of every judge.

        `with_texts`, also every text with the effect of its bullets, and plots with matplotlib.
        """
        names = self._columns()
        curves = [{one.left: one.score for one in curve} for curve in self.curves().values()]
        chart = tuple(
            (f"{100 * left:.0f} %", *(_bar(curve.get(left)) for curve in curves))
            for left in sorted({left for curve in curves for left in curve}, reverse=True)
        )
        draw = with_texts and plots.can_plot()
        plotted = list(self._plotted()) if draw else []
        return Page(
            "Bullet removal",
            counts=self._counts(),
            alerts=tuple(Alert(note, "unknown") for note in self.notes()),
            sections=filled(
                Section("Metrics", table=Table(("", *names), tuple(self._metric_rows(names)))),
                Section(
                    "Mean score by the share of bullets left",
                    table=Table(("left", *names), chart, n_names=1 + len(names)),
                    pictures=(Svg(plots.svg_text(self.plot_curves())),) if draw and chart else (),
                ),
                *(self._text_section(subject, plotted) for subject in self.subjects if with_texts),
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

    def _text_section(self, subject: Subject, plotted: Sequence[tuple[str, str]]) -> Section:
        judges = [judge for judge in self.judges if judge != BASELINE]
        effects = [self.bullet_effects(judge, subject.name) for judge in judges]
        bullets = zip(subject.bullets.texts, *effects, strict=True)
        rows = [(f"{n} {text}", *map(short, falls)) for n, (text, *falls) in enumerate(bullets, 1)]
        figures = (self.plot_facts(*place) for place in plotted if place[1] == subject.name)
        return Section(
            subject.name,
            legend=("Fall of the score when a bullet is removed, mean over the orders",),
            table=Table(("bullet", *judges), tuple(rows)),
            collapsed=True,
            pictures=tuple(Svg(plots.svg_text(figure)) for figure in figures),
        )


def _state(label: str) -> plots.State:
    return "undecided" if label.startswith("?") else _STATES.get(label, "dropped")


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
    if subject.carriers is None or not subject.has_truth or not row.complete:
        return None
    carriers = subject.carriers
    asked = (fact for fact in row.verdicts if carriers[fact].isdisjoint(row.kept) != is_there)
    labels = [row.verdicts[fact] for fact in asked]
    return labels.count("entailed") / len(labels) if labels else None


def _read_lines(path: FilePath, read: Callable[[Any], T]) -> Iterator[T]:
    for place, value in json_lines(path):
        try:
            found = read(value)
        except InputError as error:
            raise InputError(f"{place}: {error}") from None
        yield found
