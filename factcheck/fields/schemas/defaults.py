"""Which comparator a field gets by its type, where the schema names none."""

from __future__ import annotations

import copy
from typing import Any

from factcheck.errors import SchemaError
from factcheck.fields.schemas.entries import parse_xeval_entry
from factcheck.fields.schemas.structure import COMPARE, DEEPEST, SKIP, effective_type, sub_schemas

_FALLBACK = "exact"
_BUILT_IN: dict[str, Any] = {
    "string": "exact",
    "number": "numeric",
    "integer": "numeric",
    "boolean": "exact",
}
_defaults = dict(_BUILT_IN)


def set_type_default(json_type: str, comparator: str | dict[str, Any]) -> None:
    """Choose the comparator that `annotate_xeval` writes for a JSON type, in this process.

    Args:
        json_type: Name of the type, such as `"string"`.
        comparator: `"name"` or `{"name": {parameters}}`; need not be registered yet.

    Raises:
        ValueError: The type or the name is empty, or the entry has not exactly one name.
        TypeError: `comparator` is neither a string nor an object.
    """
    if not isinstance(json_type, str) or not json_type:
        raise ValueError(f"the type must be a non-empty string, not {json_type!r}")
    parse_xeval_entry(comparator)
    _defaults[json_type] = comparator


def reset_type_defaults() -> None:
    """Undo every `set_type_default`."""
    _defaults.clear()
    _defaults.update(_BUILT_IN)


def annotate_xeval(schema: Any) -> Any:
    """Write `x-eval-compare` into every leaf that has none and is not skipped.

    Args:
        schema: A resolved schema, changed in place; or a pydantic model class, whose schema is
            made first.

    Returns:
        The schema.

    Raises:
        SchemaError: It is nested too deeply.
    """
    from factcheck.fields.schemas.models import as_schema

    schema = as_schema(schema)
    if isinstance(schema, dict):
        _annotate(schema, 0)
    return schema


def _annotate(schema: dict[str, Any], depth: int) -> None:
    if depth > DEEPEST:
        raise SchemaError(f"nested more than {DEEPEST} levels deep; flatten it")
    children = sub_schemas(schema)
    if children:
        for child in children:
            _annotate(child.schema, depth + 1)
    elif COMPARE not in schema and schema.get(SKIP) is not True:
        kind = effective_type(schema.get("type"))
        default = _defaults.get(kind if isinstance(kind, str) else "", _FALLBACK)
        schema[COMPARE] = copy.deepcopy(default)
