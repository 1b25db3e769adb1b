"""Statuses, field results, comparators and transforms, and the checks of their parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from factcheck.documents import shown
from factcheck.errors import Failure, ParameterError

FieldStatus = Literal[
    "match", "mismatch", "omission", "hallucination", "skipped", "pending", "batch_error", "error",
    "parse_failure"
]  # fmt: skip
"""The outcome of one field. Only the first four count in precision, recall and F1. A parse failure
is the outcome of a record, each gold field of which is an omission."""
COUNTED = frozenset({"match", "mismatch", "omission", "hallucination"})
"""The statuses that count in precision, recall and F1."""
UNDECIDED = frozenset({"error", "batch_error", "pending"})
"""The statuses of fields that should have been compared and were not."""


@dataclass(slots=True)
class FieldResult:
    """One field of one record. Mutable, because post-processors change it in place."""

    path: str
    """Path in the record: `items[0].name`; `[-1]`, `[-2]` for elements without gold partner."""
    score: float
    """In [0, 1]; 0 if nothing was compared."""
    comparator: str
    """Name of the comparator in the schema; empty if none was used."""
    gold_value: Any
    extracted_value: Any
    status: FieldStatus
    reason: str | None = None
    gold_compared: Any = None
    """The gold value after transforms, if a comparator got it."""
    extracted_compared: Any = None


@dataclass(frozen=True)
class ComparatorResult:
    """The outcome of comparing two values."""

    score: float
    """In [0, 1]; 1 is a match."""
    comparator: str
    reason: str | None = None
    skip: bool = False
    """Batch comparators only: exclude this field from all metrics."""


@dataclass(frozen=True)
class BatchItem:
    """One field for a batch comparator to score."""

    path: str
    gold_raw: Any
    extracted_raw: Any
    gold_compared: Any
    extracted_compared: Any
    params: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the comparator in the schema."""
    schema_path: str = ""
    """The path without positions: `items[].name`."""
    description: str = ""
    """Description of the field in the schema."""


Answer: TypeAlias = "ComparatorResult | Failure[Any] | None"
"""What a batch comparator returns for an item; a failure or `None` if it could not be decided."""


class BatchComparator(Protocol):
    """Scores many fields in one call.

    With `across_records = True` a comparator gets the fields of many records in one call, in which
    paths may repeat; otherwise it is called once per record. If it also has an asynchronous method
    `acall`, with the signature of `__call__`, the asynchronous functions await that instead.
    """

    is_batch: bool
    """Exactly `True`."""

    def __call__(self, items: list[BatchItem]) -> Sequence[Answer]:
        """One entry per item, in order, as a list.

        Any object with the attributes of a `ComparatorResult` will do; `matched` (true or false),
        or a `status`, stands in for a missing `score`.
        """
        ...


class UndecidableError(ValueError):
    """A comparison without a result for which the extracted value is not to blame."""


Outcome = tuple[float, "str | None"]
"""Score in [0, 1] and reason."""
MATCH: Outcome = (1.0, None)


class BoundComparator(NamedTuple):
    """A comparator with validated, bound parameters."""

    compare: Callable[[Any, Any], Outcome]
    key: Callable[[Any], Hashable] | None = None
    """If given: two values score 1 if their keys are equal, and 0 otherwise."""
    scores: Callable[[Sequence[Any], Sequence[Any]], Any] | None = None
    """If given: the scores of all pairs as a numpy array, gold by extracted; `None` for values that
    are to be compared one by one."""


@dataclass(frozen=True, slots=True)
class BuiltinComparator:
    """A built-in comparator: callable like any other, and bindable."""

    name: str
    bind: Callable[[Mapping[str, Any]], BoundComparator]
    """Raises `ParameterError` for invalid parameters."""

    def __call__(
        self, gold: Any, extracted: Any, params: Mapping[str, Any] | None = None
    ) -> ComparatorResult:
        """Score two values.

        Raises:
            ParameterError: The parameters are invalid.
        """
        score, reason = self.bind(params or {}).compare(gold, extracted)
        return ComparatorResult(score, self.name, reason)


@dataclass(frozen=True, slots=True)
class BuiltinTransform:
    """A built-in transform: callable like any other, and bindable."""

    name: str
    bind: Callable[[Mapping[str, Any]], Callable[[Any], Any]]
    """Raises `ParameterError` for invalid parameters."""

    def __call__(self, value: Any, params: Mapping[str, Any] | None = None) -> Any:
        """The transformed value; `None` stays `None`, whatever the parameters."""
        return None if value is None else self.bind(params or {})(value)


def refuse_unknown(owner: str, params: Mapping[str, Any], *known: str) -> None:
    """Refuse any parameter that is not among the known ones."""
    for name in params:
        if name not in known:
            allowed = f"it takes {quoted(known)}" if known else "it takes no parameters"
            raise ParameterError(f"{owner}: unknown parameter {shown(name)}; {allowed}")


def quoted(names: tuple[str, ...]) -> str:
    """The names in quotes, with an `and` before the last one."""
    *first, last = (repr(name) for name in names)
    return f"{', '.join(first)} and {last}" if first else last


def flag(owner: str, params: Mapping[str, Any], key: str) -> bool | None:
    """A boolean parameter; `None` if it is missing."""
    if key not in params:
        return None
    value = params[key]
    if not isinstance(value, bool):
        raise ParameterError(f"{owner}: {key!r} must be true or false, not {shown(value)}")
    return value


def finite_number(owner: str, key: str, value: Any, allowed: str) -> float:
    """A numeric parameter as a float."""
    refused = ParameterError(f"{owner}: {key!r} must be {allowed}, not {shown(value)}")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise refused
    try:
        number = float(value)
    except OverflowError:
        raise refused from None
    if not math.isfinite(number):
        raise refused
    return number
