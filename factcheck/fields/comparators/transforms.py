"""Built-in transforms, applied to both values before comparison.

`parse_number` parses the only number in a string such as "1,240.00 EUR" and rejects ambiguous ones.
If both point and comma occur, the last is the decimal mark. One that occurs twice groups digits.
One that occurs once, after one to three digits without leading zero and before three ("1,240"), is
ambiguous, unless the caller names the decimal mark or the grouping mark; a comma beside a pound,
dollar, yen or rupee sign groups. Spaces, apostrophes and underscores always group.

As in accounting, a number alone in parentheses ("(1,240.00)", "($5)") or before a minus sign ("5-")
is negative. "1.2 million", "1.2M" and "5k" are multiplied; "1/2" and "1 ½" are fractions. All other
text around a number is dropped: units, percent signs and currencies ("12 %" is 12 by default), and
words ("about 5").

Also rejected: two numbers, references ("see page 2"), bounds ("<5"), a minus that may be a dash
("- 5"), parentheses with more text around them ("total (5)"), and letters and words that are or may
be multipliers ("5m", "2 dozen").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import partial
from numbers import Real
from types import MappingProxyType
from typing import Any

from factcheck.documents import shown
from factcheck.errors import ParameterError
from factcheck.fields.types import BuiltinTransform, UnreadableError, quoted, refuse_unknown
from factcheck.text.numbers import power_of_ten
from factcheck.text.words import fold_word

_EXACT_LIMIT = 2**53
"""Below it a float represents every integer."""
_MAX_EXPONENT = 307
"""Decimal exponent that every float of that magnitude fits."""
_MAX_EXPONENT_CHARS = 6
"""Maximum length of a written exponent, sign included."""
_CONTEXT_CHARS = 40
"""Number of characters before a number that are checked for signs and words."""
# minus sign and en dash; non-breaking and thin spaces; typographic apostrophe
_PLAIN = str.maketrans(
    dict.fromkeys("\u2212\u2013", "-") | dict.fromkeys("\xa0\u202f\u2009", " ") | {"\u2019": "'"}
)
_FIGURE = re.compile(
    r"(?:(?<![^\s+\-¤(])[.,])?"  # ".5", unless the point may end what precedes it
    r"\d(?:(?:[.,'_]+| (?=\d{3}(?!\d)))?\d)*"
    r"(?:[eE][-+]?\d+)?"
)
_CURRENCY = re.compile(r"(?<![^\W_])(?:AUD|CAD|CHF|CNY|EUR|GBP|INR|JPY|USD)(?![^\W\d_])")
_END_OF_NAME = re.compile(r"[^\W\d]-?$")
"""Text before the digits of "B12", "item_3" and "COVID-19"."""
_SIGN = re.compile(r"([-+])(?:¤\s*)?$")
_NOT_BEFORE = (
    (re.compile(r"[<>≤≥±]\s*[-+]?¤?\s*$"), "it is a bound or a range"),
    (re.compile(r"-\s+¤?\s*$"), "its minus may be a dash"),
    (re.compile(r"[-+][-+]¤?\s*$"), "it has two signs"),
    (re.compile(r"(?<!\w)-[^\W\d_]+\W*$"), "its minus is not directly before the digits"),
    (re.compile(r"\b(?:minus|negative)\s+¤?\s*$", re.IGNORECASE), "its minus is a word"),
    (
        re.compile(r"\b(?:see|cf\.|refer to)\s(?:[^\W\d]+\.?\s)*$", re.IGNORECASE),
        "it is a reference",
    ),
)
"""Patterns before a number that change it or may do so, and the problem they pose."""
_NOT_AFTER = (
    (re.compile(r"(?:\+|-(?=\s*\w))(?!\w)"), "its sign comes after it"),
    (re.compile(r"[^\W\d_]+\d"), "there are letters among its digits"),
    (re.compile(r"(?P<word>[mb]|\s[MB])(?!\w)"), "{word!r} may multiply it or be a unit"),
    (
        re.compile(r"[\s-]*(?P<word>(?i:dozen|lakh|crore|billi?ard|trilliard)\w*|mi[al]\b)"),
        "{word!r} multiplies it",
    ),
)
"""Patterns after a number that change it or may do so, and the problem they pose."""
_MAGNITUDE = re.compile(
    r"(?P<letter>\s?k(?!\w)|[KMB](?!\w)|\s[MB](?=\s?¤))|[\s-]*(?P<word>[^\W\d_]{2,})(?!\w)"
)
_LETTERS = {"k": 3, "K": 3, "M": 6, "B": 9}
_MINUS_AFTER = re.compile(r"-\s*(?:[¤%]\s*)?")
_PERCENT = re.compile(
    r"\s*(?:(?P<thousandth>‰)|%|(?:percent|per cent|pct|prozent)\b)", re.IGNORECASE
)
_FRACTION = re.compile(r"\s*([-+]?)(?:(\d{1,6})\s+)?(\d{1,4})\s?[/\u2044]\s?(\d{1,4})(?![\d/.,-])")
"""Fraction or mixed number at the start of a string."""
_VULGAR = re.compile(r"(\d?)\s*([¼-¾⅐-⅞])")
_OPENING = re.compile(r"\(\s*(?P<sign>[-+])?(?:¤\s*)?$")
_CLOSING = re.compile(r"\s*[%¤]?\s*\)")
_ACCOUNTING = re.compile(r"\s*¤?\s*\(\s*¤?\s*"), re.compile(r"\s*[%¤]?\s*\)\s*[%¤]?\s*")
"""Everything allowed before and after the digits of a negative number in parentheses."""
_DIGITS = re.compile(r"\d+")
_GROUPED = re.compile(r"[1-9]\d{0,2}([.,'_ ])\d{3}(?:\1\d{3})*|[1-9]\d?(?:,\d\d)+,\d{3}")
"""Groups of three digits, or Indian ones, "12,34,567"."""
_AMBIGUOUS = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_COMMA_GROUPS = re.compile(r"[$£¥₹]|\b(?:AUD|GBP|INR|JPY|USD)(?![^\W\d_])")
"""Currencies of countries where a comma groups digits."""


def read_number(
    value: Any,
    decimal: str | None = None,
    *,
    percent_is_fraction: bool = False,
    grouping: str | None = None,
) -> float | int:
    """Parse the number in a string; numbers are converted.

    Args:
        value: A string or number.
        decimal: The decimal mark, `.` or `,`; the other one groups. `None`: infer it.
        percent_is_fraction: Whether "12 %" is 0.12 instead of 12.
        grouping: The mark that groups where it could also be decimal: with `,`, "1,240" is 1240.

    Returns:
        A float, or an `int` for integers from 2**53 on, so that no digit is lost.

    Raises:
        UnreadableError: There is no number, more than one, or an ambiguous one.
    """
    if isinstance(value, str):
        number = _read(value, decimal, grouping, percent_is_fraction=percent_is_fraction)
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


def _read(
    text: str, decimal: str | None, grouping: str | None, *, percent_is_fraction: bool
) -> Decimal:
    plain = _without_fraction(_plain(text), decimal or ".")
    figures = [
        figure
        for figure in _FIGURE.finditer(plain)
        if not _END_OF_NAME.search(plain[max(0, figure.start() - 2) : figure.start()])
    ]
    if len(figures) != 1:
        what = "more than one number" if figures else "no number"
        raise UnreadableError(f"parse_number: there is {what} in {shown(text)}")
    start, end = figures[0].span()
    before, (power, after) = plain[max(0, start - _CONTEXT_CHARS) : start], _magnitude(plain[end:])
    opening, closing = _ACCOUNTING
    in_parentheses = bool(opening.fullmatch(plain[:start]) and closing.fullmatch(after))
    sign = _SIGN.search(before)
    minus_after = bool(_MINUS_AFTER.fullmatch(after))
    problem = next(_problems(plain, before, after), "")
    if not problem and not in_parentheses and _OPENING.search(before) and _CLOSING.match(after):
        problem = "its parentheses may mean a minus"
    if not problem and minus_after and sign:
        problem = "it has two signs"
    if problem:
        raise UnreadableError(
            f"parse_number: cannot read {shown(text)}: {problem}; write plain digits"
        )
    if percent_is_fraction and (percent := _PERCENT.match(after)):
        power -= 3 if percent["thousandth"] else 2
    grouping = grouping or ("," if _COMMA_GROUPS.search(text) else None)
    number = _decimal(figures[0][0], decimal, grouping, power, text)
    is_negative = in_parentheses or minus_after or (sign is not None and sign[1] == "-")
    return number.copy_negate() if number and is_negative else number


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


def _problems(plain: str, before: str, after: str) -> Iterator[str]:
    """Reasons why the text around a number makes it ambiguous or changes it."""
    if letter := _odd_figure(plain):
        yield f"{letter!r} is part of it"
    yield from (problem for pattern, problem in _NOT_BEFORE if pattern.search(before))
    for pattern, problem in _NOT_AFTER:
        if found := pattern.match(after):
            yield problem.format(**found.groupdict())


def _plain(text: str) -> str:
    """Normalize minus signs, spaces, apostrophes and currency signs."""
    plain = _CURRENCY.sub("¤", text.translate(_PLAIN))
    return "".join("¤" if unicodedata.category(letter) == "Sc" else letter for letter in plain)


def _odd_figure(text: str) -> str:
    """Find the first fraction or superscript, "½" or "10³", but not those of units, "m²"."""
    before = ""
    for letter in text:
        if unicodedata.category(letter) not in ("No", "Nl"):
            before = before if letter in "⁺⁻" else letter
        elif not before.isalpha():
            return letter
    return ""


def _decimal(
    figure: str, decimal: str | None, grouping: str | None, power: int, text: str
) -> Decimal:
    mantissa, _, exponent = figure.lower().partition("e")
    mark = _decimal_mark(mantissa, decimal, grouping)
    whole, _, fraction = mantissa.partition(mark) if mark else (mantissa, "", "0")
    grouped = _GROUPED.fullmatch(whole)
    plain = not whole or _DIGITS.fullmatch(whole)
    if not (plain or grouped) or not _DIGITS.fullmatch(fraction):
        raise UnreadableError(
            f"parse_number: {shown(figure)} in {shown(text)} is not a well-formed number"
        )
    digits = "".join(filter(str.isdecimal, whole)) or "0"
    if len(exponent) > _MAX_EXPONENT_CHARS:
        raise UnreadableError(f"parse_number: {shown(figure)} is out of range for a float")
    return Decimal(f"{digits}.{fraction}E{int(exponent or 0) + power}")


def _decimal_mark(mantissa: str, decimal: str | None, grouping: str | None) -> str | None:
    """Return the decimal mark, `.` or `,`, or `None` if there is none."""
    marks = [letter for letter in mantissa if letter in ".,"]
    if not marks:
        return None
    if decimal is not None:
        return decimal if decimal in marks else None
    last = marks[-1]
    if len(marks) > 1:
        return last if marks[0] != last else None
    if _AMBIGUOUS.fullmatch(mantissa):
        if last == grouping:
            return None
        raise UnreadableError(
            f"parse_number: {shown(mantissa)} is ambiguous; set 'decimal' to '.' or ','"
        )
    return last


_Bound = Callable[[Any], Any]
_MAX_DIGITS = 1000
_SIGNS = frozenset("#&@%*/\\")
"""Punctuation that `strip_punctuation` keeps because it has a meaning: "C#" is not "C"."""
_NUMBER = re.compile(r"(?:(?<!\w)[-+\u2013]?[$€£¥]?[.,]?)?\d+(?:[^\w\s]\d+)*(?:\s?[%‰])?")
"""A number, including its punctuation."""


def _of_text(name: str, change: Callable[[str], str]) -> BuiltinTransform:
    def apply(value: Any) -> Any:
        if isinstance(value, str):
            return change(value)
        raise UnreadableError(
            f"{name} requires a string, not {shown(value)}; put "
            "{'type_convert': {'to': 'str'}} before it, or leave it out"
        )

    def bind(params: Mapping[str, Any]) -> _Bound:
        refuse_unknown(name, params)
        return apply

    return BuiltinTransform(name, bind)


_PLAIN_MARKS = str.maketrans(
    dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", "")
    | dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4`", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("\u00a0\u2009\u202f", " ")
)
"""Removes invisible characters and unifies single quotes, double quotes, dashes and spaces."""


def _without_accents(text: str) -> str:
    letters = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(c for c in letters if not unicodedata.combining(c)))


def _without_punctuation(text: str) -> str:
    if text.isalnum():
        return text
    kept, end = [], 0
    for number in _NUMBER.finditer(text):
        kept += [*filter(_is_kept, text[end : number.start()]), number[0]]
        end = number.end()
    return "".join((*kept, *filter(_is_kept, text[end:])))


def _is_kept(letter: str) -> bool:
    return letter in _SIGNS or unicodedata.category(letter)[0] != "P"


def _bind_round(params: Mapping[str, Any]) -> _Bound:
    """`digits`: number of decimals; -3 rounds to thousands. Rounds half to even."""
    refuse_unknown("round_digits", params, "digits")
    if "digits" not in params:
        raise ParameterError("round_digits requires 'digits', an integer such as 2 or -3")
    digits = _digits(params["digits"])

    def apply(value: Any) -> Any:
        if isinstance(value, (Real, Decimal)):
            return round(value, digits)
        raise UnreadableError(
            f"round_digits requires a number, not {shown(value)}; "
            "put {'type_convert': {'to': 'float'}} or 'parse_number' before it"
        )

    return apply


def _digits(value: Any) -> int:
    try:
        digits = int(value)
        is_integer = not isinstance(value, bool) and digits == float(value)
    except (TypeError, ValueError, OverflowError):
        digits, is_integer = 0, False
    if not is_integer or abs(digits) > _MAX_DIGITS:
        raise ParameterError(
            f"round_digits requires 'digits' to be an integer from {-_MAX_DIGITS} to "
            f"{_MAX_DIGITS}, not {shown(value)}"
        )
    return digits


def _bool(value: Any) -> bool:
    if isinstance(value, (bool, int)) and value in (0, 1):
        return bool(value)
    word = value.strip().casefold() if isinstance(value, str) else ""
    if word not in ("0", "1", "false", "true"):
        raise ValueError("expected true, false, 1 or 0")
    return word in ("1", "true")


_YES, _NO = ("1", "true", "yes", "y"), ("0", "false", "no", "n")


def read_bool(value: Any) -> bool:
    """Parse true, false, 1, 0, yes, no, y or n, in any case.

    Raises:
        UnreadableError: The value is another one.
    """
    word = value.strip().casefold() if isinstance(value, str) else str(value).lower()
    if word not in (*_YES, *_NO) or not isinstance(value, (str, int)):
        raise UnreadableError(f"parse_bool: {shown(value)} is neither true or yes nor false or no")
    return word in _YES


def _bind_bool(params: Mapping[str, Any]) -> _Bound:
    refuse_unknown("parse_bool", params)
    return read_bool


_CASTS: Mapping[str, Callable[[Any], Any]] = {"float": float, "int": int, "str": str, "bool": _bool}


def _bind_convert(params: Mapping[str, Any]) -> _Bound:
    """`to`: float, int, str or bool. Converts as Python does; bool takes true, false, 1, 0 only."""
    refuse_unknown("type_convert", params, "to")
    names = quoted(tuple(_CASTS))
    if "to" not in params:
        raise ParameterError(f"type_convert requires 'to', one of {names}")
    target = params["to"]
    if not isinstance(target, str) or target not in _CASTS:
        raise ParameterError(f"type_convert: 'to' must be one of {names}, not {shown(target)}")
    cast = _CASTS[target]

    def apply(value: Any) -> Any:
        try:
            return cast(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise UnreadableError(f"Cannot convert {shown(value)} to {target}: {error}") from error

    return apply


def _bind_parse(params: Mapping[str, Any]) -> _Bound:
    """`decimal`: decimal mark, `.` or `,`, for ambiguous strings such as "1,240".

    `grouping`: the mark that groups in such strings; others are read as without it.
    `percent`: `"fraction"` reads "12 %" as 0.12, `"number"` as 12.
    """
    refuse_unknown("parse_number", params, "decimal", "percent", "grouping")
    decimal, percent = params.get("decimal"), params.get("percent", "number")
    for name in ("decimal", "grouping"):
        if name in params and params[name] not in (".", ","):
            one = f"must be one of '.' and ',', not {params[name]!r}"
            raise ParameterError(f"parse_number: {name!r} {one}")
    if percent not in ("number", "fraction"):
        raise ParameterError(
            f"parse_number: 'percent' must be one of 'number' and 'fraction', not {percent!r}"
        )
    is_share, grouping = percent == "fraction", params.get("grouping")
    return partial(read_number, decimal=decimal, percent_is_fraction=is_share, grouping=grouping)


_OF_TEXT: Mapping[str, Callable[[str], str]] = {
    "lowercase": str.lower,
    "strip": str.strip,
    "normalize_whitespace": lambda text: " ".join(text.split()),
    "sort_tokens": lambda text: " ".join(sorted(text.split())),
    "casefold": str.casefold,
    "strip_accents": _without_accents,
    "plain_marks": lambda text: text.translate(_PLAIN_MARKS),
    "unicode_nfkc": lambda text: unicodedata.normalize("NFKC", text),
    "strip_punctuation": _without_punctuation,
}
TRANSFORMS: Mapping[str, BuiltinTransform] = MappingProxyType(
    {
        **{name: _of_text(name, change) for name, change in _OF_TEXT.items()},
        "round_digits": BuiltinTransform("round_digits", _bind_round),
        "type_convert": BuiltinTransform("type_convert", _bind_convert),
        "parse_number": BuiltinTransform("parse_number", _bind_parse),
        "parse_bool": BuiltinTransform("parse_bool", _bind_bool),
    }
)
"""Built-in transforms, by name."""
