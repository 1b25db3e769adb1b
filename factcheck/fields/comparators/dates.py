"""The comparator `date`: the same calendar date, whatever the notation.

Supported are ISO 8601, unambiguous numeric dates, and month names in the languages of
`factcheck.text`. Missing parts are neither added nor guessed: "March 2024" has no day, "03/04/2024"
is ambiguous, and "15/03/24" has no century unless the schema sets a pivot. With points, as in
"15.03.2024", the day comes first.
"""

from __future__ import annotations

import datetime as dt
import re
from itertools import product
from typing import Any, NamedTuple

from factcheck.documents import shown
from factcheck.fields.types import (
    MATCH,
    TRUE_OR_FALSE,
    BoundComparator,
    BuiltinComparator,
    Outcome,
    UndecidableError,
)
from factcheck.fields.values import exact_key, wrong_type
from factcheck.text.dates import Moment, Notation, read_moments

_MAX_CHARS = 80
"""Maximum length of a date; longer strings are neither parsed nor cached."""
FIGURES = re.compile(r"\s*(\d\d?)(?:/|-(?=\d\d?-\d{4}))(\d\d?)[/-](?:\d{4}|\d\d)\b")
"""A date whose first two numbers are day and month, in either order."""


class Dates(NamedTuple):
    """Possible readings of a string: none, one, or two if day and month may be swapped."""

    ways: tuple[Moment, ...] = ()
    reason: str = ""
    """Reason why there is not exactly one reading; empty if there is."""

    @property
    def only(self) -> Moment | None:
        return self.ways[0] if len(self.ways) == 1 else None


def read_date(text: str, notation: Notation = Notation()) -> Dates:  # noqa: B008 - immutable
    """Return the possible readings of a string as a date."""
    try:
        ends = read_moments(text, notation) if len(text) <= _MAX_CHARS else ()
    except ValueError:
        return Dates((), f"{shown(text)} is a date or time that does not exist")
    moments = ends[0] if len(ends) == 1 else ()
    ways = tuple(
        Moment(*m[:5])
        for m in moments
        if m.year is not None and (m.day or (m.clock is None and m.weekday is None))
    )
    if not ways:
        reason = f"{shown(text[: _MAX_CHARS + 1])} is not a date"
        if notation.pivot is None and read_date(text, notation._replace(pivot=1950)).ways:
            reason += "; set 'pivot' to read years of two digits"
        return Dates((), reason)
    if len(ways) == 1:
        return Dates(ways)
    either = " or ".join(map(_text, ways))
    return Dates(ways, f"{shown(text)} is ambiguous: {either}; set 'day_first'")


def order_of(text: str) -> bool | None:
    """Whether the day comes first in an unambiguous numeric date; `None` for other strings."""
    figures = FIGURES.match(text)
    if figures is None or figures[1] == figures[2]:
        return None
    if read_date(text, Notation(pivot=1950)).only is None:
        return None
    return int(figures[1]) > int(figures[2])


def moment_of(value: dt.date) -> Moment:
    """Return a date, or a date and time, as a moment."""
    day = Moment(value.year, value.month, value.day)
    if not isinstance(value, dt.datetime):
        return day
    return day._replace(clock=value.time().replace(fold=0), zone=value.utcoffset())


def _parts(moment: Moment) -> tuple[int, ...]:
    return tuple(part for part in moment[:3] if part is not None)


def _instant(moment: Moment) -> dt.datetime | None:
    if moment.clock is None or moment.zone is None:
        return None
    return dt.datetime.combine(dt.date(*_parts(moment)), moment.clock, dt.timezone(moment.zone))


def _text(moment: Moment) -> str:
    year, *others = _parts(moment)
    text = "-".join((f"{year:04}", *(f"{part:02}" for part in others)))
    if moment.clock is not None:
        text += f" {moment.clock}"
    if moment.zone is not None:
        text += f" {dt.timezone(moment.zone)}"
    return text


_PIVOT = (
    "the earliest year that two digits stand for, such as 1950",
    lambda n: type(n) is int and 1 <= n <= dt.MAXYEAR - 99,
)


def _bind(
    *,
    day_first: bool | None = None,
    with_time: bool = False,
    pivot: int | None = None,
) -> BoundComparator:
    notation = Notation(day_first, pivot)

    def compare(gold: Any, extracted: Any) -> Outcome:
        own, other = _dates(gold, "gold", notation), _dates(extracted, "extracted", notation)
        one, two = own.only, other.only
        if one is None or two is None:
            return _unread(gold, extracted, own, other)
        if with_time and (one.clock is None) != (two.clock is None):
            return 0.0, f"only one has a time: {_text(one)} and {_text(two)}"
        return _compare(one, two)

    return BoundComparator(compare)


def _dates(value: Any, side: str, notation: Notation) -> Dates:
    if isinstance(value, str):
        return read_date(value, notation)
    if isinstance(value, dt.date):
        return Dates((moment_of(value),))
    return Dates((), wrong_type("date compares dates", side, value))


def _compare(gold: Moment, extracted: Moment) -> Outcome:
    both = f"{_text(gold)} and {_text(extracted)}"
    one, other = _parts(gold), _parts(extracted)
    common, longest = sorted((len(one), len(other)))
    times: tuple[Any, Any] = _instant(gold), _instant(extracted)
    if one[:common] != other[:common] and None in times:
        return 0.0, f"the dates differ: {both}"
    if common < longest:
        return 0.0, f"one is more precise than the other: {both}"
    if None in times:
        times = gold.clock, extracted.clock
    if None in times or times[0] == times[1]:
        return MATCH
    return 0.0, f"the times differ: {both}"


def _unread(gold: Any, extracted: Any, own: Dates, other: Dates) -> Outcome:
    """Compare values of which at least one has no reading or two."""
    is_read = bool(own.ways and other.ways)
    reason = own.reason if not own.ways else other.reason
    if isinstance(gold, str) and isinstance(extracted, str):
        if gold.split() == extracted.split():
            return 1.0, None if is_read else f"the same text; {reason}"
    elif exact_key(gold) == exact_key(extracted):
        return MATCH
    if not is_read:
        return 0.0, reason
    if any(_compare(*pair)[0] for pair in product(own.ways, other.ways)):
        if own.only is None:
            raise UndecidableError(own.reason)
        return 0.0, other.reason
    mine, theirs = " or ".join(map(_text, own.ways)), " or ".join(map(_text, other.ways))
    return 0.0, f"the dates differ: {mine}, and {theirs}"


date = BuiltinComparator(
    "date",
    _bind,
    {"day_first": TRUE_OR_FALSE, "with_time": TRUE_OR_FALSE, "pivot": _PIVOT},
)
"""Match equal calendar dates; also compares times if both have one, and instants if both have a
time zone. A month does not match its first day.
"""
