"""Statuses, field results, comparators and transforms, and validation of their parameters."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from factcheck.documents import shown
from factcheck.errors import Failure, InputError, ParameterError

FieldStatus = Literal[
    "match", "mismatch", "omission", "hallucination", "skipped", "pending", "batch_error", "error",
    "parse_failure"
]  # fmt: skip
"""Outcome of one field. Only the first four count in precision, recall and F1. `parse_failure` is
the outcome of a whole record without one object or, if records are joined by id, without a usable
id; its gold fields are omissions."""
COUNTED = frozenset({"match", "mismatch", "omission", "hallucination"})
"""Statuses that count in precision, recall and F1."""
UNDECIDED = frozenset({"error", "batch_error", "pending"})
"""Statuses of fields that should have a verdict and do not."""


@dataclass(slots=True)
class FieldResult:
    """Result of one field of one record. Mutable, so that post-processors can edit it in place."""

    path: str
    """Path in the record, `items[0].name`; `[-1]`, `[-2]` for extracted elements without a gold
    partner."""
    score: float
    """In [0, 1]; 0 if nothing was compared."""
    comparator: str
    """Name of the comparator in the schema; empty if none was used."""
    gold_value: Any
    extracted_value: Any
    status: FieldStatus
    reason: str | None = None
    gold_compared: Any = None
    """Gold value after transforms, if it was passed to a comparator."""
    extracted_compared: Any = None
    doubtful: bool = False
    """Whether it is a mismatch that may be a match; a person should look at it."""


@dataclass(frozen=True)
class ComparatorResult:
    """Outcome of comparing two values."""

    score: float
    """In [0, 1]; 1 is a match."""
    comparator: str
    reason: str | None = None
    skip: bool = False
    """Batch comparators only: exclude this field from all metrics."""
    doubtful: bool = False
    """Whether a mismatch may be a match."""


@dataclass(frozen=True)
class BatchItem:
    """A field to be scored by a batch comparator."""

    path: str
    gold_raw: Any
    extracted_raw: Any
    gold_compared: Any
    extracted_compared: Any
    params: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the comparator in the schema."""
    schema_path: str = ""
    """Path without positions, `items[].name`."""
    description: str = ""
    """Description of the field in the schema."""


Answer: TypeAlias = "ComparatorResult | Failure[Any] | None"
"""Result of a batch comparator for one item; a failure or `None` if there is no verdict."""


class BatchComparator(Protocol):
    """Scores many fields in one call.

    With `across_records = True`, one call may hold fields of many records, so paths may repeat;
    otherwise the comparator is called once per record.
    """

    is_batch: bool
    """Exactly `True`."""

    def __call__(self, items: list[BatchItem]) -> Sequence[Answer]:
        """Return a list with one entry per item, in order.

        Entries may be any objects with the attributes of `ComparatorResult`; `matched` (a boolean)
        or `status` replaces a missing `score`.
        """
        ...


class UnreadableError(InputError, TypeError):
    """A built-in transform cannot read a value."""


class UndecidableError(InputError):
    """Two values cannot be compared, and the extracted value is not the cause."""


NOT_OF_THE_VALUE = (OSError, MemoryError, UndecidableError)
"""Errors that the extracted value does not cause."""


def is_of_extraction(error: Exception, compare_gold: Callable[[], object]) -> bool:
    """Whether the extracted value made a comparison raise: gold can be compared with itself."""
    if isinstance(error, NOT_OF_THE_VALUE):
        return False
    try:
        compare_gold()
    except Exception:  # noqa: BLE001 - the user's code
        return False
    return True


Outcome = tuple[float, "str | None"]
"""Score in [0, 1] and reason."""
MATCH: Outcome = (1.0, None)


def outcome_of(result: Any) -> Outcome:
    """Return score and reason of a comparator's result, which may be any object with these.

    `matched` (a boolean) or `status` replaces a missing score.

    Raises:
        UndecidableError: The score is missing or not in [0, 1].
    """
    score = getattr(result, "score", None)
    if score is None:
        score = getattr(result, "matched", None)
    if score is None:
        score = {"match": 1.0, "mismatch": 0.0}.get(str(getattr(result, "status", "")))
    if score is None:
        raise UndecidableError(f"expected a ComparatorResult, got {shown(result)}")
    if not isinstance(score, Real) or not 0 <= float(score) <= 1:
        raise UndecidableError(f"the score {score!r} is not a number from 0 to 1")
    return float(score), getattr(result, "reason", None)


class BoundComparator(NamedTuple):
    """A comparator with validated, bound parameters."""

    compare: Callable[[Any, Any], Outcome]
    key: Callable[[Any], Hashable] | None = None
    """If set, two values score 1 if their keys are equal, and 0 otherwise. `numeric` alone matches
    some with different keys: an integer and a float of 2**53 or more."""
    scores: Callable[[Sequence[Any], Sequence[Any]], Any] | None = None
    """If set, scores all pairs at once: returns an array of gold by extracted, or `None` if the
    values have to be compared one by one."""


Check: TypeAlias = "tuple[str, Callable[[Any], bool]]"
"""What is expected of a parameter, and whether a value is that."""
Checks: TypeAlias = "Mapping[str, Check]"


@dataclass(frozen=True, slots=True)
class _Builtin:
    name: str
    make: Callable[..., Any]
    """Binds parameters, given as keyword arguments."""
    checks: Checks = field(default_factory=dict)

    def bind(self, params: Mapping[str, Any]) -> Any:
        """Validate and bind parameters; raise `ParameterError` if one is invalid."""
        check_params(self.name, params, self.checks)
        return self.make(**params)


class BuiltinComparator(_Builtin):
    """A built-in comparator: callable like any other, and bindable."""

    __slots__ = ()

    def __call__(
        self, gold: Any, extracted: Any, params: Mapping[str, Any] | None = None
    ) -> ComparatorResult:
        """Score two values; raise `ParameterError` if the parameters are invalid."""
        score, reason = self.bind(params or {}).compare(gold, extracted)
        return ComparatorResult(score, self.name, reason)


class BuiltinTransform(_Builtin):
    """A built-in transform: callable like any other, and bindable."""

    __slots__ = ()

    def __call__(self, value: Any, params: Mapping[str, Any] | None = None) -> Any:
        """Transform a value; `None` stays `None`, whatever the parameters."""
        if value is None:
            return None
        return self.bind(params or {})(value)


def check_params(owner: str, params: Mapping[str, Any], checks: Checks) -> None:
    """Raise `ParameterError` for an unknown or invalid parameter."""
    for name, value in params.items():
        if name not in checks:
            allowed = f"it takes {quoted(checks)}" if checks else "it takes no parameters"
            raise ParameterError(f"{owner}: unknown parameter {shown(name)}; {allowed}")
        expected, accepts = checks[name]
        if not accepts(value):
            raise ParameterError(f"{owner}: {name!r} must be {expected}, not {shown(value)}")


def one_of(*allowed: str) -> Check:
    """Check of a parameter that must be one of several strings."""
    return f"one of {quoted(allowed)}", lambda value: value in [*allowed]


TRUE_OR_FALSE: Check = "true or false", lambda value: isinstance(value, bool)


THRESHOLD: Check = (
    "a number above 0 and up to 1",
    lambda value: is_number(value) and 0 < value <= 1,
)


def quoted(names: Iterable[str]) -> str:
    """Quote names and join them, the last one with `and`."""
    *first, last = (repr(name) for name in names)
    return f"{', '.join(first)} and {last}" if first else last


def is_number(value: Any) -> bool:
    """Whether a value is a number that a float can hold, and no boolean."""
    is_real = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_real and abs(value) <= sys.float_info.max
