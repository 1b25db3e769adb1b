"""Comparison of values that consist of quantities: `at least 5 kg`, `10-20 %`, `1 h 30 min`.

Builds on the quantities of `factcheck.text`, and adds all readings of number separators and
notations that occur in values only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
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


class Amount(NamedTuple):
    """Possible readings of a number with its unit."""

    values: frozenset[tuple[str, float]]
    """Pairs of dimension, empty for a plain number, and value in base units."""
    numbers: frozenset[float]
    """Values in the unit as written."""
    units: tuple[Unit, ...]
    decimals: int
    """Number of decimal places."""
    bound: str = ""
    """`least`, `more`, `most`, `less`, `about`, or empty for an exact amount."""
    link: str = ""
    """Symbol or word between the previous amount and this one."""


_BOUNDS = {fold(phrase): bound for phrase, bound in BOUNDS.items()} | {
    **dict.fromkeys(
        ["min", "minimum", "not less than", "> =", ">=", "from", "ab", "starting at"], "least"
    ),
    **dict.fromkeys(["max", "maximum", "not more than", "maximal", "< =", "<="], "most"),
    **dict.fromkeys(["ca", "c", "≈", "ungefahr"], "about"),
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
_LONGEST_VALUE = 120
_TOLERANCE = 0.01
"""Relative tolerance between rounded imperial and metric quantities."""
_OTHER_BOUND, _ABOUT, _MILLION, _FIRST_YEAR, _CENTURY = 0.1, 0.6, 1e6, 1000, 100
_NO_UNIT = Unit("", "", 1.0)
_DOLLARS = {"us": "usd", "c": "cad", "ca": "cad", "a": "aud", "au": "aud", "nz": "nzd", "r": "brl"}


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
        (rf"(?<=\d)\sbn\s?{_BEFORE_MONEY}", " billion "),
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


def measure(quantity: Quantity, found: Sequence[Word], text: str, language: str) -> Amount:
    """Return the possible readings of a quantity.

    Args:
        quantity: Quantity read from `text`.
        found: Words of `text`.
        text: A value.
        language: Two-letter code; determines the likelier decimal mark.
    """
    units = quantity.units
    is_money = any(unit.dimension.startswith("money") for unit in units)
    digits = next(
        (w.form for w in found[quantity.first : quantity.middle] if w.kind == "number"), ""
    )
    main = read_digits(digits, language) if digits else None
    readings = _readings(digits, language, is_money=is_money) if main else (1.0,)
    numbers = [value * quantity.value / (main or 1.0) for value in readings]
    values = {
        (u.dimension, _rounded(u.basic(number))) for number in numbers for u in units or (_NO_UNIT,)
    }
    is_stuck = text[quantity.end - 2 : quantity.end - 1].isdigit()
    if is_stuck and any(unit.name == "metre" for unit in units):
        values |= {("", _rounded(number * _MILLION)) for number in numbers}
    decimals = len(digits.partition(".")[2])
    return Amount(frozenset(values), frozenset(map(_rounded, numbers)), units, decimals)


def _rounded(value: float) -> float:
    """Round to 12 significant digits, to remove floating-point noise."""
    return float(f"{value:.12g}")


@lru_cache(maxsize=4096)
def _readings(digits: str, language: str, *, is_money: bool) -> tuple[float, ...]:
    """Return the possible values of digits with separators, likeliest first.

    A point before three digits groups thousands only in money and in languages that write so.
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
        item = measure(quantity, found, plain, language)._replace(bound=lead[0], link=lead[1])
        if items and not item.bound and item.link in _PLAIN_LINKS and _adds_up(items[-1], item):
            items[-1] = _sum(items[-1], item)
        elif items and item.link in _PLAIN_LINKS:
            return ()
        else:
            items.append(item)
        at, end = quantity.last, quantity.end
    behind = fold(plain[end:]).strip(" .)]")
    bound = _BOUND_BEHIND.fullmatch(behind) if behind else None
    if not items or (behind and bound is None):
        return ()
    if bound is not None:
        items[-1] = items[-1]._replace(bound=bound.lastgroup or "")
    return _as_range(items)


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


def _adds_up(before: Amount, item: Amount) -> bool:
    """Whether a quantity continues with a smaller unit: `1 h 30 min`."""
    return any(a == b and a and low < high for a, high in before.values for b, low in item.values)


def _sum(before: Amount, item: Amount) -> Amount:
    values = {(a, _rounded(x + y)) for a, x in before.values for b, y in item.values if a == b}
    return before._replace(values=frozenset(values), units=before.units + item.units)


def _as_range(items: list[Amount]) -> tuple[Amount, ...]:
    """Complete ranges: `5-10 kg` with the unit for both, `1939-45` with full years."""
    last = items[-1]
    if last.link == "-" and not last.units:
        first, end = max(items[-2].numbers), max(last.numbers)
        if first >= _FIRST_YEAR and first % _CENTURY < end < _CENTURY:
            year = first - first % _CENTURY + end
            last = last._replace(values=frozenset({("", year)}), numbers=frozenset({year}))
    if last.link == "-" and items[-2].bound == "least":
        items[-2] = items[-2]._replace(bound="")
    if last.units and last.link in {"-", "x", "/"}:
        for at, item in enumerate(items[:-1]):
            if not item.units:
                pairs = {
                    (u.dimension, _rounded(u.basic(n))) for u in last.units for n in item.numbers
                }
                items[at] = item._replace(values=frozenset(pairs), units=last.units)
    return (*items[:-1], last)


def compare_amounts(
    first: str, second: str, language: str, specificity: Specificity
) -> Finding | None:
    """Compare two tidy texts as quantities; `None` unless both are."""
    ones, others = read_amounts(first, language), read_amounts(second, language)
    if not ones or len(ones) != len(others):
        return None
    conflict = against(first, second)
    found = [_compare(a, b, conflict, specificity) for a, b in zip(ones, others, strict=True)]
    return min(found, key=lambda finding: finding.probability)


def _compare(one: Amount, other: Amount, conflict: str, specificity: Specificity) -> Finding:
    finding = _same(one, other, specificity) or settle(
        _precision(one, other), specificity, conflict
    )
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


def _precision(one: Amount, other: Amount) -> Relation:
    """Compare precision: `3.14159` says more than `3.14`."""
    for a in one.numbers:
        for b in other.numbers:
            if 0 < one.decimals < other.decimals and round(b, one.decimals) == a:
                return "more"
            if 0 < other.decimals < one.decimals and round(a, other.decimals) == b:
                return "less"
    return "other"
