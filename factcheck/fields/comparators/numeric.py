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
    check_params,
    is_number,
)
from factcheck.fields.values import is_nan

_TYPE_ERROR: Final[Outcome] = (0.0, "type_error")
_BOOLEAN: Final[Outcome] = (1.0, "true counts as 1 and false as 0")
_DIFFERENT: Final[Outcome] = (0.0, "values differ without tolerance")
_PLAIN = frozenset({int, float})
_EXACT_LIMIT = 2**53
"""Below it a float represents every integer."""
_ARRAY_LIMIT = 2**52
"""Largest number compared as a float, so that differences are exact, too."""


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


def _key(value: Any) -> Hashable:
    number = number_of(value)
    if number is None:
        return None if value is None else object()
    return "NaN" if is_nan(number) else number


_LIMIT = (
    "a finite number of at least 0",
    lambda limit: is_number(limit) and limit >= 0,
)
_TOLERANCE = (
    "an object with 'rel', 'abs' or both, such as {'rel': 0.01}",
    lambda value: value is None or isinstance(value, Mapping),
)


def _bind(*, tolerance: Mapping[str, Any] | None = None) -> BoundComparator:
    if not tolerance:
        return _within(None)
    check_params("the tolerance of numeric", tolerance, {"rel": _LIMIT, "abs": _LIMIT})
    return _within((float(tolerance.get("rel", math.inf)), float(tolerance.get("abs", math.inf))))


numeric = BuiltinComparator("numeric", _bind, {"tolerance": _TOLERANCE})
"""Match two numbers, or strings that represent them.

Parameters:
    tolerance: `{"rel": fraction of the gold value, "abs": difference}`, either or both.
"""
