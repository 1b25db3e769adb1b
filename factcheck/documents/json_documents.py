"""Strict JSON and JSON lines; dataclasses as JSON-ready data, and back by the types of fields.

Duplicate keys, NaN, Infinity, numbers out of range and deep nesting are errors, instead of being
accepted or changed silently as by Python's `json`.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from factcheck.documents.files import (
    MAX_DEPTH,
    TOO_DEEP,
    Document,
    decode_text,
    no_json_value,
    place_in,
)
from factcheck.errors import InputError, shorten_middle

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


def json_text(data: Any, *, indent: int | None = None) -> str:
    r"""Serialise JSON data as text that UTF-8 can encode: lone surrogates become `\udcff`.

    Raises:
        ValueError: A number is not finite.
        TypeError: The data is not JSON-ready.
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, indent=indent)
    return text.encode("utf-8", "backslashreplace").decode()


def parse_json(text: str | bytes | bytearray, name: str, first_line: int = 1) -> Document:
    """Parse one JSON value that begins at a line of a file; an `InputError` names the place."""
    if isinstance(text, (bytes, bytearray)):
        text = decode_text(text, name, first_line)
    place = name if "\n" in text else f"{name}, line {first_line}"
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        problem = f"not valid JSON ({problem_of(error, text)})"
        raise InputError(f"{name}, line {line}: {problem}") from error
    except InputError as error:
        raise InputError(f"{place}: {error}") from error
    except RecursionError as error:
        raise InputError(f"{place}: {TOO_DEEP}") from error
    except ValueError as error:
        raise InputError(f"{place}: it contains a number of too many digits") from error
    if text.count("[") + text.count("{") > MAX_DEPTH and is_deeper(value, MAX_DEPTH):
        raise InputError(f"{place}: {TOO_DEEP}")
    return Document(name, value)


def is_deeper(value: Any, depth: int) -> bool:
    """Whether a JSON value is nested more than `depth` levels deep."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(depth):
        members: list[Any] = []
        for parent in level:
            members += parent.values() if isinstance(parent, dict) else parent
        level = [member for member in members if isinstance(member, (dict, list))]
    return bool(level)


def problem_of(error: json.JSONDecodeError, text: str) -> str:
    """Describe an error of Python's decoder in plain words."""
    if not text.strip():
        return "it is empty"
    if error.msg == "Extra data":
        return "extra data after the end; if these are JSON lines, name the file .jsonl"
    message = error.msg[:1].lower() + error.msg[1:].rstrip(": ")
    found = text[error.pos : error.pos + 20]
    if message.startswith("unterminated") or not found.strip():
        return f"{message}, but the text ends; it may be cut off"
    return f"{message}, found {found!r}"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        key, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        keys = shorten_middle(", ".join(found), 80)
        raise InputError(f"duplicate key {key!r:.80} in an object with {keys}; keep one")
    return found


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise InputError(no_json_value(text))
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_finite, parse_constant=_finite)


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
    """Undo `to_plain`; unknown keys are ignored, and scalars are never converted.

    `kind` is any type that pydantic knows, and parts of the data may be instances already. Raises
    `InputError`, which begins with `what`, if a value is missing or of another type.
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
    path: list[int | str] = []
    value = data
    for step in first["loc"]:  # which has names of types, too
        if isinstance(step, int):
            path.append(step)
            value = value[step] if isinstance(value, Sequence) and step < len(value) else None
        elif isinstance(value, Mapping) and (step in value or step == first["loc"][-1]):
            path.append(step)
            value = value.get(step)
    where = place_in(what, tuple(path))
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
        """Undo `to_dict`; keys with a default may be omitted. Raises `InputError`."""
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
