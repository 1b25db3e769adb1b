"""Comparison of values that are dates, times or periods, in any notation.

A numeric date with ambiguous order has two readings; two such dates are read in the same order.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from functools import lru_cache

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
from factcheck.text.dates import FILLERS, Moment, Notation, meet, read_moments
from factcheck.text.words import word_set

_FILLERS = FILLERS | word_set(
    "der den dem am on um in im le la el les a year y and und et date dated since h uhr oclock"
    " clock o from von du vom"
)
_NOTATION = Notation(pivot=1950)
_LONGEST_VALUE = 80


_PARTS = ("year", "month", "day", "time")


@lru_cache(maxsize=8192)
def read_ends(text: str) -> tuple[tuple[Moment, ...], ...]:
    """Return the readings of each moment in a tidy text: one, two for a period, or none."""
    try:
        ends = read_moments(text, _NOTATION, _FILLERS) if len(text) <= _LONGEST_VALUE else ()
    except ValueError:
        return ()
    found = tuple(tuple(map(_without_midnight, readings)) for readings in ends)
    return found if all(any(_parts(m)) for readings in found for m in readings) else ()


def _without_midnight(moment: Moment) -> Moment:
    """Drop the midnight of a date."""
    return moment._replace(clock=None) if moment.day and moment.clock == dt.time(0) else moment


def _parts(moment: Moment) -> tuple[object, ...]:
    return moment[: len(_PARTS)]


def compare_moments(first: str, second: str, specificity: Specificity) -> Finding | None:
    """Compare two tidy texts as dates or times; `None` unless both are."""
    ones, others = read_ends(first), read_ends(second)
    readings = [moment for ends in (ones, others) for each in ends for moment in each]
    is_date = any(m.month or m.clock or (m.year or 0) < 0 for m in readings)  # no lone year
    if not is_date or len(ones) != len(others):
        return None
    found = [_closest(*pair) for pair in zip(ones, others, strict=True)]
    unequal = {relation for relation, _, _ in found} - {"same"}
    if "other" in unequal or len(unequal) > 1:
        return Finding(OTHER, against(first, second))
    if unequal:
        relation, one, other = next(each for each in found if each[0] in unequal)
        full, side = (other, "extracted") if relation == "more" else (one, "gold")
        less = one if full is other else other
        names = zip(_PARTS, _parts(full), _parts(less), strict=True)
        lacking = [name for name, a, b in names if a is not None and b is None]
        return settle(relation, specificity, f"only {side} has the {' and the '.join(lacking)}")
    if any(one.clock != other.clock for _, one, other in found):
        return Finding(SIMILAR, "same time, if the same half of the day is meant")
    is_time = all(m.year is m.month is m.day is None for _, m, _ in found)
    return Finding(SAME, f"same {'time' if is_time else 'date'}")


def _closest(ones: Sequence[Moment], others: Sequence[Moment]) -> tuple[Relation, Moment, Moment]:
    """Return the closest relation of readings with the same day-month order, and the readings."""
    order: tuple[Relation, ...] = ("same", "more", "less", "other")
    pairs = [
        _in_utc(a, b)
        for a in ones
        for b in others
        if "" in (a.order, b.order) or a.order == b.order
    ]
    found = [(_relation(*pair), *pair) for pair in pairs]
    return min(found, key=lambda each: order.index(each[0]))


def _in_utc(one: Moment, other: Moment) -> tuple[Moment, Moment]:
    """Convert two moments to UTC if both have a day and a time zone."""
    if one.zone is None or other.zone is None or not (one.day and other.day):
        return one, other
    return _shifted(one), _shifted(other)


def _shifted(moment: Moment) -> Moment:
    day = dt.date(moment.year or 2000, moment.month or 1, moment.day or 1)
    try:
        then = dt.datetime.combine(day, moment.clock or dt.time()) - (moment.zone or dt.timedelta())
    except OverflowError:
        return moment
    return Moment(then.year, then.month, then.day, then.time())


def _relation(one: Moment, other: Moment) -> Relation:
    pairs = list(zip(_parts(one), _parts(other), strict=True))
    more = any(a is None and b is not None for a, b in pairs)
    less = any(b is None and a is not None for a, b in pairs)
    if not meet(one, other) or (more and less):
        return "other"
    return "more" if more else "less" if less else "same"
