"""Values that are dates or times and nothing else, in any notation, and periods between two.

A date in digits whose order is unclear has both readings; two of the same notation are read in the
same order.
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
from factcheck.judges.local.pairs.normal import fold
from factcheck.judges.ports import Specificity
from factcheck.text.dates import WEEKDAYS, month_of
from factcheck.text.words import word_set


class Moment(NamedTuple):
    """One reading of a date, a time, or both; what is not said is `None`."""

    year: int | None = None
    """Negative before Christ."""
    month: int | None = None
    day: int | None = None
    minute: float | None = None
    """Of the day."""
    zone: int | None = None
    """Minutes ahead of UTC."""
    is_half_known: bool = True
    """Whether it is clear which half of the day the time is in."""
    order: str = ""
    """Which of two possible orders of day and month was taken."""


_PARTS = ("year", "month", "day", "time")
_LONGEST_VALUE = 80
_CLOCK = re.compile(
    r"(?<![\d:.,/-])(?P<hour>[01]?\d|2[0-4])(?:"
    r"[:h](?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:[.,]\d+)?)?(?:\s?(?P<half>[ap])\.?m\b\.?)?"
    r"(?:\s?uhr\b)?|(?:[.](?P<dotted>[0-5]\d))?\s?(?:(?P<part>[ap])\.?m\b\.?|uhr\b))"
    r"(?P<zone>\s?(?:z|utc|gmt)\b|(?(second)(?P<sign>[+-])(?P<ahead>\d{2}):?(?P<rest>\d{2})|(?!)))?"
    r"(?![\d:])"
)
_IN_DIGITS = tuple(
    re.compile(rf"(?<![\d.,/-]){pattern}(?![\d/]|[.,:-]\d)")
    for pattern in (
        r"(?P<year>\d{4})([-/.])(?P<month>\d{1,2})(?:\2(?P<day>\d{1,2}))?",
        r"(?P<one>\d{1,2})(?P<mark>\.\s?|[/-])(?P<two>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})",
        r"(?P<month>\d{1,2})[./-](?P<year>\d{4})",
        r"(?P<year>(?:19|20)\d{2})(?P<month>\d{2})(?P<day>\d{2})",
    )
)
_BC = re.compile(r"\b(?:bce?|v\.?\s?chr|av\.?\s?j\.?-?\s?c)\b\.?")
_RANGE = re.compile(
    r"\s+(?:to|until|till|bis|through|au|al|hasta)\s+|\s+-\s+|(?<=:\d\d)-(?=\d{1,2}:)"
    r"|(?<=\.\d{4})-(?=\d{1,2}\.)|(?<=\d{4})-(?=[^\W\d])|\A(?<!\d)(?=\Z)"
)
_DAYS = re.compile(r"\A(\d{1,2})\.?\s?-\s?(\d{1,2}[^\d-].*)\Z")
_FILLERS = word_set(
    "of the de del der den dem am on at um in im le la el les a year y and und et date dated since"
    " uhr h oclock clock o from von du vom mon tue tues wed thu thur thurs fri sat sun mo di mi do"
    " fr sa so"
)
"""Words that say nothing about a time, or only the day of the week."""
_TIMES = {"noon": 720, "midday": 720, "midnight": 0, "mittag": 720, "mitternacht": 0}
_TOKEN = re.compile(r"'?\d+|[^\W\d_]+")
_ORDINAL_TAILS = word_set("st nd rd th er")
_PIVOT, _NOON, _DAY_MINUTES, _SHORT_YEAR, _LAST_DAY = 50, 12, 1440, 2, 31


@lru_cache(maxsize=8192)
def read_moments(text: str) -> tuple[tuple[Moment, ...], ...]:
    """The moments a tidy text names, each with its readings: one, two for a period, or none."""
    if len(text) > _LONGEST_VALUE or not any(c.isalnum() for c in text):
        return ()
    folded = re.sub(r"(?<=\d)t(?=\d)", " ", fold(text))
    readings = tuple(_readings(folded))
    if readings:
        return (readings,)
    days = _DAYS.match(folded)
    parts = [days[1], days[2]] if days else _RANGE.split(folded)
    if len(parts) != 2:  # noqa: PLR2004 - from, to
        return ()
    last, first = tuple(_readings(parts[1])), tuple(_readings(parts[0]))
    if not first and re.fullmatch(r"\d{1,2}\.?", parts[0].strip()):
        first = (Moment(day=int(parts[0].strip(". "))),)
    if not first or not last:
        return ()
    end = last[0]
    completed = (
        moment._replace(
            year=end.year if moment.year is None else moment.year,
            month=end.month if moment.month is None and moment.day else moment.month,
        )
        for moment in first
    )
    return tuple(completed), last


def _readings(text: str) -> Iterator[Moment]:
    """The readings of one date or time; none if anything else is said."""
    text, era = _cut(_BC, text)
    text, clock = _cut(_CLOCK, text)
    time = _time(clock) if clock else Moment()
    for pattern in _IN_DIGITS:
        rest, found = _cut(pattern, text)
        if found:
            stated = list(_dates(found))
            break
    else:
        rest, stated = text, [Moment()]
    named = _named(rest, has_era=era is not None)
    for date in stated if named is not None else ():
        merged = _merged(date, named or Moment())
        if merged is not None:
            year = -merged.year if era and merged.year else merged.year
            minute = time.minute if merged.minute is None else merged.minute
            moment = time._replace(year=year, month=merged.month, day=merged.day, minute=minute)
            if any(part is not None for part in moment[:4]):
                yield moment._replace(order=date.order)


def _merged(one: Moment, other: Moment) -> Moment | None:
    """What two moments say together; `None` if both say one part."""
    parts: list[Any] = []
    for a, b in zip(one[:4], other[:4], strict=True):
        if a is not None and b is not None:
            return None
        parts.append(b if a is None else a)
    return Moment(*parts)


def _cut(pattern: re.Pattern[str], text: str) -> tuple[str, re.Match[str] | None]:
    """A text without the first match of a pattern, and the match."""
    found = pattern.search(text)
    return (f"{text[: found.start()]} {text[found.end() :]}", found) if found else (text, None)


def _time(clock: re.Match[str]) -> Moment:
    hour, minute = int(clock["hour"]), int(clock["minute"] or clock["dotted"] or 0)
    second, half = int(clock["second"] or 0), clock["half"] or clock["part"]
    if half:
        hour = hour % _NOON + (_NOON if half == "p" else 0)
    zone = None
    if clock["zone"]:
        zone = int(clock["ahead"] or 0) * 60 + int(clock["rest"] or 0)
        zone = -zone if clock["sign"] == "-" else zone
    if clock["second"] and not hour and not minute and not second:
        return Moment()  # midnight to the second: a date that was given a time
    is_known = bool(half or clock["dotted"]) or not 1 <= hour < _NOON or clock["hour"][0] == "0"
    return Moment(minute=hour * 60 + minute + second / 60, zone=zone, is_half_known=is_known)


def _dates(found: re.Match[str]) -> Iterator[Moment]:
    """The readings of a date in digits."""
    said = found.groupdict()
    if "one" not in said:
        day = int(said["day"]) if said.get("day") else None
        yield from _valid(int(said["year"]), int(said["month"]), day)
        return
    one, two, digits = int(said["one"]), int(said["two"]), said["year"]
    is_dotted = said["mark"].startswith(".")
    is_clear = is_dotted or one == two or max(one, two) > _NOON
    is_short = len(digits) == _SHORT_YEAR
    for year in (2000 + int(digits), 1900 + int(digits)) if is_short else (int(digits),):
        yield from _valid(year, two, one, "" if is_clear else "day first")
        if not is_dotted and one != two:
            yield from _valid(year, one, two, "" if is_clear else "month first")


def _valid(year: int, month: int, day: int | None, order: str = "") -> Iterator[Moment]:
    try:
        datetime(year or 1, month, day or 1)  # noqa: DTZ001 - only whether there is such a day
    except ValueError:
        return
    yield Moment(year, month, day, order=order)


def _named(text: str, *, has_era: bool) -> Moment | None:
    """What words and single numbers say; `None` if one of them is no part of a date or time."""
    tokens = _TOKEN.findall(text)
    if re.search(r"[^\w\s,.'()-]", text):
        return None
    has_month = any(month_of(token) for token in tokens if token not in _FILLERS)
    moment: Moment | None = Moment()
    for at, token in enumerate(tokens):
        follows_digit = at > 0 and tokens[at - 1].isdigit() and token in _ORDINAL_TAILS
        if token in _FILLERS or token in WEEKDAYS or follows_digit or moment is None:
            continue
        if token.strip("'").isdigit():
            part = _number(token, moment, has_month=has_month, has_era=has_era)
        else:
            part = Moment(month=month_of(token) or None, minute=_TIMES.get(token))
        moment = _merged(moment, part) if part != Moment() else None
    return moment


def _number(token: str, so_far: Moment, *, has_month: bool, has_era: bool) -> Moment:
    """What a single number says: a day beside a month, `'21` or `21` behind a day, or a year."""
    digits = token.strip("'")
    if has_month and len(digits) <= _SHORT_YEAR:
        if token != digits or (so_far.day and len(digits) == _SHORT_YEAR):
            return Moment(year=int(digits) + (2000 if int(digits) <= _PIVOT else 1900))
        return Moment(day=int(digits)) if 1 <= int(digits) <= _LAST_DAY else Moment()
    is_year = len(digits) == len("2021") and digits[0] in "12"
    return Moment(year=int(digits)) if is_year or (has_era and len(digits) <= 4) else Moment()  # noqa: PLR2004 - digits of a year


def compare_moments(first: str, second: str, specificity: Specificity) -> Finding | None:
    """Whether two tidy texts name the same time; `None` if they are not both dates or times."""
    ones, others = read_moments(first), read_moments(second)
    if not ones or len(ones) != len(others) or not (_is_date(ones) or _is_date(others)):
        return None
    relations = [_best(one, other) for one, other in zip(ones, others, strict=True)]
    unequal = set(relations) - {"same"}
    if unequal and all(_is_later(a[0], b[0]) for a, b in zip(ones, others, strict=True)):
        return Finding(SIMILAR, "same time, if the same half of the day is meant")
    if "other" in unequal or len(unequal) > 1:
        return Finding(OTHER, against(first, second))
    if not unequal:
        is_time = all(m.year is m.month is m.day is None for m in ones[0])
        return Finding(SAME, f"same {'time' if is_time else 'date'}")
    relation = unequal.pop()
    full, less, side = (others, ones, "extracted") if relation == "more" else (ones, others, "gold")
    pairs = zip(_PARTS, full[-1][0], less[-1][0], strict=False)
    lacking = [name for name, a, b in pairs if a is not None and b is None]
    return settle(relation, specificity, f"only {side} has the {' and the '.join(lacking)}")


def _is_later(one: Moment, other: Moment) -> bool:
    """Whether a time that may be in either half of the day is the other one in the afternoon."""
    if one.minute is None or other.minute is None or one.is_half_known is other.is_half_known:
        return False
    return one[:3] == other[:3] and abs(one.minute - other.minute) == _DAY_MINUTES / 2


def _is_date(moments: Sequence[Sequence[Moment]]) -> bool:
    """Whether more than a lone year is named, which is any number."""
    readings = [moment for each in moments for moment in each]
    return any(m.month or m.minute is not None or (m.year or 0) < 0 for m in readings)


def _best(ones: Sequence[Moment], others: Sequence[Moment]) -> Relation:
    """The closest relation between two readings in the same order of day and month."""
    found = {
        _relation(*_in_utc(one, other))
        for one in ones
        for other in others
        if not one.order or not other.order or one.order == other.order
    }
    order: tuple[Relation, ...] = ("same", "more", "less")
    return next((relation for relation in order if relation in found), "other")


def _in_utc(*both: Moment) -> tuple[tuple[float | None, ...], ...]:
    """The parts of two moments, in UTC if both have a time zone."""
    if any(moment.zone is None for moment in both):
        return tuple(moment[:4] for moment in both)
    shifted = []
    for moment in both:
        day = datetime(2000, moment.month or 1, moment.day or 1)  # noqa: DTZ001 - in its own zone
        if 1 < (moment.year or 0) < 9998:  # noqa: PLR2004 - where there is a day before and after
            day = day.replace(year=moment.year or 1)
        day += timedelta(minutes=(moment.minute or 0) - (moment.zone or 0))
        date = (day.year, day.month, day.day) if moment.day else moment[:3]
        shifted.append((*date, day.hour * 60 + day.minute + day.second / 60))
    return tuple(shifted)


def _relation(one: Sequence[float | None], other: Sequence[float | None]) -> Relation:
    pairs = list(zip(one, other, strict=True))
    more = any(a is None and b is not None for a, b in pairs)
    less = any(b is None and a is not None for a, b in pairs)
    shared = [(a, b) for a, b in pairs if a is not None and b is not None]
    if not shared or any(a != b for a, b in shared) or (more and less):
        return "other"
    return "more" if more else "less" if less else "same"
