"""Convert dataclasses to JSON-ready data and back, by the types of their fields."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from factcheck.errors import InputError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails
    from typing_extensions import Self

T = TypeVar("T")
_SHOWN = 60
_PLAIN = frozenset({str, bool, int, float})
_SCALARS = frozenset({"str", "bool", "int", "float"})
_WORD_START = re.compile(r"(?<=[a-z])(?=[A-Z])")
_EXPECTED = {
    "string_type": "a string",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "dataclass_type": "an object",
    "dict_type": "an object",
    "mapping_type": "an object",
    "arguments_type": "an object",
    "list_type": "a list",
    "tuple_type": "a list",
}
"""What the validator expects where it reports an error of this type."""


def shown(value: Any) -> str:
    """Format a value for a message, in 60 characters: `750`, `'text'`, `null`, `a list`."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return repr(value) if len(value) <= _SHOWN else f"{value[:_SHOWN]!r}…"
    if isinstance(value, (int, float)):
        is_short = isinstance(value, float) or abs(value) < 10**_SHOWN
        return repr(value) if is_short else "a very large number"
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if isinstance(value, (list, tuple)) else type(value).__name__


def to_plain(value: Any) -> Any:
    """Convert a value to JSON-ready data: dataclasses become objects, tuples become lists.

    A dataclass may name computed attributes to add in `DERIVED`; any class may have an `as_plain`
    instead, whose result is converted.
    """
    if value is None or type(value) in _PLAIN:
        return value
    if hasattr(value, "as_plain"):
        return to_plain(value.as_plain())
    if is_dataclass(value) and not isinstance(value, type):
        names = (*(field.name for field in fields(value)), *getattr(value, "DERIVED", ()))
        return {name: to_plain(getattr(value, name)) for name in names}
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: to_plain(item) for key, item in value.items()}
    return value


def from_plain(kind: type[T], data: Any, what: str) -> T:
    """Undo `to_plain`; unknown keys are ignored.

    Args:
        kind: Any type that pydantic knows, such as a dataclass; scalars are never converted.
        data: JSON-ready data; parts may be instances already.
        what: Name of the value in messages.

    Raises:
        InputError: A value is missing or of another type; begins with `what`.
    """
    from pydantic_core import ValidationError

    try:
        value: T = _validator(kind).validate_python(data)  # type: ignore[arg-type]
    except ValidationError as error:
        raise InputError(_problem(error.errors(), data, what)) from error
    return value


@cache
def _validator(kind: Any) -> Any:
    from pydantic import TypeAdapter
    from pydantic_core import SchemaValidator

    return SchemaValidator(_strict(TypeAdapter(kind).core_schema))


def _strict(schema: Any) -> Any:
    """Refuse scalars of another type, and numbers that are not finite, anywhere in a schema."""
    if type(schema) in {list, tuple}:
        return type(schema)(map(_strict, schema))
    if type(schema) is not dict:
        return schema
    changed = {key: _strict(value) for key, value in schema.items()}
    if schema.get("type") in _SCALARS:
        changed["strict"] = True
    if schema.get("type") == "float":
        changed["allow_inf_nan"] = False
    return changed


def _problem(errors: Sequence[ErrorDetails], data: Any, what: str) -> str:
    """Describe the first error of a validation in one line: where, what was expected, and got."""
    first = errors[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, InputError):
        return str(cause)
    where, value = what, data
    for step in first["loc"]:
        if isinstance(step, int):
            where += f", item {step + 1}"
            value = value[step] if isinstance(value, Sequence) and step < len(value) else None
        elif isinstance(value, Mapping) and (step in value or step == first["loc"][-1]):
            where += f": {step!r:.80}"
            value = value.get(step)
    if first["type"] in {"missing", "missing_argument"}:
        return f"{where} is missing"
    kinds = [one["type"] for one in errors if one["input"] is first["input"]]
    expected = dict.fromkeys(_EXPECTED[kind] for kind in kinds if kind in _EXPECTED)
    if first["type"] == "literal_error":
        expected = {f"one of {first['ctx']['expected']}".replace("'", ""): None}
    if not expected:
        return f"{where}: {first['msg']}"
    return f"{where}: expected {' or '.join(expected)}, got {shown(first['input'])}"


class PlainData:
    """Mixin that gives a dataclass `to_dict` and `from_dict`."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        data: dict[str, Any] = to_plain(self)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Undo `to_dict`; keys with a default may be omitted.

        Raises:
            InputError: A value is missing or of the wrong type.
        """
        return from_plain(cls, data, _WORD_START.sub(" ", cls.__name__).lower())


class Reader:
    """Reads typed values from an object; missing or mistyped ones raise `InputError`."""

    def __init__(self, data: Any, what: str) -> None:
        if not isinstance(data, Mapping):
            raise InputError(f"{what}: expected an object, got {shown(data)}")
        self._data = data
        self._what = what

    def get(self, key: str, kind: Any, default: Any = MISSING) -> Any:
        """Read the value of a key as a type supported by `from_plain`; `default` if missing."""
        if key in self._data:
            return from_plain(kind, self._data[key], f"{self._what}: {key!r}")
        if default is MISSING:
            raise InputError(f"{self._what}: {key!r} is missing")
        return default
