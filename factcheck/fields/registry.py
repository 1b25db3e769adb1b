"""Comparators and transforms by name: one set for the process, or one of its own per evaluation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from factcheck.fields.comparators.builtin import COMPARATORS
from factcheck.fields.comparators.transforms import TRANSFORMS

KEPT_COMPARATORS = frozenset({"exact", "numeric", "oneof"})
"""These mean the same in every schema; the others of this package give way to a registration."""
KEPT_TRANSFORMS = frozenset(
    {
        "lowercase",
        "normalize_whitespace",
        "round_digits",
        "sort_tokens",
        "strip",
        "type_convert",
    }
)
"""Likewise."""


_HOW = {
    "semantic": "in Python it is to be registered, with the judge who compares: "
    "registry.register('semantic', SemanticComparator('local')); the command line always knows it, "
    "and takes the judge from --semantic",
    "keywords": "in Python it is to be registered: "
    "registry.register('keywords', factcheck.keywords.KeywordComparator())",
    "reference": "in Python it is to be registered: "
    "registry.register('reference', factcheck.references.ReferenceComparator())",
}
"""How the comparators are had that other parts of this package bring."""


class ComparatorNotFoundError(KeyError):
    """No comparator has that name."""

    def __str__(self) -> str:
        return str(self.args[0])


class TransformNotFoundError(KeyError):
    """No transform has that name."""

    def __str__(self) -> str:
        return str(self.args[0])


class Registry:
    """The comparators and transforms of this package, and those that are registered with it.

    Give one to `evaluate(..., registry=...)` to keep registrations to that evaluation.
    """

    def __init__(self) -> None:
        self._comparators: dict[str, Callable[..., Any]] = {}
        self._transforms: dict[str, Callable[..., Any]] = {}

    def register(self, name: str, fn: Callable[..., Any], *, overwrite: bool = False) -> None:
        """Make a comparator known.

        Args:
            name: What the schema calls it.
            fn: `fn(gold, extracted, params) -> ComparatorResult`; or, with the attribute
                `is_batch = True`, `fn(items) -> list[ComparatorResult | None]`.
            overwrite: Whether it may replace one that was registered. Of those of this package,
                `exact`, `numeric` and `oneof` stay; any other gives way, as `date` and `fuzzy` do.

        Raises:
            TypeError: `fn` is not callable.
            ValueError: The name is taken.
        """
        if not callable(fn):
            raise TypeError(f"the comparator {name!r} must be callable, not {fn!r}")
        if name in KEPT_COMPARATORS:
            raise ValueError(f"Cannot overwrite built-in comparator {name!r}; choose another name")
        if name in self._comparators and not overwrite:
            raise ValueError(f"comparator {name!r} is already registered; use overwrite=True")
        self._comparators[name] = fn

    def register_transform(self, name: str, fn: Callable[..., Any]) -> None:
        """Make a transform known: `fn(value, params) -> value`; it never sees `None`.

        Raises:
            TypeError: `fn` is not callable.
            ValueError: The name is taken.
        """
        if not callable(fn):
            raise TypeError(f"the transform {name!r} must be callable, not {fn!r}")
        if name in KEPT_TRANSFORMS:
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
            raise ComparatorNotFoundError(_unknown("comparator", name, self.comparators))
        return found

    def get_transform(self, name: str) -> Callable[..., Any]:
        """The transform of that name.

        Raises:
            TransformNotFoundError: There is none.
        """
        found = self._transforms.get(name) or TRANSFORMS.get(name)
        if found is None:
            raise TransformNotFoundError(_unknown("transform", name, self.transforms))
        return found

    @property
    def comparators(self) -> list[str]:
        """All names of comparators."""
        return sorted({*COMPARATORS, *self._comparators})

    @property
    def transforms(self) -> list[str]:
        """All names of transforms."""
        return sorted({*TRANSFORMS, *self._transforms})


def is_batch(comparator: Any) -> bool:
    """Whether a comparator takes many fields in one call."""
    return getattr(comparator, "is_batch", False) is True


def _unknown(what: str, name: Any, known: list[str]) -> str:
    told = f"Unknown {what} {name!r}; known are {', '.join(known)}; "
    if what == "comparator" and name in _HOW:
        return told + _HOW[name]
    return f"{told}others are to be registered"


default_registry = Registry()
"""What `evaluate` uses unless it is given another one."""
register = default_registry.register
register_transform = default_registry.register_transform
get_comparator = default_registry.get_comparator
get_transform = default_registry.get_transform
