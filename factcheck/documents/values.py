"""Convert dataclasses to JSON-ready data and back, by the types of their fields."""

from __future__ import annotations

import math
import re
import types
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from factcheck.errors import InputError

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")
_SHOWN = 60
_PLAIN = frozenset({str, bool, int, float})
_WORD_START = re.compile(r"(?<=[a-z])(?=[A-Z])")


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
    """Inverse of `to_plain`; unknown keys are ignored.

    Args:
        kind: Dataclass or named tuple of `str`, `bool`, `int`, finite `float`, `Literal`, lists,
            tuples, mappings and further such classes. Of several classes, the first one whose
            required fields are all there is read.
        data: JSON-ready data; parts may be instances already.
        what: Name of the value in messages.

    Raises:
        InputError: A field is missing or of another type; begins with `what`.
    """
    value: T = _read(kind, data, what)
    return value


class PlainData:
    """Mixin that gives a dataclass `to_dict` and `from_dict`."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        data: dict[str, Any] = to_plain(self)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Inverse of `to_dict`; keys with a default may be omitted.

        Raises:
            InputError: A value is missing or of the wrong type.
        """
        return from_plain(cls, data, _WORD_START.sub(" ", cls.__name__).lower())


def _wrong(where: str, expected: str, value: Any) -> InputError:
    return InputError(f"{where}: expected {expected}, got {shown(value)}")


def _is_number(data: Any) -> bool:
    return isinstance(data, (int, float)) and not isinstance(data, bool)


_SCALARS: dict[Any, tuple[str, Callable[[Any], bool]]] = {
    Any: ("anything", lambda _: True),
    str: ("a string", lambda data: isinstance(data, str)),
    bool: ("true or false", lambda data: isinstance(data, bool)),
    int: ("a whole number", lambda data: isinstance(data, int) and _is_number(data)),
    float: ("a number", _is_number),
    str | int: (
        "a string or an integer",
        lambda data: isinstance(data, (str, int)) and not isinstance(data, bool),
    ),
}


def _read(kind: Any, data: Any, where: str) -> Any:
    if kind in _SCALARS:
        return _read_scalar(kind, data, where)
    origin, args = _parts(kind)
    if origin in {Union, types.UnionType}:
        kinds = [arg for arg in args if arg is not type(None)]
        fitting = next((one for one in kinds if _fits(one, data)), kinds[0])
        is_null = data is None and len(kinds) < len(args)
        return None if is_null else _read(fitting, data, where)
    if origin is Literal:
        if not isinstance(data, str) or data not in args:
            raise _wrong(where, f"one of {', '.join(args)}", data)
        return data
    if origin in {list, tuple, Sequence}:
        if not isinstance(data, (list, tuple)):
            raise _wrong(where, "a list", data)
        items = (_read(args[0], item, f"{where}, item {n}") for n, item in enumerate(data, 1))
        return list(items) if origin is list else tuple(items)
    if origin in {dict, Mapping}:
        inner_kind, data = args[1] if args else Any, _object(data, where)
        return {
            key: _read(inner_kind, value, f"{where}: {key!r:.80}") for key, value in data.items()
        }
    return _read_class(origin, args, data, where)


def _fits(kind: Any, data: Any) -> bool:
    if not hasattr(kind, "__dataclass_fields__") or not isinstance(data, Mapping):
        return False
    return all(name in data or optional for name, (_, optional) in _members(kind).items())


@cache
def _parts(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    return get_origin(kind) or kind, get_args(kind)


def _read_scalar(kind: Any, data: Any, where: str) -> Any:
    expected, accepts = _SCALARS[kind]
    if not accepts(data):
        raise _wrong(where, expected, data)
    if kind is not float:
        return data
    with suppress(OverflowError):
        if math.isfinite(number := float(data)):
            return number
    raise _wrong(where, "a finite number", data)


def _object(data: Any, where: str) -> Mapping[Any, Any]:
    if not isinstance(data, Mapping):
        raise _wrong(where, "an object", data)
    return data


def _read_class(kind: Any, arguments: tuple[Any, ...], data: Any, where: str) -> Any:
    """Read a dataclass or named tuple, with `arguments` for its type parameters."""
    if isinstance(data, kind):
        return data
    members = _members(kind)
    if not is_dataclass(kind) and isinstance(data, (list, tuple)):
        if len(data) != len(members):
            raise _wrong(where, f"a list of {len(members)} values", data)
        data = dict(zip(members, data, strict=True))
    data = _object(data, where)
    bound = dict(zip(getattr(kind, "__parameters__", ()), arguments, strict=False))
    values = {}
    for name, (hint, is_optional) in members.items():
        if name in data:
            values[name] = _read(bound.get(hint, hint), data[name], f"{where}: {name!r}")
        elif not is_optional:
            raise InputError(f"{where}: {name!r} is missing")
    return kind(**values)


@cache
def _members(kind: Any) -> dict[str, tuple[Any, bool]]:
    """Type of each field of a dataclass or named tuple, and whether it is optional."""
    hints = get_type_hints(kind)
    if is_dataclass(kind):
        return {
            one.name: (hints[one.name], (one.default, one.default_factory) != (MISSING, MISSING))
            for one in fields(kind)
            if one.init
        }
    return {name: (hints[name], name in kind._field_defaults) for name in kind._fields}


class Reader:
    """Reads typed values from an object; missing or mistyped ones raise `InputError`."""

    def __init__(self, data: Any, what: str) -> None:
        self._data = _object(data, what)
        self._what = what

    def get(self, key: str, kind: Any, default: Any = MISSING) -> Any:
        """Read the value of a key as a type supported by `from_plain`; `default` if missing."""
        if key in self._data:
            return _read(kind, self._data[key], f"{self._what}: {key!r}")
        if default is MISSING:
            raise InputError(f"{self._what}: {key!r} is missing")
        return default
