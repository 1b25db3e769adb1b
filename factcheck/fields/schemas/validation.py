"""Gold records are held against their schema before anything is scored with them."""

from __future__ import annotations

import difflib
import logging
import reprlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from factcheck.errors import GoldValidationError, InputError
from factcheck.fields.registry import Registry
from factcheck.fields.schemas.inference import json_type, listed
from factcheck.fields.schemas.models import as_record
from factcheck.fields.schemas.parsing import SchemaNode, parse_eval_schema
from factcheck.fields.schemas.structure import join

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
    """Check gold records: their ids, their keys and, if asked to, their types. Null fits anything.

    A key that the schema does not know is an error, because it would never be scored. A missing
    key, a container of the wrong type, and a value that has none of several declared types are
    logged as warnings, once for each record and field.

    Args:
        gold: The records.
        schema: A resolved schema with `x-eval-*` keys, or a pydantic model class.
        id_field: Key that holds the id of a record; it may be missing from the schema.
        warn_missing: Whether keys that a record lacks are worth a warning.
        strict_types: Whether every value must have its declared type. Integers and numbers stand
            for each other; booleans are neither.
        registry: Where names of comparators and transforms are looked up.

    Raises:
        GoldValidationError: A record does not fit; says which, where, and why.
        SchemaError: The schema cannot be used.
    """
    if id_field is not None and not isinstance(id_field, str):
        raise InputError(f"id_field must be the name of a key, not {id_field!r}")
    root = _field(parse_eval_schema(schema, registry))
    for position, given in enumerate(listed(gold, "gold")):
        record = as_record(given)
        record_id = _id_of(record, id_field, position) if id_field else position
        check = _RecordCheck(record_id, warn_missing=warn_missing, strict=strict_types)
        check.value(record, root, frozenset({id_field} if id_field else ()))


class _Field(NamedTuple):
    """What is known about one field of the schema."""

    path: str
    types: tuple[str, ...]
    skip: bool
    properties: Mapping[str, _Field] | None
    """`None` unless its properties are scored one by one."""
    items: _Field | None
    """`None` unless its elements are scored one by one."""


def _field(node: SchemaNode) -> _Field:
    structural = not node.comparator.name
    properties = {}
    items = None
    for child in node.children if structural else ():
        if child.name is None:
            items = _field(child)
        else:
            properties[child.name] = _field(child)
    types = tuple(node.allowed_types or (node.json_type,))
    return _Field(node.path, types, node.skip, properties or None, items)


def _id_of(record: Any, id_field: str, position: int) -> str | int:
    path = join("", id_field)
    if not isinstance(record, dict) or id_field not in record:
        raise GoldValidationError(
            f"gold record {position} has no id field {id_field!r}; add it, or drop id_field",
            position,
            path,
        )
    value = record[id_field]
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise GoldValidationError(
            f"gold record {position}: the id {id_field!r} must be a string or integer, "
            f"not {reprlib.repr(value)}",
            position,
            path,
        )
    return value


class _RecordCheck:
    """The check of one record."""

    def __init__(self, record_id: str | int, *, warn_missing: bool, strict: bool) -> None:
        self._record_id = record_id
        self._warn_missing = warn_missing
        self._strict = strict
        self._told: set[tuple[str, str]] = set()

    def value(self, value: Any, field: _Field, exempt: frozenset[str] = frozenset()) -> None:
        """Check a value and everything below it."""
        if value is None:
            return
        if not _fits(value, field.types):
            self._misfit(value, field)
        elif field.properties is not None:
            self._keys(value, field.properties, field.path, exempt)
            for name, below in field.properties.items():
                if name in value:
                    self.value(value[name], below)
        elif field.items is not None:
            for element in value:
                self.value(element, field.items)

    def _keys(
        self,
        record: dict[Any, Any],
        properties: Mapping[str, _Field],
        path: str,
        exempt: frozenset[str],
    ) -> None:
        for name in record:
            if name not in properties and name not in exempt:
                raise self._unknown_key(name, properties, path)
        if self._warn_missing:
            for name, below in properties.items():
                if name not in record and not below.skip:
                    self._warn(below.path, "is missing; write null if it has no value")

    def _unknown_key(
        self, name: Any, properties: Mapping[str, _Field], path: str
    ) -> GoldValidationError:
        where = join(path, str(name))
        close = difflib.get_close_matches(str(name), properties, n=1)
        hint = f"did you mean {close[0]!r}?" if close else "add it there, or drop it from gold"
        return GoldValidationError(
            f"gold record {self._record_id!r}: {where!r} is not in schema; {hint}",
            self._record_id,
            where,
        )

    def _misfit(self, value: Any, field: _Field) -> None:
        found = json_type(value) or type(value).__name__
        declared = " or ".join(field.types)
        if self._strict:
            raise GoldValidationError(
                f"gold record {self._record_id!r}: {field.path or 'the record'!r} is "
                f"{reprlib.repr(value)} ({found}), not the schema-declared type {declared}",
                self._record_id,
                field.path,
            )
        if len(field.types) > 1:
            self._warn(field.path, f"is of type {found}, not one of the declared types {declared}")
        elif field.properties is not None or field.items is not None:
            self._warn(field.path, f"should be of type {declared}, but is of type {found}")

    def _warn(self, path: str, what: str) -> None:
        if (path, what) not in self._told:
            self._told.add((path, what))
            _log.warning("gold record %r: %s %s", self._record_id, path or "the record", what)


def _fits(value: Any, types: tuple[str, ...]) -> bool:
    found = json_type(value)
    return found in types or (found in _NUMERIC and not _NUMERIC.isdisjoint(types))
