"""Score, check and extract in one call, without making a scorer."""

from __future__ import annotations

from factcheck.facts import CheckResult, CoverageReport, FactSet
from factcheck.facts.report import Direction
from factcheck.judges.ports import ExtractorSpec, JudgeSpec
from factcheck.runtime.loop import background
from factcheck.scoring.scorer import FactCoverage, Facts


def score(
    source: str,
    summary: str,
    *,
    facts: Facts | None = None,
    judge: JudgeSpec | None = None,
    extractor: ExtractorSpec | None = None,
    direction: Direction = "coverage",
) -> CoverageReport:
    """Score one summary with a scorer made for it; see `FactCoverage.score`."""
    with FactCoverage(judge, extractor) as scorer:
        return background.run(scorer.ascore(source, summary, facts=facts, direction=direction))


async def ascore(
    source: str,
    summary: str,
    *,
    facts: Facts | None = None,
    judge: JudgeSpec | None = None,
    extractor: ExtractorSpec | None = None,
    direction: Direction = "coverage",
) -> CoverageReport:
    """Asynchronous form of `score`."""
    async with FactCoverage(judge, extractor) as scorer:
        return await scorer.ascore(source, summary, facts=facts, direction=direction)


def check(facts: Facts, text: str, *, judge: JudgeSpec | None = None) -> tuple[CheckResult, ...]:
    """Check facts against a text with a scorer made for it; see `FactCoverage.check`."""
    with FactCoverage(judge) as scorer:
        return scorer.check(facts, text)


async def acheck(
    facts: Facts, text: str, *, judge: JudgeSpec | None = None
) -> tuple[CheckResult, ...]:
    """Asynchronous form of `check`."""
    async with FactCoverage(judge) as scorer:
        return await scorer.acheck(facts, text)


def extract(source: str, *, extractor: ExtractorSpec | None = None) -> FactSet:
    """List the facts of a source with a scorer made for it; see `FactCoverage.extract`."""
    with FactCoverage(extractor=extractor) as scorer:
        return scorer.extract(source)


async def aextract(source: str, *, extractor: ExtractorSpec | None = None) -> FactSet:
    """Asynchronous form of `extract`."""
    async with FactCoverage(extractor=extractor) as scorer:
        return await scorer.aextract(source)
