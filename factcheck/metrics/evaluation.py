"""Evaluation of cases by metrics; invalid cases and failures do not affect the rest."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from factcheck.errors import ConfigError, InputError, JudgeOutputError
from factcheck.judges.ports import Ledger
from factcheck.metrics.cases import CASE_FIELDS, EvalCase, Metric, MetricResult
from factcheck.metrics.report import EvalReport, MetricReport, signature_of
from factcheck.runtime.loop import blocking, call, each, together
from factcheck.settings import require_number

Score = float | bool | MetricResult
"""Result of a custom metric's function: a number in [0, 1], a boolean, or a complete result."""
_CONCURRENCY = 64
"""Maximum number of cases that a function metric measures concurrently."""
ReadCases = Mapping[str, EvalCase | MetricResult]
"""Cases by id, in order; an invalid one is its failed result."""


async def aevaluate(
    cases: Iterable[EvalCase | Mapping[str, Any]], metrics: Iterable[Metric]
) -> EvalReport:
    """Evaluate cases by metrics and return one report.

    A case that is invalid, lacks a required field, or on which a metric fails is errored for that
    metric: it neither passes nor fails, and does not affect the other cases.

    Args:
        cases: `EvalCase`s, or mappings with its fields.
        metrics: Functions decorated with `metric`, or objects with the `Metric` port; names must be
            unique.

    Raises:
        InputError: There are no metrics, or names or case ids are not unique.
        ConfigError: An object is not a metric.
    """
    every = read_cases(cases)
    measured = await together(measure(metric, every) for metric in _checked_metrics(metrics))
    return EvalReport(tuple(every), tuple(measured))


evaluate = blocking(aevaluate)


class FunctionMetric:
    """A metric defined by a function with `metric`; calling it calls the function."""

    def __init__(
        self,
        function: Callable[[EvalCase], Score | Awaitable[Score]],
        threshold: float,
        name: str | None = None,
        required_fields: Sequence[str] = ("actual_output",),
    ) -> None:
        self.function = function
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self.threshold = require_number("threshold", threshold, 0, high=1)
        self.required_fields = tuple(required_fields)

    def __call__(self, case: EvalCase) -> Score | Awaitable[Score]:
        return self.function(case)

    @property
    def identity(self) -> Mapping[str, str]:
        return {}

    async def measure_many(
        self, cases: Sequence[EvalCase], ledger: Ledger
    ) -> Sequence[MetricResult]:
        """Measure each case; the function runs in threads, its coroutines in this loop."""
        return await each(partial(self._measure, ledger=ledger), cases, _CONCURRENCY)

    async def _measure(self, case: EvalCase, ledger: Ledger) -> MetricResult:  # noqa: ARG002 - a function books nothing
        score = await call(self.function, case, failed=MetricResult.of_error)
        if isinstance(score, MetricResult):
            return score
        if not isinstance(score, (int, float)):
            why = f"expected a number or a MetricResult, got {score!r:.60}"
            return MetricResult.failed(JudgeOutputError.code, why)
        try:
            return MetricResult.scored(float(score), passed=score >= self.threshold)
        except InputError as error:
            return MetricResult.of_error(error)


def metric(
    *,
    threshold: float = 0.5,
    name: str | None = None,
    required_fields: Sequence[str] = ("actual_output",),
) -> Callable[[Callable[[EvalCase], Any]], FunctionMetric]:
    """Turn a function into a metric:

        @metric(threshold=0.7)
        def brevity(case: EvalCase) -> float:
            return min(1.0, 200 / len(case.actual_output))

        report = evaluate(cases, [brevity])

    The function, sync or async, takes a case and returns its score.

    Args:
        threshold: Score from which a case passes, in [0, 1].
        name: Name in reports; defaults to the function's name.
        required_fields: Fields of `EvalCase` that a case must have to be measured.

    Raises:
        InputError: The threshold is outside [0, 1].
    """  # noqa: D415 - an example follows

    def made(function: Callable[[EvalCase], Any]) -> FunctionMetric:
        return FunctionMetric(function, threshold, name, required_fields)

    return made


def read_cases(items: Iterable[EvalCase | Mapping[str, Any]]) -> ReadCases:
    """Read cases by id, in order; an invalid one becomes a failed result.

    Raises:
        InputError: The cases are not a list, or ids are not unique.
    """
    if isinstance(items, (EvalCase, Mapping, str)) or not isinstance(items, Iterable):
        kind = type(items).__name__
        raise InputError(f"cases must be a list of EvalCase or mappings, got {kind}")
    cases: dict[str, EvalCase | MetricResult] = {}
    for number, item in enumerate(items, 1):
        case: EvalCase | MetricResult
        try:
            case = EvalCase.of(item)
            id_ = case.id or str(number)
        except InputError as error:
            case, id_ = MetricResult.of_error(error), str(number)
        if id_ in cases:
            raise InputError(f"two cases have the id {id_!r}; ids must be unique")
        cases[id_] = case
    return cases


async def measure(metric: Metric, every: ReadCases) -> MetricReport:
    """Measure cases with one metric."""
    ledger = Ledger()
    results: dict[str, MetricResult] = {}
    cases: dict[str, EvalCase] = {}
    for id_, case in every.items():
        if isinstance(case, MetricResult):
            results[id_] = case
        elif missing := [one for one in metric.required_fields if getattr(case, one) in (None, ())]:
            needed = " and ".join(map(repr, missing))
            message = f"the case lacks {needed}, which {metric.name} needs"
            results[id_] = MetricResult.failed(InputError.code, message)
        else:
            cases[id_] = case
    if cases:
        results |= zip(cases, await _results(metric, list(cases.values()), ledger), strict=True)
    in_order = {id_: results[id_] for id_ in every}
    signature = signature_of(metric.name, metric.identity)
    return MetricReport(metric.name, metric.threshold, signature, ledger.usage, in_order)


async def _results(
    metric: Metric, cases: Sequence[EvalCase], ledger: Ledger
) -> Sequence[MetricResult]:
    problem = ""
    try:
        results = list(await metric.measure_many(cases, ledger))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - becomes a failure of the cases
        return [MetricResult.of_error(error)] * len(cases)
    if len(results) != len(cases):
        problem = f"{len(results)} results for {len(cases)} cases"
    elif invalid := [one for one in results if not isinstance(one, MetricResult)]:
        problem = f"{type(invalid[0]).__name__} instead of a MetricResult"
    if problem:
        failed = MetricResult.failed(JudgeOutputError.code, f"{metric.name} returned {problem}")
        return [failed] * len(cases)
    return results


def _checked_metrics(metrics: Iterable[Metric]) -> Iterable[Metric]:
    if isinstance(metrics, Metric) or not isinstance(metrics, Iterable):
        raise InputError(f"metrics must be a list, got {type(metrics).__name__}")
    found: dict[str, Metric] = {}
    for metric in metrics:
        if isinstance(metric, type) or not isinstance(metric, Metric):
            kind = metric.__name__ if isinstance(metric, type) else type(metric).__name__
            raise ConfigError(
                f"{kind} is not a metric; decorate a function with `metric`, or give it `name`, "
                "`threshold`, `required_fields`, `identity` and `async measure_many(cases, ledger)`"
            )
        if unknown := [name for name in metric.required_fields if name not in CASE_FIELDS]:
            raise ConfigError(f"{metric.name}: unknown case fields {unknown}; use {CASE_FIELDS}")
        require_number(f"{metric.name}: threshold", metric.threshold, 0, high=1)
        if metric.name in found:
            raise InputError(f"two metrics have the name {metric.name!r}; set another with name=")
        found[metric.name] = metric
    if not found:
        raise InputError("the list of metrics is empty")
    return found.values()
