"""Score summaries: extract the facts of the source, check them, report coverage."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, closing, nullcontext
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from itertools import chain
from typing import TYPE_CHECKING

from factcheck.errors import ConfigError, DeadlineExceeded, InputError, JudgeNotAsked
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
    source_key,
    source_texts,
)
from factcheck.facts.groups import Weighting, batches, weigh
from factcheck.facts.model import combined, with_true_evidence
from factcheck.facts.report import Direction
from factcheck.judges.factory import build_judges, is_embedded
from factcheck.judges.ports import ExtractorSpec, JudgeSpec, Ledger
from factcheck.records import Record, RecordLike
from factcheck.runtime.loop import blocking, together
from factcheck.runtime.session import Session, SessionOptions, SessionUser
from factcheck.scoring.many import Outcome, Scored, score_in_processes, score_records, show_progress
from factcheck.settings import FACTS_PER_CALL, LOCAL, require_choice, require_integer, require_text

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from factcheck.scoring.dspy_metric import CoverageMetric

_VERSION = version("summary-factcheck")
_NOT_MEASURED = "Not measured; 'factcheck trust' measures this judge."
_LIVE_BATCH = 8
"""Facts after which an embedded judge says what it found."""
Facts = FactSet | Iterable[AtomicFact | str]
See = Callable[[FactSet | tuple[CheckResult, ...]], None]


class FactCoverage(SessionUser):
    """Scores summaries by the facts of the source that they keep.

    Every method has a synchronous and an asynchronous form (`score`, `ascore`). Both work inside a
    running event loop and from any thread; the asynchronous form does not block the loop. Use the
    scorer as a context manager, or call `close`, to close connections to language models.

    Args:
        judge: `"local"`, `"PROVIDER/MODEL"`, `"replay:FILE"`, `"cascade(FIRST, SECOND)"` of such
            names, a `Cascade`, a `dspy.BaseLM`, or any object that implements `Checker`. `None`:
            `FACTCHECK_JUDGE`, or else `"local"`.
        extractor: Extractor in any of these forms except cascades. `None`: `FACTCHECK_EXTRACTOR`,
            or else the judge (for a cascade, the second one).
        batch_size: Maximum number of facts per request to a language model, 1 to 100.
        weights: `"lead"`: what the source states first weighs most, as in news; `"equal"`: all
            extracted facts weigh the same. Facts that have a weight other than 1 keep it.
        processes: Number of processes in which `score_many` scores, 1 for this one only. Embedded
            judges only: requests to language models run concurrently in one process.
        session: Cache, budget, limits and connections shared with other evaluators.
        options: Keyword arguments of `Session`, unless `session` is given.

    Raises:
        ConfigError: A judge or cache is unknown, a key or a price required by the budget is
            missing, or `processes` is above 1 and the judge or the extractor is not embedded.
        InputError: A number is out of range, or `session` is combined with options.
    """

    def __init__(
        self,
        judge: JudgeSpec | None = None,
        extractor: ExtractorSpec | None = None,
        *,
        batch_size: int = FACTS_PER_CALL,
        weights: Weighting = "equal",
        processes: int = 1,
        session: Session | None = None,
        **options: Unpack[SessionOptions],
    ) -> None:
        super().__init__(session, options)
        self._specs = judge, extractor, batch_size
        self._judges = build_judges(judge, extractor, self.session, batch_size=batch_size)
        require_choice("weights", weights, Weighting)
        self._weights = weights
        self._processes = require_integer("processes", processes, 1)
        self._is_embedded = is_embedded(judge, extractor, self.session.settings)
        if processes > 1 and not self._is_embedded:
            raise ConfigError(
                f"processes={processes} is for the judges that run here, 'local', 'local-fast' "
                "and 'nli:MODEL'; requests to language models run at the same time in one process: "
                "set concurrency"
            )
        self.ledger = Ledger()
        """Total usage of the scorer, by model and stage."""

    async def aextract(self, source: Source) -> FactSet:
        """Extract the atomic facts of a source.

        Args:
            source: A text; or documents (`SourceDocument`s, strings, or mappings with `text` and
                optional `id`), which are extracted and cached separately. Facts that several
                documents state in the same words are merged, with the ids of all of them.

        Raises:
            InputError: The source is blank or contains no facts.
            JudgeError: The extractor could not be reached.
        """
        return await self._extract(as_source(source), Ledger(self.ledger))

    extract = blocking(aextract)

    async def acheck(self, facts: Facts, text: str) -> tuple[CheckResult, ...]:
        """Check facts against a text.

        Returns:
            One verdict or failure per fact, in fact order.

        Raises:
            InputError: The facts are invalid, or the text is not a string.
            JudgeRejected: The judge rejects every request.
        """
        text = require_text(text, "the text")
        return await self._check(FactSet.of(facts), text, Ledger(self.ledger))

    check = blocking(acheck)

    async def ascore(
        self,
        source: Source,
        summary: str,
        *,
        facts: Facts | None = None,
        direction: Direction = "coverage",
        see: See | None = None,
    ) -> CoverageReport:
        """Score how much of a source a summary keeps.

        Args:
            source: Text or documents, as in `extract`; may be blank if `facts` is given, unless
                `direction` is `"both"`.
            summary: Text to evaluate. A blank one is valid and keeps nothing.
            facts: Facts to check instead of extracting them: a `FactSet` from `extract`, or a
                list. Reuse it to score further summaries of the source.
            direction: `"both"` also lists claims of the summary that the source does not support.
            see: Gets the facts, then results as they come.

        Raises:
            InputError: The source is blank or contains no facts.
            JudgeError: The facts could not be extracted, or the judge rejects every request.
        """
        require_choice("direction", direction, Direction)
        source, ledger = as_source(source), Ledger(self.ledger)
        summary = require_text(summary, "the summary")
        fact_set = await self._extract(source, ledger) if facts is None else FactSet.of(facts)
        if not fact_set:
            raise InputError("the list of facts is empty; there is nothing to check")
        fact_set = weigh(fact_set, self._weights)
        results = await self._check_live(fact_set, summary, ledger, see)
        claims: FactSet | None = None
        claim_results: tuple[CheckResult, ...] = ()
        if direction == "both":
            claims, claim_results = await self._check_claims(source, summary, ledger)
        identity = {
            "facts": str(len(fact_set)),
            "undecided": str(sum(isinstance(result, CheckFailure) for result in results)),
            **(dict(fact_set.made_by) or {"extractor": "given"}),
            **self._weights_entry,
        }
        return CoverageReport(
            fact_set,
            results,
            ledger.usage,
            self._signature(identity),
            claims,
            claim_results,
            Texts.of(source, summary),
            getattr(self._judges.checker, "quality", _NOT_MEASURED),
        )

    score = blocking(ascore)

    def score_many(
        self,
        records: Iterable[RecordLike],
        *,
        direction: Direction = "coverage",
        progress: bool = False,
    ) -> Generator[Outcome, None, None]:
        """Score many records lazily, in order, with bounded memory.

        Args:
            records: Iterable of `Record`s, pairs of source and summary, or mappings with `source`,
                `summary` and optional `id` and `facts`, such as a Hugging Face data set; or a
                pandas data frame. It is read only as far as needed.
            direction: As in `score`.
            progress: Whether to show progress on standard error, if that is a terminal.

        Yields:
            A report for each record, or a `RecordFailure`: an exception of a judge fails only its
            own record. Closing the iterator cancels the records in flight; replies received so far
            are cached.
        """
        usage = Usage()
        shown = show_progress() if progress else nullcontext()
        with closing(self.score_records(records, direction=direction)) as scored, shown as show:
            for n_done, (_, outcome) in enumerate(scored, 1):
                if isinstance(outcome, CoverageReport):
                    usage += outcome.usage
                if show:
                    show(n_done, usage)
                yield outcome

    def score_records(
        self,
        records: Iterable[RecordLike],
        *,
        direction: Direction = "coverage",
    ) -> Generator[Scored, None, None]:
        """Score many records and yield each with its outcome; see `score_many`."""
        if self._processes > 1:
            judge = self._specs[0] or self.session.settings.judge
            start = partial(_chunk_scorer, judge, self._weights, direction)
            return score_in_processes(start, records, self._processes)

        score = partial(self.ascore, direction=direction)
        n_cores = os.cpu_count() or 1
        in_flight = n_cores if self._is_embedded else 3 * self.session.concurrency
        return score_records(score, records, in_flight=in_flight)

    def as_dspy_metric(
        self,
        *,
        source: str | None = None,
        summary: str = "summary",
        facts: str = "facts",
    ) -> CoverageMetric:
        """Return this scorer as a metric for `dspy.Evaluate` and DSPy optimizers.

        It does not penalize length: a summary that repeats its source keeps every fact.

        Args:
            source: Field of an example with the source; `None`: `source` or `source_text`.
            summary: Field of a prediction with the summary.
            facts: Optional field of an example with facts to check; without it, the facts of each
                source are extracted once.
        """
        from factcheck.scoring.dspy_metric import CoverageMetric

        return CoverageMetric(
            self.aextract, self.ascore, source=source, summary=summary, facts=facts
        )

    @asynccontextmanager
    async def uncached(self) -> AsyncIterator[FactCoverage]:
        """Open a scorer with the same judge and budget that bypasses the cache.

        Its usage is recorded in its own ledger and in that of this scorer.
        """
        judge, extractor, batch_size = self._specs
        async with self.session.uncached() as session:
            scorer = FactCoverage(
                judge, extractor, batch_size=batch_size, weights=self._weights, session=session
            )
            scorer.ledger = Ledger(self.ledger)
            yield scorer

    async def _extract(self, source: str | tuple[SourceDocument, ...], ledger: Ledger) -> FactSet:
        if not any(text.strip() for text in source_texts(source)):
            raise InputError("the source is empty; there are no facts to extract")
        if isinstance(source, str):
            facts = await self._judges.extractor.extract(source, ledger)
        else:
            facts = await self._extract_documents(source, ledger)
        if not facts:
            name = self._judges.extractor.identity.get("extractor", "the extractor")
            raise InputError(
                f"no facts found in the source by {name}; write sentences where it has tables, "
                "headings or code, take another extractor, or give the facts (--facts)"
            )
        return facts

    async def _extract_documents(
        self, documents: Sequence[SourceDocument], ledger: Ledger
    ) -> FactSet:
        async def facts_of(text: str) -> FactSet | JudgeNotAsked:
            try:
                return await self._judges.extractor.extract(text, ledger)
            except JudgeNotAsked as error:  # raised once all documents are counted or queued
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

    async def _check(self, facts: FactSet, text: str, ledger: Ledger) -> tuple[CheckResult, ...]:
        if not text.strip():
            empty = "the text is empty"
            return tuple(Verdict(fact, "neutral", 0.0, reason=empty) for fact in facts)
        try:
            results = await self._judges.checker.check(facts, text, ledger)
        except DeadlineExceeded as error:
            return tuple(CheckFailure.of(fact, error) for fact in facts)
        return tuple(with_true_evidence(one, text) for one in match_results(facts, results))

    async def _check_live(
        self, facts: FactSet, text: str, ledger: Ledger, see: See | None
    ) -> tuple[CheckResult, ...]:
        """Check facts, in batches if someone wants to see results as they come."""
        if see is None:
            return await self._check(facts, text, ledger)
        see(facts)

        async def check_batch(batch: tuple[AtomicFact, ...]) -> tuple[CheckResult, ...]:
            results = await self._check(replace(facts, facts=batch), text, ledger)
            see(results)
            return results

        size = _LIVE_BATCH if self.signature.never_flips else self._specs[2]
        parts = await together(map(check_batch, batches(facts, size)))
        by_id = {result.fact.id: result for result in chain.from_iterable(parts)}
        return tuple(by_id[fact.id] for fact in facts)

    async def _check_claims(
        self, source: str | tuple[SourceDocument, ...], summary: str, ledger: Ledger
    ) -> tuple[FactSet, tuple[CheckResult, ...]]:
        """Extract the claims of the summary, with ids `c1`, `c2`, ..., and check them.

        Documents are checked separately; see `combined`.
        """
        texts = source_texts(source)
        if not any(text.strip() for text in texts):
            raise InputError('direction "both" needs the source to check the summary against')
        if not summary.strip():
            return FactSet(()), ()
        found = await self._judges.extractor.extract(summary, ledger)
        ids: dict[str | None, str] = {fact.id: f"c{n}" for n, fact in enumerate(found, 1)}
        named = (replace(fact, id=ids[fact.id], core=ids.get(fact.core)) for fact in found)
        claims = replace(found, facts=tuple(named))
        by_text = await together(self._check(claims, text, ledger) for text in texts)
        if isinstance(source, str):
            return claims, by_text[0]
        names = [document.id for document in source]
        results = tuple(combined(names, one) for one in zip(*by_text, strict=True))
        return replace(claims, facts=tuple(result.fact for result in results)), results

    @property
    def signature(self) -> ScoreSignature:
        """Signature of this scorer, without the counts of a report."""
        return self._signature({**self._judges.extractor.identity, **self._weights_entry})

    @property
    def _weights_entry(self) -> Mapping[str, str]:
        return {} if self._weights == "equal" else {"weights": self._weights}

    @property
    def judge_signature(self) -> ScoreSignature:
        """What shapes the verdicts alone, whoever lists the facts."""
        return self._signature({})

    def _signature(self, first: Mapping[str, str]) -> ScoreSignature:
        return ScoreSignature.of({**first, **self._judges.checker.identity, "version": _VERSION})


def _chunk_scorer(
    judge: JudgeSpec, weights: Weighting, direction: Direction
) -> Callable[[Sequence[Record]], Iterable[Scored]]:
    """Open an embedded scorer in a process of its own."""
    scorer = FactCoverage(judge, LOCAL, weights=weights, cache="off")
    return partial(scorer.score_records, direction=direction)


async def ascore(
    source: Source,
    summary: str,
    *,
    facts: Facts | None = None,
    judge: JudgeSpec | None = None,
    extractor: ExtractorSpec | None = None,
    weights: Weighting = "equal",
    direction: Direction = "coverage",
) -> CoverageReport:
    """Score one summary with a temporary scorer; see `FactCoverage` and its `score`."""
    async with FactCoverage(judge, extractor, weights=weights) as scorer:
        return await scorer.ascore(source, summary, facts=facts, direction=direction)


async def acheck(
    facts: Facts, text: str, *, judge: JudgeSpec | None = None
) -> tuple[CheckResult, ...]:
    """Check facts against a text with a temporary scorer; see `FactCoverage.check`."""
    async with FactCoverage(judge) as scorer:
        return await scorer.acheck(facts, text)


async def aextract(source: Source, *, extractor: ExtractorSpec | None = None) -> FactSet:
    """Extract the facts of a source with a temporary scorer; see `FactCoverage.extract`."""
    async with FactCoverage(extractor=extractor) as scorer:
        return await scorer.aextract(source)


score = blocking(ascore)
check = blocking(acheck)
extract = blocking(aextract)
