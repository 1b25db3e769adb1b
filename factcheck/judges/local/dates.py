"""Dates and times of day brought to one spelling: `May 3, 2021`, `2021-05-03`, `2:30 pm`.

Each part of a date is a number of its own, so that `May 2021` is found in `3 May 2021`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from factcheck.judges.local import lexicon
from factcheck.judges.local.quantities import Quantity, Reading, plain_number
from factcheck.judges.local.tokens import Token

_MAX_DAY = 31
_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
_CLOCK = re.compile(
    r"(?<![:.])(?P<hour>2[0-3]|[01]?\d)(?:(?P<mark>[:.])(?P<minute>[0-5]\d))?"
    r"(?![\d:.,]\d|-\d)"
    r"(?:[ \u00a0\u202f]?(?P<half>[ap])(?:m\b|\.[ \u00a0]?m\b)|[ \u00a0\u202f](?P<uhr>uhr)\b)?",
    re.IGNORECASE,
)
_NOON = 12


def read_date(tokens: Sequence[Token], at: int, language: str, text: str) -> Reading | None:
    """The date, part of a date, or time of day that starts at a token, if one does."""
    for read in _READERS:
        reading = read(tokens, at, language, text)
        if reading is not None:
            return reading
    return None


def _clock(tokens: Sequence[Token], at: int, _language: str, text: str) -> Reading | None:
    """`14:30`, `2:30 pm`, `5 p.m.`, `14.30 Uhr`; `2:30` alone may be either half of the day."""
    token = tokens[at]
    found = _CLOCK.match(text, token.start) if token.sort == "digits" else None
    if found is None or found.end() < token.end:
        return None
    said_half = found["half"] or found["uhr"]
    if not said_half and found["mark"] != ":":
        return None
    hour, minute = int(found["hour"]), found["minute"] or "00"
    ambiguous = not said_half and 1 <= hour <= _NOON and not found["hour"].startswith("0")
    if found["half"] and hour <= _NOON:
        hour = hour % _NOON + (_NOON if found["half"] in "pP" else 0)
    n_tokens = 1
    while at + n_tokens < len(tokens) and tokens[at + n_tokens].start < found.end():
        n_tokens += 1
    stem = f"{'clock' if ambiguous else 'time'}:{hour}:{minute}"
    end = tokens[at + n_tokens - 1].end
    return Reading((Quantity(stem, token.start, end, is_number=True),), n_tokens)


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
    _clock,
    _day_and_month,
    _lone_month,
)
