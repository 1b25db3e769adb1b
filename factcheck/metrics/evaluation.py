"""Cases, metrics made from functions, and evaluation of cases by several metrics."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from factcheck.documents import from_plain, shown
from factcheck.errors import ConfigError, InputError, JudgeOutputError, located
from factcheck.judges.ports import Ledger
from factcheck.metrics.report import MetricReport, MetricResult, signature_of
from factcheck.runtime.loop import blocking, call, each, together
from factcheck.settings import require_list, require_number


class Identified(Protocol):
    """Anything with an id."""

    @property
    def id(self) -> Any: ...


T = TypeVar("T", bound=Identified)
Score = float | bool | MetricResult
"""Result of a custom metric's function: a number in [0, 1], a boolean, or a complete result."""
_CONCURRENCY = 64
"""Maximum number of cases that a function metric measures concurrently."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalCase:
    """An output of a system with its context; each metric reads the fields it needs.

    Raises:
        InputError: The id or the references are invalid.
    """

    actual_output: Any
    """Output of the system under evaluation; for most metrics a string."""
    input: Any = None
    """Input of the system."""
    expected_output: Any = None
    """Expected output, in the form of `actual_output`."""
    source: Any = None
    """Text that the output is about."""
    references: tuple[str, ...] = ()
    """Reference outputs, which override those of a metric."""
    id: str | None = None
    """Unique within an evaluation; `None` for its position, counted from 1."""
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Additional data for custom metrics."""

    def __post_init__(self) -> None:
        if self.id is not None:
            object.__setattr__(self, "id", as_id(self.id))
        object.__setattr__(self, "references", text_list(self.references, "'references'"))

    @classmethod
    def of(cls, item: EvalCase | Mapping[str, Any], number: int) -> EvalCase:
        """Convert a mapping with the fields to a case; without an id, it gets its number."""
        if isinstance(item, EvalCase):
            return item if item.id else replace(item, id=str(number))
        require_keys(item, "actual_output", optional=CASE_FIELDS[1:])
        return cls.of(cls(**item), number)


CASE_FIELDS = tuple(one.name for one in fields(EvalCase))
"""Names of the fields of a case."""


def text_list(value: Any, what: str) -> tuple[str, ...]:
    """Validate a list of non-blank strings; the message of `InputError` starts with `what`."""
    texts = from_plain(tuple[str, ...], value, what)
    for number, text in enumerate(texts, 1):
        if not text.strip():
            raise InputError(f"{what}: number {number} is blank")
    return texts


def as_id(value: Any) -> str:
    """Convert the id of a case, a string or a number."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    name = str(value) if is_number else value
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"the id of a case must be a string that is not blank, got {shown(value)}")
    return name


def require_keys(data: Any, *required: str, optional: Sequence[str] = ()) -> None:
    """Raise unless the data is a mapping that has the required keys, and no unknown ones."""
    known = (*required, *optional)
    if not isinstance(data, Mapping):
        raise InputError(f"expected an object with {', '.join(known)}, got {shown(data)}")
    if unknown := [key for key in data if key not in known]:
        raise InputError(f"unknown key {unknown[0]!r}; use {', '.join(known)}")
    if missing := [key for key in required if key not in data]:
        raise InputError(f"{missing[0]!r} is missing")


class Metric:
    """Scores cases: a function decorated with `metric`, or a `ReferenceMatch`."""

    def __init__(self, name: str, threshold: float, required_fields: Sequence[str]) -> None:
        self.name = name
        """Name in reports; unique within an evaluation."""
        self.threshold = require_number("threshold", threshold, 0, high=1)
        """Score from which a case passes, in [0, 1]."""
        self.required_fields = tuple(required_fields)
        """Fields of `EvalCase` that a case must have to be measured."""
        self.identity: Mapping[str, str] = {}
        """Names and versions that affect the scores, as entries of the score signature."""

    async def measure_many(
        self, cases: Sequence[EvalCase], ledger: Ledger
    ) -> Sequence[MetricResult]:
        """Return one result per case, in order, independent of the other cases."""
        raise NotImplementedError


class FunctionMetric(Metric):
    """A metric defined by a function with `metric`; calling it calls the function."""

    def __init__(
        self,
        function: Callable[[EvalCase], Score | Awaitable[Score]],
        threshold: float,
        name: str | None,
        required_fields: Sequence[str],
    ) -> None:
        own_name = str(getattr(function, "__name__", type(function).__name__))
        super().__init__(name or own_name, threshold, required_fields)
        self.function = function
        if unknown := [name for name in self.required_fields if name not in CASE_FIELDS]:
            raise ConfigError(f"{self.name}: unknown case fields {unknown}; use {CASE_FIELDS}")

    def __call__(self, case: EvalCase) -> Score | Awaitable[Score]:
        return self.function(case)

    async def measure_many(
        self, cases: Sequence[EvalCase], ledger: Ledger
    ) -> Sequence[MetricResult]:
        """Measure each case; the function runs in threads, its coroutines in this loop."""
        del ledger
        return await each(self._measure, cases, _CONCURRENCY)

    async def _measure(self, case: EvalCase) -> MetricResult:
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

        report = evaluate(cases, [brevity])["brevity"]

    The function, sync or async, takes a case and returns its score.

    Args:
        threshold: Score from which a case passes, in [0, 1].
        name: Name in reports; defaults to the function's name.
        required_fields: Fields of `EvalCase` that a case must have to be measured.

    Raises:
        InputError: The threshold is outside [0, 1].
        ConfigError: A required field is unknown.
    """  # noqa: D415 - an example follows
    return partial(FunctionMetric, threshold=threshold, name=name, required_fields=required_fields)


async def aevaluate(
    cases: Iterable[EvalCase | Mapping[str, Any]], metrics: Iterable[Metric]
) -> dict[str, MetricReport]:
    """Evaluate cases by metrics; return the report of each metric by its name.

    A case that lacks a required field, or on which a metric fails, is errored for that metric: it
    neither passes nor fails, and does not affect the other cases.

    Args:
        cases: `EvalCase`s, or mappings with its fields.
        metrics: Functions decorated with `metric`, and `ReferenceMatch`es; names must be unique.

    Raises:
        InputError: A case is invalid, there are no metrics, or names or case ids are not unique.
        ConfigError: An object is not a metric.
    """
    every = cases_by_id(cases, EvalCase.of)
    reports = await together(measure(metric, every) for metric in _checked_metrics(metrics))
    return {report.name: report for report in reports}


evaluate = blocking(aevaluate)


def cases_by_id(
    items: Any,
    read: Callable[[Any, int], T],
    at: Callable[[int], AbstractContextManager[None]] = lambda number: located(f"case {number}"),
) -> dict[Any, T]:
    """Read a list of cases by unique ids, in order.

    Args:
        items: What the cases are read from.
        read: Reads a case from an item and its number, from 1.
        at: Adds the place of an item, by its number, to errors.

    Raises:
        InputError: This is not a list, a case is invalid, or two have the same id.
    """
    cases: dict[Any, T] = {}
    for number, item in enumerate(require_list("cases", items), 1):
        with at(number):
            case = read(item, number)
            if case.id in cases:
                raise InputError(f"duplicate id {case.id!r}; ids must be unique")
            cases[case.id] = case
    return cases


async def measure(metric: Metric, every: Mapping[str, EvalCase]) -> MetricReport:
    """Measure cases with one metric."""
    ledger = Ledger()
    results: dict[str, MetricResult] = {}
    cases: dict[str, EvalCase] = {}
    for id_, case in every.items():
        if missing := [one for one in metric.required_fields if getattr(case, one) in (None, ())]:
            needed = " and ".join(map(repr, missing))
            message = f"the case lacks {needed}, which {metric.name} needs"
            results[id_] = MetricResult.failed(InputError.code, message)
        else:
            cases[id_] = case
    measured = await metric.measure_many(list(cases.values()), ledger) if cases else ()
    results |= zip(cases, measured, strict=True)
    in_order = {id_: results[id_] for id_ in every}
    signature = signature_of(metric.name, metric.identity)
    return MetricReport(metric.name, metric.threshold, signature, ledger.usage, in_order)


def _checked_metrics(metrics: Iterable[Metric]) -> Iterable[Metric]:
    found: dict[str, Metric] = {}
    for metric in require_list("metrics", metrics):
        if not isinstance(metric, Metric):
            raise ConfigError(f"{metric!r:.60} is not a metric; decorate a function with `metric`")
        if metric.name in found:
            raise InputError(f"two metrics have the name {metric.name!r}; set another with name=")
        found[metric.name] = metric
    if not found:
        raise InputError("the list of metrics is empty")
    return found.values()
