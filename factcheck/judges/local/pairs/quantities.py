"""Comparison of values that are quantities, `at least 5 kg`, or dates and times, in any notation.

Builds on the quantities and dates of `factcheck.text`, and adds all readings of number separators
and notations that occur in values only. A numeric date with ambiguous order has two readings; two
such dates are read in the same order.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import isclose
from typing import Literal, NamedTuple, get_args

from factcheck.judges.local.pairs.model import (
    OTHER,
    SAME,
    SIMILAR,
    VAGUE,
    Finding,
    Relation,
    against,
    settle,
)
from factcheck.judges.local.pairs.normal import TABLES, fold
from factcheck.judges.ports import Specificity
from factcheck.text.dates import FILLERS, Moment, Notation, meet, read_moments
from factcheck.text.numbers import DECIMAL_COMMA, read_digits
from factcheck.text.units import BOUNDS, Quantity, Unit, read_quantity
from factcheck.text.words import Word, word_set, words

_BOUNDS = {fold(phrase): bound for phrase, bound in BOUNDS.items()}
_BOUNDS |= {
    phrase: bound for bound in TABLES["bounds"] for phrase in TABLES["bounds"][bound].split(",")
}
_BOUND_BEHIND = re.compile(
    r"(?P<least>\+|(?:or|and) (?:more|above|over|older|higher|later|longer)|oder mehr|ou plus)"
    r"|(?P<most>or (?:younger|lower|earlier|less|fewer)|oder weniger)"
)
_FILLERS = word_set("a total of in = between zwischen entre")
_LINK = re.compile(r"\s*([-/:,+±x\u00d7]|(?:to|bis|through|by|and|und|et|y)\b)?\s*(.*)")
_LINKS = dict.fromkeys(("to", "bis", "through"), "-") | {"by": "x", "\u00d7": "x"}
_AND = frozenset({"and", "und", "et", "y"})
_PLAIN_LINKS = frozenset({"", "+", ","})
_LONGEST_VALUE, _LONGEST_MOMENT = 120, 80
_TOLERANCE = 0.006
"""Relative tolerance between rounded imperial and metric quantities."""
_OTHER_BOUND, _ABOUT, _FIRST_YEAR, _CENTURY = 0.1, 0.6, 1000, 100
_NO_UNIT, _MILLION = Unit("", "", 1.0), Unit("million", "", 1e6)
_DOLLARS = TABLES["dollars"]


def _as_decimal(match: re.Match[str]) -> str:
    """Convert a proper fraction or mixed number to a decimal; keep anything else."""
    whole, upper, lower = match[1] or "0", int(match[2]), int(match[3])
    return match[0] if upper >= lower else f"{int(whole) + upper / lower:.10g}"


_BEFORE_MONEY = r"(?=[$£€¥]|(?:eur|usd|gbp|chf)\b)"
_NOTATIONS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"\b(?:minus|negative)\s+(?=\d)", "-"),
        (r"-\s?([$£€¥])\s?(\d[\d.,]*)", r"-\2 \1"),
        (r"(?<!\d)(\d{1,2})'\s?(\d{1,2})(?:\"|'')", r"\1 ft \2 in"),
        (
            r"(\d+(?:\.\d+)?)\s?(?:bps?|basis points?)\b",
            lambda found: f"{float(found[1]) / 100:.10g} %",
        ),
        (r"(?<![\d.,])(\d{1,2})\s?h\s?(\d{2})(?![\d.,]|\s*m)", r"\1 h \2 min"),
        (
            r"\b(us|ca?|au?|nz|r)\$|\$us\b",
            lambda found: f" {_DOLLARS[(found[1] or 'us').lower()]} ",
        ),
        (rf"(?<=\d)\s[kt]\s?{_BEFORE_MONEY}", " thousand "),
        (rf"(?<=\d)\sm\s?{_BEFORE_MONEY}", " million "),
        (
            r"(?<![\w.,])(\d+(?:\.\d+)?)e(\d{1,2})\b",
            lambda found: f"{float(found[1]) * 10 ** int(found[2]):.15g}",
        ),
        (
            r"(?<![\d/.,])(?:(\d{1,6})\s+)?(\d{1,4})\s?[/\u2044]\s?(\d{1,4})(?![\d/\u2044])",
            _as_decimal,
        ),
        (
            r"\A(\D*[1-9]\d{0,2})((?: \d{3})+)(?![\d ]*\d)",
            lambda found: found[1] + found[2].replace(" ", ""),
        ),
        (r"\bhalf (?:an?\b|of an?\b)|\bhalb\w{1,2}\b", "0.5"),
    )
)
"""Notations of fractions, powers, feet, negative amounts and dollars, with replacements."""


class Amount(NamedTuple):
    """A number with its unit."""

    numbers: frozenset[float]
    """Possible values in the unit as written."""
    units: tuple[Unit, ...]
    """Possible units."""
    bound: str = ""
    """`least`, `more`, `most`, `less`, `about`, or empty for an exact amount."""
    link: str = ""
    """Symbol or word between the previous amount and this one."""

    @property
    def values(self) -> set[tuple[str, float]]:
        """Pairs of dimension, empty for a plain number, and value in base units."""
        return {
            (unit.dimension, _rounded(unit.basic(number)))
            for number in self.numbers
            for unit in self.units or (_NO_UNIT,)
        }


def _amount(quantity: Quantity, found: Sequence[Word], text: str, language: str) -> Amount:
    """Return a quantity with all readings of its digits.

    A point before three digits groups thousands only in money and in languages that write so.
    """
    units, with_comma = quantity.units, language in DECIMAL_COMMA
    written = [w.form for w in found[quantity.first : quantity.middle] if w.kind == "number"]
    digits = written[0] if written else ""
    main = read_digits(digits, language) if digits else None
    readings = {main or 1.0}
    if main and (with_comma or any(unit.dimension.startswith("money") for unit in units)):
        styles = (read_digits(digits, style) for style in ("en", "de"))
        readings |= {value for value in styles if value is not None}
    if main and digits.count(".") == 1 and "," not in digits:
        readings.add(float(digits))
    if text[quantity.end - 2 : quantity.end - 1].isdigit() and "metre" in {u.name for u in units}:
        units = (*units, _MILLION)
    factor = quantity.value / (main or 1.0)
    return Amount(frozenset(_rounded(value * factor) for value in readings), units)


def _rounded(value: float) -> float:
    """Round to 12 significant digits, to remove floating-point noise."""
    return float(f"{value:.12g}")


@lru_cache(maxsize=8192)
def read_amounts(text: str, language: str) -> tuple[Amount, ...]:
    """Read a tidy text that consists of quantities; empty if it holds anything else."""
    if len(text) > _LONGEST_VALUE:
        return ()
    plain = text
    for pattern, replacement in _NOTATIONS:
        plain = pattern.sub(replacement, plain)
    found = words(plain, language)
    items: list[Amount] = []
    at = end = 0
    while at < len(found):
        quantity = read_quantity(found, at, plain, language, alone=True)
        at += 1
        if quantity is None:
            continue
        gap = plain[end : quantity.start]
        lead = _lead(gap[:-1] if quantity.value < 0 else gap, plain, is_first=not items)
        if lead is None or quantity.kind == "ordinal":
            return ()
        item = _amount(quantity, found, plain, language)._replace(bound=lead[0], link=lead[1])
        if items and item.link in _PLAIN_LINKS:
            total = None if item.bound else _sum(items[-1], item)
            if total is None:
                return ()
            items[-1] = total
        else:
            items.append(item)
        at, end = quantity.last, quantity.end
    behind = fold(plain[end:]).strip(" .)]")
    bound = _BOUND_BEHIND.fullmatch(behind) if behind else None
    if not items or (behind and bound is None):
        return ()
    if bound is not None:
        items[-1] = items[-1]._replace(bound=bound.lastgroup or "")
    return tuple(_completed(items))


def _lead(gap: str, text: str, *, is_first: bool) -> tuple[str, str] | None:
    """Return the bound and link before a quantity, or `None` if there is any other text."""
    link, phrase = "", fold(gap).strip(" .()[]")
    if not is_first:
        mark, phrase = _LINK.findall(fold(gap).strip(" .)]"))[0]
        joint = "-" if re.match("between|zwischen|entre", text.lower()) else "+"
        link = joint if mark in _AND else _LINKS.get(mark, mark)
    bare = " ".join(word for word in phrase.split() if word not in _FILLERS)
    bound = _BOUNDS.get(phrase) or _BOUNDS.get(bare)
    return (bound or "", link) if bound or not bare else None


def _sum(before: Amount, item: Amount) -> Amount | None:
    """Add a quantity in a smaller unit, `1 h 30 min`; `None` if it is none."""
    for large in before.units:
        for small in item.units:
            ratio = large.factor / small.factor
            if large.dimension == small.dimension and ratio > 1:
                numbers = {_rounded(a * ratio + b) for a in before.numbers for b in item.numbers}
                return before._replace(numbers=frozenset(numbers), units=(small,))
    return None


def _completed(items: list[Amount]) -> list[Amount]:
    """Complete ranges: `5-10 kg` with the unit for both, `1939-45` with full years."""
    *before, last = items
    if last.link == "-" and not last.units:
        first, end = max(before[-1].numbers), max(last.numbers)
        if first >= _FIRST_YEAR and first % _CENTURY < end < _CENTURY:
            last = last._replace(numbers=frozenset({first - first % _CENTURY + end}))
    if last.link == "-" and before[-1].bound == "least":
        before[-1] = before[-1]._replace(bound="")
    if last.link in {"-", "x", "/"}:
        before = [item._replace(units=item.units or last.units) for item in before]
    return [*before, last]


def compare_amounts(
    first: str, second: str, language: str, specificity: Specificity
) -> Finding | None:
    """Compare two tidy texts as quantities; `None` unless both are."""
    ones, others = read_amounts(first, language), read_amounts(second, language)
    if not ones or len(ones) != len(others):
        return None
    conflict = against(first, second)
    if [amount.link for amount in ones] != [amount.link for amount in others]:
        return Finding(OTHER, conflict)
    found = [_compare(a, b, conflict, specificity) for a, b in zip(ones, others, strict=True)]
    return min(found, key=lambda finding: finding.probability)


def _compare(one: Amount, other: Amount, conflict: str, specificity: Specificity) -> Finding:
    finding = _same(one, other, specificity) or Finding(OTHER, conflict)
    if finding.probability < VAGUE or one.bound == other.bound:
        return finding
    if {one.bound, other.bound} == {"", "about"}:
        return Finding(min(finding.probability, _ABOUT), "same number, only about it on one side")
    return Finding(_OTHER_BOUND, conflict)


def _same(one: Amount, other: Amount, specificity: Specificity) -> Finding | None:
    """Return the finding on amounts that are equal in some reading, or `None`."""
    if one.values & other.values:
        return Finding(SAME, "same quantity" if one.units or other.units else "same number")
    if one.units and other.units:
        return Finding(SIMILAR, "same quantity, rounded") if _nearly(one, other) else None
    shares = [{value for kind, value in x.values if kind in {"", "share"}} for x in (one, other)]
    if shares[0] & shares[1]:
        return Finding(SIMILAR, "same share")
    if one.numbers & other.numbers:
        relation: Relation = "less" if one.units else "more"
        name = "extracted" if one.units else "gold"
        return settle(relation, specificity, f"same number, without a unit in {name}")
    return None


def _nearly(one: Amount, other: Amount) -> bool:
    """Whether amounts are equal up to rounding in a conversion, as from miles to km.

    Units that are integer multiples, such as hours and minutes, are converted without rounding.
    """
    ratios = [max(a.factor / b.factor, b.factor / a.factor) for a in one.units for b in other.units]
    if all(isclose(ratio, round(ratio), rel_tol=1e-9) for ratio in ratios):
        return False
    return any(
        a == b and abs(x - y) <= _TOLERANCE * max(abs(x), abs(y))
        for a, x in one.values
        for b, y in other.values
    )


_MOMENT_FILLERS = FILLERS | word_set(TABLES["moment_fillers"])
_NOTATION = Notation(pivot=1950)
_PARTS = ("year", "month", "day", "time")
_Difference = Literal["same", "half", "more", "less", "other"]


@lru_cache(maxsize=8192)
def read_ends(text: str) -> tuple[tuple[Moment, ...], ...]:
    """Return the readings of each moment in a tidy text: one, two for a period, or none."""
    try:
        ends = (
            read_moments(text, _NOTATION, _MOMENT_FILLERS) if len(text) <= _LONGEST_MOMENT else ()
        )
    except ValueError:
        return ()
    midnight = dt.time(0)
    found = tuple(
        tuple(m._replace(clock=None) if m.day and m.clock == midnight else m for m in readings)
        for readings in ends
    )
    return found if all(any(m[: len(_PARTS)]) for readings in found for m in readings) else ()


def compare_moments(first: str, second: str, specificity: Specificity) -> Finding | None:
    """Compare two tidy texts as dates or times; `None` unless both are."""
    ones, others = read_ends(first), read_ends(second)
    moments = [moment for ends in (ones, others) for ways in ends for moment in ways]
    is_date = any(m.month or m.clock or (m.year or 0) < 0 for m in moments)  # no lone year
    if not is_date or len(ones) != len(others):
        return None
    found = dict(_closest(*ends) for ends in zip(ones, others, strict=True))
    if "other" in found or found.keys() >= {"more", "less"}:
        return Finding(OTHER, against(first, second))
    relation: Relation
    for relation, side in (("more", "extracted"), ("less", "gold")):
        if relation in found:
            reason = f"only {side} has the {' and the '.join(found[relation])}"
            return settle(relation, specificity, reason)
    if "half" in found:
        return Finding(SIMILAR, "same time, if the same half of the day is meant")
    is_time = all(m.year is m.month is m.day is None for m in moments)
    return Finding(SAME, f"same {'time' if is_time else 'date'}")


def _closest(ones: Sequence[Moment], others: Sequence[Moment]) -> tuple[_Difference, list[str]]:
    """Return the smallest difference of readings with the same day-month order."""
    found = [
        _difference(a, b)
        for a in ones
        for b in others
        if "" in (a.order, b.order) or a.order == b.order
    ]
    return min(found, key=lambda each: get_args(_Difference).index(each[0]))


def _difference(one: Moment, other: Moment) -> tuple[_Difference, list[str]]:
    """Return how a moment differs from another one, and the parts that only one of them has."""
    if one.zone is not None and other.zone is not None and one.day and other.day:
        one, other = _in_utc(one), _in_utc(other)
    parts = list(zip(_PARTS, one, other, strict=False))
    more = [name for name, a, b in parts if a is None and b is not None]
    less = [name for name, a, b in parts if b is None and a is not None]
    if not meet(one, other) or (more and less):
        return "other", []
    if more or less:
        return ("more", more) if more else ("less", less)
    return ("same" if one.clock == other.clock else "half"), []


def _in_utc(moment: Moment) -> Moment:
    day = dt.date(moment.year or 2000, moment.month or 1, moment.day or 1)
    try:
        then = dt.datetime.combine(day, moment.clock or dt.time()) - (moment.zone or dt.timedelta())
    except OverflowError:
        return moment
    return Moment(then.year, then.month, then.day, then.time())
