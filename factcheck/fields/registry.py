"""Comparators and transforms by name: one registry for the process, or one per evaluation."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from factcheck.fields.comparators.builtin import COMPARATORS
from factcheck.fields.comparators.transforms import TRANSFORMS

FIXED_COMPARATORS = frozenset({"exact", "numeric", "oneof"})
"""These mean the same in every schema; a registration may replace the other built-in ones."""
FIXED_TRANSFORMS = frozenset(
    {"lowercase", "normalize_whitespace", "round_digits", "sort_tokens", "strip", "type_convert"}
)
"""The transforms that mean the same in every schema."""
_HINTS = {
    "semantic": "it needs a judge: evaluate(..., semantic='local'), or --semantic local",
}
"""How to get the comparators that are not built in."""


class _NotFoundError(KeyError):
    def __str__(self) -> str:
        return str(self.args[0])


class ComparatorNotFoundError(_NotFoundError):
    """There is no comparator of that name."""


class TransformNotFoundError(_NotFoundError):
    """There is no transform of that name."""


class Registry:
    """The built-in comparators and transforms, and those registered with it.

    Pass one to `evaluate(..., registry=...)` to limit registrations to that evaluation.
    """

    def __init__(self) -> None:
        self._comparators: dict[str, Callable[..., Any]] = {}
        self._transforms: dict[str, Callable[..., Any]] = {}

    def register(self, name: str, fn: Callable[..., Any], *, overwrite: bool = False) -> None:
        """Register a comparator.

        Args:
            name: Its name in schemas.
            fn: `fn(gold, extracted, params) -> ComparatorResult`, or, with the attribute
                `is_batch = True`, `fn(items) -> list[ComparatorResult | None]`.
            overwrite: Whether to replace a comparator registered before. The built-in `exact`,
                `numeric` and `oneof` can never be replaced, `date` and `fuzzy` always.

        Raises:
            TypeError: `fn` is not callable.
            ValueError: The name is taken.
        """
        if not callable(fn):
            raise TypeError(f"the comparator {name!r} must be callable, not {fn!r}")
        if name in FIXED_COMPARATORS:
            raise ValueError(f"Cannot overwrite built-in comparator {name!r}; choose another name")
        if name in self._comparators and not overwrite:
            raise ValueError(f"comparator {name!r} is already registered; use overwrite=True")
        self._comparators[name] = fn

    def register_transform(self, name: str, fn: Callable[..., Any]) -> None:
        """Register a transform, `fn(value, params) -> value`; it is never called with `None`.

        Raises:
            TypeError: `fn` is not callable.
            ValueError: The name is taken.
        """
        if not callable(fn):
            raise TypeError(f"the transform {name!r} must be callable, not {fn!r}")
        if name in FIXED_TRANSFORMS:
            raise ValueError(f"Cannot overwrite built-in transform {name!r}; choose another name")
        if name in self._transforms:
            raise ValueError(f"transform {name!r} is already registered; choose another name")
        self._transforms[name] = fn

    def get_comparator(self, name: str) -> Callable[..., Any]:
        """The comparator of that name.

        Raises:
            ComparatorNotFoundError: There is none.
        """
        found = self._comparators.get(name) or COMPARATORS.get(name)
        if found is None:
            hint = _HINTS.get(name)
            raise ComparatorNotFoundError(_unknown("comparator", name, self.comparators, hint))
        return found

    def get_transform(self, name: str) -> Callable[..., Any]:
        """The transform of that name.

        Raises:
            TransformNotFoundError: There is none.
        """
        found = self._transforms.get(name) or TRANSFORMS.get(name)
        if found is None:
            raise TransformNotFoundError(_unknown("transform", name, self.transforms, None))
        return found

    @property
    def comparators(self) -> list[str]:
        """The names of all comparators."""
        return sorted({*COMPARATORS, *self._comparators})

    @property
    def transforms(self) -> list[str]:
        """The names of all transforms."""
        return sorted({*TRANSFORMS, *self._transforms})

    def extended(self, name: str, fn: Callable[..., Any]) -> Registry:
        """A copy of this registry with one more comparator, which replaces any of that name."""
        extended = copy.copy(self)
        extended._comparators = {**self._comparators, name: fn}  # noqa: SLF001 - a copy of self
        return extended


def is_batch(comparator: Any) -> bool:
    return getattr(comparator, "is_batch", False) is True


def _unknown(kind: str, name: Any, known: list[str], hint: str | None) -> str:
    return (
        f"Unknown {kind} {name!r}; expected one of {', '.join(known)}; "
        f"{hint or 'register any other one first'}"
    )


default_registry = Registry()
"""The registry that `evaluate` uses by default."""
register = default_registry.register
register_transform = default_registry.register_transform
get_comparator = default_registry.get_comparator
get_transform = default_registry.get_transform
