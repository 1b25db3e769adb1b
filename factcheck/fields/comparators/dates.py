"""The comparator `date`: the same calendar date, whatever the notation."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from factcheck.errors import ParameterError
from factcheck.fields.comparators.date_texts import DateReading, Unread, read_date, reading_of
from factcheck.fields.comparators.parameters import flag, refuse_unknown, shown
from factcheck.fields.types import MATCH, BoundComparator, BuiltinComparator, Outcome

_Read = Callable[[str], "DateReading | Unread"]
_PROBE = dt.datetime(2023, 11, 27, 13, 47, 38, 123456, tzinfo=dt.timezone.utc)
"""Differs in every part from the defaults of `strptime`."""
_GIVES_YEAR = re.compile("%[YyGcxDF]")
_MAX_CHARS = 200
"""Longer strings are not tried with formats."""


def _bind(params: Mapping[str, Any]) -> BoundComparator:
    refuse_unknown("date", params, "formats", "day_first")
    day_first = flag("date", params, "day_first")
    formats = _formats(params["formats"]) if "formats" in params else ()
    read = _reader(formats, day_first=day_first)
    both_ways = [_reader(formats, day_first=one) for one in (True, False)]

    def compare(gold: Any, extracted: Any) -> Outcome:
        if gold is None and extracted is None:
            return MATCH
        own = _reading(gold, "gold", read)
        other = _reading(extracted, "extracted", read)
        if isinstance(own, DateReading) and isinstance(other, DateReading):
            return MATCH if own == other else _outcome(own, other)
        for reading in (own, other):
            if isinstance(reading, Unread) and not reading.ambiguous:
                return _without_dates(gold, extracted, reading)
        if _is_same_text(gold, extracted):
            return MATCH
        return _either_way(_ways(gold, own, both_ways), _ways(extracted, other, both_ways))

    return BoundComparator(compare)


class _Ways(NamedTuple):
    """The possible readings of a string."""

    readings: tuple[DateReading, ...]
    doubt: str
    """Why there are several; empty if there is one."""


def _ways(value: Any, reading: DateReading | Unread, both_ways: Sequence[_Read]) -> _Ways:
    if isinstance(reading, DateReading):
        return _Ways((reading,), "")
    readings = (read(value) for read in both_ways)
    return _Ways(tuple(one for one in readings if isinstance(one, DateReading)), reading.reason)


def _either_way(gold: _Ways, extracted: _Ways) -> Outcome:
    """A mismatch if no readings of two ambiguous strings agree.

    Raises:
        ValueError: Some readings agree and some do not, so the schema has to decide.
    """
    if any(_outcome(*pair)[0] for pair in product(gold.readings, extracted.readings)):
        raise ValueError(gold.doubt or extracted.doubt)
    dates = (" or ".join(map(str, side.readings)) for side in (gold, extracted))
    return 0.0, f"the dates differ: {', and '.join(dates)}"


def _reading(value: Any, side: str, read: _Read) -> DateReading | Unread:
    if isinstance(value, str):
        return read(value)
    if isinstance(value, dt.date):
        return reading_of(value)
    return Unread(f"date compares dates, and the {side} value is of type {type(value).__name__}")


def _outcome(gold: DateReading, extracted: DateReading) -> Outcome:
    instant, other = _instant(gold), _instant(extracted)
    if instant is not None and other is not None:
        return MATCH if instant == other else _times_differ(gold, extracted)
    if len(gold.parts) != len(extracted.parts):
        return 0.0, f"one is more precise than the other: {gold} and {extracted}"
    if gold.parts != extracted.parts:
        return 0.0, f"the dates differ: {gold} and {extracted}"
    if None in (gold.clock, extracted.clock) or gold.clock == extracted.clock:
        return MATCH
    return _times_differ(gold, extracted)


def _times_differ(gold: DateReading, extracted: DateReading) -> Outcome:
    return 0.0, f"the times differ: {gold} and {extracted}"


def _instant(reading: DateReading) -> dt.datetime | None:
    if reading.clock is None or reading.offset is None:
        return None
    day = dt.date(*reading.parts)
    return dt.datetime.combine(day, reading.clock, dt.timezone(reading.offset))


def _without_dates(gold: Any, extracted: Any, unread: Unread) -> Outcome:
    """Strings that are not dates match if they are equal."""
    if _is_same_text(gold, extracted):
        return 1.0, f"the same text; {unread.reason}"
    return 0.0, unread.reason


def _is_same_text(gold: Any, extracted: Any) -> bool:
    texts = isinstance(gold, str) and isinstance(extracted, str)
    return texts and gold.split() == extracted.split()


def _reader(formats: Sequence[_Format], *, day_first: bool | None) -> _Read:
    """A reader that tries the formats first, then the notations that need none."""
    if not formats:
        return lambda text: read_date(text, day_first=day_first)

    @lru_cache(maxsize=4096)
    def by_formats(text: str) -> DateReading | Unread:
        for given in formats:
            reading = given.read(text)
            if reading is not None:
                return reading
        return read_date(text, day_first=day_first)

    return lambda text: (by_formats if len(text) <= _MAX_CHARS else read_date)(text)


class _Format:
    """A `strptime` format and the parts of a date that it contains."""

    def __init__(self, notation: str) -> None:
        if not _GIVES_YEAR.search(notation):
            raise ValueError("it has no year")
        parsed = dt.datetime.strptime(_PROBE.strftime(notation), notation)  # noqa: DTZ007 - a probe
        self._notation = notation
        self._gives_month = parsed.month == _PROBE.month
        self._gives_day = parsed.day == _PROBE.day
        self._gives_clock = parsed.time() != dt.time.min
        if parsed.year != _PROBE.year or (self._gives_day and not self._gives_month):
            raise ValueError("it has a day without a month, or no year")
        if self._gives_clock and not self._gives_day:
            raise ValueError("it has a time without a day")

    def read(self, text: str) -> DateReading | None:
        """The date in a string of this format; `None` for any other string."""
        try:
            parsed = dt.datetime.strptime(text.strip(), self._notation)  # noqa: DTZ007 - as written
        except ValueError:
            return None
        return DateReading(
            parsed.year,
            parsed.month if self._gives_month else None,
            parsed.day if self._gives_day else None,
            parsed.time() if self._gives_clock else None,
            parsed.utcoffset(),
        )


def _formats(given: Any) -> tuple[_Format, ...]:
    if not isinstance(given, list) or not all(isinstance(notation, str) for notation in given):
        raise ParameterError(
            f"date: 'formats' must be a list of strptime formats such as ['%d.%m.%Y'], "
            f"not {shown(given)}"
        )
    return tuple(map(_format, given))


def _format(notation: str) -> _Format:
    try:
        return _Format(notation)
    except ValueError as error:
        raise ParameterError(
            f"date: {shown(notation)} in 'formats' must be a strptime format with a year, such as "
            f"'%d.%m.%Y': {error}"
        ) from error


date = BuiltinComparator("date", _bind)
"""The same calendar date; also the same time if both have one, and the same instant if both have a
time zone. A month is not its first day.

Parameters:
    formats: `strptime` formats, tried before the notations that need none.
    day_first: Whether 03/04/2024 is in April. Without it such a string equals itself and differs
        from any date that is neither of its readings; any other comparison is an error.
"""
