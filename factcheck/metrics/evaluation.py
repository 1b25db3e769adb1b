"""Running several metrics over the same cases, so that one bad case spoils only itself."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple, TypeVar

from factcheck.errors import ConfigError, FactcheckError, InputError, JudgeOutputError, describe
from factcheck.facts import ScoreSignature
from factcheck.judges.ports import Ledger
from factcheck.metrics.cases import CASE_FIELDS, EvalCase, ReadCase, read_cases
from factcheck.metrics.ports import BatchMetric, Metric
from factcheck.metrics.report import EvalReport, EvalRow, MetricReport
from factcheck.metrics.results import MetricFailure, MetricResult, check_threshold
from factcheck.runtime.loop import background, together

T = TypeVar("T")
R = TypeVar("R")

UNDER_WAY = 64
"""Cases a metric measures at the same time, where it measures them one by one."""


async def evaluate(
    cases: Iterable[EvalCase | Mapping[str, Any]], metrics: Iterable[Metric]
) -> EvalReport:
    """Every metric over every case, in one report.

    A case that cannot be read, that lacks a field a metric needs, or on which a metric fails is
    counted as an error there; it neither passes nor fails, and the rest of the run stays.

    Args:
        cases: `EvalCase`s, or mappings with its fields.
        metrics: Objects with the `Metric` or `BatchMetric` port, with different names.

    Raises:
        InputError: No metrics, two metrics of one name, or two cases of one id.
        ConfigError: An object is no metric.
    """
    read = read_cases(cases)
    chosen = _checked(metrics)
    measured = await together(_measured(metric, read) for metric in chosen)
    rows = (row for one in measured for row in one.rows)
    return EvalReport(
        case_ids=tuple(case.id for case in read),
        metrics=tuple(one.metric for one in measured),
        rows=tuple(rows),
    )


def evaluate_sync(
    cases: Iterable[EvalCase | Mapping[str, Any]], metrics: Iterable[Metric]
) -> EvalReport:
    """`evaluate` for callers that do not wait; works inside a running event loop, too."""
    return background.run(evaluate(cases, metrics))


async def each(work: Callable[[T], Awaitable[R]], items: Sequence[T]) -> list[R]:
    """Results of all items, in their order, a bounded number under way."""
    door = asyncio.Semaphore(UNDER_WAY)

    async def one(item: T) -> R:
        async with door:
            return await work(item)

    return await together(one(item) for item in items)


class _Measured(NamedTuple):
    metric: MetricReport
    rows: list[EvalRow]


async def _measured(metric: Metric, read: Sequence[ReadCase]) -> _Measured:
    ledger = Ledger()
    results = [_without_measuring(metric, one.case) for one in read]
    places = [place for place, result in enumerate(results) if result is None]
    cases = [case for place in places if isinstance(case := read[place].case, EvalCase)]
    for place, result in zip(places, await _results(metric, cases, ledger), strict=True):
        results[place] = result
    rows = [
        EvalRow(one.id, metric.name, result)
        for one, result in zip(read, results, strict=True)
        if result is not None
    ]
    described = MetricReport(metric.name, metric.threshold, _signature(metric), ledger.usage)
    return _Measured(described, rows)


def _without_measuring(metric: Metric, case: EvalCase | MetricFailure) -> MetricResult | None:
    """The result of a case that cannot be measured; `None` for one that can."""
    if isinstance(case, MetricFailure):
        return MetricResult.failed(case.code, case.message)
    missing = [name for name in metric.required_fields if getattr(case, name) in (None, ())]
    if missing:
        needed = " and ".join(map(repr, missing))
        return MetricResult.failed("input", f"the case lacks {needed}, which {metric.name} needs")
    return None


async def _results(
    metric: Metric, cases: Sequence[EvalCase], ledger: Ledger
) -> Sequence[MetricResult]:
    if not isinstance(metric, BatchMetric):
        return await each(lambda case: _result(metric, case), cases)
    if not cases:
        return []
    try:
        results = list(await metric.measure_many(cases, ledger))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - of the cases
        return [_failed(error)] * len(cases)
    if len(results) != len(cases):
        said = f"{metric.name} gave {len(results)} results for {len(cases)} cases"
        return [MetricResult.failed(JudgeOutputError.code, said)] * len(cases)
    return [_required(result, metric) for result in results]


async def _result(metric: Metric, case: EvalCase) -> MetricResult:
    try:
        return _required(await metric.measure(case), metric)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - of the case
        return _failed(error)


def _required(result: Any, metric: Metric) -> MetricResult:
    if isinstance(result, MetricResult):
        return result
    said = f"{metric.name} gave no MetricResult but {type(result).__name__}"
    return MetricResult.failed(JudgeOutputError.code, said)


def _failed(error: BaseException) -> MetricResult:
    code = error.code if isinstance(error, FactcheckError) else "raised"
    return MetricResult.failed(code, describe(error))


def _checked(metrics: Iterable[Metric]) -> tuple[Metric, ...]:
    if isinstance(metrics, Metric) or not isinstance(metrics, Iterable):
        raise InputError(f"metrics must be a list, not one {type(metrics).__name__}")
    chosen = tuple(metrics)
    if not chosen:
        raise InputError("the list of metrics is empty; there is nothing to measure")
    names: set[str] = set()
    for metric in chosen:
        if isinstance(metric, type) or not isinstance(metric, Metric):
            kind = metric.__name__ if isinstance(metric, type) else type(metric).__name__
            raise ConfigError(
                f"{kind} is no metric: it needs `name`, `threshold`, `required_fields` and "
                "`async measure(case)`"
            )
        unknown = [name for name in metric.required_fields if name not in CASE_FIELDS]
        if unknown:
            raise ConfigError(f"{metric.name}: a case has no {unknown}; it has {CASE_FIELDS}")
        check_threshold(metric.threshold)
        if metric.name in names:
            raise InputError(f"two metrics are called {metric.name!r}; give one another name=")
        names.add(metric.name)
    return chosen


def _signature(metric: Metric) -> ScoreSignature:
    identity = dict(metric.identity) if isinstance(metric, BatchMetric) else {}
    return ScoreSignature.of({"metric": metric.name, **identity, "version": version("factcheck")})
