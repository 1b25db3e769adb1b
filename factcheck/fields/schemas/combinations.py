"""`allOf`, `anyOf` and `oneOf` become plain types, properties and items, where they can.

The three functions that users call change a schema and everything below it in place. The others
change one schema only; nothing changes dicts below, so that what two schemas share stays as it is.
"""

from __future__ import annotations

import logging
import reprlib
from collections.abc import Callable, Iterator
from typing import Any

from factcheck.errors import ParameterError, SchemaError
from factcheck.fields.schemas.inference import json_type
from factcheck.fields.schemas.structure import PREFIX, declared_types, join

ALTERNATIVES = ("anyOf", "oneOf")
LISTS = (*ALTERNATIVES, "allOf", "prefixItems")
"""Keywords that hold a list of schemas."""
MAPS = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
"""Keywords that hold schemas by name."""
SINGLES = (
    "items",
    "additionalProperties",
    "additionalItems",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
)
"""Keywords that hold one schema."""
_STRUCTURE = ("properties", "items")
_UNMISSED = ("type", "title", "description")
_log = logging.getLogger("factcheck.fields")


def merge_all_of(schema: dict[str, Any]) -> dict[str, Any]:
    """Merge the branches of every `allOf` into the schema around it, in place.

    What the schema says itself wins, then the first branch. Properties and items of the same name
    are merged likewise.

    Raises:
        SchemaError: An `allOf` is no list.
    """
    return _everywhere(schema, merge_branches)


def remove_null_anyof(schema: dict[str, Any]) -> dict[str, Any]:
    """Drop the null branches of every `anyOf` and `oneOf`, in place.

    A branch that is left alone is merged into the schema around it, and wins over it.

    Raises:
        SchemaError: An `anyOf` or `oneOf` is no list.
    """
    return _everywhere(schema, drop_null_branches)


def collapse_multi_type_anyof(schema: dict[str, Any]) -> dict[str, Any]:
    """Turn every `anyOf` and `oneOf` of different types into a list of types, in place.

    One with a branch that names no type, or with branches of one type only, is kept.

    Raises:
        SchemaError: An `anyOf` or `oneOf` is no list.
    """
    return _everywhere(schema, collapse_types, inside_out=True)


def merge_branches(schema: dict[str, Any], path: str) -> None:
    """Merge the `allOf` of this schema into it."""
    seen: dict[int, dict[str, Any]] = {}
    todo = _branches(schema, "allOf", path)[::-1]
    schema.pop("allOf", None)
    while todo:
        branch = todo.pop()
        if not isinstance(branch, dict) or id(branch) in seen:
            continue
        seen[id(branch)] = branch
        add_missing(schema, {k: v for k, v in branch.items() if k != "allOf"}, path)
        todo += _branches(branch, "allOf", path)[::-1]


def drop_null_branches(schema: dict[str, Any], path: str) -> None:
    """Drop the null branches of this schema; one that is left alone replaces them."""
    changed = True
    while changed:
        changed = any(_drop_null(schema, keyword, path) for keyword in ALTERNATIVES)


def _drop_null(schema: dict[str, Any], keyword: str, path: str) -> bool:
    """Whether a branch was left alone, so that it may bring in further ones."""
    branches = _branches(schema, keyword, path)
    kept = [branch for branch in branches if not _is_null(branch)]
    if branches and not kept:
        del schema[keyword]
        schema.setdefault("type", "null")
    elif len(kept) == 1 and isinstance(kept[0], dict):
        around = {key: value for key, value in schema.items() if key != keyword}
        schema.clear()
        schema.update(kept[0])
        add_missing(schema, around, path)
        return True
    elif len(kept) < len(branches):
        schema[keyword] = kept
    return False


def collapse_types(schema: dict[str, Any], path: str) -> None:
    """Replace the alternatives of this schema by their types, if there are several."""
    for keyword in ALTERNATIVES:
        branches = _branches(schema, keyword, path)
        types = _types_of_all(branches)
        if len(types) > 1:
            del schema[keyword]
            schema["type"] = types
            _tell_dropped({k for b in branches for k in b} - {*_UNMISSED}, path)


def unite_alternatives(schema: dict[str, Any], path: str) -> None:
    """Replace alternatives of one type by one schema that has the fields of all of them."""
    for keyword in ALTERNATIVES:
        branches = _branches(schema, keyword, path)
        if len(_types_of_all(branches)) == 1:
            del schema[keyword]
            add_missing(schema, _united(branches, path), path)


def infer_type_of_values(schema: dict[str, Any]) -> None:
    """Name the type of a schema that says which values there may be, and nothing else."""
    if "type" in schema:
        return
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if not isinstance(values, list):
        return
    found = dict.fromkeys(json_type(value) for value in values)
    if "number" in found:
        found.pop("integer", None)
    types = [name for name in found if name not in (None, "null")] or [n for n in found if n]
    if types:
        schema["type"] = types[0] if len(types) == 1 else types


def add_missing(schema: dict[str, Any], other: dict[str, Any], path: str) -> None:
    """Add what another schema of the same value says; what this one says already wins.

    Of a property that both describe, the fields are those of both; all else is taken from the
    other one only where this one names no type.
    """
    todo = [(schema, other, path, True)]
    while todo:
        mine, theirs, where, complete = todo.pop()
        clash = _clash(mine, theirs)
        if clash:
            _log.warning(
                "%s: the types %s do not go together; the first is kept", where or "the root", clash
            )
        for key, value in theirs.items():
            if key not in mine:
                if complete and not (clash and key in _STRUCTURE):
                    mine[key] = value
            elif clash or not (isinstance(mine[key], dict) and isinstance(value, dict)):
                continue
            elif key == "properties":
                mine[key] = dict(mine[key])
                for name, one, two in _shared(mine[key], value):
                    todo.append((one, two, join(where, name), "type" not in one))
            elif key == "items":
                mine[key] = dict(mine[key])
                todo.append((mine[key], value, f"{where}[]", "type" not in mine[key]))


def _shared(
    mine: dict[str, Any], theirs: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Add the properties that are missing; give those that both have, ready to be changed."""
    for name, sub in theirs.items():
        if name not in mine:
            mine[name] = sub
        elif isinstance(mine[name], dict) and isinstance(sub, dict):
            mine[name] = dict(mine[name])
            yield name, mine[name], sub


def _clash(mine: dict[str, Any], theirs: dict[str, Any]) -> str:
    one, other = (declared_types(schema.get("type")) for schema in (mine, theirs))
    numeric = {"integer", "number"}
    if not one or not other or {*one} & {*other} or ({*one} & numeric and {*other} & numeric):
        return ""
    return f"{', '.join(one)} and {', '.join(other)}"


def _united(branches: list[dict[str, Any]], path: str) -> dict[str, Any]:
    """One schema for values that fit any of the branches, which are all of one type."""
    first = branches[0]
    union = {k: v for k, v in first.items() if all(k in b and b[k] == v for b in branches)}
    union["type"] = _types_of_all(branches)[0]
    if union["type"] == "object" and all(_has(branch, "properties") for branch in branches):
        names = dict.fromkeys(name for branch in branches for name in branch["properties"])
        union["properties"] = properties = {}
        for name in names:
            found = [b["properties"][name] for b in branches if name in b["properties"]]
            properties[name] = _one_of(found, join(path, name))
    elif union["type"] == "array" and all(_has(branch, "items") for branch in branches):
        union["items"] = _one_of([branch["items"] for branch in branches], f"{path}[]")
    lost = {k for b in branches for k in b if k not in union}
    _tell_dropped({k for k in lost if k in _STRUCTURE or k.startswith(PREFIX)}, path)
    return union


def _one_of(schemas: list[Any], path: str) -> Any:
    distinct = [s for place, s in enumerate(schemas) if s not in schemas[:place]]
    if len(distinct) == 1:
        return distinct[0]
    union = {"anyOf": distinct}
    drop_null_branches(union, path)
    collapse_types(union, path)
    unite_alternatives(union, path)
    return union


def _has(schema: dict[str, Any], keyword: str) -> bool:
    return isinstance(schema.get(keyword), dict) and bool(schema[keyword])


def _types_of_all(branches: list[Any]) -> list[str]:
    """All types that the branches name, in order; empty if one of them names none."""
    types: dict[str, None] = {}
    for branch in branches:
        named = declared_types(branch.get("type")) if isinstance(branch, dict) else ()
        if not named:
            return []
        types.update(dict.fromkeys(named))
    return [name for name in types if name != "null"] or list(types)


def _is_null(branch: Any) -> bool:
    return isinstance(branch, dict) and "type" in branch and branch["type"] in ("null", None)


def _branches(schema: dict[str, Any], keyword: str, path: str) -> list[Any]:
    branches = schema.get(keyword, [])
    if not isinstance(branches, list):
        raise SchemaError(
            f"{keyword!r} must be a list of schemas, not {reprlib.repr(branches)}", path
        )
    return branches


def _tell_dropped(keys: set[str], path: str) -> None:
    if keys:
        _log.warning(
            "%s: %s of its alternatives are dropped; they are scored as one field",
            path or "the root",
            ", ".join(sorted(keys)),
        )


def _everywhere(
    schema: dict[str, Any],
    change: Callable[[dict[str, Any], str], None],
    *,
    inside_out: bool = False,
) -> dict[str, Any]:
    if not isinstance(schema, dict):
        raise ParameterError(f"a schema must be a dict, not {type(schema).__name__}")
    found: dict[int, tuple[dict[str, Any], str]] = {}
    todo = [(schema, "")]
    while todo:
        node, path = todo.pop()
        if id(node) not in found:
            found[id(node)] = node, path
            if not inside_out:
                change(node, path)
            todo += _below(node, path)
    if inside_out:
        for node, path in reversed(found.values()):
            change(node, path)
    return schema


def _below(schema: dict[str, Any], path: str) -> Iterator[tuple[dict[str, Any], str]]:
    for key, value in schema.items():
        if key in MAPS and isinstance(value, dict):
            inside = [(sub, join(path, str(name))) for name, sub in value.items()]
        elif key in LISTS and isinstance(value, list):
            inside = [(sub, path) for sub in value]
        elif key in SINGLES:
            inside = [(value, f"{path}[]" if key == "items" else path)]
        else:
            inside = []
        yield from ((sub, where) for sub, where in inside if isinstance(sub, dict))
