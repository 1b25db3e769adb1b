"""Metrics over the same cases: functions that score them, results, reports and their comparison.

Figures of a report are derived from its results.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields, replace
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from factcheck.documents import PlainData, from_plain, shown
from factcheck.errors import ConfigError, Failure, InputError, JudgeOutputError, located
from factcheck.facts import ScoreSignature, Usage
from factcheck.facts.page import usage_text
from factcheck.judges.ports import Ledger
from factcheck.reports import Report
from factcheck.reports.comparison import Change, RunComparison
from factcheck.reports.page import Alert, Case, Item, Page, Section, entries, filled, parts_of
from factcheck.reports.text import (
    interval_text,
    name_text,
    p_text,
    plural,
    quote_text,
    share,
    signed,
    some_of,
)
from factcheck.runtime.loop import blocking, call, each, together
from factcheck.settings import require_list, require_number
from factcheck.stats.intervals import Interval, wilson
from factcheck.stats.resampling import Comparison, compare_means, mean_interval, split_changes

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "EvalCase", "FunctionMetric", "MetricReport", "MetricResult", "aevaluate", "compare_runs",
    "evaluate", "metric",
]  # fmt: skip
_CONCURRENCY = 64
"""Maximum number of cases that a function metric measures concurrently."""
_IGNORED = {"version"}
_COLUMNS = ("case", "metric", "score", "passed", "reason", "error", "details")


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricResult(PlainData):
    """Result of a metric on one case; create it with `scored` or `failed`.

    Raises:
        InputError: The score is outside [0, 1], or there is neither a score nor an error, or both.
    """

    score: float | None
    """In [0, 1]; `None` (never 0.0 or NaN) if the case could not be measured."""
    passed: bool | None
    """Whether the score reaches the threshold; `None` without a score."""
    reason: str = ""
    lines: tuple[str, ...] = ()
    """Further lines for a report, such as what is missing."""
    error: Failure[str] | None = None
    """Reason for a missing score; its code is one of `factcheck.errors`, `undecided`, or `raised`
    for a foreign exception."""
    details: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """JSON-ready details of the score, specific to the metric."""

    def __post_init__(self) -> None:
        if self.error is None:
            require_number("a score", self.score, 0, high=1)
            if not isinstance(self.passed, bool):
                raise InputError(f"a result with a score passes or fails, got {self.passed!r}")
        elif (self.score, self.passed) != (None, None):
            raise InputError("a result with an error has no score and neither passes nor fails")

    @classmethod
    def scored(
        cls,
        score: float,
        *,
        passed: bool,
        reason: str = "",
        lines: Sequence[str] = (),
        details: Mapping[str, Any] = {},
    ) -> MetricResult:
        return cls(score=score, passed=passed, reason=reason, lines=tuple(lines), details=details)

    @classmethod
    def failed(cls, code: str, message: str, details: Mapping[str, Any] = {}) -> MetricResult:
        error = Failure("", code, message)
        return cls(score=None, passed=None, reason=message, error=error, details=details)

    @classmethod
    def of_error(cls, error: BaseException) -> MetricResult:
        failure = Failure.of("", error)
        return cls.failed(failure.code, failure.message)


def signature_of(name: str, identity: Mapping[str, str]) -> ScoreSignature:
    """Make the signature of the scores of a metric."""
    own = {"metric": name, **identity, "version": version("summary-factcheck")}
    return ScoreSignature.of(own)


@dataclass(frozen=True, slots=True, repr=False)
class MetricReport(Report):
    """Results of a metric."""

    DERIVED: ClassVar[tuple[str, ...]] = ("format", "counts", "pass_rate", "interval", "mean")
    format: ClassVar[str] = "factcheck-metric/1"
    FIGURE: ClassVar[str] = "mean score"
    """Name of the mean in messages and in the headline."""
    DETAILS: ClassVar[Any] = Mapping[str, Any]
    """Type of the details of a result."""

    name: str
    threshold: float
    signature: ScoreSignature
    """Signature of the scores."""
    usage: Usage
    """Total usage."""
    results: Mapping[str, MetricResult]
    """Results by case id, in order."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """Digests of the expectations by case id; runs are comparable only if they agree."""

    def __getitem__(self, name: str) -> Any:
        """Return a figure by name, such as `pass_rate`."""
        if name not in self.DERIVED:
            raise KeyError(f"{name!r} is none of {', '.join(self.DERIVED)}")
        return getattr(self, name)

    @property
    def counts(self) -> dict[str, int]:
        """Number of cases that `passed`, `failed`, or could not be measured (`errors`)."""
        found = Counter(result.passed for result in self.results.values())
        return {"passed": found[True], "failed": found[False], "errors": found[None]}

    @property
    def scores(self) -> dict[str, float]:
        """Scores of the measured cases, by id."""
        return {id_: one.score for id_, one in self.results.items() if one.score is not None}

    @property
    def mean(self) -> float | None:
        """Mean score of the measured cases, in [0, 1]; `None` without any."""
        scores = self.scores.values()
        return math.fsum(scores) / len(scores) if scores else None

    @property
    def pass_rate(self) -> float | None:
        """Fraction of the measured cases that passed, in [0, 1]; `None` without any."""
        if self.scores:
            return self.counts["passed"] / len(self.scores)
        return None

    @property
    def interval(self) -> Interval | None:
        """95 % Wilson interval of the pass rate; `None` if that is undefined."""
        rate = self.pass_rate
        if rate is None:
            return None
        return wilson(rate, len(self.scores))

    @property
    def errors(self) -> list[tuple[str, str]]:
        """Id and reason of each case that could not be measured."""
        return [(id_, one.reason) for id_, one in self.results.items() if one.error is not None]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Undo `to_dict`.

        Raises:
            InputError: Not such a report, or one of another format version.
        """
        found = data.get("format") if isinstance(data, Mapping) else data
        if found != cls.format:
            raise InputError(f"run: expected format {cls.format!r}, got {shown(found)}")
        signature = from_plain(str, data.get("signature"), "run: 'signature'")
        report = from_plain(cls, {**data, "signature": ScoreSignature.parse(signature)}, "run")
        report.details()
        return report

    def details(self) -> list[Any]:
        """Return the details of the results that have some, as `DETAILS`."""
        return [
            from_plain(self.DETAILS, one.details, f"run: case {id_!r}")
            for id_, one in self.results.items()
            if one.details
        ]

    def tables(self) -> tuple[Section, ...]:
        """Return further tables of the report, of the figures of this kind of metric."""
        return ()

    def mean_interval(self) -> Interval | None:
        """Return the 95 % interval of the mean over cases; `None` with fewer than two."""
        return mean_interval([*self.scores.values()])

    def page(self) -> Page:
        counts, interval = self.counts, interval_text(self.mean_interval())
        passed = self._with(True) if len(self.results) == 1 else []
        return Page(
            self.title,
            "unknown" if self.mean is None else share(self.mean),
            self._counts_text(),
            interval and f"95 % interval {interval}",
            parts=parts_of(
                ("good", counts["passed"], "passed"),
                ("bad", counts["failed"], "failed"),
                ("unknown", counts["errors"], "errored"),
            ),
            sections=filled(
                *self.tables(),
                Section("Passed", "good").listing(passed, _item, "case"),
                Section("Not passed", "bad").listing(self._with(False), _item, "case"),
                Section("Errored", "unknown", "excluded from all scores").listing(
                    self._with(None), _item, "case"
                ),
            ),
            footer=entries(("Usage", usage_text(self.usage)), ("Signature", str(self.signature))),
            suite=f"metrics.{self.name}",
            cases=tuple(_junit_case(id_, one) for id_, one in self.results.items()),
            columns=_COLUMNS,
            rows=self.to_rows,
        )

    def _with(self, passed: bool | None) -> list[tuple[str, MetricResult]]:  # noqa: FBT001
        return [(id_, one) for id_, one in self.results.items() if one.passed is passed]

    @property
    def title(self) -> str:
        """Name of the mean in a headline."""
        name = self.FIGURE.removeprefix("mean ")
        return name[:1].upper() + name[1:]

    def _counts_text(self) -> str:
        n_passed, n_failed, n_errors = self.counts.values()
        if not self.scores:
            return f"no score for {plural(n_errors, 'case')}"
        if n_passed + n_failed == 1 and self.threshold < 1:
            sign = "≥" if n_passed else "<"
            text = f"{'passed' if n_passed else 'not passed'} ({sign} {self.threshold:g})"
        else:
            text = f"{n_passed:,} of {plural(n_passed + n_failed, 'case')} passed"
        return text + f", {n_errors:,} more errored" * bool(n_errors)

    def to_rows(self) -> list[dict[str, Any]]:
        return [
            {"case": id_, "metric": self.name, **one.to_dict()} for id_, one in self.results.items()
        ]


def _item(row: tuple[str, MetricResult]) -> Item:
    """Describe the result of a case."""
    case_id, result = row
    score = "error" if result.score is None else share(result.score)
    text = f"{score}   {quote_text(result.reason)}".rstrip()
    return Item(name_text(case_id), text, tuple(map(quote_text, result.lines)))


def _junit_case(name: str, result: MetricResult) -> Case:
    if result.error is not None:
        return Case(name, "error", result.reason, result.error.code, result.lines)
    if result.passed:
        return Case(name)
    return Case(name, "failed", result.reason, "", result.lines)


def compare_runs(
    a: MetricReport, b: MetricReport, *, names: tuple[str, str] = ("", "")
) -> RunComparison:
    """Compare report `b` with the baseline `a`, over the cases that have a score in both.

    Cases are paired by id. The difference of the means is tested by paired randomization.

    Raises:
        InputError: The reports are of different kinds, have no scored case in common, or were
            evaluated with different expectations.
    """
    if type(a) is not type(b) or not isinstance(a, MetricReport):
        raise InputError(
            f"both runs must be of one kind, not {type(a).__name__} and {type(b).__name__}"
        )
    of_a, of_b = a.scores, b.scores
    scored = {**of_a, **of_b}
    common = [name for name in of_a if name in of_b]
    if not common:
        ids = f"run a ({some_of([*of_a])}) is in run b ({some_of([*of_b])})"
        raise InputError(f"no scored case of {ids}")
    if differing := [name for name in common if a.digests.get(name) != b.digests.get(name)]:
        raise InputError(
            f"runs a and b have different expectations in {len(differing)} of "
            f"{plural(len(common), 'case')} ({some_of(differing)}); "
            "evaluate both with the same ones"
        )
    scores = [(name, of_a[name], of_b[name]) for name in common]
    main, moved = compare_means(scores), split_changes(scores)
    groups = {"Lost": moved.worse, "Won": moved.better, "Unchanged": moved.unchanged}
    settings = a.signature.changes(b.signature)
    alerts = (
        f"{name} is {one} in run a and {other} in run b"
        for name, (one, other) in settings.items()
        if name not in _IGNORED
    )
    worse = ""
    if main.difference < 0 and main.is_significant:
        worse = f"{a.title} {signed(main.difference)}, p {p_text(main.p or 0.0)}"
    return RunComparison(
        noun="case",
        metric=a.title,
        main=main,
        basis=f"by case ({plural(len(common), 'case')})",
        changes=tuple(
            Change.of_scores(group, str(name), Comparison(x, y, y - x))
            for group, some in groups.items()
            for name, x, y in some
        ),
        counts={"p_sign_test": moved.p_value},
        left_out={
            "Only A has a score": tuple(name for name in of_a if name not in of_b),
            "Only B has a score": tuple(name for name in of_b if name not in of_a),
            "No score in either run": tuple(
                name for name in {**a.results, **b.results} if name not in scored
            ),
        },
        alerts=tuple(Alert(quote_text(text), "warn") for text in alerts),
        worse=worse,
        names=names,
    )


class Identified(Protocol):
    """Anything with an id."""

    @property
    def id(self) -> Any: ...


T = TypeVar("T", bound=Identified)
Score = float | bool | MetricResult
"""Result of a custom metric's function: a number in [0, 1], a boolean, or a complete result."""


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
    """Read a list of cases by unique ids, in order, from items and their numbers.

    `at` adds the place of an item to errors.
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
