"""Inference of schemas from records, and validation of gold records."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from factcheck.documents import shown
from factcheck.errors import GoldValidationError, InputError, SchemaError
from factcheck.fields.registry import Registry
from factcheck.fields.schemas.parsing import SchemaNode, parse_eval_schema
from factcheck.fields.schemas.structure import ANY, MAX_DEPTH, join
from factcheck.fields.values import as_record, id_of, json_type

_NUMERIC = frozenset({"integer", "number"})
_log = logging.getLogger("factcheck.fields")


def validate_gold(
    gold: Iterable[Any],
    schema: Any,
    id_field: str | None = None,
    warn_missing: bool = True,  # noqa: FBT001, FBT002 - the contract
    strict_types: bool = False,  # noqa: FBT001, FBT002 - the contract
    registry: Registry | None = None,
) -> None:
    """Validate the ids, keys and, with `strict_types`, the types of gold records.

    A key outside the schema is an error, because it would never be scored. A missing key, a
    container of the wrong type, and a value of none of several declared types are logged as
    warnings, once per record and field. Null is always valid.

    Args:
        gold: Gold records.
        schema: A resolved schema with `x-eval-*` keys, or a pydantic model class.
        id_field: Key of the record id; the schema need not have it.
        warn_missing: Whether to warn about missing keys.
        strict_types: Whether every value must have its declared type. Integers and numbers are
            interchangeable; booleans are neither.
        registry: Comparators and transforms that the schema may name.

    Raises:
        GoldValidationError: A record is invalid; the message names record, path and problem.
        SchemaError: The schema is invalid.
    """
    if id_field is not None and not isinstance(id_field, str):
        raise InputError(f"id_field must be the name of a key, not {id_field!r}")
    root = parse_eval_schema(schema, registry)
    for position, raw in enumerate(as_list(gold, "gold")):
        record = as_record(raw)
        record_id: str | int = position
        if id_field:
            try:
                record_id = id_of(record, id_field, f"gold record {position}")
            except InputError as error:
                raise GoldValidationError(str(error), position, join("", id_field)) from error
        exempt = frozenset({id_field} if id_field else ())
        check = _RecordCheck(record_id, strict=strict_types)
        for where, problem in dict.fromkeys(check.warnings(record, root, exempt)):
            if warn_missing or problem != _MISSING:
                _log.warning("gold record %r: %s %s", record_id, where or "the record", problem)


_MISSING = "is missing; write null if it has no value"


class _RecordCheck:
    """Validation of one record; raises errors, and yields warnings as path and problem."""

    def __init__(self, record_id: str | int, *, strict: bool) -> None:
        self._record_id = record_id
        self._strict = strict

    def warnings(
        self, value: Any, node: SchemaNode, exempt: frozenset[str] = frozenset()
    ) -> Iterator[tuple[str, str]]:
        if value is None:
            return
        if node.unroll:
            try:
                node = node.unroll()
            except SchemaError as error:
                yield node.path[:80], f"is not checked: {error}"
                return
        is_container = bool(node.children) and not node.comparator.name
        types = node.allowed_types or ([] if node.json_type == ANY else [node.json_type])
        actual, declared = json_type(value) or type(value).__name__, " or ".join(types)
        if not types or actual in types or (actual in _NUMERIC and not _NUMERIC.isdisjoint(types)):
            if is_container:
                yield from self._parts(value, node, exempt)
        elif self._strict:
            where = node.path or "the record"
            problem = f"{shown(value)} ({actual}), not the schema-declared type {declared}"
            raise self._error(f"{where!r} is {problem}", node.path)
        elif len(types) > 1:
            yield node.path, f"is of type {actual}, not one of the declared types {declared}"
        elif is_container:
            yield node.path, f"should be of type {declared}, but is of type {actual}"

    def _parts(
        self, value: Any, node: SchemaNode, exempt: frozenset[str]
    ) -> Iterator[tuple[str, str]]:
        if isinstance(value, list):
            value = {str(position): element for position, element in enumerate(value)}
        children = {child.name: child for child in node.children}
        rest = children.pop(None, None)
        for name in value if rest is None else ():
            if name not in children and name not in exempt:
                where = join(node.path, str(name))
                close = difflib.get_close_matches(str(name), [str(one) for one in children], n=1)
                hint = f"did you mean {close[0]!r}?" if close else "add it there, or remove it"
                raise self._error(f"{where!r} is not in schema; {hint}", where)
        for child in node.children if rest is None else ():
            if child.name not in value and not child.skip:
                yield child.path, _MISSING
        for name, part in value.items():
            if name not in exempt and (known := children.get(name, rest)) is not None:
                yield from self.warnings(part, known)

    def _error(self, problem: str, path: str) -> GoldValidationError:
        return GoldValidationError(
            f"gold record {self._record_id!r}: {problem}", self._record_id, path
        )


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
    examples = [as_record(value) for value in as_list(values, "values")]
    if not examples:
        raise InputError("cannot infer a schema from an empty list; pass at least one value")
    return _infer(examples, path, 0)


def as_list(values: Any, name: str) -> list[Any]:
    """Return an iterable of values as a list; raise `InputError` for a single value."""
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
    if len({kind.replace("integer", "number") for kind in types}) > 1:
        _log.warning(
            "%s: polymorphic values (%s); using %s, the type of the first",
            path or "the root",
            ", ".join(types),
            types[0],
        )
    schema: dict[str, Any] = {"type": types[0]}
    kind = {"array": list, "object": dict}.get(types[0], ())
    containers = {id(value): value for value in present if isinstance(value, kind)}.values()
    if types[0] == "array":
        elements = [element for array in containers for element in array]
        schema["items"] = _infer(elements, f"{path}[]", depth + 1)
    elif types[0] == "object":
        columns: dict[str, list[Any]] = {}
        for name, value in (member for record in containers for member in record.items()):
            if not isinstance(name, str):
                raise SchemaError(f"the property name {name!r} is not a string", path)
            columns.setdefault(name, []).append(value)
        schema["properties"] = properties = {}
        for name in sorted(columns):  # not a comprehension, which would add a stack frame per level
            properties[name] = _infer(columns[name], join(path, name), depth + 1)
    return schema
