"""Comparators, transforms applied before them, and registries of both."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

from factcheck.fields.comparators.builtin import COMPARATORS
from factcheck.fields.comparators.transforms import TRANSFORMS

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
        self._comparators: dict[str, Callable[..., Any]] = dict(COMPARATORS)
        self._transforms: dict[str, Callable[..., Any]] = dict(TRANSFORMS)

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
        if self._comparators.get(name) is not COMPARATORS.get(name) and not overwrite:
            raise ValueError(f"comparator {name!r} is already registered; use overwrite=True")
        self._comparators[name] = fn

    def register_transform(self, name: str, fn: Callable[..., Any]) -> None:
        """Register a transform, `fn(value, params) -> value`; it is never called with `None`.

        Raises `TypeError` if `fn` is not callable, and `ValueError` if the name is taken.
        """
        _check("transform", name, fn, _FIXED_TRANSFORMS)
        if self._transforms.get(name) is not TRANSFORMS.get(name):
            raise ValueError(f"transform {name!r} is already registered; choose another name")
        self._transforms[name] = fn

    def __contains__(self, name: str) -> bool:
        """Whether there is a comparator of that name."""
        return name in self._comparators

    def get_comparator(self, name: str) -> Callable[..., Any]:
        """Return a comparator by name; raise `ComparatorNotFoundError` if there is none."""
        if name not in self._comparators:
            raise ComparatorNotFoundError(_unknown("comparator", name, self._comparators))
        return self._comparators[name]

    def get_transform(self, name: str) -> Callable[..., Any]:
        """Return a transform by name; raise `TransformNotFoundError` if there is none."""
        if name not in self._transforms:
            raise TransformNotFoundError(_unknown("transform", name, self._transforms))
        return self._transforms[name]

    def extended(self, name: str, fn: Callable[..., Any]) -> Registry:
        """Return a copy of this registry with a comparator added or replaced."""
        extended = copy.copy(self)
        extended._comparators = {**self._comparators, name: fn}  # noqa: SLF001 - a copy of self
        return extended


def _check(kind: str, name: str, fn: Any, fixed: frozenset[str]) -> None:
    if not callable(fn):
        raise TypeError(f"the {kind} {name!r} must be callable, not {fn!r}")
    if name in fixed:
        raise ValueError(f"Cannot overwrite built-in {kind} {name!r}; choose another name")


def _unknown(kind: str, name: Any, known: Iterable[str]) -> str:
    hint = _SEMANTIC if name == "semantic" else "register your own before use"
    return f"Unknown {kind} {name!r}; expected one of {', '.join(sorted(known))}; {hint}"


default_registry = Registry()
"""Process-wide registry, the default of `evaluate`."""
register = default_registry.register
register_transform = default_registry.register_transform
get_comparator = default_registry.get_comparator
get_transform = default_registry.get_transform
