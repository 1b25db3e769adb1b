"""Coverage as a DSPy metric: scores for evaluation, scores with feedback for GEPA."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from factcheck.errors import FactcheckError, InputError
from factcheck.facts import CoverageReport, FactSet, Source, as_source, digest, source_key
from factcheck.facts.report import no_score
from factcheck.runtime.loop import background

_SOURCES = ("source", "source_text")
"""Default names of the source field of an example."""
_ABSENT: Any = object()


class CoverageMetric:
    """Scores predicted summaries for DSPy; created by `FactCoverage.as_dspy_metric`.

    Call it with an example and a prediction. It returns the score, a float in [0, 1], or with
    `pred_name`, which `dspy.GEPA` passes for each predictor, a `dspy.Prediction` with the score and
    a `feedback` that lists all missing, distorted and undecided facts. It may be
    called from any thread and inside a running event loop, which it blocks.

    The facts of a source are extracted once, also across threads.

    A prediction without a score (nothing decided, judge unreachable, no source) raises. DSPy logs
    the error and continues with its `failure_score`, 0.0 by default, so check `failures` before
    trusting an average.
    """

    def __init__(
        self,
        extract: Callable[[Source], Awaitable[FactSet]],
        score: Callable[..., Awaitable[CoverageReport]],
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
        self.failures: dict[str, FactcheckError] = {}
        """Why predictions have no score, by a digest of example and prediction."""

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
        try:
            report = background.run(self._report(example, prediction))
            if report.score is None:
                raise no_score(report)
        except FactcheckError as error:
            self.failures[digest(repr((example, prediction)))] = error
            raise
        if pred_name is None:
            return report.score
        import dspy

        return dspy.Prediction(score=report.score, feedback=feedback_of(report))

    async def _report(self, example: Any, prediction: Any) -> CoverageReport:
        source = as_source(_value(example, self._sources, "example"), "the example's source")
        summary = _value(prediction, (self._summary,), "prediction")
        if not isinstance(summary, str):
            kind = type(summary).__name__
            raise InputError(f"the prediction's {self._summary!r} must be a string, not {kind}")
        given = getattr(example, self._facts, None)
        facts = await self._facts_of(source) if given is None else FactSet.of(given)
        return await self._score(source, summary, facts=facts)

    async def _facts_of(self, source: Any) -> FactSet:
        """Extract facts once per source and share them; a failure is retried by the next call."""
        key = digest(source_key(source))
        if key not in self._fact_sets:
            self._fact_sets[key] = asyncio.ensure_future(self._extract(source))
        future = self._fact_sets[key]
        try:
            return await asyncio.shield(future)
        except BaseException:
            if future.done() and self._fact_sets.get(key) is future:
                del self._fact_sets[key]
            raise


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
    page = replace(report, texts=None).page()
    lines = [page.first_line]
    for section in page.problems.sections:
        lines += [f"{section.title}: {section.meaning}"] * bool(section.items)
        for one in section.items:
            quote = one.quote and f'"{one.quote}"'
            lines.append(" ".join(filter(None, ("-", one.text, quote, *one.notes))))
    return "\n".join(lines)
