"""Coverage as a DSPy metric: a score for evaluation, a score with feedback for GEPA."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

from factcheck.errors import FactcheckError, InputError, JudgeError
from factcheck.facts import (
    CheckFailure,
    CoverageReport,
    FactSet,
    Source,
    SourceDocument,
    Verdict,
    as_source,
    digest,
    source_key,
)
from factcheck.facts.report import Direction
from factcheck.runtime.loop import background
from factcheck.scoring.many import RecordFailure

_SOURCES = ("source", "source_text")
"""Default names of the source in an example."""
_MAX_REPORTS = 1024
_ABSENT: Any = object()
_MISSING = "Missing: facts of the source that the summary does not say."
_DISTORTED = "Distorted: facts of the source that the summary says differently."
_SUPERFLUOUS = "Superfluous: what the summary says and the source does not."
_UNDECIDED = "Undecided: no verdict on these; they count neither way."

T = TypeVar("T")


class Scorer(Protocol):
    """What the metric needs of a `FactCoverage`."""

    async def aextract(self, source: Source) -> FactSet: ...

    async def ascore(
        self, source: Source, summary: str, *, facts: FactSet, direction: Direction, lead: bool
    ) -> CoverageReport: ...


class CoverageMetric:
    """Scores predicted summaries for DSPy; made by `FactCoverage.as_dspy_metric`.

    Call it with an example and a prediction. Without `pred_name` it returns the score, a float in
    [0, 1]; with it, as `dspy.GEPA` calls it for one predictor, it returns a `dspy.Prediction` with
    the same score and a `feedback` that names every fact that is missing, distorted, superfluous
    or undecided. It can be called from any thread and inside a running event loop, which it blocks.

    The facts of a source are extracted once, and a prediction is judged once, however many calls
    and threads need it.

    A prediction without a score (nothing decided, judge unreachable, no source) raises. DSPy logs
    that and continues with its `failure_score`, 0.0 by default: check `failures` before trusting
    an average.
    """

    def __init__(
        self,
        scorer: Scorer,
        *,
        source: str | None,
        summary: str,
        facts: str,
        direction: Direction,
    ) -> None:
        self._scorer = scorer
        self._source = source
        self._summary = summary
        self._facts = facts
        self._direction: Direction = direction
        self._fact_sets: dict[str, asyncio.Future[FactSet]] = {}
        self._reports: dict[str, asyncio.Future[CoverageReport]] = {}
        self._failures: dict[str, RecordFailure] = {}

    @property
    def failures(self) -> tuple[RecordFailure, ...]:
        """Predictions that raised instead of returning a score, each once, in order.

        Their ids are those of the examples, or digests of examples without one.
        """
        return tuple(self._failures.copy().values())  # other threads may be adding to it

    def __call__(
        self,
        example: Any,
        prediction: Any,
        trace: Any = None,  # noqa: ARG002 - DSPy's protocol
        pred_name: str | None = None,
        pred_trace: Any = None,  # noqa: ARG002 - DSPy's protocol
    ) -> Any:
        """The score of a prediction; with `pred_name`, also feedback.

        Raises:
            InputError: The example has no source, or the prediction no summary.
            JudgeError: The facts could not be extracted, or none of them was decided.
        """
        report = self.report(example, prediction)
        score = _require_score(report, self._direction)
        if pred_name is None:
            return score
        from factcheck.judges.llm.modules import score_with_feedback

        return score_with_feedback(score, feedback_of(report))

    def report(self, example: Any, prediction: Any) -> CoverageReport:
        """The report behind a score; made once per prediction.

        Raises:
            InputError: The example has no source, or the prediction no summary.
            JudgeError: The facts could not be extracted, or none of them was decided.
        """
        try:
            names = _SOURCES if self._source is None else (self._source,)
            source = as_source(_value(example, names, "example"), "the example's source")
            summary = _value(prediction, (self._summary,), "prediction")
            if not isinstance(summary, str):
                kind = type(summary).__name__
                raise InputError(f"the prediction's {self._summary!r} must be a string, not {kind}")
            given = getattr(example, self._facts, None)
            facts = None if given is None else FactSet.of(given)
            report = background.run(self._report(source, summary, facts))
            _require_score(report, self._direction)
        except FactcheckError as error:
            self._note(example, prediction, error)
            raise
        return report

    async def _report(
        self, source: str | tuple[SourceDocument, ...], summary: str, facts: FactSet | None
    ) -> CoverageReport:
        given = "" if facts is None else repr(facts.facts)

        async def make() -> CoverageReport:
            known = facts
            if known is None:
                key = digest(source_key(source))
                known = await _once(self._fact_sets, key, lambda: self._scorer.aextract(source))
            return await self._scorer.ascore(
                source, summary, facts=known, direction=self._direction, lead=False
            )

        if len(self._reports) > _MAX_REPORTS:
            del self._reports[next(iter(self._reports))]
        return await _once(self._reports, digest(repr((source, summary, given))), make)

    def _note(self, example: Any, prediction: Any, error: FactcheckError) -> None:
        identity = getattr(example, "id", _ABSENT)
        if identity is _ABSENT:
            identity = digest(repr(example))[:12]
        key = digest(repr((identity, prediction)))
        self._failures[key] = RecordFailure(str(identity), error.code, str(error))


async def _once(
    results: dict[str, asyncio.Future[T]], key: str, work: Callable[[], Coroutine[Any, Any, T]]
) -> T:
    """The result of work that is done once, unless it fails; all calls are in one event loop."""
    if key not in results:
        results[key] = asyncio.ensure_future(work())
    future = results[key]
    try:
        return await asyncio.shield(future)
    except BaseException:
        if future.done() and results.get(key) is future:
            del results[key]
        raise


def _require_score(report: CoverageReport, direction: Direction) -> float:
    """Coverage, or with both directions its harmonic mean with faithfulness."""
    score, faithfulness = report.score, report.faithfulness
    # a summary that claims nothing keeps nothing
    if direction == "both" and score is not None and report.claim_results:
        total = score + (faithfulness or 0.0)
        score = None if faithfulness is None else 2 * score * faithfulness / (total or 1.0)
    if score is not None:
        return score
    failures: tuple[CheckFailure, ...] = (*report.undecided, *report.undecided_claims)
    raise JudgeError(
        f"no score: {len(failures)} undecided, the first: {failures[0].message}"
        if failures
        else "no score: every fact of this source weighs 0"
    )


def _value(holder: Any, names: tuple[str, ...], what: str) -> Any:
    for name in names:
        value = getattr(holder, name, _ABSENT)
        if value is not _ABSENT:
            return value
    raise InputError(
        f"the {what} has no {' or '.join(map(repr, names))}; "
        "name your fields with as_dspy_metric(source=..., summary=...)"
    )


def feedback_of(report: CoverageReport) -> str:
    """Feedback on a report: every fact and claim that is not right, by name."""
    decided = len(report.results) - len(report.undecided)
    lines = [f"The summary keeps {len(report.kept)} of {decided} facts of the source."]
    undecided = (*report.undecided, *report.undecided_claims)
    for title, items in (
        (_MISSING, [verdict.fact.text for verdict in report.dropped]),
        (_DISTORTED, [_beside(v, "the summary says") for v in report.distorted]),
        (_SUPERFLUOUS, [_beside(v, "the source says") for v in report.superfluous]),
        (_UNDECIDED, [f"{failure.fact.text} ({failure.code})" for failure in undecided]),
    ):
        if items:
            lines += [title, *(f"- {' '.join(item.split())}" for item in items)]
    return "\n".join(lines)


def _beside(verdict: Verdict, who_says: str) -> str:
    """A fact, and what the other text says instead, if the judge quotes it."""
    if verdict.label != "contradicted":
        return verdict.fact.text
    if verdict.evidence is not None:
        return f'{verdict.fact.text} ({who_says}: "{verdict.evidence.quote}")'
    return f"{verdict.fact.text} ({verdict.reason})" if verdict.reason else verdict.fact.text
