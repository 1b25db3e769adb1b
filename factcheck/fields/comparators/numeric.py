"""The comparator `numeric`: equal numbers, or numbers within a tolerance.

Integers of any size are compared exactly. If one side is a float, both are compared as floats,
because a float above 2**53 represents several integers.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Final

from factcheck.fields.types import (
    MATCH,
    BoundComparator,
    BuiltinComparator,
    Outcome,
    is_number,
    param,
    refuse_unknown,
)
from factcheck.fields.values import is_nan

_TYPE_ERROR: Final[Outcome] = (0.0, "type_error")
_DIFFERENT: Final[Outcome] = (0.0, "values differ without tolerance")
_PLAIN = frozenset({int, float})
_EXACT_LIMIT = 2**53
"""Below it a float represents every integer."""
_ARRAY_LIMIT = 2**52
"""Largest integer compared as a float, so that differences are exact, too."""
_LIMITS = ("rel", "abs")


def number_of(value: Any) -> int | float | None:
    """Convert a value to a number as `float` does; `None` if it is none or overflows a float.

    Booleans are 0 and 1, and a string of digits is an integer of any length.
    """
    if type(value) in _PLAIN:
        return value  # type: ignore[no-any-return]
    is_text = isinstance(value, str)
    to_integer: Callable[[Any], int] = int if is_text else operator.index
    try:
        return to_integer(value)
    except (TypeError, ValueError):  # not an integer, or more digits than Python converts
        pass
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    is_infinite = "n" in value.lower() if is_text else number == value
    return None if math.isinf(number) and not is_infinite else number


def _errors(gold: float, extracted: float) -> list[float]:
    """Return the error relative to gold, or to 1 if gold is 0, and the absolute error."""
    errors = []
    for divisor in (abs(gold) or 1, 1):
        try:
            error = float(abs(gold - extracted) / divisor)
        except OverflowError:
            error = math.inf
        errors.append(math.inf if math.isnan(error) else error)
    return errors


class _Wide:
    """Key of a number from 2**53 on, equal to those that `numeric` considers equal."""

    __slots__ = ("number",)

    def __init__(self, number: float) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Wide):
            return False
        return self.number == other.number or _errors(self.number, other.number)[1] == 0

    def __hash__(self) -> int:
        try:
            return hash(float(self.number))
        except OverflowError:
            return hash(self.number)


def _key(value: Any) -> Hashable:
    number = number_of(value)
    if number is None:
        return None if value is None else object()
    if -_EXACT_LIMIT < number < _EXACT_LIMIT:
        return number
    return "NaN" if is_nan(number) else _Wide(number)


@lru_cache(maxsize=256)
def _within(limits: tuple[float, float] | None) -> BoundComparator:
    """Bind the limits of the relative and the absolute error; `None`: numbers must be equal."""
    rel, largest = limits or (0.0, 0.0)

    def compare(gold: Any, extracted: Any) -> Outcome:
        if type(gold) in _PLAIN and type(extracted) in _PLAIN and gold == extracted:
            return MATCH
        one, two = number_of(gold), number_of(extracted)
        if one is None or two is None or is_nan(one) or is_nan(two):
            is_same = (gold is None and extracted is None) or (is_nan(one) and is_nan(two))
            return MATCH if is_same else _TYPE_ERROR
        share, gap = (0.0, 0.0) if one == two else _errors(one, two)
        if share <= rel and gap <= largest:
            return MATCH
        if limits is None:
            return _DIFFERENT
        reasons = [f"relative error {share!r} is above {rel!r}"] if share > rel else []
        if gap > largest:
            reasons.append(f"absolute error {gap!r} is above {largest!r}")
        return 0.0, "; ".join(reasons)

    if limits is None:
        return BoundComparator(compare, key=_key)
    return BoundComparator(compare, scores=partial(_scores, rel=rel, largest=largest))


def _scores(gold: Sequence[Any], extracted: Sequence[Any], rel: float, largest: float) -> Any:
    """Score all pairs of plain numbers; `None` for others, or if floats are not exact for all."""
    import numpy as np

    numbers = (*gold, *extracted)
    if not {*map(type, numbers)} <= _PLAIN or not all(abs(n) <= _ARRAY_LIMIT for n in numbers):
        return None
    values = np.array(gold, dtype=float)[:, None]
    gap = abs(values - np.array(extracted, dtype=float))
    with np.errstate(over="ignore"):
        share = gap / np.where(values == 0, 1.0, abs(values))
    return ((gap <= largest) & (share <= rel)).astype(float)


def _bind(params: Mapping[str, Any]) -> BoundComparator:
    shape = "an object with 'rel', 'abs' or both, such as {'rel': 0.01}"
    tolerance = params.get("tolerance")
    if tolerance is None:
        return _within(None)
    param("numeric", params, "tolerance", shape, lambda value: isinstance(value, Mapping))
    owner, expected = "the tolerance of numeric", "a finite number of at least 0"
    refuse_unknown(owner, tolerance, *_LIMITS)
    limits = [
        param(owner, tolerance, key, expected, lambda limit: is_number(limit) and limit >= 0)
        for key in _LIMITS
    ]
    rel, largest = (math.inf if limit is None else float(limit) for limit in limits)
    return _within((rel, largest) if tolerance else None)


numeric = BuiltinComparator("numeric", _bind, ("tolerance",))
"""Match two numbers, or strings that represent them.

Parameters:
    tolerance: `{"rel": fraction of the gold value, "abs": difference}`, either or both.
"""
