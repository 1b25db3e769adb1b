"""The comparators of this package, and the two that look at values as they are."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from factcheck.errors import ParameterError
from factcheck.fields.comparators.dates import date
from factcheck.fields.comparators.fuzzy import fuzzy
from factcheck.fields.comparators.numeric import numeric
from factcheck.fields.comparators.parameters import refuse_unknown, shown
from factcheck.fields.types import BoundComparator, BuiltinComparator

__all__ = ["COMPARATORS", "date", "exact", "exact_key", "fuzzy", "numeric", "oneof", "value_key"]

_Outcome = tuple[float, "str | None"]
_MATCH: Final[_Outcome] = (1.0, None)
_MISMATCH: Final[_Outcome] = (0.0, "mismatch")
_NOT_ALLOWED: Final[_Outcome] = (0.0, "no match in values")
_NAN = object()
"""Stands for every NaN in a key."""
_ONE_OF_A_KIND = frozenset({str, int, bool, type(None)})
"""Two values of one of these types are alike where they are equal."""


def exact_key(value: Any) -> Hashable:
    """What two values share if `exact` calls them the same; any value has one.

    Only the outermost type counts: `1` is not `True`, but `[1]` is `[True]`. The order of names in
    an object does not count, and NaN is NaN. An object that cannot be compared, or that contains
    itself, is like itself only.
    """
    return _key(value, deep=False)


def value_key(value: Any) -> Hashable:
    """What two values share if no comparator can tell them apart: types count at every depth."""
    return _key(value, deep=True)


def _key(value: Any, *, deep: bool) -> Hashable:
    kind = type(value)
    if kind is str or kind is int or value is None:
        return value  # type: ignore[no-any-return]
    parts: list[Any] = [] if deep else [kind]
    try:
        _spell(value, parts, deep=deep)
    except RecursionError:
        return _Opaque(value)
    return tuple(parts)


def _spell(value: Any, parts: list[Any], *, deep: bool) -> None:
    """Write a value as a flat row of parts, from which it could be read back."""
    kind = type(value)
    if kind is str or kind is int or value is None:
        parts.append(value)
    elif kind is bool or kind is float:
        if deep:
            parts.append(kind)
        parts.append(_NAN if _is_nan(value) else value)
    elif isinstance(value, dict):
        parts += [kind if deep else dict, len(value)]
        for name in _in_order(value):
            _spell(name, parts, deep=deep)
            _spell(value[name], parts, deep=deep)
    elif isinstance(value, (list, tuple)):
        parts += [kind if deep else _sequence_kind(value), len(value)]
        for element in value:
            _spell(element, parts, deep=deep)
    elif isinstance(value, (set, frozenset)):
        parts += [kind if deep else set, frozenset(_key(one, deep=deep) for one in value)]
    else:
        parts.append(_Opaque(value))


def _sequence_kind(value: Any) -> type:
    return list if isinstance(value, list) else tuple


def _in_order(names: dict[Any, Any]) -> list[Any]:
    try:
        return sorted(names)
    except TypeError:
        return sorted(names, key=lambda name: (type(name).__name__, repr(name)))


class _Opaque:
    """Key of a value that JSON does not know: equal to those of its type that it equals."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Opaque) or type(self.value) is not type(other.value):
            return False
        if self.value is other.value:
            return True
        try:
            unequal = bool(self.value != other.value)
            return not unequal or (_is_nan_like(self.value) and _is_nan_like(other.value))
        except Exception:  # noqa: BLE001 - what cannot be compared is like itself only
            return False

    def __hash__(self) -> int:
        try:
            return hash(type(self.value) if _is_nan_like(self.value) else self.value)
        except Exception:  # noqa: BLE001 - what has no hash shares that of its type
            return hash(type(self.value))


def _is_nan_like(value: Any) -> bool:
    return bool(value != value)  # noqa: PLR0124 - the one way that works for all types


def _compare_exactly(gold: Any, extracted: Any) -> _Outcome:
    kind = type(gold)
    if kind is not type(extracted):
        return _MISMATCH
    if kind in _ONE_OF_A_KIND:
        return _MATCH if gold == extracted else _MISMATCH
    if kind is float:
        both_nan = math.isnan(gold) and math.isnan(extracted)
        return _MATCH if gold == extracted or both_nan else _MISMATCH
    return _MATCH if exact_key(gold) == exact_key(extracted) else _MISMATCH


_EXACTLY = BoundComparator(_compare_exactly, key=exact_key)


def _bind_exact(params: Mapping[str, Any]) -> BoundComparator:
    refuse_unknown("exact", params)
    return _EXACTLY


def _bind_oneof(params: Mapping[str, Any]) -> BoundComparator:
    refuse_unknown("oneof", params, "values")
    if "values" not in params:
        raise ParameterError("oneof requires 'values', the list of what is allowed")
    values = params["values"]
    if not isinstance(values, list):
        raise ParameterError(f"oneof: 'values' must be a list, not {shown(values)}")
    allowed = _Allowed(values)

    def compare(_gold: Any, extracted: Any) -> _Outcome:
        return _MATCH if extracted in allowed else _NOT_ALLOWED

    def scores(gold: Sequence[Any], extracted: Sequence[Any]) -> Any:
        import numpy as np

        row = [1.0 if value in allowed else 0.0 for value in extracted]
        return np.tile(np.array(row, dtype=float), (len(gold), 1))

    return BoundComparator(compare, scores=scores)


class _Allowed:
    """A list of values, quick to look things up in; NaN is in it if a NaN is."""

    __slots__ = ("_hashable", "_nan", "_values")

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = tuple(values)
        self._hashable = frozenset(value for value in values if _is_hashable(value))
        self._nan = any(_is_nan(value) for value in values)

    def __contains__(self, value: Any) -> bool:
        try:
            if value in self._hashable:
                return True
        except TypeError:
            return value in self._values
        return self._nan and _is_nan(value)


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


exact = BuiltinComparator("exact", _bind_exact)
"""The same value of the same type; below the outermost level, as Python compares. No parameters."""
oneof = BuiltinComparator("oneof", _bind_oneof)
"""The extracted value is one of those that are allowed; the gold value is not looked at.

Parameters:
    values: The list of what is allowed; `1` allows `1.0` and `true`, as in Python.
"""
COMPARATORS: Mapping[str, BuiltinComparator] = MappingProxyType(
    {comparator.name: comparator for comparator in (exact, numeric, oneof, fuzzy, date)}
)
"""Every comparator of this package that scores one field at a time, by its name in a schema."""
