"""How comparators and transforms are named in a schema: `"name"`, or `{"name": {parameters}}`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class ComparatorSpec:
    """The comparator of a field, and its parameters."""

    name: str = ""
    """Empty where there is none."""
    params: dict[str, Any] = field(default_factory=dict)


@dataclass
class TransformSpec:
    """One step that prepares a value for comparison, and its parameters."""

    name: str
    params: dict[str, Any] = field(default_factory=dict)


def parse_xeval_entry(entry: Any) -> tuple[str, dict[str, Any]]:
    """Name and parameters of an entry.

    Args:
        entry: `"name"` or `{"name": {parameters}}`.

    Raises:
        ValueError: The name is empty, there is not exactly one name, or its parameters are no
            object.
        TypeError: Neither a string nor an object, or the name in it is no string.
    """
    if isinstance(entry, str):
        if not entry:
            raise ValueError("the name must be a non-empty string, such as 'exact'")
        return entry, {}
    if not isinstance(entry, Mapping):
        raise TypeError(
            f"an entry must be a string or single-key dict, not {entry!r}; "
            "write 'name' or {'name': {parameters}}"
        )
    if len(entry) != 1:
        raise ValueError(f"an entry must have exactly one key, its name; found {list(entry)!r}")
    ((name, params),) = entry.items()
    if not isinstance(name, str) or not name:
        raise TypeError(f"the name must be a non-empty string, not {name!r}")
    if not isinstance(params, Mapping):
        raise ValueError(f"params for {name!r} must be a dict, not {params!r}")  # noqa: TRY004 - contract
    return name, dict(params)
