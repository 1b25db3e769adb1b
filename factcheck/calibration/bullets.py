"""Bullet removal: an honest score falls as bullets are removed from a summary one by one."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from factcheck.calibration import conclusions
from factcheck.calibration.bullets_metrics import (
    LABELS,
    LEGEND,
    TRUTH,
    UNSURE,
    Array,
    CurvePoint,
    TextScores,
    VariantRow,
    curves_svg,
    mean_curve,
    measure_texts,
)
from factcheck.calibration.texts import (
    Judge,
    Named,
    RemovalOrder,
    Subject,
    Text,
    name_of,
    named_judges,
    open_scorer,
    read_subjects,
    removal_orders,
    require_unique,
)
from factcheck.documents import file_errors, json_text, to_plain, write_text
from factcheck.errors import Failure, JudgeError
from factcheck.facts import Usage
from factcheck.judges.factory import build_model
from factcheck.judges.local.containment import BASELINE, WordContainment
from factcheck.judges.ports import HIGHEST, LOWEST, Ledger, ModelSpec
from factcheck.reports import Report, render
from factcheck.reports.page import Alert, Page, Section, Svg, Table, filled
from factcheck.reports.text import percent, plural, short
from factcheck.runtime.budget import Budget
from factcheck.runtime.loop import blocking, together
from factcheck.runtime.session import Session
from factcheck.scoring import FactCoverage
from factcheck.settings import LOCAL
from factcheck.stats.intervals import Estimate

if TYPE_CHECKING:
    from factcheck.judges.llm.language_model import LanguageModel

RATED = "(1-5)"
"""Follows the name of a model in tables that rates whole summaries."""
Scorer = tuple[str, Callable[[Subject, frozenset[int]], Coroutine[Any, Any, VariantRow]]]
"""A name, and a function that scores a subject's summary with only these bullets."""
Orders = Mapping[str, tuple[RemovalOrder, ...]]
"""The removal orders of each text."""


async def abullet_removal(
    texts: Iterable[Text] | None = None,
    judges: Named[Judge] = ("local",),
    *,
    raters: Sequence[ModelSpec] = (),
    budget: Budget | None = None,
    n_random: int = 4,
) -> BulletRemoval:
    """Remove the bullets of each summary one by one, and score what is left with each judge.

    Bullets are removed from the end, from the start and in random orders; every variant is scored
    by itself. Word containment is always included as the baseline.

    Args:
        texts: Records (or mappings) with `source`, `summary` and optionally `id` and `facts`, which
            are extracted by the embedded extractor where they are missing. The bundled texts if
            `None`.
        judges: Judges that check facts: anything `FactCoverage` takes as a judge, or a
            `FactCoverage` itself; a mapping gives them names.
        raters: Language models that rate a variant as a whole from 1 to 5, in one call.
        budget: Limits for each judge; what remains unanswered is missing.
        n_random: Random orders for each text, 0 to 1,000.

    Raises:
        InputError: A text is blank, without facts, or a duplicate name; or a judge is invalid.
        ConfigError: A judge is unknown, or a key is missing.
        JudgeError: A judge rejected every request.
    """
    async with AsyncExitStack() as stack:
        scorers = [
            by_coverage(name, await open_scorer(judge, budget, stack))
            for name, judge in named_judges(judges)
        ]
        for rater in raters:
            session = await stack.enter_async_context(Session(budget=budget))
            scorers.append(_by_rating(name_of(rater), build_model(rater, session)))
        scorers.append(by_coverage(BASELINE, FactCoverage(WordContainment(), LOCAL)))
        require_unique("judge", [name for name, _ in scorers])
        subjects = await read_subjects(texts)
        orders = {one.name: removal_orders(len(one.bullets), n_random) for one in subjects}
        rows = await score_variants(scorers, subjects, orders)
    return BulletRemoval(tuple(subjects), orders, tuple(rows))


bullet_removal = blocking(abullet_removal)


async def score_variants(
    scorers: Iterable[Scorer], subjects: Sequence[Subject], orders: Orders
) -> list[VariantRow]:
    """Score every variant of the subjects: one scorer and one subject after the other."""
    rows: list[VariantRow] = []
    for _, score in scorers:
        for subject in subjects:
            every = variants(subject, orders[subject.name])
            rows += await together(score(subject, kept) for kept in every)
    return rows


def variants(subject: Subject, orders: Iterable[RemovalOrder]) -> tuple[frozenset[int], ...]:
    """Return every set of bullets that an order leaves, once; the whole summary first."""
    left = (kept for order in orders for kept in order)
    return tuple(dict.fromkeys([frozenset(range(len(subject.bullets))), *left]))


def by_coverage(name: str, scorer: FactCoverage) -> Scorer:
    """Make the scorer that goes by the facts that a variant keeps."""

    async def row(subject: Subject, kept: frozenset[int]) -> VariantRow:
        text = subject.bullets.kept(kept)
        try:
            report = await scorer.ascore("", text, facts=subject.facts)
        except JudgeError as error:
            return VariantRow(subject.name, name, kept, None, note=str(error))
        return VariantRow.of(subject.name, name, kept, report)

    return name, row


def _by_rating(model_name: str, model: LanguageModel) -> Scorer:
    """Make the scorer that goes by one rating from 1 to 5, rescaled to [0, 1]; without verdicts."""
    from factcheck.judges.llm.judges import LLMRater

    name, rater = f"{model_name} {RATED}", LLMRater(model)

    async def row(subject: Subject, kept: frozenset[int]) -> VariantRow:
        ledger = Ledger()
        rating = await rater.rate(subject.source, subject.bullets.kept(kept), ledger)
        place = (subject.name, name, kept)
        if isinstance(rating, Failure):
            return VariantRow(*place, None, note=rating.message, usage=ledger.usage)
        score = (rating.value - LOWEST) / (HIGHEST - LOWEST)
        note = f"rated {rating.value} of {HIGHEST}"
        return VariantRow(*place, score, score, score, note=note, usage=ledger.usage)

    return name, row


@dataclass(frozen=True, repr=False)
class BulletRemoval(Report):
    """The scores of judges for summaries from which bullets were removed."""

    subjects: tuple[Subject, ...]
    orders: Orders
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
        """Return the row of a judge for a text with these bullets, from 0, or raise `KeyError`."""
        return self._by_variant[judge, text, frozenset(kept)]

    def scores(self, judge: str) -> list[TextScores]:
        """Return every text with more than one bullet as a judge scores it."""
        found = []
        for one in self.subjects:
            paths = [self._path(judge, one, order) for order in self.orders[one.name]]
            if not paths:
                continue
            whole = self.row(judge, one.name, range(len(one.bullets)))
            decided = whole.verdicts if whole.complete and one.carriers else {}
            labels: dict[bool, list[bool]] = {True: [], False: []}
            for fact, label in decided.items():
                if label != UNSURE:
                    labels[bool(one.carriers[fact])].append(label == "entailed")
            found.append(TextScores(paths, labels[True], labels[False]))
        return found

    def _path(self, judge: str, subject: Subject, order: RemovalOrder) -> Array:
        points = []
        for kept in order:
            row = self.row(judge, subject.name, kept)
            score = row.score if row.complete else None
            points.append((len(kept) / len(subject.bullets), subject.facts_left(kept), score))
        return np.array(points, dtype=float)  # None is NaN

    def metrics(self, judge: str) -> dict[str, Estimate]:
        """Return the metrics of one judge; see `LABELS`."""
        return measure_texts(self.scores(judge))

    def curves(self) -> dict[str, list[CurvePoint]]:
        """Return the mean score by the share of bullets left, for the truth and every judge."""
        scores = {name: self.scores(name) for name in self.judges}
        known = [one for one in scores[BASELINE] if not np.isnan(one.paths[0][0, 1])]
        if known:
            scores = {TRUTH: [one.truth for one in known], **scores}
        return {name: mean_curve(texts) for name, texts in scores.items()}

    def usage(self, judge: str) -> Usage:
        """Return what the answers of one judge cost."""
        return sum((row.usage for row in self.rows if row.judge == judge), Usage())

    def conclusion(self, judge: str) -> conclusions.Conclusion:
        """Conclude what a judge can be used for, as far as these texts show it."""
        rows = [row for row in self.rows if row.judge == judge]
        complete = [row for row in rows if row.complete]
        sizes = {subject.name: len(subject.bullets) for subject in self.subjects}
        n_texts = sum(len(row.kept) == sizes[row.text] for row in complete)
        limits = f"{plural(len(sizes), 'text')}, {plural(len(rows), 'variant')}"
        if len(complete) < len(rows):
            limits += f", of which {n_texts} and {len(complete)} have all answers"
        n_verdicts = sum(len(row.verdicts) for row in complete)
        if n_unsure := sum(row.n_unsure for row in complete):
            unsure = percent(n_unsure / n_verdicts)
            limits += f"; {unsure} of the facts left open as unsure, outside its scores"
        return conclusions.of_bullets(self.metrics(judge), n_texts, limits)

    @property
    def _measured(self) -> tuple[str, ...]:
        """The judges that were asked for, without the baseline."""
        return tuple(name for name in self.judges if name != BASELINE)

    def notes(self) -> Iterator[str]:
        """Yield what a reader must know before trusting the numbers."""
        for subject in self.subjects:
            if len(subject.bullets) == 1:
                yield f"{subject.name}: only one bullet; there is nothing to remove"
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
        """Return the metrics of every judge as JSON-ready data; `save` keeps the rows."""
        judges: dict[str, dict[str, Any]] = {}
        for name in self.judges:
            metrics = {metric: one.as_plain() for metric, one in self.metrics(name).items()}
            judges[name] = {"metrics": metrics, "usage": self.usage(name).to_dict()}
        for name in self._measured:
            judges[name]["conclusion"] = to_plain(self.conclusion(name))
        texts = [subject.name for subject in self.subjects]
        return {"texts": texts, "judges": judges, "notes": list(self.notes())}

    def save(self, folder: str | PathLike[str]) -> tuple[str, ...]:
        """Write the rows, the page and the plot into a folder, which is created.

        Returns:
            The names of the files.

        Raises:
            InputError: The folder or a file cannot be written.
        """
        place = Path(folder)
        rows = (json_text(row.to_dict()) for row in self.rows)
        files = {
            "rows.jsonl": "".join(f"{row}\n" for row in rows),
            "bullets.html": render(self.page(), "html"),
            "curves.svg": curves_svg(self.curves(), len(self.subjects)),
        }
        with file_errors(str(folder), "write"):
            place.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            write_text(place / name, text)
        return tuple(files)

    def _counts(self) -> str:
        n_variants = plural(len({(row.text, row.kept) for row in self.rows}), "variant")
        n_orders = plural(sum(map(len, self.orders.values())), "removal order")
        return f"{plural(len(self.subjects), 'text')}, {n_variants}, {n_orders}"

    def __repr__(self) -> str:
        return f"<BulletRemoval: Bullet removal   {self._counts()}>"  # without any metric

    def page(self) -> Page:
        """Describe the metrics and the mean curve of every judge."""
        curves = self.curves()
        chart = _chart(curves)
        found = {name: self.conclusion(name) for name in self._measured}
        return Page(
            "Bullet removal",
            counts=self._counts(),
            answer=conclusions.answer(found),
            lines=(f"{self._counts()}.",),
            alerts=tuple(Alert(note, "unknown") for note in self.notes()),
            sections=filled(
                Section("Metrics", legend=LEGEND, table=self._table()),
                Section(
                    "Mean score by the share of bullets left",
                    table=chart,
                    pictures=(Svg(curves_svg(curves, len(self.subjects))),) if chart.rows else (),
                ),
                conclusions.section(found),
            ),
            columns=("text", "judge", "kept", "score", "low", "high", "note"),
            rows=self._csv_rows,
        )

    def _table(self) -> Table:
        """Return the metrics of each judge, and what it cost."""
        usages = [self.usage(name) for name in self.judges]
        rows = zip(*map(_spent, usages), strict=True)
        named = zip(("calls", "tokens", "cost"), rows, strict=True)
        is_spent = any(usage.calls or usage.cache_hits for usage in usages)
        judges = {name: self.metrics(name) for name in self.judges}
        more = [(name, *row) for name, row in named] if is_spent else []
        return conclusions.figures(LABELS, judges, more)

    def _csv_rows(self) -> Iterator[dict[str, Any]]:
        for row in self.rows:
            data = row.to_dict()
            yield {**data, "kept": " ".join(map(str, data["kept"]))}


def _chart(curves: Mapping[str, Sequence[CurvePoint]]) -> Table:
    """Tabulate the curves by the share of bullets left, from all to few."""
    cells: dict[float, dict[str, float]] = {}
    for name, curve in curves.items():
        for point in curve:
            cells.setdefault(point.left, {})[name] = point.score
    rows = []
    for left in sorted(cells, reverse=True):
        scores = [short(cells[left].get(name)) for name in curves]
        rows.append((f"{100 * left:.0f} %", *scores))
    return Table(("left", *curves), tuple(rows))


def _spent(usage: Usage) -> tuple[str, str, str]:
    """Format calls, tokens and cost."""
    n_tokens = usage.prompt_tokens + usage.completion_tokens
    cost = "unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
    return f"{usage.calls:,}", f"{n_tokens:,}", cost
