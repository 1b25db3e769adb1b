"""Schemas from JSON schemas with references and combinations, pydantic models, and examples.

Only references within the schema are followed: nothing is read from disk or fetched.
"""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from factcheck.documents import shown
from factcheck.errors import InputError, ParameterError, SchemaError
from factcheck.fields import schemas as keys
from factcheck.fields.schemas import combinations
from factcheck.fields.values import as_record, json_type
from factcheck.settings import require_list

if TYPE_CHECKING:
    from pydantic.json_schema import GenerateJsonSchema

_MAX_PARTS = 50_000
"""Maximum number of schemas and values in a resolved schema."""
_DEFINITIONS = ("$defs", "definitions")
_INDEX = re.compile("0|[1-9][0-9]{0,8}")
_log = logging.getLogger("factcheck.fields")


def resolve_schema_references(schema: Any) -> dict[str, Any]:
    """Return a copy of a JSON schema with references and combinations resolved.

    `$ref` is replaced by its target within the schema; keys beside it take precedence. `allOf` is
    merged. Null alternatives are dropped; `anyOf` and `oneOf` of several types become a list of
    types, those of one type a schema with the fields of all. `enum` and `const` without a type get
    the type of their values. Definitions are removed, except recursive ones, whose references are
    kept and followed as deep as the data is.

    Args:
        schema: A JSON schema, which is not changed, or a pydantic model class.

    Raises:
        ParameterError: `schema` is neither.
        SchemaError: A reference is remote or dangling, or the schema is nested too deeply or grows
            too large.
    """
    _log.warning(
        "scoring ignores if/then/else, not, patternProperties, prefixItems, $dynamicRef, and "
        "references to other documents"
    )
    return resolved(schema)


def resolved(schema: Any) -> dict[str, Any]:
    """Resolve a schema as `resolve_schema_references` does, without its warning."""
    if isinstance(schema, type):
        schema = _schema_of_model(schema)
    if not isinstance(schema, dict):
        raise ParameterError(
            f"a schema must be a dict, not {type(schema).__name__}; parse JSON text first"
        )
    resolver = _Resolver(schema)
    whole: dict[str, Any] = resolver.schema(schema, _Place())
    targets = resolver.recursive_targets()
    return {**whole, "$defs": targets} if targets else whole


def as_schema(schema: Any) -> Any:
    """Resolve a pydantic model class; return anything else unchanged."""
    return resolved(schema) if isinstance(schema, type) else schema


def annotate_xeval(schema: Any) -> Any:
    """Add `x-eval-compare` to every leaf that has none and is not skipped.

    A resolved schema is changed in place and returned; a pydantic model class is converted to one
    first. Raises `SchemaError` if the schema is nested too deeply.
    """
    return keys.annotate(as_schema(schema))


def _schema_of_model(model: type) -> Any:
    """Return the JSON schema of a pydantic model class; anything else unchanged.

    It describes serialized instances, as `as_record` returns them, with `x-eval-*` keys from
    `Field(json_schema_extra={...})`. Raises `SchemaError` if the model has no JSON schema.
    """
    from pydantic import BaseModel, PydanticUserError

    if not issubclass(model, BaseModel):
        return model
    try:
        return model.model_json_schema(mode="serialization", schema_generator=_generator())
    except (PydanticUserError, AttributeError, TypeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise SchemaError(f"the model {model.__name__} has no JSON schema: {reason}") from error


@functools.cache
def _generator() -> type[GenerateJsonSchema]:
    from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

    class EvalSchema(GenerateJsonSchema):
        """JSON schema generator with types and alignments for scoring."""

        ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - base's

        def decimal_schema(self, schema: Any) -> JsonSchemaValue:  # noqa: ARG002 - base's
            """Allow strings besides numbers, because they keep every digit."""
            return {"type": ["number", "string"], "format": "decimal"}

        def set_schema(self, schema: Any) -> JsonSchemaValue:
            """Align optimally, because the order of a set depends on the hash seed."""
            return {keys.ALIGN: {"match_by": "hungarian"}, **super().set_schema(schema)}

        def frozenset_schema(self, schema: Any) -> JsonSchemaValue:
            return {keys.ALIGN: {"match_by": "hungarian"}, **super().frozenset_schema(schema)}

        def computed_field_schema(self, schema: Any) -> JsonSchemaValue:
            """Skip, because the fields it is computed from are scored."""
            return {keys.SKIP: True, **super().computed_field_schema(schema)}

    return EvalSchema


class _Place(NamedTuple):
    """A position in the resolved schema."""

    path: str = ""
    depth: int = 0
    """Number of enclosing levels, references and combinations included."""
    refs: Mapping[str, str] = MappingProxyType({"#": ""})
    """References followed so far, with the path of each."""
    whole: bool = False
    """Whether the place is skipped, or scored as part of a larger value."""


class _Resolver:
    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._parts_left = _MAX_PARTS
        self._on_cycle: set[str] = set()
        """References found to lead to themselves; within one, another is not written out."""
        self._recursive: dict[str, str] = {}
        """Recursive references by name in `$defs`."""

    def recursive_targets(self) -> dict[str, Any]:
        """Resolve the definitions that contain themselves."""
        targets: dict[str, Any] = {}
        while missing := [name for name in self._recursive if name not in targets]:
            for name in missing:
                pointer = self._recursive[name]
                _, target = _find(self._root, pointer, "")
                targets[name] = self.schema(target, _Place(refs={"#": "", pointer: ""}))
        return targets

    def schema(self, raw: Any, place: _Place) -> Any:
        """Return a resolved copy of a schema, or anything that is not a dict unchanged."""
        if not isinstance(raw, dict):
            return raw
        path = place.path
        self._parts_left -= 1
        keys.check_depth(place.depth, path)
        if self._parts_left < 0:
            raise SchemaError(
                f"too large: more than {_MAX_PARTS:,} parts with all references replaced by their "
                "targets; use fewer references within definitions",
                path[:80],
            )
        node = dict(raw)
        combinations.drop_null_branches(node, path)
        if keys.COMPARE in node or node.get(keys.SKIP) is True:
            place = place._replace(whole=True)
        target = self._target(node.pop("$ref"), place) if "$ref" in node else {}
        for key, value in [*node.items()]:
            if key in _DEFINITIONS:
                del node[key]
            elif isinstance(value, (dict, list, tuple)):
                node[key] = dict(value) if isinstance(value, dict) else list(value)
        for holder, key, where in combinations.parts(node, path):
            below = place._replace(path=where, depth=place.depth + 1)
            holder[key] = self.schema(holder[key], below)
        combinations.add_missing(node, target, path)
        combinations.merge_branches(node, path)
        combinations.settle_alternatives(node, path)
        return node

    def _target(self, ref: Any, place: _Place) -> Any:
        names, target = _find(self._root, ref, place.path)
        pointer = "#" + "".join(f"/{name.replace('~', '~0').replace('/', '~1')}" for name in names)
        way = [*place.refs]
        on_cycle = [one for one in way if one in self._on_cycle]
        is_below = bool(on_cycle) and place.refs[on_cycle[-1]] != place.path
        if pointer not in place.refs and not (is_below and pointer in self._on_cycle):
            refs = {**place.refs, pointer: place.path}
            return self.schema(target, place._replace(refs=refs, depth=place.depth + 1))
        first = way.index(pointer if pointer in way else on_cycle[0])
        self._on_cycle.update(way[max(first, 1) :])
        if place.whole:
            return {"type": target.get("type", "object")}
        if place.path == place.refs.get(pointer):
            raise SchemaError(f"the reference {ref!r:.80} refers to itself", place.path)
        kind = target.get("type", keys.effective_type(target) or "object")
        if pointer == "#":
            return {"$ref": pointer, "type": kind}
        name = "/".join(names[1:] if names[0] in _DEFINITIONS else names)
        self._recursive[name] = pointer
        return {"$ref": f"#/$defs/{name}", "type": kind}


def _find(root: dict[str, Any], ref: Any, path: str) -> tuple[list[str], dict[str, Any]]:
    """Return the names in a reference, and its target."""
    if not isinstance(ref, str):
        raise SchemaError(f"'$ref' must be a string such as '#/$defs/NAME', not {shown(ref)}", path)
    if ref != "#" and not ref.startswith("#/"):
        raise SchemaError(
            f"cannot follow the reference {ref!r:.80}: only references within the schema, such as "
            "'#/$defs/NAME', are supported; copy its target into '$defs'",
            path,
        )
    found: Any = root
    steps = unquote(ref).split("/")[1:]
    names = [step.replace("~1", "/").replace("~0", "~") for step in steps]
    for name in names:
        if isinstance(found, dict) and name in found:
            found = found[name]
        elif isinstance(found, list) and _INDEX.fullmatch(name) and int(name) < len(found):
            found = found[int(name)]
        else:
            raise SchemaError(
                f"the reference {ref!r:.80} has no target: there is no {name!r:.80}", path
            )
    if not isinstance(found, dict):
        raise SchemaError(
            f"the target of the reference {ref!r:.80} must be a schema, not {shown(found)}", path
        )
    return names, found


def infer_schema(values: Iterable[Any], path: str = "") -> dict[str, Any]:
    """Infer a schema from example records, or from values of one field.

    A field has the type of its first value that is not null. Fields that are always null and items
    of arrays that are always empty are strings.

    Args:
        values: Examples; pydantic model instances are converted to records.
        path: Path of the values, for warnings.

    Returns:
        A schema without `x-eval-*` keys; `annotate_xeval` adds them.

    Raises:
        InputError: There are no values.
        SchemaError: A value is nested too deeply, or has property names that are not strings.
    """
    examples = [as_record(value) for value in require_list("values", values)]
    if not examples:
        raise InputError("cannot infer a schema from an empty list; pass at least one value")
    return _infer(examples, path, 0)


def _infer(values: list[Any], path: str, depth: int) -> dict[str, Any]:
    keys.check_depth(depth, path)
    present = [value for value in values if value is not None]
    types = list(dict.fromkeys(json_type(value) or "string" for value in present)) or ["string"]
    if len({kind.replace("integer", "number") for kind in types}) > 1:
        found = ", ".join(types)
        keys.warn(path, f"polymorphic values ({found}); using {types[0]}, the type of the first")
    schema: dict[str, Any] = {"type": types[0]}
    kind = {"array": list, "object": dict}.get(types[0], ())
    containers = {id(value): value for value in present if isinstance(value, kind)}.values()
    if types[0] == "array":
        elements = [element for array in containers for element in array]
        schema["items"] = _infer(elements, f"{path}[]", depth + 1)
    elif types[0] == "object":
        columns: dict[str, list[Any]] = {}
        for record in containers:
            keys.check_names(record, path)
            for name, value in record.items():
                columns.setdefault(name, []).append(value)
        schema["properties"] = properties = {}
        for name in sorted(columns):  # not a comprehension, which would add a stack frame per level
            properties[name] = _infer(columns[name], keys.join(path, name), depth + 1)
    return schema
