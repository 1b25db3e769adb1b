"""Values that are dates or times and nothing else, in any notation, and periods between two.

Names of months and times of day are read by the text room. A date in digits whose order is unclear
has both readings; two of the same notation are read in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from factcheck.judges.local.pairs.model import (
    OTHER,
    SAME,
    SIMILAR,
    Finding,
    Relation,
    against,
    settle,
)
from factcheck.judges.ports import Specificity
from factcheck.text.dates import WEEKDAYS, month_of, read_moment
from factcheck.text.words import Word, word_set, words


class Moment(NamedTuple):
    """One reading of a date, a time, or both; what is not said is `None`."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    minute: int | None = None
    """Of the day."""
    second: int | None = None
    zone: int | None = None
    """Minutes ahead of UTC."""
    is_bc: bool = False
    is_half_known: bool = True
    """Whether it is clear which half of the day the time is in."""
    order: str = ""
    """Which of two possible orders of day and month was taken."""


PARTS = ("year", "month", "day", "minute", "second")
_LONGEST_VALUE = 80
_YEAR_FIRST = re.compile(r"(?<![\d.,])(\d{4})([-/.])(\d{1,2})(?:\2(\d{1,2}))?(?![\d.,/:]|-\d)")
_YEAR_LAST = re.compile(
    r"(?<![\d.,])(\d{1,2})(\.\s?|[/-])(\d{1,2})(?:\2(\d{4}|\d{2}))(?![\d/]|[.,:-]\d)"
)
_MONTH_YEAR = re.compile(r"(?<![\d.,/-])(\d{1,2})[./-](\d{4})(?![\d./-])")
_COMPACT = re.compile(r"\A((?:19|20)\d{2})(\d{2})(\d{2})\Z")
_CLOCK = re.compile(
    r"(?<![\d:.,])([01]?\d|2[0-4])[:h]([0-5]\d)(?::([0-5]\d)(?:[.,]\d+)?)?"
    r"(?:\s?([ap])\.?m\b\.?)?(?:\s?uhr\b)?(?![\d:])",
    re.IGNORECASE,
)
_ZONE = re.compile(
    r"(?<=[\d ])(?:z|utc|gmt)?\s?([+-])(\d{2}):?(\d{2})\Z|(?<=[\d ])(?:z|utc|gmt)\Z", re.IGNORECASE
)
_SECONDS = re.compile(r"\d:\d\d:\d\d")
_JOINED = re.compile(r"(?<=\d)T(?=\d)")
_STUCK_MONTH = re.compile(r"(?<=\d)-(?=[^\W\d_])|(?<=[^\W\d_])-(?=\d)")
_SHORT_YEAR = re.compile(r"'(\d{2})\b")
_BC = re.compile(r"\b(?:bce?|v\.?\s?chr)\b\.?|\bav\.?\s?j\.?-?\s?c\b\.?", re.IGNORECASE)
_AD = re.compile(r"\b(?:ad|ce|n\.?\s?chr)\b\.?", re.IGNORECASE)
_RANGE = re.compile(
    r"\s+(?:to|until|till|bis|through|au|al|hasta)\s+|\s+-\s+|(?<=:\d\d)-(?=\d{1,2}:)"
    r"|(?<=\.\d{4})-(?=\d{1,2}\.)|(?<=\d{4})-(?=[^\W\d])"
)
_DAY_MONTH_YEAR = re.compile(r"\A(\d{1,2})[-\s]([^\W\d_]{3,})\.?[-\s](\d{2})\Z")
_DAY_RANGE = re.compile(r"\A(\d{1,2})\.?\s?-\s?(\d{1,2}[^\d-].*)\Z")
_FILLERS = word_set(
    """
    of the de del der den dem am on at um in im le la el les a year y and und et date dated since
    uhr h oclock clock o from von du vom mon tue tues wed thu thur thurs fri sat sun mo di mi do fr
    sa so
    """
)
"""Words that say nothing about a time, or only the day of the week."""
_TIMES = {"noon": 720, "midday": 720, "midnight": 0, "mittag": 720, "mitternacht": 0}
_ORDINAL_TAILS = frozenset({"st", "nd", "rd", "th", "er"})
_LONGEST_YEAR = 4
_MAX_MONTH = 12
_MAX_DAY = 31
_LATEST_YEAR = 2999
_EARLIEST_YEAR = 1000
_LATEST_SHORT_YEAR = 50
_NOON = 12
_NAMES = {"minute": "time", "second": "seconds"}
_HALF_DAY = 720


@lru_cache(maxsize=8192)
def read_moments(text: str) -> tuple[tuple[Moment, ...], ...]:
    """The moments a tidy text names, each with its readings: one, two for a period, or none."""
    if len(text) > _LONGEST_VALUE or not any(c.isalnum() for c in text):
        return ()
    readings = tuple(_readings(text))
    if readings:
        return (readings,)
    parts = _RANGE.split(text)
    days = _DAY_RANGE.match(text)
    if len(parts) == 2:  # noqa: PLR2004 - from, to
        first, last = tuple(_readings(parts[0])), tuple(_readings(parts[1]))
        first = first or _bare_day(parts[0])
    elif days:
        first, last = _bare_day(days[1]), tuple(_readings(days[2]))
    else:
        return ()
    return (_completed(first, last), last) if first and last else ()


def _bare_day(text: str) -> tuple[Moment, ...]:
    digits = text.strip(". ")
    return (Moment(day=int(digits)),) if re.fullmatch(r"\d{1,2}", digits) else ()


def _completed(first: Sequence[Moment], last: Sequence[Moment]) -> tuple[Moment, ...]:
    """`3-5 May 2021`: what only the end of a period says is meant for its beginning."""
    end = last[0]
    return tuple(
        moment._replace(
            year=end.year if moment.year is None else moment.year,
            month=end.month if moment.month is None and moment.day else moment.month,
        )
        for moment in first
    )


def _readings(text: str) -> Iterator[Moment]:
    rest, base = _without_marks(_DAY_MONTH_YEAR.sub(r"\1 \2 '\3", text))
    rest, clock = _cut(_CLOCK, rest)
    rest, stated = _in_digits(rest)
    named = _named(rest, has_era=base.is_bc)
    if clock is not None:
        named = _merge(named, Moment(**_time(clock)))
    if named is None:
        return
    for date in stated or [Moment()]:
        merged = _merge(_merge(base, date), named)
        if merged is not None and any(part is not None for part in merged[:4]):
            yield merged


def _without_marks(text: str) -> tuple[str, Moment]:
    """A text without era and time zone, and what these say."""
    is_stamp = bool(_JOINED.search(text) or _SECONDS.search(text))
    text, bc = _cut(_BC, _JOINED.sub(" ", text))
    text, _ = _cut(_AD, text)
    text, zone = _cut(_ZONE, text) if is_stamp else (text, None)
    minutes = None
    if zone is not None:
        hours, rest = int(zone[2] or 0), int(zone[3] or 0)
        minutes = (hours * 60 + rest) * (-1 if zone[1] == "-" else 1)
    return text, Moment(zone=minutes, is_bc=bc is not None)


def _cut(pattern: re.Pattern[str], text: str) -> tuple[str, re.Match[str] | None]:
    """A text without the first match of a pattern, and the match."""
    found = pattern.search(text)
    if found is None:
        return text, None
    return f"{text[: found.start()]} {text[found.end() :]}", found


def _time(clock: re.Match[str]) -> dict[str, Any]:
    hour, minute, second = int(clock[1]), int(clock[2]), int(clock[3] or 0)
    if clock[4]:
        hour = hour % _NOON + (_NOON if clock[4] in "pP" else 0)
    if clock[3] and not hour and not minute and not second:
        return {}  # midnight to the second: a date that was given a time
    is_known = bool(clock[4]) or not 1 <= hour < _NOON or clock[1].startswith("0")
    return {"minute": hour * 60 + minute, "second": second or None, "is_half_known": is_known}


def _in_digits(text: str) -> tuple[str, list[Moment]]:
    """The readings of a date in digits, and the text without it."""
    rest, found = _cut(_YEAR_FIRST, text)
    if found is not None:
        return rest, _valid(
            Moment(int(found[1]), int(found[3]), int(found[4]) if found[4] else None)
        )
    rest, found = _cut(_YEAR_LAST, text)
    if found is not None:
        one, other = int(found[1]), int(found[3])
        is_dotted = found[2].startswith(".")
        is_clear = is_dotted or one == other or max(one, other) > _MAX_MONTH
        dates = []
        for year in _years(found[4]):
            dates += _valid(Moment(year, other, one, order="" if is_clear else "day first"))
            if not is_dotted and one != other:
                dates += _valid(Moment(year, one, other, order="" if is_clear else "month first"))
        return rest, dates
    rest, found = _cut(_MONTH_YEAR, text)
    if found is not None:
        return rest, _valid(Moment(int(found[2]), int(found[1])))
    compact = _COMPACT.match(text.strip())
    if compact:
        return "", _valid(Moment(int(compact[1]), int(compact[2]), int(compact[3])))
    return text, []


def _years(digits: str) -> tuple[int, ...]:
    return (int(digits),) if len(digits) > 2 else (2000 + int(digits), 1900 + int(digits))  # noqa: PLR2004 - '21


def _pivoted(digits: str) -> int:
    """The year a short one most likely is."""
    return int(digits) + (2000 if int(digits) <= _LATEST_SHORT_YEAR else 1900)


def _valid(moment: Moment) -> list[Moment]:
    month_fits = moment.month is None or 1 <= moment.month <= _MAX_MONTH
    day_fits = moment.day is None or 1 <= moment.day <= _MAX_DAY
    return [moment] if month_fits and day_fits else []


def _named(text: str, *, has_era: bool) -> Moment | None:
    """What words and single numbers say; `None` if one of them is no part of a date or time."""
    short = _SHORT_YEAR.search(text)
    text = _STUCK_MONTH.sub(" ", _SHORT_YEAR.sub(" ", text))
    found = words(text)
    has_month = any(month_of(word.form) for word in found)
    moment: Moment | None = Moment(year=_pivoted(short[1]) if short else None)
    at = 0
    while at < len(found) and moment is not None:
        part, used = _part(found, at, text, has_month=has_month, has_era=has_era)
        moment = None if part is None else _merge(moment, part)
        at += used
    return moment


def _part(
    found: Sequence[Word], at: int, text: str, *, has_month: bool, has_era: bool
) -> tuple[Moment | None, int]:
    """What one word says, or several that are a time of day, and how many these are."""
    form = found[at].form
    if found[at].kind != "number":
        if form in _FILLERS or form in WEEKDAYS:
            return Moment(), 1
        said = Moment(month=month_of(form) or None, minute=_TIMES.get(form))
        return (said if said != Moment() else None), 1
    clock = read_moment(found, at, text)
    if clock is not None and clock.minute is not None and clock.half_known:
        return Moment(minute=clock.minute), clock.last - at
    tail = found[at + 1] if at + 1 < len(found) and found[at + 1].start == found[at].end else None
    used = 1 if tail is None else 2
    number = int(form) if form.isdigit() and len(form) <= _LONGEST_YEAR else 0
    if has_month and 1 <= number <= _MAX_DAY and (tail is None or tail.form in _ORDINAL_TAILS):
        return Moment(day=number), used
    is_year = tail is None and (
        _EARLIEST_YEAR <= number <= _LATEST_YEAR or (has_era and 0 < number < _EARLIEST_YEAR)
    )
    return (Moment(year=number) if is_year else None), used


def _merge(first: Moment | None, second: Moment | None) -> Moment | None:
    """Both together, or `None` if they say one part twice."""
    if first is None or second is None:
        return None
    merged = {}
    for name in (*PARTS, "zone"):
        one, other = getattr(first, name), getattr(second, name)
        if one is not None and other is not None:
            return None
        merged[name] = other if one is None else one
    return Moment(
        **merged,
        is_bc=first.is_bc or second.is_bc,
        is_half_known=first.is_half_known and second.is_half_known,
        order=first.order or second.order,
    )


def compare_moments(first: str, second: str, specificity: Specificity) -> Finding | None:
    """Whether two tidy texts name the same time; `None` if they are not both dates or times."""
    ones, others = read_moments(first), read_moments(second)
    if not ones or len(ones) != len(others) or not (_is_date(ones) or _is_date(others)):
        return None
    relations = [_best(one, other) for one, other in zip(ones, others, strict=True)]
    if "other" in relations:
        if all(_is_later_half(one[0], other[0]) for one, other in zip(ones, others, strict=True)):
            return Finding(SIMILAR, "same time, if the same half of the day is meant")
        return Finding(OTHER, against(first, second))
    kind = "time" if all(m.year is m.month is m.day is None for m in ones[0]) else "date"
    unequal = {relation for relation in relations if relation != "same"}
    if not unequal:
        return Finding(SAME, f"same {kind}")
    if len(unequal) > 1:
        return settle("other", specificity, against(first, second))
    relation = unequal.pop()
    full, less, side = (others, ones, "extracted") if relation == "more" else (ones, others, "gold")
    lacking = _lacking(full[-1][0], less[-1][0])
    return settle(relation, specificity, f"only {side} has the {lacking}")


def _is_later_half(one: Moment, other: Moment) -> bool:
    """Whether a time that may be in either half of the day is the other one in the afternoon."""
    if one.minute is None or other.minute is None or one.is_half_known is other.is_half_known:
        return False
    early, late = (other, one) if one.is_half_known else (one, other)
    moved = early._replace(minute=(early.minute or 0) + _HALF_DAY, is_half_known=True)
    return moved == late


def _is_date(moments: Sequence[Sequence[Moment]]) -> bool:
    """Whether more than a lone year is named, which is any number."""
    return any(m.month or m.minute is not None or m.is_bc for readings in moments for m in readings)


def _best(ones: Sequence[Moment], others: Sequence[Moment]) -> Relation:
    """The closest relation between two readings in the same order of day and month."""
    found = {
        _relation(_in_utc(one, other), _in_utc(other, one))
        for one in ones
        for other in others
        if not one.order or not other.order or one.order == other.order
    }
    order: tuple[Relation, ...] = ("same", "more", "less")
    return next((relation for relation in order if relation in found), "other")


def _in_utc(moment: Moment, other: Moment) -> Moment:
    """The same moment in UTC, if both have a time zone."""
    if moment.zone is None or other.zone is None or moment.minute is None:
        return moment
    try:
        day = datetime(moment.year or 2000, moment.month or 1, moment.day or 1)  # noqa: DTZ001 - in its own zone
        shifted = day + timedelta(minutes=moment.minute - moment.zone)
    except (ValueError, OverflowError):
        return moment
    minute = shifted.hour * 60 + shifted.minute
    if moment.day is None:
        return moment._replace(minute=minute)
    return moment._replace(year=shifted.year, month=shifted.month, day=shifted.day, minute=minute)


def _relation(one: Moment, other: Moment) -> Relation:
    if one.is_bc != other.is_bc:
        return "other"
    more = less = False
    shared = 0
    for name in PARTS:
        a, b = getattr(one, name), getattr(other, name)
        if a is not None and b is not None and a != b:
            return "other"
        shared += a is not None and b is not None
        more |= a is None and b is not None
        less |= b is None and a is not None
    if not shared or (more and less):
        return "other"
    return "more" if more else "less" if less else "same"


def _lacking(fuller: Moment, lesser: Moment) -> str:
    names = [
        _NAMES.get(name, name)
        for name in PARTS
        if getattr(fuller, name) is not None and getattr(lesser, name) is None
    ]
    return " and the ".join(names)
