"""The comparator `numeric`: equal numbers, or numbers within a tolerance.

Integers of any size are compared exactly. If one side is a float, both are compared as floats,
because a float above 2**53 represents several integers.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from factcheck.documents import shown
from factcheck.errors import ParameterError
from factcheck.fields.types import (
    MATCH,
    BoundComparator,
    BuiltinComparator,
    Outcome,
    finite_number,
    refuse_unknown,
)
from factcheck.fields.values import is_nan

_TYPE_ERROR: Final[Outcome] = (0.0, "type_error")
_DIFFERENT: Final[Outcome] = (0.0, "values differ without tolerance")
_EXACT_LIMIT = 2**53
"""Below it a float represents every integer."""
_ARRAY_LIMIT = 2**52
"""Largest integer compared as a float, so that differences are exact, too."""
_NAN = "NaN"
"""Key of NaN."""


def number_of(value: Any) -> int | float | None:
    """Convert a value to a number as `float` does, or return `None`.

    Booleans are 0 and 1. A string of digits is an integer of any length; any other number too
    large for a float is `None`, except strings for infinity.
    """
    kind = type(value)
    if kind is int or kind is float:
        return value  # type: ignore[no-any-return]
    try:
        if not isinstance(value, str):
            return int(operator.index(value))
    except TypeError:
        pass
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if isinstance(value, str) and not -_EXACT_LIMIT < number < _EXACT_LIMIT:
        try:
            return int(value)
        except ValueError:  # a float, or more digits than Python converts
            return None if math.isinf(number) and "n" not in value.lower() else number
    return None if math.isinf(number) and not isinstance(value, str) and number != value else number


def _same(gold: float, extracted: float) -> bool:
    if type(gold) is type(extracted) or -_EXACT_LIMIT < gold < _EXACT_LIMIT:
        return gold == extracted
    try:
        return float(gold) == float(extracted)
    except OverflowError:
        return False


class _Wide:
    """Key of a number from 2**53 on, equal to those that `numeric` considers equal."""

    __slots__ = ("number",)

    def __init__(self, number: float) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Wide) and _same(self.number, other.number)

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
    return _NAN if is_nan(number) else _Wide(number)


def _compare(gold: Any, extracted: Any) -> Outcome:
    kind, other = type(gold), type(extracted)
    if (kind is float or kind is int) and (other is float or other is int):
        if gold == extracted:
            return MATCH
        if -_EXACT_LIMIT < gold < _EXACT_LIMIT and -_EXACT_LIMIT < extracted < _EXACT_LIMIT:
            return _DIFFERENT
    return _decided(gold, extracted)[0] or _DIFFERENT


def _decided(gold: Any, extracted: Any) -> tuple[Outcome | None, float, float]:
    """Return the outcome if it does not depend on the tolerance, and both numbers."""
    if gold is None or extracted is None:
        return (MATCH if gold is extracted else _TYPE_ERROR), 0, 0
    one, two = number_of(gold), number_of(extracted)
    if one is None or two is None or is_nan(one) != is_nan(two):
        return _TYPE_ERROR, 0, 0
    return (MATCH if is_nan(one) or _same(one, two) else None), one, two


@lru_cache(maxsize=256)
def _within(rel: float, largest: float) -> BoundComparator:
    """Bind a relative tolerance (of gold, or of 1 if gold is 0) and an absolute one."""

    def compare(gold: Any, extracted: Any) -> Outcome:
        kind, other = type(gold), type(extracted)
        if (kind is float or kind is int) and (other is float or other is int):
            try:
                gap = abs(gold - extracted)
                if gap <= largest and gap / (abs(gold) or 1) <= rel:
                    return MATCH
            except OverflowError:
                pass  # the difference is too large for a float
        outcome, one, two = _decided(gold, extracted)
        return outcome or _measured(one, two, rel, largest)

    def scores(gold: Sequence[Any], extracted: Sequence[Any]) -> Any:
        import numpy as np

        values, others = _as_array(gold), _as_array(extracted)
        if values is None or others is None:
            return None
        values = values[:, None]
        with np.errstate(invalid="ignore"):  # infinity minus infinity
            gap = abs(values - others)
            near = gap <= largest
            if rel < math.inf:
                near &= gap / np.where(values == 0, 1.0, abs(values)) <= rel
        return (near | (values == others)).astype(float)

    return BoundComparator(compare, scores=scores)


def _as_array(values: Sequence[Any]) -> Any:
    """Convert numbers to an array, null to infinity; `None` if floats are not exact for all."""
    import numpy as np

    if not set(map(type, values)) <= {float, int, type(None)}:
        return None
    numbers = [value for value in values if value is not None]
    if numbers and not -_ARRAY_LIMIT <= min(numbers) <= max(numbers) <= _ARRAY_LIMIT:
        return None
    if math.isnan(sum(numbers)):
        return None
    return np.array([math.inf if value is None else value for value in values], dtype=float)


def _measured(gold: float, extracted: float, rel: float, largest: float) -> Outcome:
    """Compare by absolute and relative error; errors that overflow a float are infinite."""
    try:
        gap = float(abs(gold - extracted))
    except OverflowError:
        gap = math.inf
    try:
        share = abs(gold - extracted) / (abs(gold) or 1)
    except OverflowError:
        share = math.inf
    share = math.inf if math.isnan(share) else share
    reasons = []
    if share > rel:
        reasons.append(f"relative error {share!r} is above {rel!r}")
    if gap > largest:
        reasons.append(f"absolute error {gap!r} is above {largest!r}")
    return (0.0, "; ".join(reasons)) if reasons else MATCH


_LIMITS = ("rel", "abs")
_EXACTLY = BoundComparator(_compare, key=_key)


def _bind(params: Mapping[str, Any]) -> BoundComparator:
    refuse_unknown("numeric", params, "tolerance")
    tolerance = params.get("tolerance")
    if tolerance is None:
        return _EXACTLY
    if not isinstance(tolerance, Mapping):
        raise ParameterError(
            "numeric: 'tolerance' must be an object with 'rel', 'abs' or both, such as "
            f"{{'rel': 0.01}}, not {shown(tolerance)}"
        )
    refuse_unknown("the tolerance of numeric", tolerance, *_LIMITS)
    if not tolerance:
        return _EXACTLY
    return _within(*(_limit(tolerance, key) for key in _LIMITS))


def _limit(tolerance: Mapping[str, Any], key: str) -> float:
    if key not in tolerance:
        return math.inf
    allowed = "a finite number of at least 0"
    limit = finite_number("the tolerance of numeric", key, tolerance[key], allowed)
    if limit < 0:
        raise ParameterError(f"the tolerance of numeric: {key!r} must be {allowed}, not {limit!r}")
    return limit


numeric = BuiltinComparator("numeric", _bind)
"""Match two numbers, or strings that represent them.

Parameters:
    tolerance: `{"rel": fraction of the gold value, "abs": difference}`, either or both.
"""
