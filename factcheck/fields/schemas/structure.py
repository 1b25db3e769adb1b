"""How a resolved JSON schema is read: types, children, paths, and the keys this package adds.

Only `type`, `properties` and `items` matter, and the `x-eval-*` keys.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

COMPARE = "x-eval-compare"
TRANSFORM = "x-eval-transform"
SKIP = "x-eval-skip"
ALIGN = "x-eval-align"
THRESHOLD = "x-eval-threshold"
WEIGHT = "x-eval-weight"
PREFIX = "x-eval-"
XEVAL_KEYS = (COMPARE, TRANSFORM, SKIP, ALIGN, THRESHOLD, WEIGHT)

DEEPEST = 200
"""Levels a schema may have; recursion through records stays far from Python's limit."""
MULTI = "multi"
"""The label of a field that may have one of several types."""
_SPECIAL = re.compile(r"[\\.\[\]]")
_ESCAPED = re.compile(r"\\(.)")
_POSITION = re.compile(r"(?<!\\)\[[^\]]*\]")


class Child(NamedTuple):
    """A sub-schema of a container."""

    name: str | None
    """Name of the property; `None` for the elements of an array."""
    schema: dict[str, Any]


def declared_types(kind: Any) -> tuple[str, ...]:
    """The types a schema allows, other than null; empty where it names none."""
    if isinstance(kind, str):
        return (kind,)
    if isinstance(kind, list):
        return tuple(dict.fromkeys(k for k in kind if isinstance(k, str) and k != "null"))
    return ()


def effective_type(kind: Any) -> str | None:
    """The one type of a field, `MULTI` where there are several, `None` where there is none."""
    types = declared_types(kind)
    if len(types) > 1:
        return MULTI
    return types[0] if types else None


def sub_schemas(schema: Mapping[str, Any]) -> tuple[Child, ...]:
    """The properties of an object, or the elements of an array; none for a leaf."""
    if effective_type(schema.get("type")) == MULTI:
        return ()
    properties = schema.get("properties")
    children: tuple[Child, ...] = ()
    if isinstance(properties, dict):
        children = tuple(Child(n, s) for n, s in properties.items() if isinstance(s, dict))
    items = schema.get("items")
    if not children and isinstance(items, dict):
        children = (Child(None, items),)
    return children


def join(parent: str, name: str) -> str:
    r"""The path of a property. Dots and brackets in its name are escaped: `a.b` is `a\.b`."""
    escaped = _SPECIAL.sub(r"\\\g<0>", name) if _SPECIAL.search(name) else name
    return f"{parent}.{escaped}" if parent else escaped


def schema_path(path: str) -> str:
    """A path without positions: `items[]` for `items[0]`."""
    return _POSITION.sub("[]", path) if "[" in path else path


def parent_and_name(path: str) -> tuple[str, str]:
    """The path of the parent, which may be empty, and the name of the property as it is."""
    if "\\" not in path:
        parent, _, name = path.rpartition(".")
        return parent, name
    cut = 0
    position = 0
    while position < len(path):
        if path[position] == "\\":
            position += 1
        elif path[position] == ".":
            cut = position
        position += 1
    parent, name = (path[:cut], path[cut + 1 :]) if cut else ("", path)
    return parent, _ESCAPED.sub(r"\1", name)
