"""Registries of comparators and transforms, and the comparators `exact`, `oneof` and `fuzzy`."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from factcheck.errors import ParameterError
from factcheck.fields.comparators.dates import date
from factcheck.fields.comparators.names import name, phone
from factcheck.fields.comparators.numeric import numeric
from factcheck.fields.comparators.transforms import TRANSFORMS
from factcheck.fields.types import (
    MATCH,
    THRESHOLD,
    BoundComparator,
    BuiltinComparator,
    Outcome,
)
from factcheck.fields.values import exact_key, is_nan, value_key, wrong_type

_MISMATCH: Final[Outcome] = (0.0, "mismatch")
_OTHER_TYPES: Final[Outcome] = (1.0, "equal, but with other types inside, such as 1 and true")
_NOT_ALLOWED: Final[Outcome] = (0.0, "no match in values")
_SAME_TEXT: Final[Outcome] = (1.0, "ratio 1")
_EQUAL_IF_SAME = frozenset({str, int, bool, type(None)})
"""Types whose values are identical if and only if they are equal."""


def _compare_exactly(gold: Any, extracted: Any) -> Outcome:
    kind = type(gold)
    if kind is not type(extracted):
        return _MISMATCH
    if kind in _EQUAL_IF_SAME:
        return MATCH if gold == extracted else _MISMATCH
    if kind is float:
        both_nan = math.isnan(gold) and math.isnan(extracted)
        return MATCH if gold == extracted or both_nan else _MISMATCH
    if exact_key(gold) != exact_key(extracted):
        return _MISMATCH
    if value_key(gold) == value_key(extracted):
        return MATCH
    return _OTHER_TYPES


def _bind_oneof(*, values: list[Any] | None = None) -> BoundComparator:
    if values is None:
        raise ParameterError("oneof requires 'values', the list of allowed values")
    has_nan = any(map(is_nan, values))

    def compare(_gold: Any, extracted: Any) -> Outcome:
        is_allowed = extracted in values or (has_nan and is_nan(extracted))
        return MATCH if is_allowed else _NOT_ALLOWED

    return BoundComparator(compare)


def _bind_fuzzy(*, threshold: float | None = None) -> BoundComparator:
    from rapidfuzz.distance.Indel import similarity

    def compare(gold: Any, extracted: Any) -> Outcome:
        if not (isinstance(gold, str) and isinstance(extracted, str)):
            if exact_key(gold) == exact_key(extracted):
                return MATCH
            side, value = ("extracted", extracted) if isinstance(gold, str) else ("gold", gold)
            return 0.0, wrong_type("fuzzy compares strings", side, value)
        if gold == extracted:
            return _SAME_TEXT
        ratio = similarity(gold, extracted) / (len(gold) + len(extracted))
        if threshold is None:
            return ratio, f"ratio {ratio:.6g}"
        if ratio >= threshold:
            return 1.0, f"ratio {ratio:.6g}, at least {threshold:.6g}"
        return 0.0, f"ratio {ratio:.6g} is below {threshold:.6g}"

    return BoundComparator(compare)


exact = BuiltinComparator("exact", lambda: BoundComparator(_compare_exactly, key=exact_key))
"""Match the same value of the same type; Python equality below the outermost level."""
oneof = BuiltinComparator(
    "oneof", _bind_oneof, {"values": ("a list", lambda value: isinstance(value, list))}
)
"""Match if the extracted value is an allowed one; the gold value is ignored.

Parameters:
    values: List of allowed values; as in Python, `1` also allows `1.0` and `true`.
"""
fuzzy = BuiltinComparator("fuzzy", _bind_fuzzy, {"threshold": THRESHOLD})
"""Score the normalized Indel similarity of two strings, in [0, 1]; other values as in `exact`.

Parameters:
    threshold: Minimum ratio of a match; without it the ratio is the score.

Source:
    `rapidfuzz.fuzz.ratio`, divided by 100.
"""
COMPARATORS: Mapping[str, BuiltinComparator] = MappingProxyType(
    {
        comparator.name: comparator
        for comparator in (exact, numeric, oneof, fuzzy, date, name, phone)
    }
)
"""Built-in comparators that score one field at a time, by name."""

_FIXED_COMPARATORS = frozenset({"exact", "numeric", "oneof"})
"""Built-in comparators that cannot be replaced."""
_FIXED_TRANSFORMS = frozenset(
    {"lowercase", "normalize_whitespace", "round_digits", "sort_tokens", "strip", "type_convert"}
)
_SEMANTIC = "it needs a judge: evaluate(..., semantic='local'), or --semantic local"


class _NotFoundError(KeyError):
    def __str__(self) -> str:
        return str(self.args[0])


class ComparatorNotFoundError(_NotFoundError):
    """No comparator has that name."""


class TransformNotFoundError(_NotFoundError):
    """No transform has that name."""


class Registry:
    """Built-in and registered comparators and transforms.

    Pass a registry to `evaluate(..., registry=...)` to limit registrations to that evaluation.
    """

    def __init__(self) -> None:
        self._comparators: dict[str, Callable[..., Any]] = {}
        self._transforms: dict[str, Callable[..., Any]] = {}

    def register(self, name: str, fn: Callable[..., Any], *, overwrite: bool = False) -> None:
        """Register a comparator.

        Args:
            name: Name in schemas.
            fn: `fn(gold, extracted, params) -> ComparatorResult`, or, with the attribute
                `is_batch = True`, `fn(items) -> list[ComparatorResult | None]`.
            overwrite: Whether to replace a registered comparator. The built-in `exact`, `numeric`
                and `oneof` can never be replaced; the others always can.

        Raises:
            TypeError: `fn` is not callable.
            ValueError: The name is taken.
        """
        _check("comparator", name, fn, _FIXED_COMPARATORS)
        if name in self._comparators and not overwrite:
            raise ValueError(f"comparator {name!r} is already registered; use overwrite=True")
        self._comparators[name] = fn

    def register_transform(self, name: str, fn: Callable[..., Any]) -> None:
        """Register a transform, `fn(value, params) -> value`; it is never called with `None`.

        Raises `TypeError` if `fn` is not callable, and `ValueError` if the name is taken.
        """
        _check("transform", name, fn, _FIXED_TRANSFORMS)
        if name in self._transforms:
            raise ValueError(f"transform {name!r} is already registered; choose another name")
        self._transforms[name] = fn

    def __contains__(self, name: str) -> bool:
        """Whether there is a comparator of that name."""
        return name in self._comparators or name in COMPARATORS

    def get_comparator(self, name: str) -> Callable[..., Any]:
        """Return a comparator by name; raise `ComparatorNotFoundError` if there is none."""
        found = self._comparators.get(name) or COMPARATORS.get(name)
        if found is None:
            hint = _SEMANTIC if name == "semantic" else ""
            known = {*COMPARATORS, *self._comparators}
            raise ComparatorNotFoundError(_unknown("comparator", name, known, hint))
        return found

    def get_transform(self, name: str) -> Callable[..., Any]:
        """Return a transform by name; raise `TransformNotFoundError` if there is none."""
        found = self._transforms.get(name) or TRANSFORMS.get(name)
        if found is None:
            known = {*TRANSFORMS, *self._transforms}
            raise TransformNotFoundError(_unknown("transform", name, known))
        return found

    def extended(self, name: str, fn: Callable[..., Any]) -> Registry:
        """Return a copy of this registry with a comparator added or replaced."""
        extended = copy.copy(self)
        extended._comparators = {**self._comparators, name: fn}  # noqa: SLF001 - a copy of self
        return extended


def is_batch(comparator: Any) -> bool:
    return getattr(comparator, "is_batch", False) is True


def _check(kind: str, name: str, fn: Any, fixed: frozenset[str]) -> None:
    if not callable(fn):
        raise TypeError(f"the {kind} {name!r} must be callable, not {fn!r}")
    if name in fixed:
        raise ValueError(f"Cannot overwrite built-in {kind} {name!r}; choose another name")


def _unknown(kind: str, name: Any, known: set[str], hint: str = "") -> str:
    hint = hint or "register your own before use"
    return f"Unknown {kind} {name!r}; expected one of {', '.join(sorted(known))}; {hint}"


default_registry = Registry()
"""Process-wide registry, the default of `evaluate`."""
register = default_registry.register
register_transform = default_registry.register_transform
get_comparator = default_registry.get_comparator
get_transform = default_registry.get_transform
