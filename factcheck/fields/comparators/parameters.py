"""Validation of the parameters that a schema passes to comparators and transforms."""

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
    except Exception:  # noqa: BLE001 - huge integers have no repr, objects may have a broken one
        return f"a value of type {type(value).__name__}"


def refuse_unknown(owner: str, params: Mapping[str, Any], *known: str) -> None:
    """Refuse any parameter that is not among the known ones.

    Args:
        owner: Name of the comparator or transform, for the message.
        params: The parameters in the schema.
        known: Names of the parameters that it takes.

    Raises:
        ParameterError: There is an unknown parameter.
    """
    for name in params:
        if name not in known:
            allowed = f"it takes {quoted(known)}" if known else "it takes no parameters"
            raise ParameterError(f"{owner}: unknown parameter {shown(name)}; {allowed}")


def quoted(names: tuple[str, ...]) -> str:
    """The names in quotes, with an `and` before the last one."""
    *first, last = (repr(name) for name in names)
    return f"{', '.join(first)} and {last}" if first else last


def flag(owner: str, params: Mapping[str, Any], key: str) -> bool | None:
    """A boolean parameter; `None` if it is missing.

    Raises:
        ParameterError: It is not a boolean.
    """
    if key not in params:
        return None
    value = params[key]
    if not isinstance(value, bool):
        raise ParameterError(f"{owner}: {key!r} must be true or false, not {shown(value)}")
    return value


def finite_number(owner: str, key: str, value: Any, allowed: str) -> float:
    """A numeric parameter as a float.

    Args:
        owner: Name of the comparator or transform, for the message.
        key: Name of the parameter.
        value: Its value in the schema.
        allowed: Its allowed values in words, for the message.

    Raises:
        ParameterError: It is not a finite number.
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
