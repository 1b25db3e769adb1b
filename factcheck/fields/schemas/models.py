"""Pydantic models are schemas and their instances records; dicts never load pydantic."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

from factcheck.errors import InputError, SchemaError
from factcheck.fields.schemas.structure import ALIGN, COMPARE, SKIP

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.json_schema import GenerateJsonSchema

_ANY_TYPE = ("string", "number", "integer", "boolean", "object", "array")


def as_schema(schema: Any) -> Any:
    """The schema of a pydantic model class; everything else unchanged.

    It is the schema of what `as_record` makes of an instance: names are those of serialization.
    `x-eval-*` keys come from `Field(json_schema_extra={...})`. Where a field has none, sets are
    aligned by best match, decimals are compared as numbers, and computed fields are skipped.

    Raises:
        SchemaError: The model has no JSON schema, or it refers to itself.
    """
    base = _base_model()
    if base is None or not isinstance(schema, type(base)):
        return schema
    from factcheck.fields.schemas.references import resolved

    return resolved(_json_schema(schema))


def as_record(value: Any) -> Any:
    """A pydantic model instance as the dict that JSON would hold; everything else unchanged.

    Values are taken as they are, validated or not.

    Raises:
        InputError: The instance holds something that cannot be written as JSON.
    """
    if type(value) is dict:
        return value
    base = _base_model()
    if base is None or not isinstance(value, base):
        return value
    try:
        return value.model_dump(mode="json", by_alias=True, warnings=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"a record of the model {type(value).__name__} cannot be written as JSON: {error}"
        ) from error


def _base_model() -> type[BaseModel] | None:
    """Pydantic's base class; `None` while nobody has loaded pydantic, so that no model exists."""
    module = sys.modules.get("pydantic.main")
    return getattr(module, "BaseModel", None)


def _json_schema(model: type[BaseModel]) -> dict[str, Any]:
    from pydantic.errors import PydanticUserError

    try:
        return model.model_json_schema(mode="serialization", schema_generator=_generator())
    except (PydanticUserError, AttributeError, TypeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise SchemaError(f"the model {model.__name__} has no JSON schema: {reason}") from error


@functools.cache
def _generator() -> type[GenerateJsonSchema]:
    from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

    class EvalSchema(GenerateJsonSchema):
        """JSON schemas in which every field can be scored."""

        ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - base's

        def any_schema(self, schema: Any) -> JsonSchemaValue:
            return {**super().any_schema(schema), "type": list(_ANY_TYPE)}

        def decimal_schema(self, schema: Any) -> JsonSchemaValue:  # noqa: ARG002 - base's
            """JSON holds a decimal as a number or, so that no digit is lost, as a string."""
            return {"type": ["number", "string"], COMPARE: "numeric"}

        def set_schema(self, schema: Any) -> JsonSchemaValue:
            """The order of a set is that of its hashes: another one in each process."""
            return {ALIGN: {"match_by": "hungarian"}, **super().set_schema(schema)}

        def frozenset_schema(self, schema: Any) -> JsonSchemaValue:
            return {ALIGN: {"match_by": "hungarian"}, **super().frozenset_schema(schema)}

        def computed_field_schema(self, schema: Any) -> JsonSchemaValue:
            """What it is computed from is scored already."""
            return {SKIP: True, **super().computed_field_schema(schema)}

    return EvalSchema
