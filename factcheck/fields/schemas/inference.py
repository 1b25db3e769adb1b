"""Evaluation schemas from examples, and the default comparator of each JSON type."""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from factcheck.errors import InputError, SchemaError
from factcheck.fields.schemas.structure import (
    COMPARE,
    MAX_DEPTH,
    SKIP,
    effective_type,
    join,
    parse_xeval_entry,
    sub_schemas,
)
from factcheck.fields.values import as_record

_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
    (type(None), "null"),
)
_EXACT_TYPES = dict(_TYPES)
_BUILT_IN_DEFAULTS: dict[str, Any] = {
    "string": "exact",
    "number": "numeric",
    "integer": "numeric",
    "boolean": "exact",
}
_FALLBACK = "exact"
_defaults = dict(_BUILT_IN_DEFAULTS)
_log = logging.getLogger("factcheck.fields")


def set_type_default(json_type: str, comparator: str | dict[str, Any]) -> None:
    """Set the comparator that `annotate_xeval` assigns to a JSON type in this process.

    Args:
        json_type: Name of the type, such as `"string"`.
        comparator: `"name"` or `{"name": {parameters}}`; it may be registered later.

    Raises:
        ValueError: The type or the name is empty, or the entry does not have exactly one key.
        TypeError: `comparator` is neither a string nor an object.
    """
    if not isinstance(json_type, str) or not json_type:
        raise ValueError(f"the type must be a non-empty string, not {json_type!r}")
    parse_xeval_entry(comparator)
    _defaults[json_type] = comparator


def reset_type_defaults() -> None:
    """Undo every `set_type_default`."""
    _defaults.clear()
    _defaults.update(_BUILT_IN_DEFAULTS)


def annotate(schema: Any) -> Any:
    """Add `x-eval-compare`, in place, to every leaf that has none and is not skipped.

    Raises:
        SchemaError: The schema is nested too deeply.
    """
    if isinstance(schema, dict):
        _annotate(schema, 0)
    return schema


def _annotate(schema: dict[str, Any], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise SchemaError(f"nested more than {MAX_DEPTH} levels deep; flatten it")
    children = sub_schemas(schema)
    for child in children:
        _annotate(child.schema, depth + 1)
    if not children and COMPARE not in schema and schema.get(SKIP) is not True:
        default = _defaults.get(effective_type(schema.get("type")) or "", _FALLBACK)
        schema[COMPARE] = copy.deepcopy(default)


def infer_schema(values: Iterable[Any], path: str = "") -> dict[str, Any]:
    """Infer a schema from examples of one kind of record, or of one field.

    A field gets the type of its first value that is not null. A field that is always null and the
    items of an array that is always empty become strings.

    Args:
        values: Examples; pydantic model instances are read as records.
        path: Path of the values, for warnings.

    Returns:
        A schema without `x-eval-*` keys; `annotate_xeval` adds them.

    Raises:
        InputError: There are no values.
        SchemaError: A value is nested too deeply, or has property names that are not strings.
    """
    examples = [as_record(value) for value in as_list(values, "values")]
    if not examples:
        raise InputError("at least one value is needed to infer a schema; the list is empty")
    return _infer(examples, path, 0)


def json_type(value: Any) -> str | None:
    """The JSON type of a value; `None` if JSON has no such values."""
    name = _EXACT_TYPES.get(type(value))
    return name or next((name for kind, name in _TYPES if isinstance(value, kind)), None)


def as_list(values: Any, name: str) -> list[Any]:
    """Several values as a list.

    Raises:
        InputError: It is a single value.
    """
    single = isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable)
    if single or as_record(values) is not values:
        raise InputError(f"{name} must be a list, not one {type(values).__name__}; write [{name}]")
    return list(values)


def _infer(values: list[Any], path: str, depth: int) -> dict[str, Any]:
    if depth > MAX_DEPTH:
        raise SchemaError(
            f"nested too deeply: more than {MAX_DEPTH} levels, or a value that contains itself",
            path[:80],
        )
    present = [value for value in values if value is not None]
    types = list(dict.fromkeys(json_type(value) or "string" for value in present)) or ["string"]
    if len({"number" if name == "integer" else name for name in types}) > 1:
        _log.warning(
            "%s: polymorphic values of types %s; the schema says %s, the type of the first",
            path or "the root",
            ", ".join(types),
            types[0],
        )
    schema: dict[str, Any] = {"type": types[0]}
    if types[0] == "array":
        elements = [e for array in _distinct(present, list) for e in array]
        schema["items"] = _infer(elements, f"{path}[]", depth + 1)
    elif types[0] == "object":
        columns = _columns(_distinct(present, dict), path)
        schema["properties"] = properties = {}
        for name in sorted(columns):  # a loop: a comprehension would cost a frame a level
            properties[name] = _infer(columns[name], join(path, name), depth + 1)
    return schema


def _distinct(values: list[Any], kind: type) -> list[Any]:
    """The containers among the values, each object once, so that cycles do not multiply."""
    return list({id(value): value for value in values if isinstance(value, kind)}.values())


def _columns(records: list[dict[Any, Any]], path: str) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {}
    for record in records:
        for name, value in record.items():
            if not isinstance(name, str):
                raise SchemaError(f"the property name {name!r} is not a string, as JSON has", path)
            columns.setdefault(name, []).append(value)
    return columns
