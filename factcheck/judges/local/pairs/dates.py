"""Whether two values that are dates or times mean the same one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from factcheck.judges.local.pairs.findings import (
    OTHER,
    SAME,
    SIMILAR,
    Finding,
    Relation,
    against,
    settle,
)
from factcheck.judges.local.pairs.moments import PARTS, Moment, read_moments
from factcheck.judges.ports import Specificity

_NAMES = {"minute": "time", "second": "seconds"}
_HALF_DAY = 720


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
