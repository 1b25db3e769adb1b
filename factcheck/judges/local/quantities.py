"""Numbers and units brought to one spelling: `1.5 million`, `£3m`, `twenty-one`.

English is read fully. German, French and Spanish have decimal commas and simple number words;
other languages have digits. Dates and times of day are the business of `dates`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from factcheck.judges.local import lexicon
from factcheck.judges.local.tokens import Token


class Quantity(NamedTuple):
    """Tokens read as one number, unit or part of a date."""

    stem: str
    start: int
    end: int
    is_number: bool
    """Whether a different value would be a different fact; false for units."""


class Reading(NamedTuple):
    """What some tokens mean and how many there are of them."""

    quantities: tuple[Quantity, ...]
    n_tokens: int


_GROUPED = {
    "point": re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?"),
    "comma": re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?"),
}
_ROUND = re.compile(r"[1-9]\d{0,2}[.,]\d\d0")
"""Three digits of which the last is 0 are a group in any style: nobody writes 1.500 for 1.5."""
_THREE_DECIMALS = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_GROUPED_WHOLE = re.compile(r"[1-9]\d{3,5}")
_SPACED = re.compile(r"\d{1,3}(?:['\u00a0\u202f\u2009]\d{3})+(?:[.,]\d+)?")
_PLAIN = re.compile(r"\d+(?:[.,]\d+)?")
_SUFFIXES = {"k": 3, "bn": 9, "mn": 6, "mln": 6, "tn": 12, "b": 9, "m": 6}
_LETTERS = "".join(chr(c) for c in range(0x41, 0x7B))
_HUNDRED = 100
_UNITS_ONLY_STUCK = frozenset({"g", "min", "sec"})
"""Short units that are other words when they stand alone."""


def plain_number(digits: str, language: str) -> str:
    """`1,200.50` as `1200.5`; in languages with a decimal comma, `1.200,50` as well."""
    style = "comma" if language in lexicon.DECIMAL_COMMA else "point"
    if _SPACED.fullmatch(digits):
        digits = re.sub("['\u00a0\u202f\u2009]", "", digits).replace(",", ".")
    elif _GROUPED[style].fullmatch(digits):
        point, group = (",", ".") if style == "comma" else (".", ",")
        digits = digits.replace(group, "").replace(point, ".")
    elif _ROUND.fullmatch(digits):
        digits = digits.replace(".", "").replace(",", "")
    elif _PLAIN.fullmatch(digits):
        digits = digits.replace(",", ".")
    else:
        return digits
    whole, _, fraction = digits.partition(".")
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


def scaled(number: str, exponent: int) -> str:
    """A plain number times a power of ten, exactly."""
    whole, _, fraction = number.partition(".")
    fraction = fraction.ljust(exponent, "0")
    whole, fraction = whole + fraction[:exponent], fraction[exponent:].rstrip("0")
    whole = whole.lstrip("0") or "0"
    return f"{whole}.{fraction}" if fraction else whole


def other_readings(stem: str) -> tuple[str, ...]:
    """What else may be meant by a number: `third` by `3`, `2:30 pm` by `2:30`, 12,345 by 12.345."""
    kind, _, rest = stem.rpartition(":")
    if kind == "ord":
        return (rest,)
    if kind.startswith("clock:"):
        hour = int(kind.removeprefix("clock:"))
        return (f"time:{hour}:{rest}", f"time:{(hour + 12) % 24}:{rest}")
    if kind.startswith("time:"):
        return (f"clock:{(int(kind.removeprefix('time:')) - 1) % 12 + 1}:{rest}",)
    grouped = scaled(stem, 3) if _THREE_DECIMALS.fullmatch(stem) else ""
    pointed = f"{stem[:-3]}.{stem[-3:]}" if _GROUPED_WHOLE.fullmatch(stem) else ""
    return tuple(reading for reading in (f"ord:{stem}", grouped, pointed) if reading)


def read_quantity(tokens: Sequence[Token], at: int, language: str, text: str) -> Reading | None:
    """The number or unit that starts at a token, if one does."""
    for read in _READERS:
        reading = read(tokens, at, language, text)
        if reading is not None:
            return reading
    return None


def _digits(tokens: Sequence[Token], at: int, language: str, text: str) -> Reading | None:
    """`1,200`, `1.5 million`, `£3m`, `12km`, `3rd`, `1990s`, `747b`."""
    token = tokens[at]
    if token.sort != "digits":
        return None
    number, tail = plain_number(token.form, language), token.tail
    sign = "-" if token.signed else ""
    if tail in {"st", "nd", "rd", "th"}:
        return _number(f"ord:{number}", tokens, at)
    if tail in _SUFFIXES and _is_magnitude(tokens, at, text):
        return _number(sign + scaled(number, _SUFFIXES[tail]), tokens, at)
    unit = lexicon.UNITS.get(tail) or ("metre" if tail == "m" else None)
    if unit:
        cut = token.start + len(text[token.start : token.end].rstrip(_LETTERS))
        value = Quantity(sign + number, token.start, cut, is_number=True)
        return Reading((value, Quantity(unit, cut, token.end, is_number=False)), 1)
    if tail:
        return _number(number + tail, tokens, at)
    number, used = _magnified(number, tokens, at + 1, language)
    return _number(sign + number, tokens, at, 1 + used)


def _spelled(tokens: Sequence[Token], at: int, language: str, _text: str) -> Reading | None:
    """`twelve`, `twenty-one`, `two hundred and fifty thousand`, `a million`."""
    form = tokens[at].form
    following = tokens[at + 1].form if at + 1 < len(tokens) else ""
    if form in lexicon.ONES:
        if form == "a" and following == "dozen":
            return _number("12", tokens, at, 2)
        number, used = _magnified("1", tokens, at + 1, language)
        return _number(number, tokens, at, 1 + used) if used else None
    if form in lexicon.CARDINALS.get(language, {}):
        if language == "en":
            return _english_compound(tokens, at)
        number = str(lexicon.CARDINALS[language][form])
        number, used = _magnified(number, tokens, at + 1, language)
        return _number(number, tokens, at, 1 + used)
    return None


def _named(tokens: Sequence[Token], at: int, language: str, _text: str) -> Reading | None:
    """`third`, `nineties`."""
    form = tokens[at].form
    if language == "en" and form in lexicon.ORDINALS:
        return _number(f"ord:{lexicon.ORDINALS[form]}", tokens, at)
    if language == "en" and form in lexicon.DECADES:
        return _number(lexicon.DECADES[form], tokens, at)
    return None


def _english_compound(tokens: Sequence[Token], at: int) -> Reading:
    cardinals, magnitudes = lexicon.CARDINALS["en"], lexicon.MAGNITUDES["en"]
    total, group, used = 0, cardinals[tokens[at].form], 1
    while at + used < len(tokens):
        form = tokens[at + used].form
        if form in magnitudes and group:
            if form == "hundred" and group >= _HUNDRED:
                break
            if form == "hundred":
                group *= _HUNDRED
            else:
                total, group = total + group * 10 ** magnitudes[form], 0
        elif form == "dozen" and 0 < group < _HUNDRED:
            group *= 12
        elif form in cardinals and _continues(group, cardinals[form], total):
            group += cardinals[form]
        elif not (form == "and" and group % 100 == 0 and _is_cardinal(tokens, at + used + 1)):
            break
        used += 1
    return _number(str(total + group), tokens, at, used)


def _continues(group: int, value: int, total: int) -> bool:
    """Whether a number word goes on: `twenty` `one`, `hundred` `five`, `thousand` `two`."""
    if group == 0:
        return total > 0
    return group % 100 == 0 or (value < 10 and group % 10 == 0 and group % 100 >= 20)  # noqa: PLR2004 - digits and tens


def _is_cardinal(tokens: Sequence[Token], at: int) -> bool:
    return at < len(tokens) and tokens[at].form in lexicon.CARDINALS["en"]


def _magnified(number: str, tokens: Sequence[Token], at: int, language: str) -> tuple[str, int]:
    """The number times the magnitudes that follow it, and how many those are."""
    magnitudes = lexicon.MAGNITUDES.get(language, {})
    used = 0
    while at + used < len(tokens) and tokens[at + used].form in magnitudes:
        number = scaled(number, magnitudes[tokens[at + used].form])
        used += 1
    return number, used


def _is_magnitude(tokens: Sequence[Token], at: int, text: str) -> bool:
    """Whether letters stuck to a number multiply it: `£3m` and `3m people`, but not `3m high`."""
    if tokens[at].tail not in {"m", "b"}:
        return True
    if at and tokens[at - 1].form in lexicon.CURRENCIES and tokens[at - 1].end == tokens[at].start:
        return True
    if tokens[at].tail == "b" or at + 1 >= len(tokens):
        return False
    between = text[tokens[at].end : tokens[at + 1].start]
    return between == " " and tokens[at + 1].form not in lexicon.LENGTH_HEADS


def _unit(tokens: Sequence[Token], at: int, _language: str, _text: str) -> Reading | None:
    token = tokens[at]
    if token.form == "per" and at + 1 < len(tokens) and tokens[at + 1].form == "cent":
        return Reading((Quantity("percent", token.start, tokens[at + 1].end, is_number=False),), 2)
    stem = lexicon.UNITS.get(token.form)
    if token.form == "m" and at > 0 and tokens[at - 1].form[-1:].isdigit():
        stem = "metre"
    if stem is None or token.form in _UNITS_ONLY_STUCK:
        return None
    return Reading((Quantity(stem, token.start, token.end, is_number=False),), 1)


def _number(stem: str, tokens: Sequence[Token], at: int, n_tokens: int = 1) -> Reading:
    end = tokens[at + n_tokens - 1].end
    return Reading((Quantity(stem, tokens[at].start, end, is_number=True),), n_tokens)


_READERS: tuple[Callable[[Sequence[Token], int, str, str], Reading | None], ...] = (
    _digits,
    _spelled,
    _named,
    _unit,
)
