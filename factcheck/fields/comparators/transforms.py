"""Built-in transforms, applied to both values before comparison."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from numbers import Real
from types import MappingProxyType
from typing import Any

import regex  # type: ignore[import-untyped]

from factcheck.documents import shown
from factcheck.errors import ParameterError
from factcheck.fields.comparators.numbers import read_number
from factcheck.fields.types import (
    BuiltinTransform,
    UnreadableError,
    one_of,
    quoted,
)
from factcheck.text.words import PLAIN_MARKS, without_accents

_Bound = Callable[[Any], Any]
_MAX_DIGITS = 1000
_PLAIN_MARKS = PLAIN_MARKS | dict.fromkeys(map(ord, "\u00a0\u2009\u202f"), " ")
_PUNCTUATION = regex.compile(
    r"(?P<number>(?:(?<![\w\p{No}])[-+\u2013]?[$€£¥]?[.,]?)?\d+(?:[^\w\s]\d+)*(?:\s?[%‰])?)"
    r"|[\p{P}--[#&@%*/\\]]",
    regex.V1,
)
"""Numbers, whose punctuation has a meaning, and punctuation without one: "C#" is not "C"."""
_OF_TEXT: Mapping[str, Callable[[str], str]] = {
    "lowercase": str.lower,
    "strip": str.strip,
    "normalize_whitespace": lambda text: " ".join(text.split()),
    "sort_tokens": lambda text: " ".join(sorted(text.split())),
    "casefold": str.casefold,
    "strip_accents": without_accents,
    "plain_marks": lambda text: text.translate(_PLAIN_MARKS),
    "unicode_nfkc": lambda text: unicodedata.normalize("NFKC", text),
    "strip_punctuation": lambda text: _PUNCTUATION.sub(lambda found: found["number"] or "", text),
    "letters_and_digits": lambda text: "".join(filter(str.isalnum, text)),
}
"""Transforms of strings without parameters."""


def _of_text(name: str, change: Callable[[str], str]) -> BuiltinTransform:
    def apply(value: Any) -> Any:
        if isinstance(value, str):
            return change(value)
        raise UnreadableError(
            f"{name} requires a string, not {shown(value)}; put "
            "{'type_convert': {'to': 'str'}} before it, or leave it out"
        )

    return BuiltinTransform(name, lambda: apply)


def _is_digits(value: Any) -> bool:
    try:
        is_integer = not isinstance(value, bool) and int(value) == float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return is_integer and abs(int(value)) <= _MAX_DIGITS


def _bind_round(*, digits: Any = None) -> _Bound:
    """Round half to even, to `digits` decimals; -3 rounds to thousands."""
    if digits is None:
        raise ParameterError("round_digits requires 'digits', an integer such as 2 or -3")

    def apply(value: Any) -> Any:
        if isinstance(value, (Real, Decimal)):
            return round(value, int(digits))
        raise UnreadableError(
            f"round_digits requires a number, not {shown(value)}; "
            "put {'type_convert': {'to': 'float'}} or 'parse_number' before it"
        )

    return apply


_TRUTH = {"1": True, 1: True, "true": True, "0": False, 0: False, "false": False}
_YES_OR_NO = {**_TRUTH, "yes": True, "y": True, "no": False, "n": False}


def _bool(value: Any, words: Mapping[Any, bool] = _TRUTH) -> bool:
    word = value.strip().casefold() if isinstance(value, str) else value
    if not isinstance(value, (str, int)) or word not in words:
        raise ValueError("expected true, false, 1 or 0")
    return words[word]


def read_bool(value: Any) -> bool:
    """Parse true, false, 1, 0, yes, no, y or n, in any case."""
    try:
        return _bool(value, _YES_OR_NO)
    except ValueError:
        message = f"parse_bool: {shown(value)} is neither true or yes nor false or no"
        raise UnreadableError(message) from None


_CASTS: Mapping[str, Callable[[Any], Any]] = {"float": float, "int": int, "str": str, "bool": _bool}


def _bind_convert(*, to: str | None = None) -> _Bound:
    """Convert to float, int, str or bool as Python does; bool takes true, false, 1, 0 only."""
    if to is None:
        raise ParameterError(f"type_convert requires 'to', one of {quoted(_CASTS)}")
    cast = _CASTS[to]

    def apply(value: Any) -> Any:
        try:
            return cast(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise UnreadableError(f"Cannot convert {shown(value)} to {to}: {error}") from error

    return apply


def _bind_parse(*, percent: str = "number", **marks: str) -> _Bound:
    """Parse as `read_number` does; `percent` is `"fraction"` or, by default, `"number"`."""
    return partial(read_number, percent_is_fraction=percent == "fraction", **marks)


_DIGITS = f"an integer from {-_MAX_DIGITS} to {_MAX_DIGITS}", _is_digits
_PARSING = {
    "decimal": one_of(".", ","),
    "grouping": one_of(".", ",", ""),
    "percent": one_of("number", "fraction"),
}
TRANSFORMS: Mapping[str, BuiltinTransform] = MappingProxyType(
    {
        **{name: _of_text(name, change) for name, change in _OF_TEXT.items()},
        "round_digits": BuiltinTransform("round_digits", _bind_round, {"digits": _DIGITS}),
        "type_convert": BuiltinTransform("type_convert", _bind_convert, {"to": one_of(*_CASTS)}),
        "parse_number": BuiltinTransform("parse_number", _bind_parse, _PARSING),
        "parse_bool": BuiltinTransform("parse_bool", lambda: read_bool),
    }
)
"""Built-in transforms, by name."""
