"""Evaluation of cases by several metrics; an invalid case or a failure spoils only itself."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple, TypeVar

from factcheck.errors import ConfigError, FactcheckError, InputError, JudgeOutputError, describe
from factcheck.facts import ScoreSignature
from factcheck.judges.ports import Ledger
from factcheck.metrics.ports import (
    CASE_FIELDS,
    BatchMetric,
    EvalCase,
    Metric,
    MetricResult,
    check_threshold,
)
from factcheck.metrics.report import EvalReport, EvalRow, MetricReport
from factcheck.runtime.loop import background, together

T = TypeVar("T")
R = TypeVar("R")
Score = float | bool | MetricResult
"""What the function of a custom metric returns: a share in [0, 1], right or wrong, or a result."""
CONCURRENCY = 64
"""Cases that a metric measures at the same time, where it measures them one by one."""


def evaluate(
    cases: Iterable[EvalCase | Mapping[str, Any]], metrics: Iterable[Metric]
) -> EvalReport:
    """Evaluate cases by metrics, in one report.

    A case that is invalid, lacks a field that a metric needs, or on which a metric fails is an
    error of that metric: it neither passes nor fails, and the rest of the run stays.

    Args:
        cases: `EvalCase`s, or mappings with its fields.
        metrics: Objects with the `Metric` or `BatchMetric` port, such as functions decorated with
            `metric`; with distinct names.

    Raises:
        InputError: No metrics, two of one name, or two cases with one id.
        ConfigError: An object that is not a metric.
    """
    return background.run(aevaluate(cases, metrics))


async def aevaluate(
    cases: Iterable[EvalCase | Mapping[str, Any]], metrics: Iterable[Metric]
) -> EvalReport:
    """Asynchronous form of `evaluate`."""
    entries = read_cases(cases)
    measured = await together(_measured(metric, entries) for metric in _checked(metrics))
    return EvalReport(
        case_ids=tuple(entry.id for entry in entries),
        metrics=tuple(described for described, _ in measured),
        rows=tuple(row for _, rows in measured for row in rows),
    )


class FunctionMetric:
    """A metric made of a function by `metric`; calling it calls the function."""

    def __init__(
        self,
        function: Callable[[EvalCase], Score | Awaitable[Score]],
        threshold: float,
        name: str | None,
        required_fields: Sequence[str],
    ) -> None:
        self.function = function
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self.threshold = check_threshold(threshold)
        self.required_fields = tuple(required_fields)
        self.__doc__ = function.__doc__

    def __call__(self, case: EvalCase) -> Score | Awaitable[Score]:
        """What the function returns."""
        return self.function(case)

    async def measure(self, case: EvalCase) -> MetricResult:
        """The result of one case; an ordinary function runs in a thread."""
        if inspect.iscoroutinefunction(self.function):
            score = await self.function(case)
        else:
            found = await asyncio.to_thread(_call, self.function, case)
            score = await found if inspect.isawaitable(found) else found
        if isinstance(score, MetricResult):
            return score
        if not isinstance(score, (int, float)):
            raise JudgeOutputError(f"expected a number or a MetricResult, got {score!r:.60}")
        return MetricResult.scored(float(score), passed=score >= self.threshold)


def metric(
    *,
    threshold: float = 0.5,
    name: str | None = None,
    required_fields: Sequence[str] = ("actual_output",),
) -> Callable[[Callable[[EvalCase], Any]], FunctionMetric]:
    """Turn a function from case to score, sync or async, into a metric:

        @metric(threshold=0.7)
        def brevity(case: EvalCase) -> float:
            return min(1.0, 200 / len(case.actual_output))

        report = evaluate(cases, [brevity])

    Args:
        threshold: Score from which a case passes, in [0, 1].
        name: Name in reports; default: that of the function.
        required_fields: Fields of `EvalCase` without which a case is not measured.

    Raises:
        InputError: A threshold outside [0, 1].
    """  # noqa: D415 - an example follows
    return lambda function: FunctionMetric(function, threshold, name, required_fields)


async def each(work: Callable[[T], Awaitable[R]], items: Sequence[T]) -> list[R]:
    """Results of all items, in order, at most `CONCURRENCY` at a time."""
    slots = asyncio.Semaphore(CONCURRENCY)

    async def one(item: T) -> R:
        async with slots:
            return await work(item)

    return await together(one(item) for item in items)


class CaseEntry(NamedTuple):
    """A case and its id, or why it is invalid."""

    id: str
    case: EvalCase | None
    failed: MetricResult | None = None


def read_cases(items: Iterable[EvalCase | Mapping[str, Any]]) -> tuple[CaseEntry, ...]:
    """Cases from `EvalCase`s and mappings, in order; raises `InputError` for a duplicate id."""
    if isinstance(items, (EvalCase, Mapping, str)) or not isinstance(items, Iterable):
        kind = type(items).__name__
        raise InputError(f"cases must be a list of EvalCase or mappings, got {kind}")
    entries: dict[str, CaseEntry] = {}
    for number, item in enumerate(items, 1):
        try:
            case = EvalCase.of(item)
            entry = CaseEntry(case.id or str(number), case)
        except InputError as error:
            entry = CaseEntry(str(number), None, MetricResult.failed(error.code, str(error)))
        if entry.id in entries:
            raise InputError(f"two cases have the id {entry.id!r}; ids must be unique")
        entries[entry.id] = entry
    return tuple(entries.values())


async def _measured(
    metric: Metric, entries: Sequence[CaseEntry]
) -> tuple[MetricReport, list[EvalRow]]:
    ledger = Ledger()
    results: dict[str, MetricResult] = {}
    cases: dict[str, EvalCase] = {}
    for entry in entries:
        missing = [
            name for name in metric.required_fields if getattr(entry.case, name, None) in (None, ())
        ]
        if entry.failed is not None:
            results[entry.id] = entry.failed
        elif missing:
            needed = " and ".join(map(repr, missing))
            message = f"the case lacks {needed}, which {metric.name} needs"
            results[entry.id] = MetricResult.failed(InputError.code, message)
        elif entry.case is not None:
            cases[entry.id] = entry.case
    measured = await _results(metric, list(cases.values()), ledger)
    results |= zip(cases, measured, strict=True)
    rows = [EvalRow(entry.id, metric.name, results[entry.id]) for entry in entries]
    identity = dict(metric.identity) if isinstance(metric, BatchMetric) else {}
    signature = {"metric": metric.name, **identity, "version": version("factcheck")}
    every = [row.result for row in rows]
    return MetricReport.of(metric, ScoreSignature.of(signature), ledger.usage, every), rows


async def _results(
    metric: Metric, cases: Sequence[EvalCase], ledger: Ledger
) -> Sequence[MetricResult]:
    if not isinstance(metric, BatchMetric):
        return await each(lambda case: _result(metric, case), cases)
    if not cases:
        return []
    try:
        results = list(await metric.measure_many(cases, ledger))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - becomes a failure of the cases
        return [_failed(error)] * len(cases)
    if len(results) != len(cases):
        message = f"{metric.name} returned {len(results)} results for {len(cases)} cases"
        return [MetricResult.failed(JudgeOutputError.code, message)] * len(cases)
    return [_checked_result(result, metric) for result in results]


async def _result(metric: Metric, case: EvalCase) -> MetricResult:
    try:
        return _checked_result(await metric.measure(case), metric)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - becomes the failure of the case
        return _failed(error)


def _call(function: Callable[[EvalCase], Any], case: EvalCase) -> Any:
    try:
        return function(case)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - StopIteration may not leave a thread
        return _failed(error)


def _checked_result(result: Any, metric: Metric) -> MetricResult:
    if isinstance(result, MetricResult):
        return result
    message = f"{metric.name} returned {type(result).__name__} instead of a MetricResult"
    return MetricResult.failed(JudgeOutputError.code, message)


def _failed(error: BaseException) -> MetricResult:
    code = error.code if isinstance(error, FactcheckError) else "raised"
    return MetricResult.failed(code, describe(error))


def _checked(metrics: Iterable[Metric]) -> tuple[Metric, ...]:
    if isinstance(metrics, Metric) or not isinstance(metrics, Iterable):
        raise InputError(f"metrics must be a list, got {type(metrics).__name__}")
    found: dict[str, Metric] = {}
    for metric in metrics:
        if isinstance(metric, type) or not isinstance(metric, Metric):
            kind = metric.__name__ if isinstance(metric, type) else type(metric).__name__
            raise ConfigError(
                f"{kind} is not a metric: it needs `name`, `threshold`, `required_fields` and "
                "`async measure(case)`; functions are decorated with `metric`"
            )
        if unknown := [name for name in metric.required_fields if name not in CASE_FIELDS]:
            raise ConfigError(f"{metric.name}: unknown case fields {unknown}; use {CASE_FIELDS}")
        check_threshold(metric.threshold)
        if metric.name in found:
            raise InputError(f"two metrics have the name {metric.name!r}; set another with name=")
        found[metric.name] = metric
    if not found:
        raise InputError("the list of metrics is empty")
    return tuple(found.values())
