"""Asks a judge for the score of every variant, each by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from factcheck.calibration.bullets.rows import VariantRow, covered, unanswered
from factcheck.calibration.bullets.subjects import Subject
from factcheck.errors import JudgeError
from factcheck.facts import CoverageReport
from factcheck.judges.ports import HIGHEST, LOWEST, Ledger, Rater, RatingFailure
from factcheck.runtime.loop import together
from factcheck.scoring import FactCoverage

Done = Callable[[], None]
"""Called after each answer."""


class VariantScorer(Protocol):
    """Scores one variant."""

    @property
    def name(self) -> str:
        """What tables call it."""
        ...

    async def row(self, subject: Subject, kept: frozenset[int]) -> VariantRow:
        """What this judge makes of the summary with these bullets; never raises a judge error."""
        ...


class CoverageOf:
    """Scores a variant by the facts it keeps."""

    def __init__(self, name: str, scorer: FactCoverage) -> None:
        self.name = name
        self._scorer = scorer

    async def row(self, subject: Subject, kept: frozenset[int]) -> VariantRow:
        """The coverage of the subject's facts."""
        try:
            report = await self._report(subject, kept)
        except JudgeError as error:
            return unanswered(subject.name, self.name, kept, str(error))
        return covered(subject.name, self.name, kept, report)

    async def report(self, subject: Subject) -> CoverageReport | None:
        """What it finds in the whole summary; `None` if it cannot be had."""
        try:
            return await self._report(subject, frozenset(range(len(subject.bullets))))
        except JudgeError:
            return None

    async def _report(self, subject: Subject, kept: frozenset[int]) -> CoverageReport:
        variant = subject.bullets.kept(kept)
        return await self._scorer.ascore("", variant, facts=subject.facts)


class RatingOf:
    """Scores a variant by one rating from 1 to 5, put on the scale from 0 to 1."""

    def __init__(self, name: str, rater: Rater) -> None:
        self.name = name
        self._rater = rater

    async def row(self, subject: Subject, kept: frozenset[int]) -> VariantRow:
        """The rating of the whole variant; there are no verdicts behind it."""
        ledger = Ledger()
        rating = await self._rater.rate(subject.source, subject.bullets.kept(kept), ledger)
        if isinstance(rating, RatingFailure):
            return unanswered(subject.name, self.name, kept, rating.message, ledger.usage)
        score = (rating.value - LOWEST) / (HIGHEST - LOWEST)
        note = f"rated {rating.value} of {HIGHEST}"
        return VariantRow(
            subject.name, self.name, kept, score, score, score, note=note, usage=ledger.usage
        )


async def ask(scorer: VariantScorer, subject: Subject, done: Done) -> list[VariantRow]:
    """One row for each variant of a subject, the whole summary first."""

    async def one(kept: frozenset[int]) -> VariantRow:
        row = await scorer.row(subject, kept)
        done()
        return row

    return list(await together(one(kept) for kept in subject.variants()))
