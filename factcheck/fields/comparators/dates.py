"""The comparator `date`: the same calendar date, whatever the notation.

ISO 8601, figures in an order that leaves no doubt, and months in the languages of `factcheck.text`
are read. Nothing is filled in and nothing is guessed: "March 2024" has no day, "03/04/2024" can be
two dates, and "15/03/24" has no century unless the schema gives a pivot. With points the day comes
first, as in every country that writes them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from itertools import product
from typing import Any, NamedTuple

from factcheck.documents import shown
from factcheck.errors import ParameterError
from factcheck.fields.types import (
    MATCH,
    BoundComparator,
    BuiltinComparator,
    Outcome,
    UndecidableError,
    flag,
    refuse_unknown,
)
from factcheck.fields.values import exact_key
from factcheck.text.dates import Notation, read_moments

_MAX_CHARS = 80
"""No date is longer, and longer strings are not cached."""


class DateReading(NamedTuple):
    """What a text says about a date; `None` is what it does not say."""

    year: int
    month: int | None = None
    day: int | None = None
    clock: dt.time | None = None
    """Without time zone; seconds that are not written are 0."""
    offset: dt.timedelta | None = None
    """What the clock is ahead of UTC."""

    @property
    def parts(self) -> tuple[int, ...]:
        return tuple(part for part in self[:3] if part is not None)

    @property
    def instant(self) -> dt.datetime | None:
        if self.clock is None or self.offset is None:
            return None
        return dt.datetime.combine(dt.date(*self.parts), self.clock, dt.timezone(self.offset))

    def __str__(self) -> str:
        day = "-".join((f"{self.year:04}", *(f"{part:02}" for part in self.parts[1:])))
        clock = "" if self.clock is None else f" {self.clock}"
        return day + clock + ("" if self.offset is None else f" {dt.timezone(self.offset)}")


class Dates(NamedTuple):
    """The dates that a text can stand for: none, one, or two if day and month may be swapped."""

    ways: tuple[DateReading, ...] = ()
    reason: str = ""
    """Why it is not one date; empty if it is."""

    @property
    def only(self) -> DateReading | None:
        return self.ways[0] if len(self.ways) == 1 else None


def read_date(text: str, notation: Notation = Notation()) -> Dates:  # noqa: B008 - immutable
    """The dates that a text can stand for."""
    unread = f"{shown(text[: _MAX_CHARS + 1])} is not read as a date"
    if len(text) > _MAX_CHARS:
        return Dates((), unread)
    try:
        ends = read_moments(text, notation)
    except ValueError:
        return Dates((), f"{shown(text)} names a day or a time that does not exist")
    moments = ends[0] if len(ends) == 1 else ()
    ways = tuple(
        DateReading(m.year, *m[1:5])
        for m in moments
        if m.year is not None and (m.day or (m.clock is None and m.weekday is None))
    )
    if not ways:
        return Dates((), unread)
    if len(ways) == 1:
        return Dates(ways)
    either = " or ".join(map(str, ways))
    return Dates(ways, f"{shown(text)} is ambiguous: {either}; 'day_first' can say which")


def reading_of(value: dt.date) -> DateReading:
    day = DateReading(value.year, value.month, value.day)
    if not isinstance(value, dt.datetime):
        return day
    return day._replace(clock=value.time().replace(fold=0), offset=value.utcoffset())


def _bind(params: Mapping[str, Any]) -> BoundComparator:
    refuse_unknown("date", params, "day_first", "with_time", "pivot", "partial")
    notation = Notation(flag("date", params, "day_first"), _pivot(params))
    with_time = flag("date", params, "with_time")
    partial = flag("date", params, "partial")

    def compare(gold: Any, extracted: Any) -> Outcome:
        own = _dates(gold, "gold", notation)
        other = _dates(extracted, "extracted", notation)
        if not (own.ways and other.ways):
            return _without_dates(gold, extracted, own if not own.ways else other)
        if own.only is None or other.only is None:
            return MATCH if _is_same_text(gold, extracted) else _either_way(own, other)
        if with_time and (own.only.clock is None) != (other.only.clock is None):
            return 0.0, f"only one has a time: {own.only} and {other.only}"
        return _compare(own.only, other.only, partial=bool(partial))

    return BoundComparator(compare)


def _pivot(params: Mapping[str, Any]) -> int | None:
    pivot = params.get("pivot")
    in_range = isinstance(pivot, int) and 1 <= pivot <= dt.MAXYEAR - 99
    if "pivot" in params and (isinstance(pivot, bool) or not in_range):
        raise ParameterError(
            f"date: 'pivot' must be the earliest year that two digits stand for, such as 1950, "
            f"not {shown(pivot)}"
        )
    return pivot


def _dates(value: Any, side: str, notation: Notation) -> Dates:
    if isinstance(value, str):
        return read_date(value, notation)
    if isinstance(value, dt.date):
        return Dates((reading_of(value),))
    kind = type(value).__name__
    return Dates((), f"date compares dates, and the {side} value is of type {kind}")


def _compare(gold: DateReading, extracted: DateReading, *, partial: bool = False) -> Outcome:
    both = f"{gold} and {extracted}"
    lengths = sorted((len(gold.parts), len(extracted.parts)))
    if partial and lengths[0] < lengths[1]:
        if gold.parts[: lengths[0]] != extracted.parts[: lengths[0]]:
            return 0.0, f"the dates differ: {both}"
        return lengths[0] / lengths[1], f"one is more precise than the other: {both}"
    if gold.instant is not None and extracted.instant is not None:
        return MATCH if gold.instant == extracted.instant else (0.0, f"the times differ: {both}")
    if gold.parts != extracted.parts:
        how = "the dates differ" if len({*lengths}) == 1 else "one is more precise than the other"
        return 0.0, f"{how}: {both}"
    if None in (gold.clock, extracted.clock) or gold.clock == extracted.clock:
        return MATCH
    return 0.0, f"the times differ: {both}"


def _either_way(gold: Dates, extracted: Dates) -> Outcome:
    """A mismatch if only the extracted string is ambiguous, or no readings agree.

    Raises:
        UndecidableError: The gold string is ambiguous and some readings agree, so the schema has
            to decide.
    """
    if any(_compare(*pair)[0] for pair in product(gold.ways, extracted.ways)):
        if gold.only is None:
            raise UndecidableError(gold.reason)
        return 0.0, extracted.reason
    dates = (" or ".join(map(str, side.ways)) for side in (gold, extracted))
    return 0.0, f"the dates differ: {', and '.join(dates)}"


def _without_dates(gold: Any, extracted: Any, unread: Dates) -> Outcome:
    if _is_same_text(gold, extracted):
        return 1.0, f"the same text; {unread.reason}"
    if not isinstance(gold, str) and exact_key(gold) == exact_key(extracted):
        return MATCH
    return 0.0, unread.reason


def _is_same_text(gold: Any, extracted: Any) -> bool:
    texts = isinstance(gold, str) and isinstance(extracted, str)
    return texts and gold.split() == extracted.split()


date = BuiltinComparator("date", _bind)
"""The same calendar date; also the same time if both have one, and the same instant if both have a
time zone. A month is not its first day.

Parameters:
    day_first: Whether 03/04/2024 is in April. Without it such a string equals itself only: beside
        another date it is a mismatch if extracted, and an error if it is in gold and the date may
        be one of its readings.
    with_time: Whether a date without a time differs from one with a time; by default it does not.
        The default comparator of strings with the format `date-time`.
    pivot: The earliest year that two digits stand for: with 1950, 49 is 2049 and 50 is 1950.
        Without it a date with such a year is not read.
    partial: Whether a date of which one side has only the year or month gets that share: 2/3 for a
        month against a day of it. Without it the score is 0.
"""
