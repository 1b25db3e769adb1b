"""What goes in and out of the field evaluator: statuses, results of one field, batch items."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

FieldStatus = Literal[
    "match",
    "mismatch",
    "omission",
    "hallucination",
    "skipped",
    "pending",
    "batch_error",
    "error",
]
"""What became of one field. The first four count; the others stand outside every share."""

COUNTED = frozenset({"match", "mismatch", "omission", "hallucination"})
"""The statuses that precision, recall and F1 are made of."""


@dataclass(slots=True)
class FieldResult:
    """One field of one record. Not frozen: post-processors change it in place."""

    path: str
    """Where in the record: `items[0].name`; an element without gold partner has `[-1]`, `[-2]`."""
    score: float
    """In [0, 1]; 0 wherever nothing was compared."""
    comparator: str
    """The comparator's name in the schema; empty where none was asked."""
    gold_value: Any
    extracted_value: Any
    status: FieldStatus
    reason: str | None = None
    gold_compared: Any = None
    """The gold value after its transforms, where a comparator saw it."""
    extracted_compared: Any = None


@dataclass(frozen=True)
class ComparatorResult:
    """What a comparator says about two values."""

    score: float
    """In [0, 1]; 1 is a match."""
    comparator: str
    reason: str | None = None
    skip: bool = False
    """Batch comparators only: leave this field out of every share."""


@dataclass(frozen=True)
class BatchItem:
    """One question to a batch comparator."""

    path: str
    gold_raw: Any
    extracted_raw: Any
    gold_compared: Any
    extracted_compared: Any
    params: Mapping[str, Any] = field(default_factory=dict)
    """What the schema gives the comparator for this field."""
    schema_path: str = ""
    """The path without positions: `items[].name`."""
    description: str = ""
    """What the schema says the field holds."""


class BatchComparator(Protocol):
    """Scores many fields in one call.

    A class that has `across_records = True` gets the fields of many records in one call, and the
    same path may then come more than once; else there is one call per record.
    """

    is_batch: bool
    """Exactly `True`."""

    def __call__(self, items: list[BatchItem]) -> list[ComparatorResult | None]:
        """One entry per item, in their order; `None` where the comparator cannot decide."""
        ...


Comparator = Callable[[Any, Any, Mapping[str, Any]], ComparatorResult]
"""Scores one field: `fn(gold, extracted, params)`."""
Transform = Callable[[Any, Mapping[str, Any]], Any]
"""Prepares one value for comparison: `fn(value, params)`."""
Compare = Callable[[Any, Any], "tuple[float, str | None]"]
"""A comparator whose parameters are bound: score in [0, 1] and reason."""


class Numbers(NamedTuple):
    """A comparator of numbers for arrays; equal ones compare alike."""

    array: Callable[[Sequence[Any]], Any]
    """Values as an array, or `None` if they are not all plain numbers."""
    near: Callable[[Any, Any], Any]
    """Where two arrays, broadcast against each other, match. NaN matches nothing."""


class BoundComparator(NamedTuple):
    """A comparator with its parameters checked and bound."""

    compare: Compare
    key: Callable[[Any], Hashable] | None = None
    """If there is one: two values score 1 where their keys are equal, and 0 elsewhere."""
    scores: Callable[[Sequence[Any], Sequence[Any]], Any] | None = None
    """If there is one: the scores of all pairs at once, as a numpy array, gold by extracted."""
    numbers: Numbers | None = None
    """If there is one: how plain numbers are compared as arrays, many fields at once."""


@dataclass(frozen=True, slots=True)
class BuiltinComparator:
    """A comparator of this package: callable like any other, and bindable."""

    name: str
    bind: Callable[[Mapping[str, Any]], BoundComparator]
    """Raises `ParameterError` where the parameters cannot be used."""

    def __call__(
        self, gold: Any, extracted: Any, params: Mapping[str, Any] | None = None
    ) -> ComparatorResult:
        """Score two values.

        Raises:
            ParameterError: The parameters cannot be used.
        """
        score, reason = self.bind(params or {}).compare(gold, extracted)
        return ComparatorResult(score, self.name, reason)


@dataclass(frozen=True, slots=True)
class BuiltinTransform:
    """A transform of this package: callable like any other, and bindable."""

    name: str
    bind: Callable[[Mapping[str, Any]], Callable[[Any], Any]]
    """Raises `ParameterError` where the parameters cannot be used."""

    def __call__(self, value: Any, params: Mapping[str, Any] | None = None) -> Any:
        """The prepared value; `None` stays `None`, whatever the parameters."""
        return None if value is None else self.bind(params or {})(value)
