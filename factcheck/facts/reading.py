"""Reading plain data back into values, with errors that name what is wrong and where."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, overload

from factcheck.errors import InputError

S = TypeVar("S", bound=str)
_MISSING: Any = object()


class Reader:
    """Takes typed values out of one mapping; anything unexpected is an `InputError`."""

    def __init__(self, data: Any, what: str) -> None:
        if not isinstance(data, Mapping):
            raise InputError(f"{what}: expected an object, found {_kind(data)}")
        self._data = data
        self._what = what

    def _get(self, key: str, default: Any = _MISSING) -> Any:
        value = self._data.get(key, default)
        if value is _MISSING:
            raise InputError(f"{self._what}: {key!r} is missing")
        return value

    def _wrong(self, key: str, expected: str, value: Any) -> InputError:
        return InputError(f"{self._what}: {key!r} must be {expected}, not {_kind(value)}")

    @overload
    def text(self, key: str, default: str = ...) -> str: ...
    @overload
    def text(self, key: str, default: None) -> str | None: ...
    def text(self, key: str, default: Any = _MISSING) -> Any:
        """A string; `default` where the key is missing."""
        value = self._get(key, default)
        if not isinstance(value, str) and not (value is None and default is None):
            raise self._wrong(key, "a string", value)
        return value

    def texts(self, key: str) -> list[str]:
        """A list of strings; empty where the key is missing."""
        value = self._get(key, ())
        if not _is_list(value) or not all(isinstance(item, str) for item in value):
            raise self._wrong(key, "a list of strings", value)
        return list(value)

    def choice(self, key: str, allowed: Sequence[S]) -> S:
        """One of the allowed strings."""
        value = self._get(key)
        for option in allowed:
            if value == option:
                return option
        raise self._wrong(key, f"one of {', '.join(allowed)}", value)

    def flag(self, key: str, *, default: bool) -> bool:
        """A boolean; `default` where the key is missing."""
        value = self._get(key, default)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false", value)
        return value

    def integer(self, key: str) -> int:
        """A whole number."""
        value = self._get(key)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._wrong(key, "a whole number", value)
        return value

    def integers(self, key: str) -> list[int] | None:
        """A list of whole numbers, or `None` where it is missing or null."""
        value = self._get(key, None)
        if value is None:
            return None
        if not _is_list(value) or not all(type(item) is int for item in value):
            raise self._wrong(key, "a list of whole numbers", value)
        return list(value)

    def number(self, key: str, default: float = _MISSING) -> float:
        """A finite number; `default` where the key is missing."""
        value = self._get(key, default)
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise self._wrong(key, "a number", value)
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self._wrong(key, "a finite number", number)
        return number

    def optional_number(self, key: str) -> float | None:
        """A finite number, or `None` where it is missing or null."""
        return None if self._data.get(key) is None else self.number(key)

    def mapping(self, key: str) -> Mapping[str, Any] | None:
        """An object, or `None` where it is missing or null."""
        value = self._get(key, None)
        if value is not None and not isinstance(value, Mapping):
            raise self._wrong(key, "an object", value)
        return value

    def mapping_required(self, key: str) -> Mapping[str, Any]:
        """An object."""
        value = self._get(key)
        if not isinstance(value, Mapping):
            raise self._wrong(key, "an object", value)
        return value

    def mappings(self, key: str) -> list[Mapping[str, Any]]:
        """A list of objects."""
        value = self._get(key)
        if not _is_list(value) or not all(isinstance(item, Mapping) for item in value):
            raise self._wrong(key, "a list of objects", value)
        return list(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _kind(value: Any) -> str:
    return (
        "null"
        if value is None
        else repr(value)
        if isinstance(value, (str, int, float))
        else (type(value).__name__)
    )
