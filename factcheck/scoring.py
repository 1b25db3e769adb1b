"""Scoring one text: extract the facts, check them, report the coverage."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.metadata import version
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, get_args

from factcheck.errors import InputError
from factcheck.factory import CallOptions, build_judges
from factcheck.facts import (
    AtomicFact,
    CheckFailure,
    CheckResult,
    CoverageReport,
    FactSet,
    ScoreSignature,
    Verdict,
)
from factcheck.judges.ports import Ledger
from factcheck.runtime.loop import background
from factcheck.runtime.retry import RetryPolicy
from factcheck.settings import Settings

if TYPE_CHECKING:
    from typing_extensions import Self

Facts = FactSet | Iterable[AtomicFact | str]
Direction = Literal["coverage", "both"]


class FactCoverage:
    """Scores summaries by the facts of the source that they keep.

    Every method has a synchronous and an asynchronous form (`score`, `ascore`). Both work inside a
    running event loop and from any thread; the asynchronous one does not block the loop. Use it
    as a context manager, or call `close`, to close connections to a language model.

    Args:
        judge: Who checks: `"local"`, `"PROVIDER/MODEL"`, a `dspy.BaseLM`, or any object with the
            `Checker` port. `None`: `FACTCHECK_JUDGE`, or else `"local"`.
        extractor: Who extracts, likewise. `None`: `FACTCHECK_EXTRACTOR`, or else the model that
            checks.
        facts_per_call: Facts a language model checks in one call, from 1 to 100.
        concurrency: Requests under way at most, for each language model.
        timeout_s: Seconds one request may take.
        retry: How often a request is tried.

    Raises:
        ConfigError: A judge is not known or its key is missing.
    """

    def __init__(
        self,
        judge: Any = None,
        extractor: Any = None,
        *,
        facts_per_call: int = 16,
        concurrency: int = 32,
        timeout_s: float = 120.0,
        retry: RetryPolicy | None = None,
    ) -> None:
        self._judges = build_judges(
            judge,
            extractor,
            Settings.from_environment(),
            CallOptions(
                facts_per_call=facts_per_call,
                concurrency=concurrency,
                timeout_s=timeout_s,
                retry=retry or RetryPolicy(),
            ),
        )

    def extract(self, source: str) -> FactSet:
        """The atomic facts of a source.

        Raises:
            InputError: The source is blank, or no facts are found in it.
            JudgeError: The extractor could not be asked.
        """
        return background.run(self.aextract(source))

    async def aextract(self, source: str) -> FactSet:
        """Asynchronous form of `extract`."""
        return await self._extract(source, Ledger())

    def check(self, facts: Facts, text: str) -> tuple[CheckResult, ...]:
        """One verdict or failure per fact, in fact order.

        Raises:
            InputError: The facts cannot be read.
            JudgeRejected: The judge turns every request down.
        """
        return background.run(self.acheck(facts, text))

    async def acheck(self, facts: Facts, text: str) -> tuple[CheckResult, ...]:
        """Asynchronous form of `check`."""
        _require_text(text, "the text")
        return await self._check(FactSet.of(facts), text, Ledger())

    def score(
        self,
        source: str,
        summary: str,
        *,
        facts: Facts | None = None,
        direction: Direction = "coverage",
    ) -> CoverageReport:
        """How much of a source a summary keeps.

        Args:
            source: The text the facts are taken from; not needed (may be blank) with `facts`,
                unless `direction` is `"both"`.
            summary: The text under evaluation. A blank one is legal and keeps nothing.
            facts: Facts to check instead of extracting them: a `FactSet` from `extract`, or a
                list. The next summary of the same source then costs only the check.
            direction: `"both"` also lists what the summary says and the source does not.

        Raises:
            InputError: The source is blank or states no facts.
            JudgeError: The facts could not be extracted, or the judge turns every request down.
        """
        return background.run(self.ascore(source, summary, facts=facts, direction=direction))

    async def ascore(
        self,
        source: str,
        summary: str,
        *,
        facts: Facts | None = None,
        direction: Direction = "coverage",
    ) -> CoverageReport:
        """Asynchronous form of `score`."""
        _require_text(source, "the source")
        _require_text(summary, "the summary")
        if direction not in get_args(Direction):
            raise InputError(f"direction {direction!r} is not one of {get_args(Direction)}")
        ledger = Ledger()
        fact_set = await self._extract(source, ledger) if facts is None else FactSet.of(facts)
        if not fact_set:
            raise InputError("the list of facts is empty; there is nothing to check")
        results = await self._check(fact_set, summary, ledger)
        claims: FactSet | None = None
        claim_results: tuple[CheckResult, ...] = ()
        if direction == "both":
            claims, claim_results = await self._check_claims(source, summary, ledger)
        return CoverageReport(
            facts=fact_set,
            results=results,
            usage=ledger.usage,
            signature=self._signature(fact_set, results),
            claims=claims,
            claim_results=claim_results,
        )

    async def _extract(self, source: str, ledger: Ledger) -> FactSet:
        _require_text(source, "the source")
        if not source.strip():
            raise InputError("the source is empty; give it a text with facts in it")
        facts = await self._judges.extractor.extract(source, ledger)
        if not facts:
            raise InputError(
                "no facts found in the source; it needs at least one statement, "
                "or give the facts yourself"
            )
        return facts

    async def _check(self, facts: FactSet, text: str, ledger: Ledger) -> tuple[CheckResult, ...]:
        if not text.strip():
            return tuple(
                Verdict(fact, "neutral", 0.0, reason="the text is empty") for fact in facts
            )
        results = await self._judges.checker.check(facts, text, ledger)
        return account(facts, results, text)

    async def _check_claims(
        self, source: str, summary: str, ledger: Ledger
    ) -> tuple[FactSet, tuple[CheckResult, ...]]:
        if not source.strip():
            raise InputError('direction "both" needs the source to check the summary against')
        claims = FactSet(())
        if summary.strip():
            claims = _numbered_as_claims(await self._judges.extractor.extract(summary, ledger))
        return claims, await self._check(claims, source, ledger)

    def _signature(self, facts: FactSet, results: Sequence[CheckResult]) -> ScoreSignature:
        undecided = sum(isinstance(result, CheckFailure) for result in results)
        return ScoreSignature.of(
            {
                "facts": str(len(facts)),
                "undecided": str(undecided),
                **(dict(facts.made_by) or {"extractor": "given"}),
                **self._judges.checker.identity,
                "version": version("factcheck"),
            }
        )

    async def aclose(self) -> None:
        """Close connections; the scorer can still be used and opens new ones."""
        await asyncio.gather(*(model.aclose() for model in self._judges.models))

    def close(self) -> None:
        """Close connections; the scorer can still be used and opens new ones."""
        if self._judges.models:
            background.run(self.aclose())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


def account(facts: FactSet, results: Sequence[Any], text: str) -> tuple[CheckResult, ...]:
    """Exactly one result per fact, in fact order, whatever a checker returned.

    A result for a fact that was not asked counts for nothing; a fact with none, or with more than
    one, is undecided. Evidence that does not stand in `text` where it says is taken away.
    """
    asked = {fact.id: fact for fact in facts}
    given: dict[str, list[CheckResult]] = {fact_id: [] for fact_id in asked}
    for result in results:
        if isinstance(result, (Verdict, CheckFailure)) and asked.get(result.fact.id) == result.fact:
            given[result.fact.id].append(result)
    counts = Counter({fact_id: len(got) for fact_id, got in given.items()})
    return tuple(
        _with_true_evidence(given[fact.id][0], text)
        if counts[fact.id] == 1
        else CheckFailure(
            fact,
            "duplicate" if counts[fact.id] else "missing",
            f"the judge gave {counts[fact.id]} verdicts for this fact",
        )
        for fact in facts
    )


def _numbered_as_claims(facts: FactSet) -> FactSet:
    """Ids of their own, so that a claim is not taken for the fact of the same number."""
    return replace(facts, facts=tuple(replace(f, id=f"c{n}") for n, f in enumerate(facts, 1)))


def _with_true_evidence(result: CheckResult, text: str) -> CheckResult:
    if isinstance(result, CheckFailure) or result.evidence is None:
        return result
    evidence = result.evidence
    if evidence.quote and text[evidence.start : evidence.end] == evidence.quote:
        return result
    return replace(result, evidence=None, flags=(*result.flags, "quote_not_found"))


def _require_text(value: object, what: str) -> None:
    if not isinstance(value, str):
        raise InputError(f"{what} must be a string, not {type(value).__name__}")


def score(
    source: str,
    summary: str,
    *,
    facts: Facts | None = None,
    judge: Any = None,
    extractor: Any = None,
    direction: Direction = "coverage",
) -> CoverageReport:
    """Score one summary with a scorer made for it; see `FactCoverage.score`."""
    with FactCoverage(judge, extractor) as scorer:
        return scorer.score(source, summary, facts=facts, direction=direction)


async def ascore(
    source: str,
    summary: str,
    *,
    facts: Facts | None = None,
    judge: Any = None,
    extractor: Any = None,
    direction: Direction = "coverage",
) -> CoverageReport:
    """Asynchronous form of `score`."""
    async with FactCoverage(judge, extractor) as scorer:
        return await scorer.ascore(source, summary, facts=facts, direction=direction)


def check(facts: Facts, text: str, *, judge: Any = None) -> tuple[CheckResult, ...]:
    """Check facts against a text with a scorer made for it; see `FactCoverage.check`."""
    with FactCoverage(judge) as scorer:
        return scorer.check(facts, text)


async def acheck(facts: Facts, text: str, *, judge: Any = None) -> tuple[CheckResult, ...]:
    """Asynchronous form of `check`."""
    async with FactCoverage(judge) as scorer:
        return await scorer.acheck(facts, text)


def extract(source: str, *, extractor: Any = None) -> FactSet:
    """List the facts of a source with a scorer made for it; see `FactCoverage.extract`."""
    with FactCoverage(extractor=extractor) as scorer:
        return scorer.extract(source)


async def aextract(source: str, *, extractor: Any = None) -> FactSet:
    """Asynchronous form of `extract`."""
    async with FactCoverage(extractor=extractor) as scorer:
        return await scorer.aextract(source)
