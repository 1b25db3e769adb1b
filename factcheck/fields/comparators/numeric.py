"""The comparator `numeric`: equal numbers, or numbers within a tolerance.

Integers of any size are compared exactly. If one side is a float, both are compared as floats,
because a float above 2**53 represents several integers.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
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
_BOOLEAN: Final[Outcome] = (1.0, "true counts as 1 and false as 0")
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
    kind = type(value)
    if kind is float or kind is int:
        return value  # type: ignore[no-any-return]
    is_text = isinstance(value, str)
    if not is_text:
        with suppress(TypeError):
            return int(operator.index(value))
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if is_text and not -_EXACT_LIMIT < number < _EXACT_LIMIT:
        with suppress(ValueError):  # a float, or more digits than Python converts
            return int(value)
    if not math.isinf(number) or ("n" in value.lower() if is_text else number == value):
        return number
    return None


def _errors(gold: float, extracted: float) -> tuple[float, float]:
    """Return the error relative to gold, or to 1 if gold is 0, and the absolute error."""
    try:
        gap = abs(gold - extracted)
        share = gap if gap == math.inf else gap / (abs(gold) or 1)
    except OverflowError:
        return math.inf, math.inf
    return share, float(gap) if gap <= sys.float_info.max else math.inf


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
    if value is None:
        return None
    number = number_of(value)
    if number is None:
        return object()
    if -_EXACT_LIMIT < number < _EXACT_LIMIT:
        return number
    return "NaN" if is_nan(number) else _Wide(number)


@lru_cache(maxsize=256)
def _within(limits: tuple[float, float] | None) -> BoundComparator:
    """Bind the limits of the relative and the absolute error; `None`: numbers must be equal."""
    rel, largest = limits or (0.0, 0.0)

    def compare(gold: Any, extracted: Any) -> Outcome:
        one, two, match = gold, extracted, MATCH
        if not (type(gold) in _PLAIN and type(extracted) in _PLAIN):
            one, two = number_of(gold), number_of(extracted)
            if one is None or two is None:
                return MATCH if gold is None and extracted is None else _TYPE_ERROR
            if isinstance(gold, bool) != isinstance(extracted, bool):
                match = _BOOLEAN
        if one == two:
            return match
        share, gap = _errors(one, two)
        if share <= rel and gap <= largest:
            return match
        if is_nan(one) or is_nan(two):
            return MATCH if is_nan(one) and is_nan(two) else _TYPE_ERROR
        return (0.0, _reason(share, gap, rel, largest)) if limits else _DIFFERENT

    if limits is None:
        return BoundComparator(compare, key=_key)
    return BoundComparator(compare, scores=partial(_scores, rel=rel, largest=largest))


def _reason(share: float, gap: float, rel: float, largest: float) -> str:
    reasons = [f"relative error {share:.12g} is above {rel:.12g}"] if share > rel else []
    if gap > largest:
        reasons.append(f"absolute error {gap:.12g} is above {largest:.12g}")
    return "; ".join(reasons)


def _scores(gold: Sequence[Any], extracted: Sequence[Any], rel: float, largest: float) -> Any:
    """Score all pairs of plain numbers; `None` for others, or if floats are not exact for all."""
    import numpy as np

    numbers = (*gold, *extracted)
    if not {*map(type, numbers)} <= _PLAIN or not all(abs(n) <= _ARRAY_LIMIT for n in numbers):
        return None
    values = np.array(gold, dtype=float)[:, None]
    gap = abs(values - np.array(extracted, dtype=float))
    near = gap <= largest
    if rel < math.inf:
        with np.errstate(over="ignore"):
            near &= gap / np.where(values == 0, 1.0, abs(values)) <= rel
    return near.astype(float)


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
