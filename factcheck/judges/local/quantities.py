"""Numbers, units and dates brought to one spelling: `1.5 million`, `£3m`, `May 3, 2021`.

English is read fully. German, French and Spanish have decimal commas, months and simple number
words; other languages have digits.
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
_SPACED = re.compile(r"\d{1,3}(?:['\u00a0\u202f\u2009]\d{3})+(?:[.,]\d+)?")
_PLAIN = re.compile(r"\d+(?:[.,]\d+)?")
_SUFFIXES = {"k": 3, "bn": 9, "mn": 6, "mln": 6, "tn": 12, "b": 9, "m": 6}
_MAX_DAY = 31
_LETTERS = "".join(chr(c) for c in range(0x41, 0x7B))
_UNITS_ONLY_STUCK = frozenset({"am", "g", "min", "sec"})
"""Short units that are other words when they stand alone."""
_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")


def plain_number(digits: str, language: str) -> str:
    """`1,200.50` as `1200.5`; in languages with a decimal comma, `1.200,50` as well."""
    style = "comma" if language in lexicon.DECIMAL_COMMA else "point"
    if _SPACED.fullmatch(digits):
        digits = re.sub("['\u00a0\u202f\u2009]", "", digits).replace(",", ".")
    elif _GROUPED[style].fullmatch(digits):
        point, group = (",", ".") if style == "comma" else (".", ",")
        digits = digits.replace(group, "").replace(point, ".")
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


def read_quantity(tokens: Sequence[Token], at: int, language: str, text: str) -> Reading | None:
    """The number, unit or date that starts at a token, if one does."""
    token = tokens[at]
    if token.sort != "digits" and token.form not in lexicon.quantity_openers(language):
        return None
    for read in _READERS:
        reading = read(tokens, at, language, text)
        if reading is not None:
            return reading
    return None


def _iso_date(tokens: Sequence[Token], at: int, _language: str, text: str) -> Reading | None:
    """`2021-05-03`."""
    parts = tokens[at : at + 3]
    if len(parts) != 3 or any(part.sort != "digits" or part.tail for part in parts):  # noqa: PLR2004 - y, m, d
        return None
    whole = text[parts[0].start : parts[2].end]
    if not re.fullmatch(r"\d{4}-\d{1,2}-\d{1,2}", whole):
        return None
    year, month, day = parts
    if not (1 <= int(month.form) <= len(lexicon.MONTHS["en"]) and 1 <= int(day.form) <= _MAX_DAY):
        return None
    return Reading(
        (
            Quantity(plain_number(year.form, "en"), year.start, year.end, is_number=True),
            Quantity(f"month:{int(month.form)}", month.start, month.end, is_number=True),
            Quantity(f"day:{int(day.form)}", day.start, day.end, is_number=True),
        ),
        3,
    )


def _day_and_month(tokens: Sequence[Token], at: int, language: str, text: str) -> Reading | None:
    """`3 May`, `May 3rd`, `3rd of May`, `3. Mai`, `3 de mayo`."""
    day = _day(tokens[at])
    if day is not None:
        following = at + 1
        if following < len(tokens) and tokens[following].form in {"of", "de"}:
            following += 1
        if following >= len(tokens) or not _near(tokens[following - 1], tokens[following], text):
            return None
        month = _month(tokens[following].form, language, beside_number=True)
        if month is None:
            return None
        pair = (_day_quantity(tokens[at], day), _month_quantity(tokens[following], month))
        return Reading(pair, following + 1 - at)
    month = _month(tokens[at].form, language, beside_number=True)
    if month is None or at + 1 >= len(tokens) or not _near(tokens[at], tokens[at + 1], text):
        return None
    here = _month_quantity(tokens[at], month)
    day = _day(tokens[at + 1])
    if day is not None:
        return Reading((here, _day_quantity(tokens[at + 1], day)), 2)
    return Reading((here,), 1) if _YEAR.fullmatch(tokens[at + 1].form) else None


def _lone_month(tokens: Sequence[Token], at: int, language: str, text: str) -> Reading | None:
    token = tokens[at]
    month = _month(token.form, language, beside_number=False)
    led = at > 0 and tokens[at - 1].form in lexicon.MONTH_LEADS
    if month is None and led and text[token.start].isupper():
        month = _month(token.form, language, beside_number=True)
    return None if month is None else Reading((_month_quantity(token, month),), 1)


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
            if form == "hundred":
                group *= 100
            else:
                total, group = total + group * 10 ** magnitudes[form], 0
        elif form == "dozen" and group:
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
    if stem is None or token.form in _UNITS_ONLY_STUCK:
        return None
    return Reading((Quantity(stem, token.start, token.end, is_number=False),), 1)


def _number(stem: str, tokens: Sequence[Token], at: int, n_tokens: int = 1) -> Reading:
    end = tokens[at + n_tokens - 1].end
    return Reading((Quantity(stem, tokens[at].start, end, is_number=True),), n_tokens)


def _month(form: str, language: str, *, beside_number: bool) -> int | None:
    """The number of a month, by its name in this language."""
    if form in lexicon.AMBIGUOUS_MONTHS and not beside_number:
        return None
    names = lexicon.MONTHS.get(language, lexicon.MONTHS["en"])
    if form in names:
        return names.index(form) + 1
    return lexicon.SHORT_MONTHS.get(form) if beside_number and language == "en" else None


def _month_quantity(token: Token, month: int) -> Quantity:
    return Quantity(f"month:{month}", token.start, token.end, is_number=True)


def _day(token: Token) -> int | None:
    """The day of a month that a token may be."""
    if token.sort != "digits" or token.tail not in {"", "st", "nd", "rd", "th"}:
        return None
    if not token.form.isascii() or not token.form.isdigit() or len(token.form) > 2:  # noqa: PLR2004 - two digits
        return None
    return int(token.form) if 1 <= int(token.form) <= _MAX_DAY else None


def _day_quantity(token: Token, day: int) -> Quantity:
    return Quantity(f"day:{day}", token.start, token.end, is_number=True)


def _near(first: Token, second: Token, text: str) -> bool:
    """Whether nothing but a space or a full stop (`3. Mai`, `Jan. 3`) stands between two tokens."""
    return text[first.end : second.start].strip() in {"", "."}


_READERS: tuple[Callable[[Sequence[Token], int, str, str], Reading | None], ...] = (
    _iso_date,
    _day_and_month,
    _lone_month,
    _digits,
    _spelled,
    _named,
    _unit,
)
