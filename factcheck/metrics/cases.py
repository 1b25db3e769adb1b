"""Cases, results of metrics, and the `Metric` port."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, runtime_checkable

from factcheck.documents import PlainData
from factcheck.errors import Failure, InputError
from factcheck.facts import AtomicFact, FactSet, SourceDocument, as_source
from factcheck.judges.ports import Ledger
from factcheck.settings import require_number


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalCase:
    """An output of a system with its context; each metric reads the fields it needs.

    Raises:
        InputError: A field has an invalid type.
    """

    actual_output: Any
    """Output of the system under evaluation; for most metrics a string."""
    input: str | None = None
    """Input of the system."""
    expected_output: Any = None
    """Expected output, in the form of `actual_output`."""
    source: str | tuple[SourceDocument, ...] | None = None
    """Text whose facts the output should keep, or a list of documents."""
    references: tuple[str, ...] = ()
    """Reference outputs, which override those of a metric."""
    facts: FactSet | tuple[str | AtomicFact, ...] | None = None
    """Facts of the source; `None` to extract them if a metric needs them."""
    id: str | None = None
    """Unique within an evaluation; `None` for its position, counted from 1."""
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Additional data for custom metrics."""

    def __post_init__(self) -> None:
        if self.source is not None:
            object.__setattr__(self, "source", as_source(self.source, "a case: 'source'"))
        for name in ("input", "id"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise InputError(f"a case: {name!r} must be a string, got {type(value).__name__}")
        if self.id is not None and not self.id.strip():
            raise InputError("a case: 'id' is blank; fill it in, or leave it out")
        object.__setattr__(self, "references", text_list(self.references, "a case: 'references'"))
        if self.facts is not None and not isinstance(self.facts, FactSet):
            object.__setattr__(self, "facts", tuple(FactSet.of(self.facts)))

    @classmethod
    def of(cls, item: EvalCase | Mapping[str, Any]) -> EvalCase:
        """Convert a mapping with the fields to a case; raises `InputError` if it is invalid."""
        if isinstance(item, EvalCase):
            return item
        if not isinstance(item, Mapping):
            kind = type(item).__name__
            raise InputError(f"a case must be an EvalCase or a mapping with its fields, got {kind}")
        if unknown := sorted(str(key) for key in item if key not in CASE_FIELDS):
            raise InputError(f"a case: unknown keys {unknown}; use {list(CASE_FIELDS)}")
        if "actual_output" not in item:
            raise InputError(f"a case: 'actual_output' is missing; found {sorted(item)}")
        return cls(**item)


CASE_FIELDS = tuple(one.name for one in fields(EvalCase))
"""Names of the fields of a case."""


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


@runtime_checkable
class Metric(Protocol):
    """Scores cases: any object with these members, or a function decorated with `metric`."""

    @property
    def name(self) -> str:
        """Name in reports; unique within an evaluation."""
        ...

    @property
    def threshold(self) -> float:
        """Score from which a case passes, in [0, 1]."""
        ...

    @property
    def required_fields(self) -> Sequence[str]:
        """Fields of `EvalCase` that a case must have to be measured."""
        ...

    @property
    def identity(self) -> Mapping[str, str]:
        """Names and versions that affect the scores, as entries of the score signature."""
        ...

    async def measure_many(
        self, cases: Sequence[EvalCase], ledger: Ledger
    ) -> Sequence[MetricResult]:
        """Return one result per case, in order, independent of the other cases.

        If it raises, all cases fail with that error.
        """
        ...


def text_list(value: Any, what: str) -> tuple[str, ...]:
    """Validate a list of non-blank strings; the message of `InputError` starts with `what`."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InputError(f"{what} must be a list of strings, got {type(value).__name__}")
    texts = tuple(value)
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InputError(f"{what}: number {number} is not a string but {type(text).__name__}")
        if not text.strip():
            raise InputError(f"{what}: number {number} is blank")
    return texts
