"""Parts of an evaluation schema: keys, types, sub-schemas, entries and paths.

Scoring uses these keys of a resolved JSON schema: `type`, `properties`, `additionalProperties`,
`items`, `x-eval-*`, `format` for `date-time` and `decimal`, and `$ref` beside a type, a recursive
reference into `$defs`.
"""

from __future__ import annotations

import copy
import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from factcheck.errors import SchemaError

COMPARE = "x-eval-compare"
TRANSFORM = "x-eval-transform"
SKIP = "x-eval-skip"
ALIGN = "x-eval-align"
THRESHOLD = "x-eval-threshold"
WEIGHT = "x-eval-weight"
REASON = "x-eval-reason"
"""Reason for the settings of a field, for the reader of the schema."""
PREFIX = "x-eval-"
XEVAL_KEYS = (COMPARE, TRANSFORM, SKIP, ALIGN, THRESHOLD, WEIGHT, REASON)
MAX_DEPTH = 200
"""Maximum nesting depth of a schema, well below Python's recursion limit."""
MULTI = "multi"
"""Effective type of a field that allows several types."""
ANY = "any"
"""Effective type of a field without any description."""
_log = logging.getLogger("factcheck.fields")
_UNRESOLVED = ("$ref", "anyOf", "oneOf", "allOf")
_SPECIAL = re.compile(r"[\\.\[\]]")
_ESCAPED = re.compile(r"\\(.)")
_PARENT_AND_NAME = re.compile(r"(?:((?:\\.|[^\\])*)\.)?((?:\\.|[^.\\])*)", re.DOTALL)
_POSITION = re.compile(r"(?<!\\)\[(?:[^\]\\]|\\.)*\]")


Parts = dict[str | None, dict[str, Any]]
"""Sub-schemas of a container by name of the property; `None` for all other keys, or for items."""


@dataclass
class ComparatorSpec:
    """The comparator of a field and its parameters."""

    name: str = ""
    """Empty if the field has none."""
    params: dict[str, Any] = field(default_factory=dict)


@dataclass
class TransformSpec:
    """A transform of a field and its parameters."""

    name: str
    params: dict[str, Any] = field(default_factory=dict)


def parse_xeval_entry(entry: Any) -> tuple[str, dict[str, Any]]:
    """Return name and parameters of an entry: `"name"` or `{"name": {parameters}}`.

    Raises:
        ValueError: The name is empty, the entry does not have exactly one key, or the parameters
            are not an object.
        TypeError: The entry is neither a string nor an object, or its key is not a string.
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


def declared_types(kind: Any) -> tuple[str, ...]:
    """Return the types a schema allows, without null, and without integer beside number."""
    if isinstance(kind, str):
        return (kind,)
    if isinstance(kind, list):
        names = dict.fromkeys(k for k in kind if isinstance(k, str) and k != "null")
        if "number" in names:
            names.pop("integer", None)
        return tuple(names)
    return ()


def effective_type(schema: Mapping[str, Any]) -> str | None:
    """Return the type of a field, `MULTI` for several types, `None` if it is invalid.

    Without `type`, it is the container that other keywords describe, or else `ANY`.
    """
    if "type" in schema:
        types = declared_types(schema["type"])
        if not types:
            return None
        return MULTI if len(types) > 1 else types[0]
    if any(key in schema for key in _UNRESOLVED):
        return None
    return container(schema)[0] or ANY


def sub_schemas(schema: Mapping[str, Any]) -> Parts:
    """Return the parts of an object or array that are scored separately; empty for a leaf."""
    if effective_type(schema) == MULTI:
        return {}
    return container(schema)[1]


def container(schema: Mapping[str, Any]) -> tuple[str, Parts]:
    """Return the container type that the keywords of a schema imply, and its parts."""
    properties, others = schema.get("properties"), schema.get("additionalProperties")
    parts: Parts = {}
    if isinstance(properties, dict):
        for name, part in properties.items():
            if part is True:
                parts[name] = {COMPARE: _FALLBACK}
            elif isinstance(part, dict):
                parts[name] = part
    if others and isinstance(others, dict):
        parts[None] = others
    if not parts and isinstance(items := schema.get("items"), dict):
        return "array", {None: items}
    return "object" if parts or isinstance(properties, dict) else "", parts


def check_depth(depth: int, path: str = "") -> None:
    """Raise `SchemaError` for a schema or value that is nested too deeply, or contains itself."""
    if depth > MAX_DEPTH:
        raise SchemaError(f"nested too deeply: more than {MAX_DEPTH} levels", path[:80])


def check_names(mapping: Mapping[Any, Any], path: str) -> None:
    """Raise `SchemaError` for keys that are not strings."""
    for key in mapping:
        if not isinstance(key, str):
            raise SchemaError(f"the key {key!r} is not a string; quote it, as JSON does", path)


def warn(path: str, problem: str) -> None:
    """Log a warning about a field."""
    _log.warning("%s: %s", path or "the root", problem)


def members(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the members of an object by name, and the elements of a list by `None`."""
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        for element in value:
            yield None, element


@lru_cache(maxsize=100_000)  # paths repeat from record to record
def join(parent: str, name: str) -> str:
    r"""Return the path of a property; dots and brackets in names are escaped: `a\.b`."""
    escaped = _SPECIAL.sub(r"\\\g<0>", name) if _SPECIAL.search(name) else name
    return f"{parent}.{escaped}" if parent else escaped


@lru_cache(maxsize=100_000)
def join_position(parent: str, position: int) -> str:
    """Return the path of an element: `items[0]`."""
    return f"{parent}[{position}]"


def join_key(parent: str, key: str) -> str:
    """Return the path of a value in a map: `prices[EUR]`."""
    return f"{parent}[{join('', key)}]"


@lru_cache(maxsize=100_000)
def schema_path(path: str) -> str:
    """Remove positions from a path: `items[]` for `items[0]`."""
    return _POSITION.sub("[]", path) if "[" in path else path


def parent_and_name(path: str) -> tuple[str, str]:
    """Split a path into the parent's path, which may be empty, and the unescaped name."""
    found = _PARENT_AND_NAME.fullmatch(path)
    parent, name = found.groups() if found else ("", path)
    return parent or "", _ESCAPED.sub(r"\1", name)


_FALLBACK = "exact"
_BY_TYPE = {"number": "numeric", "integer": "numeric"}
_BY_FORMAT: dict[Any, Any] = {
    ("string", "date-time"): {"date": {"with_time": True}},
    (MULTI, "decimal"): "numeric",
}
"""Default comparators by effective type and format."""
_set_by_user: dict[str, Any] = {}


def set_type_default(json_type: str, comparator: str | dict[str, Any]) -> None:
    """Set the comparator that `annotate_xeval` assigns to a JSON type in this process.

    It is `"name"` or `{"name": {parameters}}`, and may be registered later.

    Raises:
        ValueError: The type or the name is empty, or the entry does not have exactly one key.
        TypeError: `comparator` is neither a string nor an object.
    """
    if not isinstance(json_type, str) or not json_type:
        raise ValueError(f"the type must be a non-empty string, not {json_type!r}")
    parse_xeval_entry(comparator)
    _set_by_user[json_type] = comparator


def reset_type_defaults() -> None:
    """Undo every `set_type_default`."""
    _set_by_user.clear()


def annotate(schema: Any, depth: int = 0) -> Any:
    """Add `x-eval-compare`, in place, to every leaf that has none and is not skipped."""
    if not isinstance(schema, dict):
        return schema
    check_depth(depth)
    definitions = schema.get("$defs") if depth == 0 else None
    children = sub_schemas(schema)
    for child in children.values():
        annotate(child, depth + 1)
    for target in definitions.values() if isinstance(definitions, dict) else ():
        annotate(target, depth + 1)
    is_leaf = not children and not is_recursive(schema)
    if is_leaf and COMPARE not in schema and schema.get(SKIP) is not True:
        kind = effective_type(schema) or ""
        default = _set_by_user.get(kind, _BY_TYPE.get(kind, _FALLBACK))
        if default == _FALLBACK:
            default = _BY_FORMAT.get((kind, schema.get("format")), default)
        schema[COMPARE] = copy.deepcopy(default)
    return schema


def is_recursive(schema: Mapping[str, Any]) -> bool:
    """Whether a resolved schema is a reference to a schema that contains it."""
    return "$ref" in schema and "type" in schema
