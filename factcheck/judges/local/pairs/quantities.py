"""Values that are quantities and nothing else: `at least 5 kg`, `10-20 %`, `1 h 30 min`.

Numbers and units are read by the text room. What is added: every way the separators of a number
may be read, and the notations of a value that do not occur in running text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from math import isclose
from typing import NamedTuple

from factcheck.judges.local.pairs.model import (
    SAME,
    SIMILAR,
    VAGUE,
    Finding,
    Relation,
    against,
    settle,
)
from factcheck.judges.local.pairs.normal import fold
from factcheck.judges.ports import Specificity
from factcheck.text.numbers import DECIMAL_COMMA, read_digits
from factcheck.text.units import BOUNDS, Quantity, Unit, read_quantity
from factcheck.text.words import Word, word_set, words


class Measure(NamedTuple):
    """What a number with its unit may mean."""

    values: frozenset[tuple[str, float]]
    """In basic units, with their dimension; that of a plain number is empty."""
    numbers: frozenset[float]
    """As written, whatever the unit."""
    units: tuple[Unit, ...]
    decimals: int
    """Digits behind the point."""


class Amount(NamedTuple):
    """One quantity of a value."""

    measure: Measure
    bound: str
    """`least`, `more`, `most`, `less`, `about`, or empty for an exact amount."""
    link: str
    """What stands between it and the amount before."""


class Amounts(NamedTuple):
    """All quantities of a value."""

    items: tuple[Amount, ...]
    text: str


_BOUNDS = {fold(phrase): bound for phrase, bound in BOUNDS.items()} | {
    phrase: bound
    for bound, phrases in {
        "least": "min|minimum|not less than|> =|>=|from|ab|starting at",
        "most": "max|maximum|not more than|maximal|< =|<=",
        "about": "ca|c|≈|ungefahr",
    }.items()
    for phrase in phrases.split("|")
}
_BOUND_BEHIND = re.compile(
    r"(?P<least>\+|(?:or|and) (?:more|above|over|older|higher|later|longer)|oder mehr|ou plus)"
    r"|(?P<most>or (?:younger|lower|earlier|less|fewer)|oder weniger)"
)
_FILLERS = word_set("a total of in = between zwischen entre")
_LINK = re.compile(r"\s*([-/:,+±x\u00d7]|(?:to|bis|through|by|and|und|et|y)\b)?\s*(.*)")
_LINKS = {**dict.fromkeys(("to", "bis", "through"), "-"), **dict.fromkeys(("by", "\u00d7"), "x")}
_AND = frozenset({"and", "und", "et", "y"})
_BETWEEN = re.compile(r"between|zwischen|entre")
_LONGEST_VALUE = 120
_TOLERANCE = 0.01
"""Between a rounded imperial and a rounded metric quantity."""
_PLAIN_LINKS = frozenset({"", "+", ","})
_ABOUT = 0.6
"""At most this, for a number that only one value has as an estimate."""
_OTHER_BOUND = 0.1
_FIRST_YEAR, _CENTURY = 1000, 100
_MILLION = 1_000_000

_HALF = re.compile(r"\bhalf (?:an?\b|of an?\b)|\bhalb\w{1,2}\b", re.IGNORECASE)
_HOURS = re.compile(r"(?<![\d.,])(\d{1,2})\s?h\s?(\d{2})(?![\d.,]|\s*m)", re.IGNORECASE)
_VULGAR = re.compile(
    r"(?<![\d/.,])(?:(\d{1,6})\s+)?(\d{1,4})\s?[/\u2044]\s?(\d{1,4})(?![\d/\u2044])"
)
_SPACED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?: \d{3})+(?![\d ]*\d)")
_FEET = re.compile(r"(?<!\d)(\d{1,2})'\s?(\d{1,2})(?:\"|'')")
_EXPONENT = re.compile(r"(?<![\w.,])(\d+(?:\.\d+)?)e(\d{1,2})\b")
_DEBT = re.compile(r"-\s?([$£€¥])\s?(\d[\d.,]*)")
_DOLLARS = re.compile(r"\b(us|ca?|au?|nz|r)\$|\$us\b", re.IGNORECASE)
_CODES = {"us": "usd", "c": "cad", "ca": "cad", "a": "aud", "au": "aud", "nz": "nzd", "r": "brl"}
_MONEY_STEP = re.compile(
    r"(?<=\d)\s(?:(k|t)|(m)|(bn))\s?(?=[$£€¥]|(?:eur|usd|gbp|chf)\b)", re.IGNORECASE
)
_STEPS = ("", " thousand ", " million ", " billion ")
_GROUPS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:\.\d{3}){2,}(?![\d.])")


def spelled_out(text: str) -> str:
    """A value with fractions, powers, feet, debts and dollars as plain numbers and codes."""
    if any(character.isdigit() for character in text):
        text = re.sub(r"\b(?:minus|negative)\s+(?=\d)", "-", text, flags=re.IGNORECASE)
        text = _FEET.sub(r"\1 ft \2 in", _DEBT.sub(r"-\2 \1", text))
        text = _DOLLARS.sub(lambda found: f" {_CODES[(found[1] or 'us').lower()]} ", text)
        text = _MONEY_STEP.sub(lambda found: _STEPS[found.lastindex or 0], text)
        text = _GROUPS.sub(lambda found: found[0].replace(".", ""), text)
        text = _EXPONENT.sub(_plain, text)
        text = _VULGAR.sub(_as_decimal, _HOURS.sub(r"\1 h \2 min", text))
        spaced = _SPACED.search(text)
        if spaced and not any(c.isdigit() for c in text[: spaced.start()]):
            text = text[: spaced.start()] + spaced[0].replace(" ", "") + text[spaced.end() :]
    return _HALF.sub("0.5", text)


def _plain(found: re.Match[str]) -> str:
    """`1.5e6` as `1500000`."""
    return f"{float(found[1]) * 10 ** int(found[2]):.15g}"


def _as_decimal(match: re.Match[str]) -> str:
    """A proper fraction, alone or behind a whole number; what may be something else is kept."""
    whole, upper, lower = match[1] or "0", int(match[2]), int(match[3])
    return match[0] if upper >= lower else f"{int(whole) + upper / lower:.10g}"


def measure(quantity: Quantity, found: Sequence[Word], text: str, language: str) -> Measure:
    """All that a quantity of a value may mean.

    Args:
        quantity: Read from `text`.
        found: The words of `text`.
        text: A value.
        language: Decides which separator is likelier a decimal point.
    """
    is_money = any(unit.dimension.startswith("money") for unit in quantity.units)
    digits = next(
        (w.form for w in found[quantity.first : quantity.middle] if w.kind == "number"), ""
    )
    main = read_digits(digits, language) if digits else None
    scale = quantity.value / main if main else 1.0
    readings = _readings(digits, language, is_money=is_money) if main else (quantity.value,)
    numbers = [value * scale if main else value for value in readings]
    values = {
        (unit.dimension, _rounded(unit.basic(number)))
        for number in numbers
        for unit in quantity.units or (Unit("", "", 1.0),)
    }
    is_stuck = text[quantity.end - 2 : quantity.end - 1].isdigit()
    if is_stuck and any(unit.name == "metre" for unit in quantity.units):
        values |= {("", _rounded(number * _MILLION)) for number in numbers}
    decimals = len(digits.partition(".")[2])
    return Measure(frozenset(values), frozenset(map(_rounded, numbers)), quantity.units, decimals)


def _rounded(value: float) -> float:
    """A value without what computing in floats adds to it."""
    return float(f"{value:.12g}")


@lru_cache(maxsize=4096)
def _readings(digits: str, language: str, *, is_money: bool) -> tuple[float, ...]:
    """The numbers that digits with separators may stand for.

    A point before three digits divides thousands only in money and in languages that write so.
    """
    with_comma = language in DECIMAL_COMMA
    readings: dict[float, None] = {}
    for style in ("de", "en") if with_comma else ("en", "de"):
        value = read_digits(digits, style)
        if value is not None and (not readings or is_money or with_comma):
            readings[value] = None
    if digits.count(".") == 1 and "," not in digits:
        readings[float(digits)] = None
    return tuple(readings)


@lru_cache(maxsize=8192)
def read_amounts(text: str, language: str) -> Amounts | None:
    """The quantities of a tidy text that holds nothing else, or `None`."""
    if len(text) > _LONGEST_VALUE:
        return None
    plain = spelled_out(text)
    found = words(plain, language)
    items: list[Amount] = []
    at = end = 0
    joint = "-" if _BETWEEN.match(plain.lower()) else "+"
    while at < len(found):
        quantity = read_quantity(found, at, plain, language, alone=True)
        at += 1
        if quantity is None:
            continue
        gap = plain[end : quantity.start]
        gap = gap[:-1] if quantity.value < 0 else gap
        lead = _lead(gap, joint, is_first=not items)
        if lead is None or quantity.kind == "ordinal":
            return None
        amount = Amount(measure(quantity, found, plain, language), *lead)
        if items and not amount.link and not _adds_up(items[-1], amount):
            return None
        _append(items, amount)
        at, end = quantity.last, quantity.end
    behind = fold(plain[end:]).strip(" .)]")
    bound = _BOUND_BEHIND.fullmatch(behind) if behind else None
    if not items or (behind and bound is None) or any(a.link in {"+", ","} for a in items):
        return None
    if bound is not None:
        items[-1] = items[-1]._replace(bound=bound.lastgroup or "")
    return Amounts(_with_one_unit(items), text)


def _lead(gap: str, joint: str, *, is_first: bool) -> tuple[str, str] | None:
    """The limit and the link before a quantity; `None` if anything else stands there."""
    link, phrase = "", fold(gap).strip(" .()[]")
    if not is_first:
        mark, phrase = _LINK.findall(fold(gap).strip(" .)]"))[0]
        link = joint if mark in _AND else _LINKS.get(mark, mark)
    if phrase in _BOUNDS:
        return _BOUNDS[phrase], link
    bare = " ".join(word for word in phrase.split() if word not in _FILLERS)
    return (_BOUNDS.get(bare, ""), link) if not bare or bare in _BOUNDS else None


def _append(items: list[Amount], item: Amount) -> None:
    """Add a quantity: as the end of a range, as a part of the one before, or on its own."""
    if items and item.link == "-":
        if items[-1].bound == "least":
            items[-1] = items[-1]._replace(bound="")
        item = _in_same_century(items[-1], item)
    if items and item.link in _PLAIN_LINKS and not item.bound and _adds_up(items[-1], item):
        last = items[-1].measure
        sums = frozenset(
            (dimension, _rounded(value + other))
            for dimension, value in last.values
            for same, other in item.measure.values
            if same == dimension
        )
        units = last.units + item.measure.units
        items[-1] = items[-1]._replace(measure=last._replace(values=sums, units=units))
    else:
        items.append(item)


def _in_same_century(start: Amount, end: Amount) -> Amount:
    """`1939-45` as `1939-1945`."""
    first, last = max(start.measure.numbers), max(end.measure.numbers)
    if end.measure.units or not (first >= _FIRST_YEAR and first % _CENTURY < last < _CENTURY):
        return end
    year = first - first % _CENTURY + last
    changed = end.measure._replace(values=frozenset({("", year)}), numbers=frozenset({year}))
    return end._replace(measure=changed)


def _adds_up(before: Amount, item: Amount) -> bool:
    """Whether a quantity goes on with a smaller unit: `1 h 30 min`."""
    return any(
        dimension == same and dimension and smaller < value
        for dimension, value in before.measure.values
        for same, smaller in item.measure.values
    )


def _with_one_unit(items: list[Amount]) -> tuple[Amount, ...]:
    """`5-10 kg`: the unit of the last amount is meant for those before, too."""
    last = items[-1]
    if not last.measure.units or last.link not in {"-", "x", "/"}:
        return tuple(items)
    shared = []
    for item in items[:-1]:
        own = item.measure
        if not own.units:
            values = frozenset(
                (unit.dimension, _rounded(unit.basic(number)))
                for unit in last.measure.units
                for number in own.numbers
            )
            own = own._replace(values=values, units=last.measure.units)
        shared.append(item._replace(measure=own))
    return (*shared, last)


def compare_amounts(first: Amounts, second: Amounts, specificity: Specificity) -> Finding | None:
    """Whether two quantities are the same one; `None` if they are of different shape."""
    if len(first.items) != len(second.items):
        return None
    conflict = against(first.text, second.text)
    findings = [
        _compare(one, other, conflict, specificity)
        for one, other in zip(first.items, second.items, strict=True)
    ]
    return min(findings, key=lambda finding: finding.probability)


def _compare(one: Amount, other: Amount, conflict: str, specificity: Specificity) -> Finding:
    if (one.link in _PLAIN_LINKS) != (other.link in _PLAIN_LINKS):
        return Finding(VAGUE, conflict)
    finding = _same(one.measure, other.measure) or settle(
        _precision(one.measure, other.measure), specificity, conflict
    )
    if finding.probability < VAGUE or one.bound == other.bound:
        return finding
    if {one.bound, other.bound} == {"", "about"}:
        return Finding(min(finding.probability, _ABOUT), "same number, only about it on one side")
    return Finding(_OTHER_BOUND, conflict)


def _same(one: Measure, other: Measure) -> Finding | None:
    """The finding on two numbers that are the same in some reading; `None` if they are not."""
    if one.values & other.values:
        return Finding(SAME, "same quantity" if one.units or other.units else "same number")
    if one.units and other.units:
        return Finding(SIMILAR, "same quantity, rounded") if _nearly(one, other) else None
    if one.numbers & other.numbers:
        name = "extracted" if one.units else "gold"
        return Finding(SIMILAR, f"same number, without a unit in {name}")
    shares = [
        {value for dimension, value in each.values if dimension in {"", "share"}}
        for each in (one, other)
    ]
    return Finding(SIMILAR, "same share") if shares[0] & shares[1] else None


def _nearly(one: Measure, other: Measure) -> bool:
    """Whether they are the same but for the rounding of a conversion, as from miles to km.

    Where one unit is a whole number of the other, as an hour of minutes, nothing is rounded.
    """
    ratios = [a.factor / b.factor for a in one.units for b in other.units]
    if all(isclose(max(r, 1 / r), round(max(r, 1 / r)), rel_tol=1e-9) for r in ratios):
        return False
    return any(
        dimension == same and abs(value - near) <= _TOLERANCE * max(abs(value), abs(near))
        for dimension, value in one.values
        for same, near in other.values
    )


def _precision(one: Measure, other: Measure) -> Relation:
    """`3.14` against `3.14159`: the second says more."""
    for a in sorted(one.numbers):
        for b in sorted(other.numbers):
            if one.decimals < other.decimals and one.decimals and round(b, one.decimals) == a:
                return "more"
            if other.decimals < one.decimals and other.decimals and round(a, other.decimals) == b:
                return "less"
    return "other"
