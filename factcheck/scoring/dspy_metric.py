"""Coverage as a DSPy metric: scores for evaluation, scores with feedback for GEPA."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from factcheck.errors import FactcheckError, InputError, JudgeError
from factcheck.facts import CoverageReport, FactSet, Source, as_source, digest, source_key
from factcheck.runtime.loop import background
from factcheck.scoring.many import RecordFailure

_SOURCES = ("source", "source_text")
"""Default names of the source field of an example."""
_MAX_REPORTS = 1024
_ABSENT: Any = object()

T = TypeVar("T")


class CoverageMetric:
    """Scores predicted summaries for DSPy; created by `FactCoverage.as_dspy_metric`.

    Call it with an example and a prediction. It returns the score, a float in [0, 1], or with
    `pred_name`, which `dspy.GEPA` passes for each predictor, a `dspy.Prediction` with the score and
    a `feedback` that lists all missing, distorted, superfluous and undecided facts. It may be
    called from any thread and inside a running event loop, which it blocks.

    The facts of a source are extracted once and each prediction is judged once, also across
    threads.

    A prediction without a score (nothing decided, judge unreachable, no source) raises. DSPy logs
    the error and continues with its `failure_score`, 0.0 by default, so check `failures` before
    trusting an average.
    """

    def __init__(
        self,
        extract: Callable[[Source], Awaitable[FactSet]],
        score: Callable[[Source, str, FactSet], Awaitable[CoverageReport]],
        *,
        source: str | None,
        summary: str,
        facts: str,
    ) -> None:
        self._extract = extract
        self._score = score
        self._sources = _SOURCES if source is None else (source,)
        self._summary = summary
        self._facts = facts
        self._fact_sets: dict[str, asyncio.Future[FactSet]] = {}
        self._reports: dict[str, asyncio.Future[CoverageReport]] = {}
        self._failures: dict[str, RecordFailure] = {}

    @property
    def failures(self) -> tuple[RecordFailure, ...]:
        """Predictions without a score, each once, in order.

        Their ids are those of the examples, or digests of examples without an id.
        """
        return tuple(self._failures.copy().values())  # other threads may add to it

    def __call__(
        self,
        example: Any,
        prediction: Any,
        trace: Any = None,  # noqa: ARG002 - DSPy's protocol
        pred_name: str | None = None,
        pred_trace: Any = None,  # noqa: ARG002 - DSPy's protocol
    ) -> Any:
        """Score a prediction; with `pred_name`, also give feedback.

        Raises:
            InputError: The example has no source, or the prediction no summary.
            JudgeError: The facts could not be extracted, or all of them are undecided.
        """
        report = self.report(example, prediction)
        score = _require_score(report)
        if pred_name is None:
            return score
        from factcheck.judges.llm.modules import score_with_feedback

        return score_with_feedback(score, feedback_of(report))

    def report(self, example: Any, prediction: Any) -> CoverageReport:
        """Return the report behind a score, computed once per prediction; raises as a call does."""
        try:
            source = as_source(_value(example, self._sources, "example"), "the example's source")
            summary = _value(prediction, (self._summary,), "prediction")
            if not isinstance(summary, str):
                kind = type(summary).__name__
                raise InputError(f"the prediction's {self._summary!r} must be a string, not {kind}")
            given = getattr(example, self._facts, None)
            facts = None if given is None else FactSet.of(given)
            report = background.run(self._report(source, summary, facts))
            _require_score(report)
        except FactcheckError as error:
            identity = getattr(example, "id", None)
            identity = digest(repr(example))[:12] if identity is None else str(identity)
            key = digest(repr((identity, prediction)))
            self._failures[key] = RecordFailure(identity, error.code, str(error))
            raise
        return report

    async def _report(self, source: Any, summary: str, facts: FactSet | None) -> CoverageReport:
        async def extract() -> FactSet:
            return await self._extract(source)

        async def score() -> CoverageReport:
            known = facts
            if known is None:
                known = await _once(self._fact_sets, digest(source_key(source)), extract)
            return await self._score(source, summary, known)

        if len(self._reports) > _MAX_REPORTS:
            del self._reports[next(iter(self._reports))]
        given = facts and facts.facts
        return await _once(self._reports, digest(repr((source, summary, given))), score)


async def _once(
    results: dict[str, asyncio.Future[T]], key: str, work: Callable[[], Awaitable[T]]
) -> T:
    """Run work once per key and share its result; failures are retried by the next call.

    All calls must be in the same event loop.
    """
    if key not in results:
        results[key] = asyncio.ensure_future(work())
    future = results[key]
    try:
        return await asyncio.shield(future)
    except BaseException:
        if future.done() and results.get(key) is future:
            del results[key]
        raise


def _require_score(report: CoverageReport) -> float:
    """Return coverage or, with both directions, its harmonic mean with faithfulness."""
    score, faithfulness = report.score, report.faithfulness
    if score is not None and report.claim_results:  # a summary that claims nothing keeps nothing
        total = score + (faithfulness or 0.0)
        score = None if faithfulness is None else 2 * score * faithfulness / (total or 1.0)
    if score is not None:
        return score
    failures = (*report.undecided, *report.undecided_claims)
    raise JudgeError(
        f"no score: {len(failures)} undecided, the first: {failures[0].message}"
        if failures
        else "no score: every fact of this source has weight 0"
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
    """Write the report as plain lines that list every statement but those that are kept."""
    page, lines = replace(report, texts=None).page(), []
    for part in (page, *page.also):
        lines.append(part.first_line)
        for section in part.problems.sections:
            lines += [f"{section.title}: {section.meaning}"] * bool(section.items)
            for one in section.items:
                quote = one.quote and f'"{one.quote}"'
                lines.append(" ".join(filter(None, ("-", one.text, quote, *one.notes))))
    return "\n".join(lines)
