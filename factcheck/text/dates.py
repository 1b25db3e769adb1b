"""Dates and times of day: `14 July`, `July 14th, 2021`, `2021-07-14`, `the 1980s`, `2:30 pm`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from factcheck.text.words import Word, word_set


class Moment(NamedTuple):
    """What a text says of a date or a time; `None` for the parts that it leaves open."""

    first: int
    """Positions `[first, last)` of its words."""
    last: int
    year: int | None = None
    last_year: int | None = None
    """1989 for the 1980s, 2008 for 2007-08, else the year."""
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    """From 0, Monday."""
    minute: int | None = None
    """Since midnight; up to noon where the half of the day is open."""
    half_known: bool = True

    @property
    def keys(self) -> tuple[str, ...]:
        """Each part that is said, in one spelling: `year:2021`, `month:7`, `day:14`."""
        year = f"{self.year}s" if self.year != self.last_year else f"{self.year}"
        parts = [
            year if self.year is not None else "",
            f"month:{self.month}" if self.month else "",
            f"day:{self.day}" if self.day else "",
            f"weekday:{self.weekday}" if self.weekday is not None else "",
        ]
        if self.minute is not None:
            kind = "time" if self.half_known else "clock"
            parts.append(f"{kind}:{self.minute // 60}:{self.minute % 60:02}")
        return tuple(part for part in parts if part)


_MONTHS = (
    "january february march april may june july august september october november december",
    "januar februar marz april mai juni juli august september oktober november dezember",
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
)
MONTHS = dict(zip(("en", "de", "fr", "es", "it", "pt", "nl"), map(str.split, _MONTHS), strict=True))
"""Names of the months, folded, by language."""
_MONTH = {form: number for names in MONTHS.values() for number, form in enumerate(names, 1)}
_SHORT = {name[:3]: number for number, name in enumerate(MONTHS["en"], 1)} | {"sept": 9}
_AMBIGUOUS = frozenset(("march", "may", "mars", "mai", "mei", "marco", "august"))
"""Names of months that are also something else: a month only beside a day, a year or a lead."""
_LEADS = word_set(
    "in on of since until till by from last next early late mid this during before after im seit "
    "bis ab en desde hasta depuis de du le"
)
_WEEKDAYS = (
    "monday tuesday wednesday thursday friday saturday sunday",
    "mondays tuesdays wednesdays thursdays fridays saturdays sundays",
    "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "lunes martes miercoles jueves viernes sabado domingo",
)
WEEKDAYS = {form: number for names in _WEEKDAYS for number, form in enumerate(names.split())}
"""Names of days, by folded form, from 0 for Monday."""
_DECADES = ("twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties")
_DECADE = {form: 1920 + 10 * k for k, form in enumerate((*_DECADES, "nineties"))}
_CLOCK = re.compile(
    r"(?<![:.\d])(?P<hour>2[0-3]|[01]?\d)(?:(?P<mark>[:.])(?P<minute>[0-5]\d))?"
    r"(?![\d:.,]\d|-\d)"
    r"(?:[ \u00a0\u202f]?(?P<half>[ap])(?:m\b|\.[ \u00a0]?m\b)|[ \u00a0\u202f](?P<uhr>uhr)\b)?",
    re.IGNORECASE,
)
_ISO = re.compile(r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?!\d)")
_NUMERIC = re.compile(r"(?P<one>\d{1,2})(?P<mark>[./])(?P<other>\d{1,2})(?P=mark)(?P<year>\d{4})\b")
_SEASON = re.compile(r"\s?[-/\u2013]\s?(\d\d)(?!\d)")
_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
_COUNTING = word_set("over than nearly almost least most")
"""Before a number that is no year."""
_NEAR = re.compile(r"[\s.,-]{0,3}")
_MAX_DAY, _MAX_MONTH, _NOON = 31, 12, 12


def read_moment(found: Sequence[Word], at: int, text: str) -> Moment | None:
    """The date, part of a date or time of day that starts at a word, if one does.

    Args:
        found: The words of `text`, in any language; names of months are read in seven.
        at: Position of the word.
        text: What the words were read from.
    """
    word = found[at]
    if word.kind == "number":
        return (
            _numeric(found, at, text)
            or _clock(found, at, text)
            or _day_first(found, at, text)
            or _day_of_list(found, at, text)
            or _year(found, at, text)
        )
    if word.form in WEEKDAYS and (word.text[0].isupper() or word.form.endswith("s")):
        return Moment(at, at + 1, weekday=WEEKDAYS[word.form])
    if word.form in _DECADE:
        year = _DECADE[word.form]
        return Moment(at, at + 1, year=year, last_year=year + 9)
    if word.form in _MONTH or word.form in _SHORT:
        return _month_first(found, at, text)
    return None


@lru_cache(maxsize=1024)
def month_of(form: str) -> int:
    """The month that a folded word names, or is the only one to begin with; 0 if none."""
    if form in _MONTH or len(form) < len("jan") or form in WEEKDAYS:
        return _MONTH.get(form, 0)
    meant = {number for name, number in _MONTH.items() if name.startswith(form)}
    return meant.pop() if len(meant) == 1 else 0


def differ(one: Moment, other: Moment) -> bool:
    """Whether two moments cannot be the same: a part that both give is not equal."""
    if one.year is not None and other.year is not None:
        ends = one.last_year or one.year, other.last_year or other.year
        if one.year > ends[1] or other.year > ends[0]:
            return True
    if one.minute is not None and other.minute is not None:
        both = one.half_known and other.half_known
        if (one.minute - other.minute) % (1440 if both else 720):
            return True
    return any(
        a is not None and b is not None and a != b
        for a, b in ((one.month, other.month), (one.day, other.day), (one.weekday, other.weekday))
    )


def meet(one: Moment, other: Moment) -> bool:
    """Whether two moments have a part in common and none in which they differ."""
    shared = any(a is not None and b is not None for a, b in zip(one[2:8], other[2:8], strict=True))
    return shared and not differ(one, other)


def _numeric(found: Sequence[Word], at: int, text: str) -> Moment | None:
    """`2021-05-03`; `14/07/2021`, of which the year alone is sure where both may be a month."""
    start = found[at].start
    match = _ISO.match(text, start) or _NUMERIC.match(text, start)
    if match is None:
        return None
    last = at + 1
    while last < len(found) and found[last].start < match.end():
        last += 1
    year = int(match["year"])
    if match.re is _ISO:
        month, day = int(match["month"]), int(match["day"])
    else:
        day, month = int(match["one"]), int(match["other"])
        if match["mark"] == "/" and month > _MAX_MONTH:
            day, month = month, day
        elif match["mark"] == "/" and day <= _MAX_MONTH and day != month:
            return Moment(at, last, year=year, last_year=year)
    if not (1 <= month <= _MAX_MONTH and 1 <= day <= _MAX_DAY):
        return None
    return Moment(at, last, year=year, last_year=year, month=month, day=day)


def _clock(found: Sequence[Word], at: int, text: str) -> Moment | None:
    """`14:30`, `2:30 pm`, `5 p.m.`, `14.30 Uhr`; `2:30` alone may be either half of the day."""
    match = _CLOCK.match(text, found[at].start)
    if match is None or match.end() < found[at].end:
        return None
    said = match["half"] or match["uhr"]
    if not said and match["mark"] != ":":
        return None
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    if match["half"] and hour <= _NOON:
        hour = hour % _NOON + (_NOON if match["half"] in "pP" else 0)
    last = at + 1
    while last < len(found) and found[last].start < match.end():
        last += 1
    known = bool(said) or hour > _NOON or hour == 0 or match["hour"].startswith("0")
    return Moment(at, last, minute=hour * 60 + minute, half_known=known)


def _day_of_list(found: Sequence[Word], at: int, text: str) -> Moment | None:
    """The 21 of `21 and 28 January` and of `21-28 January`."""
    day = _day(found[at])
    following = at + 1
    if day is None or following >= len(found):
        return None
    between = text[found[at].end : found[following].start]
    if found[following].form in {"and", "to", "bis", "et", "y"}:
        following += 1
    elif between.strip() not in {"-", "\u2013"}:
        return None
    last = _day_first(found, following, text) if following < len(found) else None
    return Moment(at, at + 1, month=last.month, day=day) if last else None


def _day_first(found: Sequence[Word], at: int, text: str) -> Moment | None:
    """`3 May`, `3rd of May 2021`, `3. Mai`, `3 de mayo`."""
    following = at + 1
    day = _day(found[at])
    if day is None:
        return None
    if following < len(found) and found[following].form in {"st", "nd", "rd", "th"}:
        following += 1
    if following < len(found) and found[following].form in {"of", "de"}:
        following += 1
    if following >= len(found) or not _near(found, following - 1, text):
        return None
    form = found[following].form
    month = _MONTH.get(form) or _SHORT.get(form)
    if month is None or not found[following].text[0].isalpha():
        return None
    year, last = _year_at(found, following + 1, text)
    return Moment(at, last, year=year, last_year=year, month=month, day=day)


def _month_first(found: Sequence[Word], at: int, text: str) -> Moment | None:
    """`May 3rd, 2021`, `May 2021`, `in May`."""
    form = found[at].form
    month = _MONTH.get(form) or _SHORT.get(form)
    if at + 1 < len(found) and _near(found, at, text):
        day = _day(found[at + 1])
        last = at + 2
        if day is not None:
            if last < len(found) and found[last].form in {"st", "nd", "rd", "th"}:
                last += 1
            year, last = _year_at(found, last, text)
            return Moment(at, last, year=year, last_year=year, month=month, day=day)
        year, last = _year_at(found, at + 1, text)
        if year is not None:
            return Moment(at, last, year=year, last_year=year, month=month)
    led = at > 0 and found[at - 1].form in _LEADS and found[at].text[0].isupper()
    if form in _MONTH and (led or form not in _AMBIGUOUS):
        return Moment(at, at + 1, month=month)
    return None


def _year(found: Sequence[Word], at: int, text: str) -> Moment | None:
    """`2021`, `the 1980s`; no amount of money and nothing that is counted."""
    word = found[at]
    counts = at and (found[at - 1].kind == "symbol" or found[at - 1].form in _COUNTING)
    if counts or not _YEAR.fullmatch(word.form):
        return None
    year = int(word.form)
    following = found[at + 1] if at + 1 < len(found) else None
    if following is not None and following.start == word.end:
        if following.form == "s" and year % 10 == 0:
            return Moment(at, at + 2, year=year, last_year=year + 9)
        return None
    season = _SEASON.match(text, word.end)
    if season is not None and following is not None and int(season[1]) == (year + 1) % 100:
        return Moment(at, at + 2, year=year, last_year=year + 1)
    if following is not None and text[word.end : following.start] == " ":
        counted = following.kind == "content" and following.text.islower()
        plural = following.form.endswith("s") or following.form == "people"
        if (counted and plural) or following.kind == "symbol":
            return None
    return Moment(at, at + 1, year=year, last_year=year)


def _year_at(found: Sequence[Word], at: int, text: str) -> tuple[int | None, int]:
    """The year that goes on a date at a place, and where the date ends."""
    start = at + 1 if at < len(found) and found[at].form in {"of", "de"} else at
    if 0 < start < len(found) and _near(found, start - 1, text):
        moment = _year(found, start, text) if _YEAR.fullmatch(found[start].form) else None
        if moment is not None and moment.year == moment.last_year:
            return moment.year, moment.last
    return None, at


def _day(word: Word) -> int | None:
    if word.kind != "number" or not word.form.isdigit() or len(word.form) > 2:  # noqa: PLR2004 - two digits
        return None
    return int(word.form) if 1 <= int(word.form) <= _MAX_DAY else None


def _near(found: Sequence[Word], at: int, text: str) -> bool:
    """Whether nothing but a space, a comma or a full stop stands between a word and the next."""
    return bool(_NEAR.fullmatch(text, found[at].end, found[at + 1].start))
