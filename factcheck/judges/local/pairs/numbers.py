"""The number that starts at a token, exactly, with every way its separators may be read.

Words and magnitudes are read by `quantities`; what is added here is what only the comparison of
two values needs: both styles of separators, powers of ten, fractions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from factcheck.judges.local import lexicon
from factcheck.judges.local.quantities import plain_number, read_quantity
from factcheck.judges.local.tokens import Token


class Number(NamedTuple):
    """A number as it is written, and what it may mean."""

    values: tuple[Fraction, ...]
    """The likelier reading first."""
    n_tokens: int
    tail: str = ""
    """Letters stuck to the digits that do not belong to the number."""


_LONGEST = 30
"""Digits; what is longer is a code."""
_DECIMAL = re.compile(r"-?\d+(?:\.\d+)?")
_EXPONENT = re.compile(r"e(\d{1,2})")
_ORDINAL_TAILS = frozenset({"st", "nd", "rd", "th", "er", "e"})
_HALF = re.compile(r"\bhalf (?:an?\b|of an?\b)|\bhalb\w{1,2}\b", re.IGNORECASE)
_HOURS = re.compile(r"(?<![\d.,])(\d{1,2})\s?h\s?(\d{2})(?![\d.,]|\s*m)", re.IGNORECASE)
_VULGAR = re.compile(
    r"(?<![\d/.,])(?:(\d{1,6})\s+)?(\d{1,4})\s?[/\u2044]\s?(\d{1,4})(?![\d/\u2044])"
)
_SPACED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?: \d{3})+(?![\d ]*\d)")
_FEET = re.compile(r"(?<!\d)(\d{1,2})'\s?(\d{1,2})(?:\"|'')")
_MINUS = re.compile(r"\b(?:minus|negative)\s+(?=\d)", re.IGNORECASE)
_COMMON_MAGNITUDES = {"mio": 6, "mrd": 9, "million": 6, "billion": 9, "thousand": 3}
_SHORT_MAGNITUDES = {"k": 3, "t": 3, "m": 6, "bn": 9}
_MONEY = frozenset("$£€¥") | {"eur", "usd", "gbp", "chf"}
"""Before these, `5 M` is five million."""
_FIRST_CENTURY, _LAST_CENTURY, _FIRST_TEN = 13, 20, 10
_THOUSAND = 1000
_HUNDRED = 100


def spelled_out(text: str) -> str:
    """A value with fractions, halves, spaced thousands and feet as plain numbers."""
    text = _FEET.sub(r"\1 ft \2 in", _MINUS.sub("-", text))
    text = _HOURS.sub(r"\1 h \2 min", _HALF.sub("0.5", text))
    text = _VULGAR.sub(_as_decimal, text)
    spaced = _SPACED.search(text)
    if spaced and not any(c.isdigit() for c in text[: spaced.start()]):
        text = text[: spaced.start()] + spaced[0].replace(" ", "") + text[spaced.end() :]
    return text


def _as_decimal(match: re.Match[str]) -> str:
    """A proper fraction, alone or behind a whole number; what may be something else is kept."""
    whole, upper, lower = match[1] or "0", int(match[2]), int(match[3])
    if upper >= lower:
        return match[0]
    return f"{float(int(whole) + Fraction(upper, lower)):.10g}"


def read_number(
    tokens: Sequence[Token], at: int, language: str, text: str, *, is_money: bool = False
) -> Number | None:
    """The number that starts at a token, if one does; ordinals and codes are none.

    Args:
        tokens: Of `text`.
        at: Where to look.
        language: Decides number words and which separator is likelier.
        text: What the tokens come from.
        is_money: Whether a currency stands beside it: then a point may divide thousands.
    """
    token = tokens[at]
    if token.sort != "digits":
        return _spelled(tokens, at, language, text)
    if len(token.form) > _LONGEST or token.tail in _ORDINAL_TAILS:
        return None
    values = _readings(token.form, language, is_money=is_money)
    sign = -1 if token.signed else 1
    if not values:
        return None
    if token.tail:
        exponent = _EXPONENT.fullmatch(token.tail)
        scaled = None if exponent else _scaled(tokens, at, language, text)
        if scaled is not None:
            return Number((scaled,), 1)
        scale = Fraction(10) ** int(exponent[1]) if exponent else Fraction(1)
        return Number(tuple(sign * v * scale for v in values), 1, "" if exponent else token.tail)
    scale, used = _magnitude(tokens, at + 1, language)
    return Number(tuple(sign * value * scale for value in values), 1 + used)


def _scaled(tokens: Sequence[Token], at: int, language: str, text: str) -> Fraction | None:
    """`£3m`, `100k`: digits that the letters behind them multiply."""
    reading = read_quantity(tokens, at, language, text)
    if reading is None or len(reading.quantities) != 1:
        return None
    stem = reading.quantities[0].stem
    return Fraction(stem) if _DECIMAL.fullmatch(stem) else None


def _magnitude(tokens: Sequence[Token], at: int, language: str) -> tuple[Fraction, int]:
    """What the words behind a number multiply it by, and how many they are."""
    magnitudes = {**_COMMON_MAGNITUDES, **lexicon.MAGNITUDES.get(language, {})}
    token = tokens[at] if at < len(tokens) else None
    if token is not None and token.form in magnitudes:
        return Fraction(10) ** magnitudes[token.form], 1
    is_money = at + 1 < len(tokens) and tokens[at + 1].form in _MONEY
    if token is not None and is_money and token.form in _SHORT_MAGNITUDES:
        return Fraction(10) ** _SHORT_MAGNITUDES[token.form], 1
    return Fraction(1), 0


def _spelled(tokens: Sequence[Token], at: int, language: str, text: str) -> Number | None:
    """`forty-three`, `one thousand, nine hundred and twelve`, `three point five`."""
    total, used = Fraction(0), 0
    while at + used < len(tokens):
        start = at + used
        if used and tokens[start].form == "and":
            start += 1
        part = _words(tokens, start, language, text)
        if part is None or (used and not _continues(total, part.values[0])):
            break
        value = part.values[0]
        total = total * _HUNDRED + value if _is_year(total, value) else total + value
        used = start + part.n_tokens - at
    if not used:
        return None
    decimals = _spelled_decimals(tokens, at + used)
    if decimals:
        return Number((total + Fraction(f"0.{decimals}"),), used + 1 + len(decimals))
    return Number((total,), used)


def _continues(total: Fraction, part: Fraction) -> bool:
    """Whether a number word goes on from another: `one thousand`, `nine hundred`, `twelve`."""
    if _is_year(total, part):
        return True
    return (total % _THOUSAND == 0 and part < _THOUSAND) or (
        total % _HUNDRED == 0 and part < _HUNDRED
    )


def _is_year(century: Fraction, part: Fraction) -> bool:
    """`nineteen` `eighty-four`."""
    return _FIRST_CENTURY <= century <= _LAST_CENTURY and _FIRST_TEN <= part < _HUNDRED


def _words(tokens: Sequence[Token], at: int, language: str, text: str) -> Number | None:
    if at >= len(tokens) or tokens[at].sort != "word":
        return None
    if tokens[at].form == "zero":
        return Number((Fraction(0),), 1)
    reading = read_quantity(tokens, at, language, text)
    if reading is None or len(reading.quantities) != 1 or not reading.quantities[0].is_number:
        one = lexicon.CARDINALS["en"].get(tokens[at].form)
        return None if one is None else Number((Fraction(one),), 1)
    stem = reading.quantities[0].stem
    if len(stem) > _LONGEST or not _DECIMAL.fullmatch(stem):
        return None
    return Number((Fraction(stem),), reading.n_tokens)


def _spelled_decimals(tokens: Sequence[Token], at: int) -> str:
    """`five` in `three point five`, as digits."""
    if at >= len(tokens) or tokens[at].form != "point":
        return ""
    digits = ""
    for token in tokens[at + 1 :]:
        digit = str(lexicon.CARDINALS["en"].get(token.form, ""))
        if len(digit) != 1:
            break
        digits += digit
    return digits


@lru_cache(maxsize=4096)
def _readings(digits: str, language: str, *, is_money: bool) -> tuple[Fraction, ...]:
    """The numbers that digits with separators may stand for.

    A point before three digits divides thousands only in money and in languages that write so.
    """
    with_comma = language in lexicon.DECIMAL_COMMA
    readings: dict[Fraction, None] = {}
    for style in ("de", "en") if with_comma else ("en", "de"):
        number = plain_number(digits, style)
        if _DECIMAL.fullmatch(number) and (not readings or is_money or with_comma):
            readings[Fraction(number)] = None
    if digits.count(".") == 1 and "," not in digits and _DECIMAL.fullmatch(digits):
        readings[Fraction(digits)] = None
    return tuple(readings)
