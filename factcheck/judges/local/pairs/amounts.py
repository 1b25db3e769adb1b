"""Values that are quantities and nothing else: `at least 5 kg`, `10-20 %`, `1 h 30 min`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from factcheck.judges.local.pairs.findings import (
    SAME,
    SIMILAR,
    VAGUE,
    Finding,
    Relation,
    against,
    settle,
)
from factcheck.judges.local.pairs.numbers import spelled_out
from factcheck.judges.local.pairs.quantities import Measure, read_measure
from factcheck.judges.local.tokens import Token, tokenize
from factcheck.judges.ports import Specificity


class Amount(NamedTuple):
    """One quantity of a value."""

    values: frozenset[tuple[str, Fraction]]
    """In base units, with their dimension; empty if there is no unit."""
    numbers: frozenset[Fraction]
    """As written, whatever the unit."""
    bound: str
    """`ge`, `gt`, `le`, `lt`, `about`, or empty for an exact amount."""
    link: str
    """What stands between it and the amount before."""
    decimals: int
    """Digits behind the point."""
    factors: frozenset[Fraction]
    """How many base units its unit may be."""


class Amounts(NamedTuple):
    """All quantities of a value."""

    items: tuple[Amount, ...]
    text: str


_BOUNDS = {
    phrase: bound
    for bound, phrases in {
        "ge": "at least|min|minimum|minimum of|mindestens|no less than|not less than|au moins|"
        "al menos|≥|> =|from|ab|starting at",
        "gt": "more than|over|above|greater than|higher than|mehr als|uber|plus de|mas de|>",
        "le": "at most|max|maximum|maximum of|up to|no more than|not more than|bis zu|hochstens|"
        "maximal|jusqu a|hasta|≤|< =",
        "lt": "less than|under|below|fewer than|lower than|weniger als|unter|moins de|menos de|<",
        "about": "about|approximately|approx|around|roughly|ca|circa|etwa|rund|ungefahr|environ|"
        "nearly|almost|some|~|≈|c",
    }.items()
    for phrase in phrases.split("|")
}
_BOUNDS_BEHIND = {
    "or more": "ge",
    "and more": "ge",
    "or above": "ge",
    "and above": "ge",
    "or over": "ge",
    "and over": "ge",
    "oder mehr": "ge",
    "ou plus": "ge",
    "+": "ge",
    "or older": "ge",
    "and older": "ge",
    "or higher": "ge",
    "or later": "ge",
    "or longer": "ge",
    "or younger": "le",
    "or lower": "le",
    "or earlier": "le",
    "or less": "le",
    "or fewer": "le",
    "oder weniger": "le",
}
_LINKS = {"to": "-", "bis": "-", "through": "-", "x": "x", "\u00d7": "x", "by": "x", "±": "±"}
_SILENT = frozenset({"and", "und", "et", "y"})
_BETWEEN = frozenset({"between", "zwischen", "entre"})
_FILLERS = frozenset({"a", "total", "of", "von", "de", "in", "=", *_BETWEEN})
_LONGEST_PHRASE = 3
_LONGEST_VALUE = 120
_TOLERANCE = Fraction(1, 100)
"""Between a rounded imperial and a rounded metric quantity."""
_PLAIN_LINKS = frozenset({"", "+", ","})
_ABOUT = 0.6
"""At most this, for a number that only one value has as an estimate."""
_OTHER_BOUND = 0.1
_SEVERAL = 2
_FIRST_YEAR = 1000


@lru_cache(maxsize=8192)
def read_amounts(text: str, language: str) -> Amounts | None:
    """The quantities of a tidy text that holds nothing else, or `None`."""
    if len(text) > _LONGEST_VALUE:
        return None
    plain = spelled_out(text)
    tokens = tokenize(plain)
    items: list[Amount] = []
    state = _Between(joint="-" if tokens and tokens[0].form in _BETWEEN else "+")
    while state.at < len(tokens):
        bound = _phrase(tokens, state.at, _BOUNDS, _LONGEST_PHRASE)
        measure = None if bound else read_measure(tokens, state.at, language, plain)
        if bound is not None:
            state = state._replace(bound=bound[0], at=state.at + bound[1])
        elif measure is not None:
            link = (state.link or _joint(plain[state.end : measure.start])) if items else ""
            is_aside = "(" in plain[state.end : measure.start]
            if items and not link and (is_aside or not _adds_up(items[-1], measure)):
                return None
            _append(items, _amount(measure, state.bound, link), measure)
            state = _behind(tokens, state, items, measure)
        elif (silent := _without_number(tokens[state.at].form, state, items)) is not None:
            state = silent
        else:
            return None
    is_list = any(item.link in {"+", ","} for item in items)
    complete = bool(items) and not state.bound and not is_list
    return Amounts(_with_one_unit(items), text) if complete else None


class _Between(NamedTuple):
    """What was read since the last quantity."""

    joint: str
    """What `and` stands for."""
    at: int = 0
    end: int = 0
    bound: str = ""
    link: str = ""


def _without_number(form: str, state: _Between, items: Sequence[Amount]) -> _Between | None:
    """The state behind a word that links quantities or says nothing; `None` for any other."""
    if items and form in _LINKS:
        return state._replace(link=_LINKS[form], at=state.at + 1)
    if items and form in _SILENT:
        return state._replace(link=state.joint, at=state.at + 1)
    return state._replace(at=state.at + 1) if form in _FILLERS else None


def _behind(
    tokens: Sequence[Token], state: _Between, items: list[Amount], measure: Measure
) -> _Between:
    """The state behind a quantity, and behind a limit like `or more` that belongs to it."""
    at = state.at + measure.n_tokens
    behind = _phrase(tokens, at, _BOUNDS_BEHIND, 2)
    if behind is not None:
        items[-1] = items[-1]._replace(bound=behind[0])
        at += behind[1]
    return _Between(state.joint, at, measure.end)


def _append(items: list[Amount], item: Amount, measure: Measure) -> None:
    """Add a quantity: as the end of a range, as a part of the one before, or on its own."""
    if items and item.link == "-":
        items[-1] = items[-1]._replace(bound=items[-1].bound.replace("ge", ""))
        item = _in_same_century(items[-1], item)
    is_part = item.link in _PLAIN_LINKS and not item.bound
    if items and is_part and _adds_up(items[-1], measure):
        last = items[-1]
        sums = frozenset(
            (dimension, value + other)
            for dimension, value in last.values
            for same, other in item.values
            if same == dimension
        )
        items[-1] = last._replace(values=sums, factors=last.factors | item.factors)
    else:
        items.append(item)


def _phrase(
    tokens: Sequence[Token], at: int, table: dict[str, str], longest: int
) -> tuple[str, int] | None:
    for n_tokens in range(longest, 0, -1):
        part = tokens[at : at + n_tokens]
        found = table.get(" ".join(token.form for token in part))
        if len(part) == n_tokens and found:
            return found, n_tokens
    return None


def _joint(between: str) -> str:
    mark = between.strip(" .()[]")
    return mark if mark in {"-", "/", ":", ","} else ""


def _amount(measure: Measure, bound: str, link: str) -> Amount:
    return Amount(
        measure.values if measure.units else frozenset(),
        frozenset(measure.numbers),
        bound,
        link,
        len(measure.digits.partition(".")[2]),
        frozenset(unit.factor for unit in measure.units),
    )


def _in_same_century(start: Amount, end: Amount) -> Amount:
    """`1939-45` as `1939-1945`."""
    first, last = max(start.numbers), max(end.numbers)
    if end.values or not (first >= _FIRST_YEAR and first % 100 < last < 100):  # noqa: PLR2004 - a century
        return end
    return end._replace(numbers=frozenset((first - first % 100 + last,)))


def _adds_up(before: Amount, measure: Measure) -> bool:
    """Whether a quantity goes on with a smaller unit: `1 h 30 min`."""
    return any(
        dimension == same and dimension and smaller < value
        for dimension, value in before.values
        for same, smaller in measure.values
    )


def _with_one_unit(items: list[Amount]) -> tuple[Amount, ...]:
    """`5-10 kg`: the unit of the last amount is meant for those before, too."""
    last = items[-1]
    if len(items) < _SEVERAL or not last.values or last.link not in {"-", "x", "/"}:
        return tuple(items)
    shared = []
    for item in items[:-1]:
        if item.values or len(last.numbers) != 1:
            shared.append(item)
            continue
        (number,) = last.numbers
        scaled = frozenset(
            (dimension, value * own / number)
            for dimension, value in last.values
            for own in item.numbers
            if number
        )
        shared.append(item._replace(values=scaled, factors=last.factors))
    return (*shared, last)


def compare_amounts(first: Amounts, second: Amounts, specificity: Specificity) -> Finding | None:
    """Whether two quantities are the same one; `None` if they are of different shape."""
    if len(first.items) != len(second.items):
        return None
    findings = [
        _compare(one, other, first.text, second.text, specificity)
        for one, other in zip(first.items, second.items, strict=True)
    ]
    return min(findings, key=lambda finding: finding.probability)


def _compare(
    one: Amount, other: Amount, first: str, second: str, specificity: Specificity
) -> Finding:
    conflict = against(first, second)
    if (one.link in _PLAIN_LINKS) != (other.link in _PLAIN_LINKS):
        return Finding(VAGUE, conflict)
    finding = _same(one, other) or settle(_rounded(one, other), specificity, conflict)
    if finding.probability < VAGUE or one.bound == other.bound:
        return finding
    if {one.bound, other.bound} == {"", "about"}:
        return Finding(min(finding.probability, _ABOUT), "same number, only about it on one side")
    return Finding(_OTHER_BOUND, conflict)


def _same(one: Amount, other: Amount) -> Finding | None:
    """The finding on two numbers that are the same in some reading; `None` if they are not."""
    has_units = bool(one.values), bool(other.values)
    if _all_values(one) & _all_values(other):
        return Finding(SAME, "same quantity" if any(has_units) else "same number")
    if all(has_units):
        return Finding(SIMILAR, "same quantity, rounded") if _nearly(one, other) else None
    if one.numbers & other.numbers:
        name = "extracted" if has_units[0] else "gold"
        return Finding(SIMILAR, f"same number, without a unit in {name}")
    if _is_share(one) and _is_share(other) and _shares(one) & _shares(other):
        return Finding(SIMILAR, "same share")
    return None


def _all_values(amount: Amount) -> frozenset[tuple[str, Fraction]]:
    return amount.values or frozenset(("", number) for number in amount.numbers)


def _nearly(one: Amount, other: Amount) -> bool:
    """Whether they are the same but for the rounding of a conversion, as from miles to km."""
    ratios = {str(a / b) for a in one.factors for b in other.factors}
    if all(set(ratio) <= set("01/") for ratio in ratios):
        return False
    return any(
        dimension == same and abs(value - near) <= _TOLERANCE * max(abs(value), abs(near))
        for dimension, value in one.values
        for same, near in other.values
    )


def _is_share(amount: Amount) -> bool:
    return not amount.values or any(dimension == "share" for dimension, _ in amount.values)


def _shares(amount: Amount) -> frozenset[Fraction]:
    return frozenset(value for _, value in amount.values) or amount.numbers


def _rounded(one: Amount, other: Amount) -> Relation:
    """`3.14` against `3.14159`: the second says more."""
    for a in sorted(one.numbers):
        for b in sorted(other.numbers):
            if one.decimals < other.decimals and one.decimals and round(b, one.decimals) == a:
                return "more"
            if other.decimals < one.decimals and other.decimals and round(a, other.decimals) == b:
                return "less"
    return "other"
