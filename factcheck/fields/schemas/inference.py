"""A schema is read off example values: types, properties and items, nothing else."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from factcheck.errors import InputError, SchemaError
from factcheck.fields.schemas.models import as_record
from factcheck.fields.schemas.structure import DEEPEST, join

_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
    (type(None), "null"),
)
_EXACT = dict(_TYPES)
_log = logging.getLogger("factcheck.fields")


def infer_schema(values: Iterable[Any], path: str = "") -> dict[str, Any]:
    """The schema that examples of one field, or of one kind of record, have in common.

    A field has the type of its first value that is not null; one that is always null, or an array
    that is always empty, is taken for strings.

    Args:
        values: Examples; pydantic model instances are read as records.
        path: Where the values stand, for the warnings.

    Returns:
        A schema without `x-eval-*` keys: `annotate_xeval` adds them.

    Raises:
        InputError: There is no value.
        SchemaError: A value is nested too deeply, or has property names that are no strings.
    """
    examples = [as_record(value) for value in listed(values, "values")]
    if not examples:
        raise InputError("at least one value is needed to infer a schema; the list is empty")
    return _inferred(examples, path, 0)


def json_type(value: Any) -> str | None:
    """The JSON type of a value; `None` if JSON has no such values."""
    name = _EXACT.get(type(value))
    return name or next((name for kind, name in _TYPES if isinstance(value, kind)), None)


def listed(values: Any, what: str) -> list[Any]:
    """Values one by one.

    Raises:
        InputError: It is one value, not many.
    """
    single = isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable)
    if single or as_record(values) is not values:
        raise InputError(f"{what} must be a list, not one {type(values).__name__}; write [{what}]")
    return list(values)


def _inferred(values: list[Any], path: str, depth: int) -> dict[str, Any]:
    if depth > DEEPEST:
        raise SchemaError(
            f"nested too deeply: more than {DEEPEST} levels, or a value that contains itself",
            path[:80],
        )
    present = [value for value in values if value is not None]
    types = list(dict.fromkeys(json_type(value) or "string" for value in present)) or ["string"]
    if len({"number" if name == "integer" else name for name in types}) > 1:
        _log.warning(
            "%s: polymorphic values, of types %s; the schema says %s, as the first of them",
            path or "the root",
            ", ".join(types),
            types[0],
        )
    schema: dict[str, Any] = {"type": types[0]}
    if types[0] == "array":
        elements = [e for array in _distinct(present, list) for e in array]
        schema["items"] = _inferred(elements, f"{path}[]", depth + 1)
    elif types[0] == "object":
        columns = _columns(_distinct(present, dict), path)
        schema["properties"] = properties = {}
        for name in sorted(columns):
            properties[name] = _inferred(columns[name], join(path, name), depth + 1)
    return schema


def _distinct(values: list[Any], kind: type) -> list[Any]:
    """The containers among the values, each object once, so that cycles do not multiply."""
    return list({id(value): value for value in values if isinstance(value, kind)}.values())


def _columns(records: list[dict[Any, Any]], path: str) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {}
    for record in records:
        for name, value in record.items():
            if not isinstance(name, str):
                raise SchemaError(
                    f"the property name {name!r} is no string; the names in JSON are", path
                )
            columns.setdefault(name, []).append(value)
    return columns
