"""Coverage as a DSPy metric: a number for evaluation, a number with its reasons for GEPA."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from factcheck.errors import FactcheckError, InputError, JudgeError
from factcheck.facts import CheckFailure, CoverageReport, FactSet, digest
from factcheck.runtime.flight import Settle, SingleFlight
from factcheck.runtime.loop import background
from factcheck.scoring.feedback import feedback_of
from factcheck.scoring.many import RecordFailure

if TYPE_CHECKING:
    from factcheck.scoring.scorer import Direction, FactCoverage

_SOURCES = ("source", "source_text")
"""Under which names an example's source is looked for, where the caller names none."""
_KEPT_REPORTS = 1024
_ABSENT: Any = object()

T = TypeVar("T")


class CoverageMetric:
    """Scores predicted summaries as DSPy asks for it; made by `FactCoverage.as_dspy_metric`.

    Call it with an example and a prediction. Without `pred_name` it returns the score, a float in
    [0, 1]; with it, as `dspy.GEPA` asks for the feedback to one predictor, it returns a
    `dspy.Prediction` of the same score and a `feedback` that names every fact that is missing,
    distorted, superfluous or undecided. It may be called from any thread and inside a running
    event loop, which it blocks.

    The facts of a source are extracted once, and a prediction is judged once, however often and
    from however many threads it is asked about.

    A prediction that has no score (nothing could be decided, the judge could not be asked, the
    example has no source) raises. DSPy logs that and goes on with its `failure_score`, which is
    0.0 unless you set it: look at `failures` before you believe an average.
    """

    def __init__(
        self,
        scorer: FactCoverage,
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
        self._fact_sets: _Once[FactSet] = _Once()
        self._reports: _Once[CoverageReport] = _Once(_KEPT_REPORTS)
        self._failures: dict[str, RecordFailure] = {}

    @property
    def failures(self) -> tuple[RecordFailure, ...]:
        """Predictions that raised instead of having a score, each once, in order.

        Their ids are those of the examples, where they have any, else digests of their sources.
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
        """The score of a prediction, with feedback where a predictor is named.

        Raises:
            InputError: The example has no source, or the prediction no summary.
            JudgeError: The facts could not be had, or not one of them was decided.
        """
        report = self.report(example, prediction)
        score = _require_score(report, self._direction)
        if pred_name is None:
            return score
        from factcheck.judges.llm.feedback import score_with_feedback

        return score_with_feedback(score, feedback_of(report))

    def report(self, example: Any, prediction: Any) -> CoverageReport:
        """The report behind a score; the one that was made, where the score was asked for before.

        Raises:
            InputError: The example has no source, or the prediction no summary.
            JudgeError: The facts could not be had, or not one of them was decided.
        """
        try:
            source = self._source_of(example)
            summary = _text(prediction, (self._summary,), "prediction")
            given = _attribute(example, self._facts)
            facts = None if given is _ABSENT or given is None else FactSet.of(given)
            report = background.run(self._report(source, summary, facts))
            _require_score(report, self._direction)
        except FactcheckError as error:
            self._note(example, prediction, error)
            raise
        return report

    def _source_of(self, example: Any) -> str:
        names = _SOURCES if self._source is None else (self._source,)
        return _text(example, names, "example")

    async def _report(self, source: str, summary: str, facts: FactSet | None) -> CoverageReport:
        given = "" if facts is None else repr(facts.facts)

        async def make() -> CoverageReport:
            return await self._scorer.ascore(
                source,
                summary,
                facts=await self._facts_of(source) if facts is None else facts,
                direction=self._direction,
            )

        return await self._reports.get(digest(repr((source, summary, given))), make)

    async def _facts_of(self, source: str) -> FactSet:
        return await self._fact_sets.get(digest(source), lambda: self._scorer.aextract(source))

    def _note(self, example: Any, prediction: Any, error: FactcheckError) -> None:
        identity = _attribute(example, "id")
        if identity is _ABSENT:
            identity = digest(repr(example))[:12]
        key = digest(repr((identity, prediction)))
        self._failures[key] = RecordFailure(str(identity), error.code, str(error))


class _Once(Generic[T]):
    """Results by key, each worked out once; what failed is worked out again.

    Args:
        most: How many are kept; `None`: all.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._done: OrderedDict[str, T] = OrderedDict()
        self._flight: SingleFlight[T] = SingleFlight()

    async def get(self, key: str, work: Callable[[], Awaitable[T]]) -> T:
        """The result under `key`; to be awaited in the background loop."""
        if key in self._done:
            return self._done[key]

        async def ask(_: object, settle: Settle[T]) -> None:
            await settle({key: await work()})

        result = (await self._flight.resolve([key], ask))[key]
        self._done[key] = result
        if self._most is not None and len(self._done) > self._most:
            self._done.popitem(last=False)
        return result


def _require_score(report: CoverageReport, direction: Direction) -> float:
    score = _score(report, direction)
    if score is not None:
        return score
    failures: tuple[CheckFailure, ...] = (*report.undecided, *report.undecided_claims)
    raise JudgeError(
        f"nothing could be decided about this summary, so it has no score: "
        f"{len(failures)} undecided, the first one because {failures[0].message}"
        if failures
        else "no fact of this source has a weight, so there is no score"
    )


def _score(report: CoverageReport, direction: Direction) -> float | None:
    """Coverage; its harmonic mean with faithfulness where both directions count."""
    coverage, faithfulness = report.score, report.faithfulness
    if direction == "coverage" or coverage is None:
        return coverage
    if not report.claim_results:  # a summary that claims nothing keeps nothing
        return coverage
    if faithfulness is None:
        return None
    total = coverage + faithfulness
    return 2 * coverage * faithfulness / total if total else 0.0


def _text(holder: Any, names: tuple[str, ...], what: str) -> str:
    for name in names:
        value = _attribute(holder, name)
        if value is not _ABSENT:
            if isinstance(value, str):
                return value
            raise InputError(f"the {what}'s {name!r} must be a string, not {type(value).__name__}")
    raise InputError(
        f"the {what} has no {' or '.join(map(repr, names))}; "
        "say with as_dspy_metric(source=..., summary=...) what your fields are called"
    )


def _attribute(holder: Any, name: str) -> Any:
    return getattr(holder, name, _ABSENT)
