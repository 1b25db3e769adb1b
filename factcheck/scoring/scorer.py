"""Score one summary: extract the facts of the source, check them, report the coverage."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, closing, nullcontext
from dataclasses import replace
from importlib.metadata import version
from itertools import chain
from os import PathLike
from typing import TYPE_CHECKING, Any, get_args

from factcheck.errors import InputError, JudgeNotAsked
from factcheck.facts import (
    AtomicFact,
    CheckFailure,
    CheckResult,
    CoverageReport,
    FactSet,
    ScoreSignature,
    Source,
    SourceDocument,
    Texts,
    Usage,
    Verdict,
    as_source,
    digest,
    match_results,
    merge_documents,
    share_entailed,
    source_key,
    source_texts,
)
from factcheck.facts.report import Direction
from factcheck.judges.factory import FACTS_PER_CALL, build_judges
from factcheck.judges.ports import (
    ExtractorSpec,
    JudgeSpec,
    Ledger,
    MeasuredChecker,
    SummariesChecker,
)
from factcheck.records import Record
from factcheck.runtime.loop import blocking, together
from factcheck.runtime.progress import progress as show_progress
from factcheck.runtime.session import Session, SessionOptions, SessionUser
from factcheck.scoring.many import Outcome, Scored, score_records
from factcheck.scoring.texts import combined, lead_of, require_text, with_true_evidence

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from factcheck.scoring.dspy_metric import CoverageMetric

_VERSION = version("factcheck")
_NOT_MEASURED = "not measured; 'factcheck calibrate agreement' measures it on your labels"
Facts = FactSet | Iterable[AtomicFact | str]


class FactCoverage(SessionUser):
    """Scores summaries by the facts of the source that they keep.

    Every method has a synchronous and an asynchronous form (`score`, `ascore`). Both work inside a
    running event loop and from any thread; the asynchronous one does not block the loop. Use it
    as a context manager, or call `close`, to close connections to a language model.

    Args:
        judge: `"local"`, `"PROVIDER/MODEL"`, `"replay:FILE"`, `"cascade(FIRST, SECOND)"` of such
            names, a `Cascade`, a `dspy.BaseLM`, or any object with the `Checker` port. `None`:
            `FACTCHECK_JUDGE`, or else `"local"`.
        extractor: The same for listing facts, but no cascade. `None`: `FACTCHECK_EXTRACTOR`, or
            else the judge; of a cascade, the second one.
        batch_size: Facts a language model checks in one request, from 1 to 100.
        cassette: File to record all requests and replies of the judges to, for
            `judge="replay:FILE"`.
        session: Cache, budget, limits and connections shared with other evaluators.
        options: Keyword arguments of `Session`, for a session of its own.

    Raises:
        ConfigError: A judge or cache is unknown, a key is missing, or a price a budget needs.
        InputError: A number is out of range, or `session` is given with options of its own.
    """

    def __init__(
        self,
        judge: JudgeSpec | None = None,
        extractor: ExtractorSpec | None = None,
        *,
        batch_size: int = FACTS_PER_CALL,
        cassette: str | PathLike[str] | None = None,
        session: Session | None = None,
        **options: Unpack[SessionOptions],
    ) -> None:
        super().__init__(session, options)
        self._specs = judge, extractor, batch_size
        self._judges = build_judges(
            judge, extractor, self.session, batch_size=batch_size, cassette=cassette
        )
        self.ledger = Ledger()
        """Usage over the scorer's life, per model and stage."""

    async def aextract(self, source: Source) -> FactSet:
        """The atomic facts of a source.

        Args:
            source: A text; or documents (`SourceDocument`s, strings, or mappings with `text` and
                perhaps `id`), each of which is extracted and cached on its own. A fact that several
                documents state in the same words counts once and carries all of them.

        Raises:
            InputError: The source is blank, or no facts are found in it.
            JudgeError: The extractor could not be reached.
        """
        return await self._extract(as_source(source), Ledger(self.ledger))

    extract = blocking(aextract)

    async def acheck(self, facts: Facts, text: str) -> tuple[CheckResult, ...]:
        """One verdict or failure per fact, in fact order.

        Raises:
            InputError: The facts cannot be read.
            JudgeRejected: The judge rejects every request.
        """
        require_text(text, "the text")
        (results,) = await self._check(FactSet.of(facts), [text], Ledger(self.ledger))
        return results

    check = blocking(acheck)

    async def ascore(
        self,
        source: Source,
        summary: str,
        *,
        facts: Facts | None = None,
        direction: Direction = "coverage",
        lead: bool = True,
    ) -> CoverageReport:
        """Score how much of a source a summary keeps.

        Args:
            source: The text or documents the facts are taken from, as in `extract`; not needed
                (may be blank) with `facts`, unless `direction` is `"both"`.
            summary: The text under evaluation. A blank one is valid and keeps nothing.
            facts: Facts to check instead of extracting them: a `FactSet` from `extract`, or a
                list. The next summary of the same source then costs only the check.
            direction: `"both"` also lists what the summary says and the source does not.
            lead: Whether an embedded judge also scores the first sentences of the source, at the
                length of the summary, as a scale. Other judges do not: it would cost requests.

        Raises:
            InputError: The source is blank or states no facts.
            JudgeError: The facts could not be extracted, or the judge rejects every request.
        """
        (report,) = await self.ascore_summaries(
            source, [summary], facts=facts, direction=direction, lead=lead
        )
        return report

    score = blocking(ascore)

    async def ascore_summaries(
        self,
        source: Source,
        summaries: Sequence[str],
        *,
        facts: Facts | None = None,
        direction: Direction = "coverage",
        lead: bool = False,
    ) -> tuple[CoverageReport, ...]:
        """Score several summaries of one source; see `score`.

        A judge with `summaries_per_call` reads that many in one request, whose usage is in the
        first report of them.
        """
        source, ledgers = as_source(source), [Ledger(self.ledger) for _ in summaries]
        if not summaries:
            return ()
        for summary in summaries:
            require_text(summary, "the summary")
        if direction not in get_args(Direction):
            raise InputError(f"direction {direction!r} is not one of {get_args(Direction)}")
        if facts is None:
            fact_set = await self._extract(source, ledgers[0])
        elif not (fact_set := FactSet.of(facts)):
            raise InputError("the list of facts is empty; there is nothing to check")
        size = self.summaries_per_call
        checked = await together(
            self._check(fact_set, summaries[start : start + size], ledgers[start])
            for start in range(0, len(summaries), size)
        )
        work = zip(summaries, chain.from_iterable(checked), ledgers, strict=True)
        return tuple(
            await together(
                self._report(source, summary, fact_set, results, direction, ledger, lead=lead)
                for summary, results, ledger in work
            )
        )

    score_summaries = blocking(ascore_summaries)

    def score_many(
        self,
        records: Iterable[Record | Mapping[str, Any]],
        *,
        direction: Direction = "coverage",
        progress: bool = False,
    ) -> Generator[Outcome, None, None]:
        """Score many records, in order, with bounded memory.

        Args:
            records: Any iterable of `Record`s or mappings with `source`, `summary` and optionally
                `id` and `facts`. It is read only as far as needed.
            direction: As in `score`.
            progress: Whether to show progress on standard error, if that is a terminal.

        Yields:
            A report for each record, or a `RecordFailure` if there is none: any exception of a
            judge fails only its own record. Leaving the iterator early cancels what is in flight;
            what was paid for is in the cache.
        """
        n_records, n_facts, usage = 0, 0, Usage()
        shown = show_progress("Scoring") if progress else nullcontext()
        with closing(self.score_records(records, direction=direction)) as scored, shown as show:
            for _, outcome in scored:
                if show and isinstance(outcome, CoverageReport):
                    n_records, n_facts = n_records + 1, n_facts + len(outcome.facts)
                    usage = usage + outcome.usage
                    show(n_records, n_facts, usage)
                yield outcome

    def score_records(
        self,
        records: Iterable[Record | Mapping[str, Any]],
        *,
        direction: Direction = "coverage",
        lead: bool = False,
    ) -> Generator[Scored, None, None]:
        """Score many records and yield each with its outcome; see `score_many` and `score`."""

        async def score(records: Sequence[Record]) -> Sequence[CoverageReport]:
            return await self.ascore_summaries(
                records[0].source,
                [record.summary for record in records],
                facts=records[0].facts,
                direction=direction,
                lead=lead,
            )

        under_way = 3 * self.session.concurrency
        return score_records(score, records, under_way=under_way, together=self.summaries_per_call)

    def as_dspy_metric(
        self,
        *,
        source: str | None = None,
        summary: str = "summary",
        facts: str = "facts",
        direction: Direction = "coverage",
    ) -> CoverageMetric:
        """This scorer as a metric for `dspy.Evaluate` and for DSPy's optimizers.

        It does not penalize length: a summary that repeats its source keeps every fact.

        Args:
            source: Name of the source in an example; `None`: `source` or `source_text`.
            summary: Name of the summary in a prediction.
            facts: Name of the facts to check in an example. Without them, the facts of the source
                are extracted, once.
            direction: `"coverage"`: the score is the share of facts kept. `"both"`: the harmonic
                mean of that and of the share of the summary's claims that the source entails, and
                the feedback names the others.
        """
        if direction not in get_args(Direction):
            raise InputError(f"direction {direction!r} is not one of {get_args(Direction)}")
        from factcheck.scoring.dspy_metric import CoverageMetric

        async def score(source: Source, summary: str, facts: FactSet) -> CoverageReport:
            return await self.ascore(source, summary, facts=facts, direction=direction, lead=False)

        return CoverageMetric(self.aextract, score, source=source, summary=summary, facts=facts)

    @asynccontextmanager
    async def uncached(self) -> AsyncIterator[FactCoverage]:
        """A scorer with the same judge and budget whose judge answers anew, past the cache.

        What it spends is in its own ledger and in that of this scorer.
        """
        judge, extractor, batch_size = self._specs
        async with self.session.uncached() as session:
            made = FactCoverage(judge, extractor, batch_size=batch_size, session=session)
            made.ledger = Ledger(self.ledger)
            yield made

    async def _extract(self, source: str | tuple[SourceDocument, ...], ledger: Ledger) -> FactSet:
        if not any(text.strip() for text in source_texts(source)):
            raise InputError("the source is empty; there are no facts to extract")
        if isinstance(source, str):
            facts = await self._judges.extractor.extract(source, ledger)
        else:
            facts = await self._extract_documents(source, ledger)
        if not facts:
            raise InputError(
                "no facts found in the source; it needs at least one statement, "
                "or give the facts yourself"
            )
        return facts

    async def _extract_documents(
        self, documents: Sequence[SourceDocument], ledger: Ledger
    ) -> FactSet:
        async def facts_of(text: str) -> FactSet | JudgeNotAsked:
            try:
                return await self._judges.extractor.extract(text, ledger)
            except JudgeNotAsked as error:  # raised once all documents are counted or put aside
                return error

        filled = [document for document in documents if document.text.strip()]
        extracted = []
        for facts in await together(facts_of(document.text) for document in filled):
            if isinstance(facts, JudgeNotAsked):
                raise facts
            extracted.append(facts)
        facts = merge_documents(filled, extracted)
        return replace(
            facts,
            source_digest=digest(source_key(tuple(documents))),
            made_by=extracted[0].made_by,
            documents=tuple(document.id for document in documents),
        )

    async def _score_lead(
        self, source: str | tuple[SourceDocument, ...], summary: str, facts: FactSet
    ) -> float | None:
        text = lead_of(source, len(summary.split()))
        if not isinstance(self._judges.checker, MeasuredChecker) or not (summary.strip() and text):
            return None
        (results,) = await self._check(facts, [text], Ledger())
        return share_entailed(results).value

    @property
    def _judge_quality(self) -> str:
        checker = self._judges.checker
        return checker.quality if isinstance(checker, MeasuredChecker) else _NOT_MEASURED

    async def _report(
        self,
        source: str | tuple[SourceDocument, ...],
        summary: str,
        fact_set: FactSet,
        results: tuple[CheckResult, ...],
        direction: Direction,
        ledger: Ledger,
        *,
        lead: bool,
    ) -> CoverageReport:
        claims: FactSet | None = None
        claim_results: tuple[CheckResult, ...] = ()
        if direction == "both":
            claims, claim_results = await self._check_claims(source, summary, ledger)
        identity = {
            "facts": str(len(fact_set)),
            "undecided": str(sum(isinstance(result, CheckFailure) for result in results)),
            **(dict(fact_set.made_by) or {"extractor": "given"}),
        }
        return CoverageReport(
            fact_set,
            results,
            ledger.usage,
            self._signature(identity),
            claims,
            claim_results,
            Texts.of(source, summary),
            await self._score_lead(source, summary, fact_set) if lead else None,
            self._judge_quality,
        )

    @property
    def summaries_per_call(self) -> int:
        """Most summaries of the same facts that the judge reads in one request."""
        checker = self._judges.checker
        return checker.summaries_per_call if isinstance(checker, SummariesChecker) else 1

    async def _check(
        self, facts: FactSet, texts: Sequence[str], ledger: Ledger
    ) -> list[tuple[CheckResult, ...]]:
        """For each text, one result per fact; several are read side by side if the judge can."""
        checker, filled = self._judges.checker, [text for text in texts if text.strip()]
        if len(filled) > 1 and isinstance(checker, SummariesChecker):
            found = iter(await checker.check_summaries(tuple(facts), filled, ledger))
        else:
            found = iter([await checker.check(facts, text, ledger) for text in filled])
        return [
            tuple(with_true_evidence(result, text) for result in match_results(facts, next(found)))
            if text.strip()
            else tuple(Verdict(fact, "neutral", 0.0, reason="the text is empty") for fact in facts)
            for text in texts
        ]

    async def _check_claims(
        self, source: str | tuple[SourceDocument, ...], summary: str, ledger: Ledger
    ) -> tuple[FactSet, tuple[CheckResult, ...]]:
        """With ids of their own, so that a claim is not mistaken for the fact of its number.

        Of documents, each is asked on its own; see `combined`.
        """
        texts = source_texts(source)
        if not any(text.strip() for text in texts):
            raise InputError('direction "both" needs the source to check the summary against')
        if not summary.strip():
            return FactSet(()), ()
        found = await self._judges.extractor.extract(summary, ledger)
        claims = replace(
            found, facts=tuple(replace(fact, id=f"c{n}") for n, fact in enumerate(found, 1))
        )
        by_text = [
            one for (one,) in await together(self._check(claims, [text], ledger) for text in texts)
        ]
        if isinstance(source, str):
            return claims, by_text[0]
        names = [document.id for document in source]
        results = tuple(combined(names, one) for one in zip(*by_text, strict=True))
        return replace(claims, facts=tuple(result.fact for result in results)), results

    @property
    def signature(self) -> ScoreSignature:
        """Signature of this scorer, without the counts of a single text."""
        return self._signature(self._judges.extractor.identity)

    def _signature(self, first: Mapping[str, str]) -> ScoreSignature:
        return ScoreSignature.of({**first, **self._judges.checker.identity, "version": _VERSION})


async def ascore(
    source: Source,
    summary: str,
    *,
    facts: Facts | None = None,
    judge: JudgeSpec | None = None,
    extractor: ExtractorSpec | None = None,
    direction: Direction = "coverage",
    lead: bool = True,
) -> CoverageReport:
    """Score one summary with a scorer made for it; see `FactCoverage.score`."""
    async with FactCoverage(judge, extractor) as scorer:
        return await scorer.ascore(source, summary, facts=facts, direction=direction, lead=lead)


async def acheck(
    facts: Facts, text: str, *, judge: JudgeSpec | None = None
) -> tuple[CheckResult, ...]:
    """Check facts against a text with a scorer made for it; see `FactCoverage.check`."""
    async with FactCoverage(judge) as scorer:
        return await scorer.acheck(facts, text)


async def aextract(source: Source, *, extractor: ExtractorSpec | None = None) -> FactSet:
    """List the facts of a source with a scorer made for it; see `FactCoverage.extract`."""
    async with FactCoverage(extractor=extractor) as scorer:
        return await scorer.aextract(source)


score = blocking(ascore)
check = blocking(acheck)
extract = blocking(aextract)
