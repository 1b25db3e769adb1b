"""Turns frozen values into JSON-ready data and back, by the types of their fields."""

from __future__ import annotations

import math
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from factcheck.errors import InputError

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")
_Read = Callable[[Any, str], Any]
"""Takes the data and where it stands; returns the value."""
_MISSING: Any = object()
_SHOWN = 60
_WORD_START = re.compile(r"(?<=[a-z])(?=[A-Z])")


def shown(value: Any) -> str:
    """A value for a message, cut to 60 characters: `750`, `'text'`, `null`, `a list`."""
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
    """JSON-ready data of a value: dataclasses become objects, tuples become lists."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: to_plain(item) for key, item in value.items()}
    return value


def from_plain(kind: type[T], data: Any, what: str) -> T:
    """Inverse of `to_plain`; keys that are not fields are ignored.

    Args:
        kind: A dataclass or named tuple of `str`, `bool`, `int`, `float`, `Literal`, lists, tuples,
            mappings and further such classes. A float is finite.
        data: JSON-ready data.
        what: Name of the value for messages.

    Raises:
        InputError: A field is missing or of another type; names it, and what it is instead.
    """
    value: T = _reader(cast("Any", kind))(data, what)
    return value


class PlainData:
    """Gives a dataclass `to_dict` and `from_dict`."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        data: dict[str, Any] = to_plain(self)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Inverse of `to_dict`; keys with a default may be left out.

        Raises:
            InputError: A value is missing or of the wrong type.
        """
        return from_plain(cls, data, _WORD_START.sub(" ", cls.__name__).lower())


def _wrong(where: str, expected: str, value: Any) -> InputError:
    return InputError(f"{where}: expected {expected}, got {shown(value)}")


def _checked(
    expected: str, accepts: Callable[[Any], bool], make: _Read = lambda data, _: data
) -> _Read:
    def read(data: Any, where: str) -> Any:
        if not accepts(data):
            raise _wrong(where, expected, data)
        return make(data, where)

    return read


def _finite(data: Any, where: str) -> float:
    try:
        number = float(data)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _wrong(where, "a finite number", number)
    return number


def _is_number(data: Any) -> bool:
    return isinstance(data, (int, float)) and not isinstance(data, bool)


_SCALARS: dict[Any, _Read] = {
    Any: lambda data, _: data,
    str: _checked("a string", lambda data: isinstance(data, str)),
    bool: _checked("true or false", lambda data: isinstance(data, bool)),
    int: _checked("a whole number", lambda data: isinstance(data, int) and _is_number(data)),
    float: _checked("a number", _is_number, _finite),
    str | int: _checked(
        "a string or an integer",
        lambda data: isinstance(data, (str, int)) and not isinstance(data, bool),
    ),
}


@cache
def _reader(kind: Any) -> _Read:
    origin, args = get_origin(kind), get_args(kind)
    if kind in _SCALARS:
        return _SCALARS[kind]
    if origin in {Union, types.UnionType}:
        read = _reader(next(arg for arg in args if arg is not type(None)))
        return lambda data, where: None if data is None else read(data, where)
    if origin is Literal:
        expected = f"one of {', '.join(args)}"
        return _checked(expected, lambda data: isinstance(data, str) and data in args)
    if origin in {list, tuple, Sequence} and (origin is not tuple or args[-1] is ...):
        return _items(_reader(args[0]), list if origin is list else tuple)
    if kind is dict or origin in {dict, Mapping}:
        return _members(_reader(args[1] if args else Any))
    if is_dataclass(origin or kind) or hasattr(kind, "_fields"):
        variables = getattr(origin, "__parameters__", ())
        return _class(origin or kind, dict(zip(variables, args, strict=False)))
    raise TypeError(f"cannot read {kind!r}")


def _items(read: _Read, make: type[Any]) -> _Read:
    return _checked(
        "a list",
        lambda data: isinstance(data, (list, tuple)),
        lambda data, where: make(read(x, f"{where}, item {n}") for n, x in enumerate(data, 1)),
    )


def _members(read: _Read) -> _Read:
    return _checked(
        "an object",
        lambda data: isinstance(data, Mapping),
        lambda data, where: {k: read(x, f"{where}: {k!r:.80}") for k, x in data.items()},
    )


def _class(kind: Any, chosen: Mapping[Any, Any]) -> _Read:
    """Reads a class, given what its type variables stand for."""
    hints = get_type_hints(kind)
    if is_dataclass(kind):
        optional = {
            field.name
            for field in fields(kind)
            if field.default is not MISSING or field.default_factory is not MISSING
        }
        names = [field.name for field in fields(kind) if field.init]
    else:
        optional, names = set(kind._field_defaults), list(kind._fields)
    readers = {name: _reader(chosen.get(hints[name], hints[name])) for name in names}

    def read_class(data: Any, where: str) -> Any:
        if not is_dataclass(kind) and isinstance(data, (list, tuple)):
            if len(data) != len(names):
                raise _wrong(where, f"a list of {len(names)} values", data)
            data = dict(zip(names, data, strict=True))
        if not isinstance(data, Mapping):
            raise _wrong(where, "an object", data)
        values = {}
        for name, read in readers.items():
            if name in data:
                values[name] = read(data[name], f"{where}: {name!r}")
            elif name not in optional:
                raise InputError(f"{where}: {name!r} is missing")
        return kind(**values)

    return read_class


class Reader:
    """Takes typed values out of one object; anything unexpected is an `InputError`."""

    def __init__(self, data: Any, what: str) -> None:
        if not isinstance(data, Mapping):
            raise _wrong(what, "an object", data)
        self._data = data
        self._what = what

    def get(self, key: str, kind: Any, default: Any = _MISSING) -> Any:
        """The value of a key as a type that `from_plain` reads; `default` where it is missing."""
        value = self._data.get(key, default)
        if value is _MISSING:
            raise InputError(f"{self._what}: {key!r} is missing")
        return value if value is default else _reader(kind)(value, f"{self._what}: {key!r}")
