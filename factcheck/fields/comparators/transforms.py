"""The built-in transforms, which are applied to both values before they are compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from decimal import Decimal
from numbers import Real
from types import MappingProxyType
from typing import Any

from factcheck.errors import ParameterError
from factcheck.fields.comparators.number_texts import read_number
from factcheck.fields.comparators.parameters import quoted, refuse_unknown, shown
from factcheck.fields.types import BuiltinTransform

_Bound = Callable[[Any], Any]
_MOST_DIGITS = 1000
_NUMBER = re.compile(r"(?:(?<!\w)[-+\u2013]?[$€£¥]?[.,]?)?\d+(?:[^\w\s]\d+)*(?:\s?[%‰])?")
"""A number with the punctuation that is part of it."""


def _of_text(name: str, change: Callable[[str], str]) -> BuiltinTransform:
    """A transform of strings without parameters."""

    def apply(value: Any) -> Any:
        if isinstance(value, str):
            return change(value)
        if value is None:
            return None
        raise TypeError(
            f"{name} requires a string, not {shown(value)} of type {type(value).__name__}; put "
            "{'type_convert': {'to': 'str'}} before it, or leave it out"
        )

    def bind(params: Mapping[str, Any]) -> _Bound:
        refuse_unknown(name, params)
        return apply

    return BuiltinTransform(name, bind)


def _one_space(text: str) -> str:
    return " ".join(text.split())


def _in_order(text: str) -> str:
    return " ".join(sorted(text.split()))


def _compose(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _without_punctuation(text: str) -> str:
    if text.isalnum():
        return text
    kept = []
    end = 0
    for number in _NUMBER.finditer(text):
        kept += [_unmarked(text[end : number.start()]), number[0]]
        end = number.end()
    return "".join((*kept, _unmarked(text[end:])))


def _unmarked(text: str) -> str:
    return "".join(letter for letter in text if unicodedata.category(letter)[0] != "P")


def _bind_round(params: Mapping[str, Any]) -> _Bound:
    refuse_unknown("round_digits", params, "digits")
    if "digits" not in params:
        raise ParameterError("round_digits requires 'digits', an integer such as 2 or -3")
    digits = _digits(params["digits"])

    def apply(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, (Real, Decimal)):
            return round(value, digits)
        raise TypeError(
            f"round_digits requires a number, not {shown(value)} of type {type(value).__name__}; "
            "put {'type_convert': {'to': 'float'}} or 'parse_number' before it"
        )

    return apply


def _digits(given: Any) -> int:
    refused = ParameterError(
        f"round_digits requires 'digits' to be an integer from {-_MOST_DIGITS} to "
        f"{_MOST_DIGITS}, not {shown(given)}"
    )
    if isinstance(given, bool):
        raise refused
    try:
        digits = int(given)
    except (TypeError, ValueError, OverflowError):
        raise refused from None
    if abs(digits) > _MOST_DIGITS or (isinstance(given, float) and given != digits):
        raise refused
    return digits


def _bool(value: Any) -> bool:
    if isinstance(value, (bool, int)) and value in (0, 1):
        return bool(value)
    word = value.strip().casefold() if isinstance(value, str) else ""
    if word in ("1", "true"):
        return True
    if word in ("0", "false"):
        return False
    raise ValueError("only true, false, 1 and 0 are")


_CASTS: Mapping[str, Callable[[Any], Any]] = {
    "float": float,
    "int": int,
    "str": str,
    "bool": _bool,
}


def _bind_convert(params: Mapping[str, Any]) -> _Bound:
    refuse_unknown("type_convert", params, "to")
    names = quoted(tuple(_CASTS))
    if "to" not in params:
        raise ParameterError(f"type_convert requires 'to', one of {names}")
    target = params["to"]
    if not isinstance(target, str) or target not in _CASTS:
        raise ParameterError(f"type_convert: 'to' must be one of {names}, not {shown(target)}")
    cast = _CASTS[target]

    def apply(value: Any) -> Any:
        if value is None:
            return None
        try:
            return cast(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise TypeError(f"Cannot convert {shown(value)} to {target}: {error}") from error

    return apply


def _bind_parse(params: Mapping[str, Any]) -> _Bound:
    refuse_unknown("parse_number", params, "decimal")
    decimal = params.get("decimal")
    if "decimal" in params and decimal not in (".", ","):
        raise ParameterError(f"parse_number: 'decimal' must be one of '.' and ',', not {decimal!r}")

    def apply(value: Any) -> Any:
        return None if value is None else read_number(value, decimal)

    return apply


lowercase = _of_text("lowercase", str.lower)
"""Lower case."""
strip = _of_text("strip", str.strip)
"""No leading or trailing white space."""
normalize_whitespace = _of_text("normalize_whitespace", _one_space)
"""One space for any run of white space, and none at the ends."""
sort_tokens = _of_text("sort_tokens", _in_order)
"""The words sorted by code point and joined by single spaces."""
unicode_nfkc = _of_text("unicode_nfkc", _compose)
"""Unicode normalization form KC: one spelling for ligatures, full-width letters and accents."""
strip_punctuation = _of_text("strip_punctuation", _without_punctuation)
"""No punctuation except in numbers: `-5`, `3.14`, `10:30` and `5%` stay."""
round_digits = BuiltinTransform("round_digits", _bind_round)
"""A number rounded half to even, as Python does.

Parameters:
    digits: Number of decimals; -3 rounds to thousands.
"""
type_convert = BuiltinTransform("type_convert", _bind_convert)
"""The value converted as Python does; only true, false, 1 and 0 convert to booleans.

Parameters:
    to: `float`, `int`, `str` or `bool`.
"""
parse_number = BuiltinTransform("parse_number", _bind_parse)
"""The only number in a string: `1240.0` for "1,240.00 EUR"; see `number_texts` for the rules.

Parameters:
    decimal: `.` or `,`, the decimal mark in strings such as "1,240", which are ambiguous.
"""
TRANSFORMS: Mapping[str, BuiltinTransform] = MappingProxyType(
    {
        transform.name: transform
        for transform in (
            lowercase,
            strip,
            normalize_whitespace,
            sort_tokens,
            round_digits,
            type_convert,
            unicode_nfkc,
            strip_punctuation,
            parse_number,
        )
    }
)
"""Every built-in transform, by its name in a schema."""
