"""Any value as JSON data: what JSON cannot hold becomes its text."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date, time
from numbers import Integral
from typing import Any

from factcheck.errors import InputError
from factcheck.fields.schemas.models import as_record

NOT_FINITE = ("NaN", "Infinity", "-Infinity")
"""The texts of floats that JSON does not know."""
_DEEPEST = 200
"""Levels that are written; recursion stays far from Python's limit."""
_LARGEST_INT = 1 << 10_000
"""Python neither prints nor reads integers that are much longer."""


def plain(value: Any) -> Any:
    """A value as JSON data; what is JSON stays as it is.

    Tuples become lists, sets lists in the order of their texts, pydantic models and other mappings
    objects, dates their ISO form. NaN and infinities, decimals and whatever else is no JSON become
    their text, and so does what is inside itself or nested more than 200 levels deep.
    """
    return _plain(value, set())


def _plain(value: Any, above: set[int]) -> Any:
    kind = type(value)
    if value is None or kind is str or kind is bool:
        return value
    if kind is float:
        return _finite(value)
    if kind is int:
        return value if -_LARGEST_INT < value < _LARGEST_INT else hex(value)
    if isinstance(value, (Mapping, list, tuple, set, frozenset)):
        return _container(value, above)
    return _foreign(value, above)


def _container(value: Any, above: set[int]) -> Any:
    own = id(value)
    if own in above or len(above) >= _DEEPEST:
        return f"<{type(value).__name__}, nested too deeply>"
    above.add(own)
    try:
        if isinstance(value, Mapping):
            return _object(value, above)
        items = [_plain(item, above) for item in value]
    finally:
        above.discard(own)
    if isinstance(value, (set, frozenset)):
        items.sort(key=json.dumps)
    return items


def _object(value: Mapping[Any, Any], above: set[int]) -> Any:
    """An object; if two keys have the same text, the text of the mapping, which loses neither."""
    made = {
        key if type(key) is str else _text(key): _plain(item, above) for key, item in value.items()
    }
    return made if len(made) == len(value) else _text(value)


def _finite(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _foreign(value: Any, above: set[int]) -> Any:
    """A value of another type, or of a subclass: numbers of numpy, enumerations, models."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Integral):
        return _plain(int(value), above)
    if isinstance(value, float):
        return _finite(float(value))
    try:
        record = as_record(value)
    except InputError:
        return _text(value)
    return _text(value) if record is value else _plain(record, above)


def _text(value: Any) -> str:
    try:
        return value.isoformat() if isinstance(value, (date, time)) else str(value)
    except Exception:  # noqa: BLE001 - the user's own type
        return f"<{type(value).__name__}>"
