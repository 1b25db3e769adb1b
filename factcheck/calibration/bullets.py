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
    MEASUREMENT,
    TRUTH,
    UNSURE,
    Array,
    CurvePoint,
    TextScores,
    VariantRow,
    mean_curve,
    measure_texts,
)
from factcheck.calibration.texts import (
    Judges,
    RemovalOrder,
    Subject,
    Text,
    name_of,
    open_judges,
    read_subjects,
    removal_orders,
    require_unique,
)
from factcheck.documents import file_errors, json_text, to_plain, write_text
from factcheck.errors import Failure, JudgeError
from factcheck.facts import Usage
from factcheck.facts.page import usage_text
from factcheck.judges.factory import build_model
from factcheck.judges.local.containment import BASELINE
from factcheck.judges.ports import HIGHEST, LOWEST, Ledger, ModelSpec
from factcheck.reports import Report, render
from factcheck.reports.page import Page, Section, Svg, entries
from factcheck.reports.pictures import curves_svg
from factcheck.reports.text import percent, plural
from factcheck.runtime.budget import Budget
from factcheck.runtime.loop import blocking, together
from factcheck.runtime.session import Session
from factcheck.scoring import FactCoverage
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
    judges: Judges = ("local",),
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
        opened = await open_judges(judges, budget, stack)
        scorers = [_by_coverage(name, scorer) for name, scorer in opened.items()]
        for rater in raters:
            session = await stack.enter_async_context(Session(budget=budget))
            scorers.insert(-1, _by_rating(name_of(rater), build_model(rater, session)))
        require_unique("judge", [name for name, _ in scorers])
        subjects = await read_subjects(texts)
        orders = {one.name: removal_orders(len(one.bullets), n_random) for one in subjects}
        rows: list[VariantRow] = []
        for _, score in scorers:
            for one in subjects:
                rows += await together(score(one, kept) for kept in variants(one, orders[one.name]))
    return BulletRemoval(tuple(subjects), orders, tuple(rows))


bullet_removal = blocking(abullet_removal)


def variants(subject: Subject, orders: Iterable[RemovalOrder]) -> tuple[frozenset[int], ...]:
    """Return every set of bullets that an order leaves, once; the whole summary first."""
    left = (kept for order in orders for kept in order)
    return tuple(dict.fromkeys([frozenset(range(len(subject.bullets))), *left]))


def _by_coverage(name: str, scorer: FactCoverage) -> Scorer:
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
        """Return the metrics of one judge; see `MEASUREMENT`."""
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
        labels = [label for row in complete for label in row.verdicts.values()]
        if UNSURE in labels:
            unsure = percent(labels.count(UNSURE) / len(labels))
            limits += f"; {unsure} of the facts left open as unsure, outside its scores"
        return conclusions.of_bullets(self.metrics(judge), n_texts, limits)

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

    def _conclusions(self) -> dict[str, conclusions.Conclusion]:
        """Return the conclusion about each judge, without the baseline."""
        return {name: self.conclusion(name) for name in self.judges if name != BASELINE}

    def to_dict(self) -> dict[str, Any]:
        """Return the metrics of every judge as JSON-ready data; `save` keeps the rows."""
        judges: dict[str, dict[str, Any]] = {}
        for name in self.judges:
            judges[name] = {"metrics": self.metrics(name), "usage": self.usage(name)}
        for name, conclusion in self._conclusions().items():
            judges[name]["conclusion"] = conclusion
        texts = [subject.name for subject in self.subjects]
        data = {"texts": texts, "judges": judges, "notes": list(self.notes())}
        plain: dict[str, Any] = to_plain(data)
        return plain

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
            "curves.svg": self._picture(self.curves()),
        }
        with file_errors(str(folder), "write"):
            place.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            write_text(place / name, text)
        return tuple(files)

    def page(self) -> Page:
        """Describe the metrics and the mean curve of every judge."""
        n_variants = plural(len({(row.text, row.kept) for row in self.rows}), "variant")
        n_orders = plural(sum(map(len, self.orders.values())), "removal order")
        curves = self.curves()
        picture = self._picture(curves) if any(curves.values()) else Svg()
        used = ((name, usage_text(self.usage(name))) for name in self.judges)
        usage = "; ".join(f"{name}: {text}" for name, text in used if text)
        page = conclusions.judges_page(
            MEASUREMENT,
            f"{plural(len(self.subjects), 'text')}, {n_variants}, {n_orders}",
            {name: self.metrics(name) for name in self.judges},
            self._conclusions(),
            notes=self.notes(),
            sections=(Section("Mean score by the share of bullets left", picture=picture),),
        )
        return page._replace(footer=entries(("Usage", usage)))

    def _picture(self, curves: Mapping[str, Sequence[CurvePoint]]) -> Svg:
        title = f"Bullets are removed one by one ({plural(len(self.subjects), 'text')})"
        return curves_svg(curves, title, TRUTH)
