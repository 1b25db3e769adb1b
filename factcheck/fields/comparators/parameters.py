"""Checks of what a schema gives a comparator or transform; each failure names what is allowed."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from typing import Any

from factcheck.errors import ParameterError


def shown(value: Any) -> str:
    """A value for a message: short, and never an error itself."""
    try:
        return reprlib.repr(value)
    except Exception:  # noqa: BLE001 - ints of many digits have no repr, objects may have a bad one
        return f"a value of type {type(value).__name__}"


def refuse_unknown(owner: str, params: Mapping[str, Any], *known: str) -> None:
    """Raise unless every parameter is one of these.

    Args:
        owner: The comparator or transform, as messages name it.
        params: What the schema gives it.
        known: The names that it takes.

    Raises:
        ParameterError: There is another one.
    """
    for name in params:
        if name not in known:
            allowed = f"it takes {alternatives(known)}" if known else "it takes no parameters"
            raise ParameterError(f"{owner} does not know the parameter {shown(name)}; {allowed}")


def alternatives(names: tuple[str, ...]) -> str:
    """The names in quotes, with an `and` before the last."""
    *first, last = (repr(name) for name in names)
    return f"{', '.join(first)} and {last}" if first else last


def flag(owner: str, params: Mapping[str, Any], key: str) -> bool | None:
    """A parameter that is true or false; `None` where it is not given.

    Raises:
        ParameterError: It is something else.
    """
    if key not in params:
        return None
    value = params[key]
    if not isinstance(value, bool):
        raise ParameterError(f"{owner}: {key!r} must be true or false, not {shown(value)}")
    return value


def finite_number(owner: str, key: str, value: Any, allowed: str) -> float:
    """A parameter as a float.

    Args:
        owner: The comparator or transform, as messages name it.
        key: Which parameter.
        value: What the schema gives.
        allowed: What the message says it must be.

    Raises:
        ParameterError: It is no number, or not a finite one.
    """
    refused = ParameterError(f"{owner}: {key!r} must be {allowed}, not {shown(value)}")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise refused
    try:
        number = float(value)
    except OverflowError:
        raise refused from None
    if not math.isfinite(number):
        raise refused
    return number
