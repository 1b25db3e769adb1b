"""Schemas from JSON schemas with references and combinations, pydantic models, and examples.

Only references within the schema are followed: nothing is read from disk or fetched. Functions that
change a schema never change a dict below it, so that sub-schemas may be shared.
"""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from factcheck.documents import shown
from factcheck.errors import InputError, ParameterError, SchemaError
from factcheck.fields import schemas as keys
from factcheck.fields.values import as_record, json_type
from factcheck.settings import require_list

if TYPE_CHECKING:
    from pydantic.json_schema import GenerateJsonSchema

_MAX_PARTS = 50_000
"""Maximum number of schemas and values in a resolved schema."""
_DEFINITIONS = ("$defs", "definitions")
_INDEX = re.compile("0|[1-9][0-9]{0,8}")
_ALTERNATIVES = ("anyOf", "oneOf")
_BRANCHES = (*_ALTERNATIVES, "allOf")
_SCORED = ("items", "additionalProperties")
_MAPS = ("properties", "$defs", "definitions")
"""Keywords that map names to schemas."""
_STRUCTURE = ("properties", "items")
_DROPPED_SILENTLY = ("type", "title", "description")
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
        _drop_null_branches(node, path)
        if keys.COMPARE in node or node.get(keys.SKIP) is True:
            place = place._replace(whole=True)
        target = self._target(node.pop("$ref"), place) if "$ref" in node else {}
        for key, value in [*node.items()]:
            if key in _DEFINITIONS:
                del node[key]
            elif isinstance(value, (dict, list, tuple)):
                node[key] = dict(value) if isinstance(value, dict) else list(value)
        for holder, key, where in _parts_of(node, path):
            below = place._replace(path=where, depth=place.depth + 1)
            holder[key] = self.schema(holder[key], below)
        _add_missing(node, target, path)
        _merge_branches(node, path)
        _settle_alternatives(node, path)
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


def merge_all_of(schema: dict[str, Any]) -> dict[str, Any]:
    """Merge the branches of every `allOf` into the enclosing schema, in place.

    The enclosing schema takes precedence, then earlier branches. Properties and items described
    more than once are merged in the same way. Raises `SchemaError` for an `allOf` that is not a
    list, and for a schema that is nested too deeply.
    """
    return _everywhere(schema, _merge_branches)


def remove_null_anyof(schema: dict[str, Any]) -> dict[str, Any]:
    """Drop the null branches of every `anyOf` and `oneOf`, in place.

    A single remaining branch is merged into the enclosing schema and takes precedence over it.
    Raises `SchemaError` as `merge_all_of` does.
    """
    return _everywhere(schema, _drop_null_branches)


def collapse_multi_type_anyof(schema: dict[str, Any]) -> dict[str, Any]:
    """Replace every `anyOf` and `oneOf` of several types by a list of types, in place.

    Alternatives of a single type, or with a branch without `type`, are kept. Raises `SchemaError`
    as `merge_all_of` does.
    """
    return _everywhere(schema, _collapse_types)


def _merge_branches(schema: dict[str, Any], path: str) -> None:
    branches = _branches(schema, "allOf", path)
    schema.pop("allOf", None)
    for branch in branches:
        if isinstance(branch, dict):
            _add_missing(schema, branch, path)


def _drop_null_branches(schema: dict[str, Any], path: str) -> None:
    """Drop the null branches of a schema and merge a single remaining branch into it."""
    for keyword in _ALTERNATIVES:
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
            _add_missing(schema, enclosing, path)
        elif remaining:
            schema[keyword] = remaining
        elif branches:
            del schema[keyword]
            schema.setdefault("type", "null")


def _collapse_types(schema: dict[str, Any], path: str) -> None:
    for keyword in _ALTERNATIVES:
        branches = _branches(schema, keyword, path)
        types = _types_of_all(branches)
        if len(types) > 1:
            del schema[keyword]
            schema["type"] = types
            _warn_dropped({k for b in branches for k in b} - {*_DROPPED_SILENTLY}, path)


def _settle_alternatives(schema: dict[str, Any], path: str) -> None:
    """Replace the alternatives of a schema by a single description, where possible.

    Alternatives of several types become a list of types, those of one type a schema with the fields
    of all; they are dropped if one of them allows any value.
    """
    _drop_null_branches(schema, path)
    _infer_type_of_values(schema)
    _collapse_types(schema, path)
    for keyword in _ALTERNATIVES:
        branches = _branches(schema, keyword, path)
        if len(_types_of_all(branches)) == 1:
            del schema[keyword]
            _add_missing(schema, _union(branches, path), path)
        elif any(map(_is_anything, branches)):
            del schema[keyword]


def _is_anything(schema: Any) -> bool:
    return schema is True or (isinstance(schema, dict) and keys.effective_type(schema) == keys.ANY)


def _infer_type_of_values(schema: dict[str, Any]) -> None:
    """Set the missing type of a schema with `enum` or `const` from its values."""
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if "type" in schema or not isinstance(values, list):
        return
    names = [json_type(value) for value in values]
    types = list(keys.declared_types(names))
    if not types and "null" in names:
        types = ["null"]
    if types:
        schema["type"] = types[0] if len(types) == 1 else types


def _add_missing(
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
            schema[key] = properties = dict(mine)
            for name, sub in theirs.items():
                properties[name] = _merged(mine.get(name, sub), sub, keys.join(path, name))


def _merged(mine: Any, theirs: Any, path: str) -> Any:
    """Merge two schemas of one property or of items; the first takes precedence."""
    if mine is theirs or not (isinstance(mine, dict) and isinstance(theirs, dict)):
        return mine
    merged = dict(mine)
    _add_missing(merged, theirs, path, only_structure="type" in mine)
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
            name: _any_of(schemas, keys.join(path, name)) for name, schemas in properties.items()
        }
    lost = {k for b in branches for k in b if k not in union}
    _warn_dropped({k for k in lost if k in _STRUCTURE or k.startswith(keys.PREFIX)}, path)
    return union


def _any_of(schemas: list[Any], path: str) -> Any:
    distinct = [s for place, s in enumerate(schemas) if s not in schemas[:place]]
    if len(distinct) == 1:
        return distinct[0]
    union = {"anyOf": distinct}
    _settle_alternatives(union, path)
    return union


def _types_of_all(branches: list[Any]) -> list[str]:
    """Collect the types of all branches in order; empty if a branch has none."""
    types: dict[str, None] = {}
    for branch in branches:
        declared = keys.declared_types(branch.get("type")) if isinstance(branch, dict) else ()
        if not declared:
            return []
        types.update(dict.fromkeys(declared))
    return list(keys.declared_types([*types])) or list(types)


def _branches(schema: dict[str, Any], keyword: str, path: str) -> list[Any]:
    branches = schema.get(keyword, [])
    if not isinstance(branches, list):
        raise SchemaError(f"{keyword!r} must be a list of schemas, not {shown(branches)}", path)
    return branches


def _warn_dropped(names: set[str], path: str) -> None:
    if names:
        dropped = ", ".join(sorted(names))
        keys.warn(path, f"{dropped} of its alternatives ignored; they are scored as one field")


def _everywhere(
    schema: dict[str, Any], change: Callable[[dict[str, Any], str], None]
) -> dict[str, Any]:
    """Change a schema and all its sub-schemas in place, the innermost first."""
    if not isinstance(schema, dict):
        raise ParameterError(f"a schema must be a dict, not {type(schema).__name__}")

    def visit(node: Any, path: str, depth: int) -> None:
        keys.check_depth(depth, path)
        if isinstance(node, dict):
            for holder, key, where in _parts_of(node, path):
                visit(holder[key], where, depth + 1)
            change(node, path)

    visit(schema, "", 0)
    return schema


def _parts_of(schema: dict[str, Any], path: str) -> Iterator[tuple[Any, Any, str]]:
    """Yield container, key and path of each sub-schema that affects scoring."""
    keys.check_names(schema, path)
    for key, value in [*schema.items()]:
        if key in _MAPS and isinstance(value, dict):
            keys.check_names(value, path)
            yield from ((value, name, keys.join(path, name)) for name in [*value])
        elif key in (*_SCORED, *_BRANCHES):
            below = f"{path}[]" if key in _SCORED else path
            if isinstance(value, list):
                yield from ((value, n, below) for n in range(len(value)))
            else:
                yield schema, key, below


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
