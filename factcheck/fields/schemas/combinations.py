"""Simplification of `allOf`, `anyOf` and `oneOf` to types, properties and items.

The three public functions change a schema and its sub-schemas in place. The helpers change a single
schema and never a dict below it, so that sub-schemas may be shared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from factcheck.documents import shown
from factcheck.errors import ParameterError, SchemaError
from factcheck.fields.schemas import (
    ANY,
    PREFIX,
    check_depth,
    check_names,
    declared_types,
    effective_type,
    join,
    warn,
)
from factcheck.fields.values import json_type

ALTERNATIVES = ("anyOf", "oneOf")
_BRANCHES = (*ALTERNATIVES, "allOf")
_SCORED = ("items", "additionalProperties")
_MAPS = ("properties", "$defs", "definitions")
"""Keywords that map names to schemas."""
_STRUCTURE = ("properties", "items")
_DROPPED_SILENTLY = ("type", "title", "description")


def merge_all_of(schema: dict[str, Any]) -> dict[str, Any]:
    """Merge the branches of every `allOf` into the enclosing schema, in place.

    The enclosing schema takes precedence, then earlier branches. Properties and items described
    more than once are merged in the same way. Raises `SchemaError` for an `allOf` that is not a
    list, and for a schema that is nested too deeply.
    """
    return _everywhere(schema, merge_branches)


def remove_null_anyof(schema: dict[str, Any]) -> dict[str, Any]:
    """Drop the null branches of every `anyOf` and `oneOf`, in place.

    A single remaining branch is merged into the enclosing schema and takes precedence over it.
    Raises `SchemaError` as `merge_all_of` does.
    """
    return _everywhere(schema, drop_null_branches)


def collapse_multi_type_anyof(schema: dict[str, Any]) -> dict[str, Any]:
    """Replace every `anyOf` and `oneOf` of several types by a list of types, in place.

    Alternatives of a single type, or with a branch without `type`, are kept. Raises `SchemaError`
    as `merge_all_of` does.
    """
    return _everywhere(schema, collapse_types)


def merge_branches(schema: dict[str, Any], path: str) -> None:
    branches = _branches(schema, "allOf", path)
    schema.pop("allOf", None)
    for branch in branches:
        if isinstance(branch, dict):
            add_missing(schema, branch, path)


def drop_null_branches(schema: dict[str, Any], path: str) -> None:
    """Drop the null branches of a schema and merge a single remaining branch into it."""
    for keyword in ALTERNATIVES:
        branches = _branches(schema, keyword, path)
        remaining = [
            one
            for one in branches
            if not (isinstance(one, dict) and "type" in one and one["type"] in ("null", None))
        ]
        if len(remaining) == 1 and isinstance(remaining[0], dict):
            enclosing = {key: value for key, value in schema.items() if key != keyword}
            schema.clear()
            schema.update(remaining[0])
            add_missing(schema, enclosing, path)
        elif remaining:
            schema[keyword] = remaining
        elif branches:
            del schema[keyword]
            schema.setdefault("type", "null")


def collapse_types(schema: dict[str, Any], path: str) -> None:
    for keyword in ALTERNATIVES:
        branches = _branches(schema, keyword, path)
        types = _types_of_all(branches)
        if len(types) > 1:
            del schema[keyword]
            schema["type"] = types
            _warn_dropped({k for b in branches for k in b} - {*_DROPPED_SILENTLY}, path)


def settle_alternatives(schema: dict[str, Any], path: str) -> None:
    """Replace the alternatives of a schema by a single description, where possible.

    Alternatives of several types become a list of types, those of one type a schema with the fields
    of all; they are dropped if one of them allows any value.
    """
    drop_null_branches(schema, path)
    infer_type_of_values(schema)
    collapse_types(schema, path)
    for keyword in ALTERNATIVES:
        branches = _branches(schema, keyword, path)
        if len(_types_of_all(branches)) == 1:
            del schema[keyword]
            add_missing(schema, _union(branches, path), path)
        elif any(b is True or (isinstance(b, dict) and effective_type(b) == ANY) for b in branches):
            del schema[keyword]


def infer_type_of_values(schema: dict[str, Any]) -> None:
    """Set the missing type of a schema with `enum` or `const` from its values."""
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if "type" in schema or not isinstance(values, list):
        return
    names = [json_type(value) for value in values]
    types = list(declared_types(names))
    if not types and "null" in names:
        types = ["null"]
    if types:
        schema["type"] = types[0] if len(types) == 1 else types


def add_missing(
    schema: dict[str, Any], other: dict[str, Any], path: str, *, only_structure: bool = False
) -> None:
    """Add missing keys from another schema of the same value.

    A property described by both gets the fields of both; other keys of it are added only if this
    schema gives it no type.
    """
    for key, theirs in other.items():
        mine = schema.get(key)
        if key not in schema:
            if not only_structure:
                schema[key] = theirs
        elif not (isinstance(mine, dict) and isinstance(theirs, dict)):
            continue
        elif key == "items":
            schema[key] = _merged(mine, theirs, f"{path}[]")
        elif key == "properties":
            added = {n: _merged(mine.get(n, sub), sub, join(path, n)) for n, sub in theirs.items()}
            schema[key] = {**mine, **added}


def _merged(mine: Any, theirs: Any, path: str) -> Any:
    """Merge two schemas of one property or of items; the first takes precedence."""
    if mine is theirs or not (isinstance(mine, dict) and isinstance(theirs, dict)):
        return mine
    merged = dict(mine)
    add_missing(merged, theirs, path, only_structure="type" in mine)
    return merged


def _union(branches: list[dict[str, Any]], path: str) -> dict[str, Any]:
    """Combine branches of the same type into one schema for values that fit any of them."""
    union = dict(branches[0])
    for branch in branches:
        union = {key: value for key, value in union.items() if branch.get(key, ...) == value}
    union["type"] = _types_of_all(branches)[0]
    keyword = {"object": "properties", "array": "items"}.get(union["type"], "")
    parts: list[Any] = [branch.get(keyword) for branch in branches]
    if not all(part and isinstance(part, dict) for part in parts):
        pass  # a leaf, or a branch that allows any properties or items
    elif keyword == "items":
        union["items"] = _any_of(parts, f"{path}[]")
    else:
        properties: dict[str, list[Any]] = {}
        for name, schema in (member for part in parts for member in part.items()):
            properties.setdefault(name, []).append(schema)
        union["properties"] = {
            name: _any_of(schemas, join(path, name)) for name, schemas in properties.items()
        }
    lost = {k for b in branches for k in b if k not in union}
    _warn_dropped({k for k in lost if k in _STRUCTURE or k.startswith(PREFIX)}, path)
    return union


def _any_of(schemas: list[Any], path: str) -> Any:
    distinct = [s for place, s in enumerate(schemas) if s not in schemas[:place]]
    if len(distinct) == 1:
        return distinct[0]
    union = {"anyOf": distinct}
    settle_alternatives(union, path)
    return union


def _types_of_all(branches: list[Any]) -> list[str]:
    """Collect the types of all branches in order; empty if a branch has none."""
    types: dict[str, None] = {}
    for branch in branches:
        declared = declared_types(branch.get("type")) if isinstance(branch, dict) else ()
        if not declared:
            return []
        types.update(dict.fromkeys(declared))
    return list(declared_types([*types])) or list(types)


def _branches(schema: dict[str, Any], keyword: str, path: str) -> list[Any]:
    branches = schema.get(keyword, [])
    if not isinstance(branches, list):
        raise SchemaError(f"{keyword!r} must be a list of schemas, not {shown(branches)}", path)
    return branches


def _warn_dropped(keys: set[str], path: str) -> None:
    if keys:
        names = ", ".join(sorted(keys))
        warn(path, f"{names} of its alternatives ignored; they are scored as one field")


def _everywhere(
    schema: dict[str, Any], change: Callable[[dict[str, Any], str], None]
) -> dict[str, Any]:
    """Change a schema and all its sub-schemas in place, the innermost first."""
    if not isinstance(schema, dict):
        raise ParameterError(f"a schema must be a dict, not {type(schema).__name__}")

    def visit(node: Any, path: str, depth: int) -> None:
        check_depth(depth, path)
        if isinstance(node, dict):
            for holder, key, where in parts(node, path):
                visit(holder[key], where, depth + 1)
            change(node, path)

    visit(schema, "", 0)
    return schema


def parts(schema: dict[str, Any], path: str) -> Iterator[tuple[Any, Any, str]]:
    """Yield container, key and path of each sub-schema that affects scoring."""
    check_names(schema, path)
    for key, value in [*schema.items()]:
        if key in _MAPS and isinstance(value, dict):
            check_names(value, path)
            yield from ((value, name, join(path, name)) for name in [*value])
        elif key in (*_SCORED, *_BRANCHES):
            below = f"{path}[]" if key in _SCORED else path
            if isinstance(value, list):
                yield from ((value, n, below) for n in range(len(value)))
            else:
                yield schema, key, below
