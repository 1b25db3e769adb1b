"""Built-in transforms, applied to both values before comparison.

`parse_number` reads the only number in a string such as "1,240.00 EUR", and rejects ambiguous ones.
If both point and comma occur, the last is the decimal mark. One that occurs twice groups digits.
One that occurs once, after one to three digits without leading zero and before three ("1,240"), is
ambiguous, unless the caller names the decimal mark or the grouping mark; a comma beside a pound,
dollar, yen or rupee sign groups. Spaces, apostrophes and underscores always group.

As in accounting, a number alone in parentheses ("(1,240.00)", "($5)") or before a minus sign ("5-")
is negative. "1.2 million", "1.2M" and "5k" are multiplied; "1/2" and "1 ½" are fractions. All other
text around a number is dropped: units, percent signs and currencies ("12 %" is 12 by default), and
words ("about 5"). `units_of` returns the units, so that 5 kg are not 5 m.

Also rejected: two numbers, references ("see page 2"), bounds and negations ("<5", "at least 5",
"not 5"), a minus that may be a dash ("- 5"), parentheses with more text around them ("total (5)"),
and letters and words that are or may be multipliers ("5m", "2 dozen").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache, partial
from numbers import Real
from types import MappingProxyType
from typing import Any

import regex  # type: ignore[import-untyped]

from factcheck.documents import shown
from factcheck.errors import ParameterError
from factcheck.fields.types import BuiltinTransform, UnreadableError, one_of, quoted
from factcheck.fields.values import as_json_scalar
from factcheck.text.numbers import decimal_mark, power_of_ten, read_figure
from factcheck.text.units import read_quantity
from factcheck.text.words import PLAIN_MARKS, fold_word, without_accents, words

_EXACT_LIMIT = 2**53
"""Below it a float represents every integer."""
_MAX_EXPONENT = 307
"""Decimal exponent that every float of that magnitude fits."""
_MAX_EXPONENT_CHARS = 6
"""Maximum length of a written exponent, sign included."""
# minus signs, hyphens and dashes; non-breaking and thin spaces; typographic apostrophe
_PLAIN_SIGNS = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d", "-")
    | dict.fromkeys("\xa0\u202f\u2009", " ")
    | {"\u2019": "'", "#": "№"}
)
"""Frees `#`, which stands for the digits of the number in the patterns below."""
_CURRENCY = regex.compile(
    r"\p{Sc}|(?<![\p{L}\p{N}])(?:AUD|CAD|CHF|CNY|EUR|GBP|INR|JPY|USD)(?![\p{L}\p{No}])"
)
"""Replaced by `¤`."""
_FIGURE = re.compile(
    r"(?P<name>[^\W\d]-?)?"  # "B12", "item_3" and "COVID-19" are names
    r"(?P<digits>(?:(?<![^\s+\-¤(])[.,])?"  # ".5", unless the point may end what precedes it
    r"\d(?:(?:[.,'_]+| (?=\d{3}(?!\d)))?\d)*"
    r"(?:[eE][-+]?\d+)?)"
)
_ODD_FIGURE = regex.compile(r"(?<!\p{L}[⁺⁻\p{No}\p{Nl}]*)[\p{No}\p{Nl}]")
"""Fractions and superscripts, "½" or "10³", but not those of units, "m²"."""
_BOUND_WORDS = "not|at (?:least|most)|up to|(?:less|more|fewer) than|under|over|below|above"
_CHANGES = (
    r"[<>≤≥±√]=?\s*(?:[-+]?¤\s*|[-+]\s*)?#",
    rf"\b(?i:{_BOUND_WORDS})\s+[-+]?(?:¤\s*)?#",
    r"#.*\b(?i:below (?:zero|freezing))\b",
    r"(?:-\s+|\u2014\s*)(?:¤\s*)?#",  # a minus that may be a dash
    r"[-+][-+]¤?\s*#|[-+](?:¤\s*)?#-\s*(?:[¤%]\s*)?$",  # two signs
    r"(?<!\w)-[^\W\d_]+\W*#",
    r"\b(?i:minus|negative)\s+(?:¤\s*)?#",
    r"\b(?i:see|cf\.|refer to)\s(?:[^\W\d]+\.?\s){0,8}#",  # a reference
    r"#(?:\+|-(?=\s*\w))(?!\w)",
    r"#[^\W\d_]+\d",
    r"#(?:[mb]|\s[MB]|[.,]?[oO]+)(?!\w)",  # million or a unit; letters for zeros
    r"#[\s-]*(?:(?i:dozen|hundred|lakh|crore|billi?ard|trilliard)\w*|mi[al]\b)",
    r"\(\s*[-+]?(?:¤\s*)?#\s*[%¤]?\s*\)",  # parentheses that may mean a minus
)
"""Contexts that change the number `#` or may do so."""
_CHANGE = re.compile("|".join(_CHANGES))
_MINUS = re.compile(r"-(?:¤\s*)?#|#-\s*(?:[¤%]\s*)?$")
_ACCOUNTING = re.compile(r"\s*(?:¤\s*)?\(\s*(?:¤\s*)?#\s*[%¤]?\s*\)\s*[%¤]?\s*")
"""A negative number in parentheses."""
_PERCENT = re.compile(
    r"\s*(?:(?P<thousandth>‰)|(?P<point>(?:bps?|basis points?)\b)"
    r"|%|(?:percent|per cent|pct|prozent)\b)",
    re.IGNORECASE,
)
_POWERS = {"thousandth": 3, "point": 4, "": 2}
_BASIS_POINTS = re.compile(r"\d\s?(?:bps?|basis points?)\b", re.IGNORECASE)
_MAGNITUDE = re.compile(
    r"(?P<letter>\s?k(?!\w)|[KMB](?!\w)|\s[MB](?=\s?¤))|[\s-]*(?P<word>[^\W\d_]{2,})(?!\w)"
)
_LETTERS = {"k": 3, "K": 3, "M": 6, "B": 9}
_FRACTION = re.compile(r"\s*([-+]?)(?:(\d{1,6})\s+)?(\d{1,4})\s?[/\u2044]\s?(\d{1,4})(?![\d/.,-])")
"""Fraction or mixed number at the start of a string."""
_VULGAR = re.compile(r"(\d?)\s*([¼-¾⅐-⅞])")
_LONGEST_VALUE = 200
"""Maximum length in characters of a value whose units are read."""
_UNIT_FREE = re.compile(r"[\d\s.,'+-]*")
_DOLLAR = re.compile(r"(?<!US)(?<=[A-Z])\$")
"""A dollar of another country, "C$"."""
_COMMA_GROUPS = re.compile(r"[$£¥₹]|\b(?:AUD|GBP|INR|JPY|USD)(?![^\W\d_])")
"""Currencies of countries where a comma groups digits."""


def read_number(
    value: Any,
    decimal: str | None = None,
    *,
    percent: str | None = None,
    grouping: str | None = None,
) -> float | int:
    """Parse the number in a string, or convert a number; `int` from 2**53 on, to lose no digit.

    `decimal` is the decimal mark, `.` or `,`; `grouping` the mark that groups where it could also
    be decimal: with `,`, "1,240" is 1240; with an empty string, it is 1.24. If `percent` is
    "fraction", "12 %" is 0.12.
    """
    if isinstance(value, str):
        number = _read(value, decimal, grouping, percent)
    elif isinstance(value, Decimal) and value.is_finite():
        number = value
    elif isinstance(value, bool) or not isinstance(value, (Real, Decimal)):
        raise UnreadableError(f"parse_number requires a string or a number, not {shown(value)}")
    elif isinstance(value, int) and abs(value) >= _EXACT_LIMIT:
        return value
    else:
        return float(value)
    if number and not abs(number.adjusted()) <= _MAX_EXPONENT:
        raise UnreadableError(f"parse_number: {shown(value)} is out of range for a float")
    if abs(number) < _EXACT_LIMIT or number != number.to_integral_value():
        return float(number)
    return int(number)


def units_of(value: Any, *, percent: str | None) -> frozenset[tuple[str, float]]:
    """Return dimension and size of the units that the first measured number in a string may have.

    If `percent` is "fraction", percent signs are part of the number.
    """
    is_short = isinstance(value, str) and len(value) <= _LONGEST_VALUE
    if not is_short or _UNIT_FREE.fullmatch(value) or _DOLLAR.search(value):
        return frozenset()
    units = _units_in(value)
    is_share = any(dimension == "share" for dimension, _ in units)
    return frozenset() if is_share and percent == "fraction" else units


@lru_cache(maxsize=8192)
def _units_in(text: str) -> frozenset[tuple[str, float]]:
    found = words(text)
    quantities = (read_quantity(found, at, text) for at in range(len(found)))
    units = next((one.units for one in quantities if one and one.units), ())
    if not units and _BASIS_POINTS.search(text):
        return frozenset({("share", 1e-4)})
    return frozenset((unit.dimension, float(f"{unit.factor:.9g}")) for unit in units)


def _read(text: str, decimal: str | None, grouping: str | None, percent: str | None) -> Decimal:
    plain = _without_fraction(_CURRENCY.sub("¤", text.translate(_PLAIN_SIGNS)), decimal or ".")
    figures = [figure for figure in _FIGURE.finditer(plain) if not figure["name"]]
    if len(figures) != 1:
        what = "more than one number" if figures else "no number"
        raise UnreadableError(f"parse_number: there is {what} in {shown(text)}")
    start, end = figures[0].span("digits")
    power, after = _magnitude(plain[end:])
    frame = f"{plain[:start]}#{after}"
    is_accounting = bool(_ACCOUNTING.fullmatch(frame))
    if not is_accounting and (_ODD_FIGURE.search(frame) or _CHANGE.search(frame)):
        raise UnreadableError(
            f"parse_number: cannot read {shown(text)}: what stands beside the number may change "
            "it; write plain digits"
        )
    if percent == "fraction" and (sign := _PERCENT.match(after)):
        power -= _POWERS[sign.lastgroup or ""]
    if not grouping and _COMMA_GROUPS.search(text):
        grouping = ","
    number = _decimal(figures[0]["digits"], decimal, grouping, power, text)
    is_negative = is_accounting or _MINUS.search(frame)
    if number and is_negative:
        return number.copy_negate()
    return number


def _magnitude(after: str) -> tuple[int, str]:
    """Return the power of ten of a magnitude such as "million" after a number, and the rest."""
    found = _MAGNITUDE.match(after)
    if found is None:
        return 0, after
    word = fold_word(found["word"] or "")
    power = _LETTERS.get((found["letter"] or "").strip()) or power_of_ten(word)
    if word == "mil" or power == 2:  # noqa: PLR2004 - million or thousand; hundred or cent
        power = 0
    return (power, after[found.end() :]) if power else (0, after)


def _without_fraction(text: str, mark: str) -> str:
    """Replace a proper fraction at the start of a string by a number with this decimal mark."""
    if text.isascii() and "/" not in text:
        return text
    spelled = _VULGAR.sub(
        lambda one: f"{one[1]}{' ' * bool(one[1])}{unicodedata.normalize('NFKC', one[2])}", text
    )
    found = _FRACTION.match(spelled)
    if found is None or not int(found[3]) < int(found[4]):
        return text
    value = int(found[2] or 0) + Decimal(found[3]) / Decimal(found[4])
    return f"{found[1]}{value:.20f}{spelled[found.end() :]}".replace(".", mark, 1)


def _decimal(
    figure: str, decimal: str | None, grouping: str | None, power: int, text: str
) -> Decimal:
    mantissa, _, exponent = figure.lower().partition("e")
    mark = decimal_mark(mantissa, grouping)
    if decimal is not None:
        mark = decimal if decimal in mantissa else ""
    if mark is None:
        raise UnreadableError(
            f"parse_number: {shown(mantissa)} is ambiguous; set 'decimal' to '.' or ','"
        )
    if len(exponent) > _MAX_EXPONENT_CHARS:
        raise UnreadableError(f"parse_number: {shown(figure)} is out of range for a float")
    number = read_figure(mantissa, mark, int(exponent or 0) + power)
    if number is None:
        raise UnreadableError(
            f"parse_number: {shown(figure)} in {shown(text)} is not a well-formed number"
        )
    return number


_Bound = Callable[[Any], Any]
_MAX_DIGITS = 1000
_MARKS = PLAIN_MARKS | dict.fromkeys(map(ord, "\u00a0\u2009\u202f"), " ")
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
    "plain_marks": lambda text: text.translate(_MARKS),
    "unicode_nfkc": lambda text: unicodedata.normalize("NFKC", text),
    "strip_punctuation": lambda text: _PUNCTUATION.sub(lambda found: found["number"] or "", text),
    "letters_and_digits": lambda text: "".join(filter(str.isalnum, text)),
}
"""Transforms of strings without parameters."""


def _of_text(name: str, change: Callable[[str], str]) -> BuiltinTransform:
    def apply(value: Any) -> Any:
        value = as_json_scalar(value)
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


def _bool(value: Any, known: Mapping[Any, bool] = _TRUTH) -> bool:
    word = value.strip().casefold() if isinstance(value, str) else value
    if not isinstance(value, (str, int)) or word not in known:
        raise ValueError("expected true, false, 1 or 0")
    return known[word]


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
        "parse_number": BuiltinTransform(
            "parse_number", lambda **how: partial(read_number, **how), _PARSING
        ),
        "parse_bool": BuiltinTransform("parse_bool", lambda: read_bool),
    }
)
"""Built-in transforms, by name."""
