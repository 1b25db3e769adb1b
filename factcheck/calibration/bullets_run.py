"""Bullet removal: an honest score falls as bullets are removed from a summary one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from typing import Any

from factcheck.calibration.bullets_report import BulletRemoval
from factcheck.calibration.bullets_rows import VariantRow
from factcheck.calibration.bullets_summary import Subject, removal_orders, split_bullets
from factcheck.calibration.containment import BASELINE, WordContainment
from factcheck.calibration.judges import (
    Judge,
    Named,
    blocking,
    named_judges,
    open_scorer,
    require_unique,
)
from factcheck.calibration.texts import BundledText, load_texts
from factcheck.errors import Failure, InputError, JudgeError
from factcheck.facts import CoverageReport, FactSet
from factcheck.judges.factory import build_rater
from factcheck.judges.ports import HIGHEST, LOWEST, ExtractorSpec, Ledger, Rater, RaterSpec
from factcheck.records import Record, as_record
from factcheck.runtime.budget import Budget
from factcheck.runtime.loop import together
from factcheck.runtime.session import Session
from factcheck.scoring import FactCoverage

Text = BundledText | Record | Mapping[str, Any]
RATED = "(1-5)"
"""Follows the name of a rater in tables."""


class CoverageScorer:
    """Scores a variant by the facts it keeps."""

    def __init__(self, name: str, scorer: FactCoverage) -> None:
        self.name = name
        self._scorer = scorer

    async def report(self, subject: Subject, kept: frozenset[int]) -> CoverageReport:
        """The coverage of the subject's facts by the summary with these bullets."""
        variant = subject.bullets.kept(kept)
        return await self._scorer.ascore("", variant, facts=subject.facts)

    async def row(self, subject: Subject, kept: frozenset[int]) -> VariantRow:
        """The score with these bullets."""
        try:
            report = await self.report(subject, kept)
        except JudgeError as error:
            return VariantRow.missing(subject.name, self.name, kept, str(error))
        return VariantRow.of(subject.name, self.name, kept, report)

    async def with_evidence(self, subject: Subject) -> Subject:
        """The subject with the bullets in which this judge found each fact, if it answers."""
        try:
            return subject.with_evidence(await self.report(subject, subject.whole))
        except JudgeError:
            return subject


class RatingScorer:
    """Scores a variant by one rating from 1 to 5, rescaled to [0, 1]."""

    def __init__(self, name: str, rater: Rater) -> None:
        self.name = f"{name} {RATED}"
        self._rater = rater

    async def row(self, subject: Subject, kept: frozenset[int]) -> VariantRow:
        """The rating of the whole variant; there are no verdicts behind it."""
        ledger = Ledger()
        rating = await self._rater.rate(subject.source, subject.bullets.kept(kept), ledger)
        place = (subject.name, self.name, kept)
        if isinstance(rating, Failure):
            return VariantRow.missing(*place, rating.message, ledger.usage)
        score = (rating.value - LOWEST) / (HIGHEST - LOWEST)
        note = f"rated {rating.value} of {HIGHEST}"
        return VariantRow(*place, score, score, score, note=note, usage=ledger.usage)


async def abullet_removal(
    texts: Iterable[Text] | None = None,
    judges: Named[Judge] = ("local",),
    *,
    raters: Named[RaterSpec] = (),
    extractor: ExtractorSpec | None = None,
    budget: Budget | None = None,
    n_random: int = 4,
    seed: int = 0,
    answered: Callable[[], None] = lambda: None,
) -> BulletRemoval:
    """Remove the bullets of each summary one by one, and score what is left with each judge.

    Bullets are removed from the end, from the start and in random orders; every variant is scored
    by itself. Word containment is always included as the baseline.

    Args:
        texts: Records (or mappings) with `source`, `summary` and optionally `id` and `facts`, which
            are extracted where they are missing. The bundled texts if `None`.
        judges: Judges that check facts: anything `FactCoverage` takes as a judge, or a
            `FactCoverage` itself; a mapping gives them names.
        raters: Judges that rate a variant as a whole from 1 to 5, in one call: `"PROVIDER/MODEL"`,
            a `dspy.BaseLM`, or an object with the `Rater` port; a mapping gives them names.
        extractor: Extracts missing facts; as in `FactCoverage`.
        budget: Limits for each judge; what remains unanswered is missing.
        n_random: Random orders for each text, 0 to 1,000.
        seed: Random seed of the orders.
        answered: Called after each answer.

    Raises:
        InputError: A text is blank, without facts, or a duplicate name; or a judge is invalid.
        ConfigError: A judge is unknown, or a key is missing.
        JudgeError: Facts could not be extracted, or a judge rejected every request.
    """
    async with AsyncExitStack() as stack:
        coverage = [
            CoverageScorer(name, await open_scorer(judge, budget, stack))
            for name, judge in named_judges(judges)
        ]
        baseline = CoverageScorer(BASELINE, FactCoverage(WordContainment()))
        rating = []
        for name, rater in named_judges(raters):
            session = await stack.enter_async_context(Session(budget=budget))
            rating.append(RatingScorer(name, build_rater(rater, session)))
        scorers: list[CoverageScorer | RatingScorer] = [*coverage, *rating, baseline]
        require_unique("judge", [scorer.name for scorer in scorers])
        given = load_texts() if texts is None else tuple(texts)
        if not given:
            raise InputError("there are no texts to remove bullets from")
        lister = await stack.enter_async_context(FactCoverage(extractor=extractor, budget=budget))
        first = (*coverage, baseline)[0]
        subjects = [
            await _subject(text, number, (n_random, seed), lister, first)
            for number, text in enumerate(given, 1)
        ]
        require_unique("text", [subject.name for subject in subjects])
        rows: list[VariantRow] = []
        for scorer in scorers:
            for subject in subjects:
                rows += await _rows(scorer, subject, answered)
    return BulletRemoval(tuple(subjects), tuple(rows))


bullet_removal = blocking(abullet_removal)


async def _subject(
    text: Text, number: int, draws: tuple[int, int], lister: FactCoverage, first: CoverageScorer
) -> Subject:
    if isinstance(text, BundledText):
        return Subject.bundled(text, removal_orders(len(text.bullets), *draws))
    record = as_record(text, number)
    facts = await lister.aextract(record.source) if record.facts is None else record.facts
    bullets = split_bullets(record.summary)
    subject = Subject(
        name=record.id,
        source=record.source,
        bullets=bullets,
        facts=FactSet.of(facts),
        orders=removal_orders(len(bullets), *draws),
        carriers_from=first.name,
    )
    return await first.with_evidence(subject)


async def _rows(
    scorer: CoverageScorer | RatingScorer, subject: Subject, answered: Callable[[], None]
) -> list[VariantRow]:
    """One row for each variant of a subject, the whole summary first."""

    async def one(kept: frozenset[int]) -> VariantRow:
        row = await scorer.row(subject, kept)
        answered()
        return row

    return list(await together(one(kept) for kept in subject.variants()))
