"""Quantities: numbers with units and bounds, tests of their consistency, and texts read at once.

Units of the same dimension are converted: 90 minutes are 1.5 hours. Currencies are not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from math import inf, isclose
from typing import NamedTuple

from factcheck.text.dates import Moment, find_moments
from factcheck.text.numbers import NumberKind, read_number
from factcheck.text.words import TABLES, Word, word_set, words


class Unit(NamedTuple):
    """A unit of measure."""

    name: str
    dimension: str
    factor: float
    """Size in base units of its dimension."""
    offset: float = 0.0
    """Zero point in base units."""

    def basic(self, value: float) -> float:
        """Convert a value to base units."""
        return value * self.factor + self.offset


class Quantity(NamedTuple):
    """A number with its unit and bounds."""

    value: float
    low: float
    """Lower bound; with `high`, `at least 5` is 5 to infinity."""
    high: float
    kind: NumberKind
    units: tuple[Unit, ...]
    """Possible units; two for `pounds`, none for a count."""
    first: int
    """Word positions `[first, last)`, with the unit."""
    last: int
    start: int
    """Offset in the text, with the sign."""
    end: int

    @property
    def key(self) -> str:
        """Canonical spelling of the number: `1200`, `0.5`, `ord:3`."""
        written = format(self.value, ".12g")
        return f"ord:{written}" if self.kind == "ordinal" else written


_TEMPERATURES = {
    ("fahrenheit", "°f"): Unit("fahrenheit", "temperature", 5 / 9, -160 / 9),
    ("kelvin",): Unit("kelvin", "temperature", 1.0, -273.15),
}
_PER = frozenset(("per", "pro", "par", "a", "an"))
_TEMPERATURE_LETTERS = {"c": "°c", "celsius": "°c", "f": "°f", "fahrenheit": "°f"}
_DEGREES = frozenset(("°", "degree", "degrees", "grad"))
_SQUARES = {"square": 2, "sq": 2, "cubic": 3}
_NEVER_ALONE = word_set("a an y")
_LAST_ALONE = word_set("in s rs grad c f")
"""Unit names that are other words unless they end the text."""
_CAPITALS = frozenset("VWJABCFU")
"""Capital one-letter units."""
_APART = frozenset("ABCF")
"""Capital units that must be separated from the digits, since `12A` is a house number."""
BOUNDS = {
    phrase: name for name, phrases in TABLES["bounds"].items() for phrase in phrases.split(";")
}
"""Phrases before a number that make it a bound or an estimate."""
_AFTER = re.compile(
    r"\s*(?:(?P<least>\+|(?:[\w-]+\s+)?(?:or (?:more|over|older|above)|oder mehr))"
    r"|(?P<most>(?:[\w-]+\s+)?or (?:less|fewer|under|younger))"
    r"|(?P<about>(?:[\w-]+\s+)?or so))(?!\w)",
    re.IGNORECASE,
)
_LONGEST_BOUND = 26
_RANGE = re.compile(r"\s*[-\u2013\u2014]\s*|\s+(?:to|bis|and)\s+")
_CHANGES = word_set(
    "chang cut declin drop extend fall go grow increas lower move rais reduc rise shorten"
)
"""Stems of verbs after which `from 9 to 11` is two amounts and not a range."""
_GAP = re.compile(r"[\s-]{0,3}")
_INITIAL = re.compile(r"\.[^\W\d_]")
_ROUGHLY = 0.1
"""Relative tolerance of `about`."""
_PLAIN = Unit("", "", 1.0)
_CONVERTED = 0.05
"""Relative tolerance of rounded conversions between units."""
_FEWEST_DIGITS = 2
"""Minimum number of significant digits of a rounded whole number."""
_MOST_DIGITS = 6
"""Maximum number of significant digits of a rounded number; longer ones are codes or sums."""
_LONGEST_NAME = 40
"""Maximum length in characters of the name of a unit."""


@lru_cache(maxsize=1)
def _units() -> dict[str, tuple[Unit, ...]]:
    found: dict[str, tuple[Unit, ...]] = {}
    for dimension, entries in TABLES["units"].items():
        for entry in entries.split("|"):
            name, factor, *others = entry.split()
            unit = Unit(name, dimension, float(factor))
            for form in (name, *others):
                found[form] = (*found.get(form, ()), unit)
    del found["second"], found["won"]
    found["pound"] = found["pounds"]
    return found | {form: (unit,) for forms, unit in _TEMPERATURES.items() for form in forms}


def read_quantity(
    found: Sequence[Word], at: int, text: str, language: str = "en"
) -> Quantity | None:
    """Read the quantity that starts at a word, also a currency sign, or return `None`."""
    first = at
    units: tuple[Unit, ...] = ()
    if found[at].form in _units() and at + 1 < len(found) and found[at + 1].kind == "number":
        money = [u for u in _units()[found[at].form] if u.dimension.startswith("money")]
        if money and text[found[at].end : found[at + 1].start].strip() in {"", "."}:
            at, units = at + 1, (money[0],)
    number = read_number(found, at, text, language)
    if number is None:
        return None
    last = number.last
    if not units and number.kind != "ordinal":
        units, last = _unit_at(found, number.last, text)
    elif units:
        units, last = _rate(units, found, last, text)
    start, end = found[first].start, found[last - 1].end
    if number.value < 0 and first == at:
        start -= 1
    low, high = _limits(number.value, text, start, end)
    kind = number.kind
    if any(unit.dimension == "share" for unit in units):
        kind = "share"
    elif kind == "share":
        units = units or (Unit("whole", "share", 1.0),)
    return Quantity(float(number.value), low, high, kind, units, first, last, start, end)


@lru_cache(maxsize=8192)
def named_units(text: str) -> frozenset[tuple[str, float, float]]:
    """Return the units that a text of units only may name, as dimension, size and zero point.

    `mg/dL` and `degrees Celsius` name one, `pounds` two, and `5 mg` or `pump` none. Equal units in
    other words give equal triples.
    """
    if not text or len(text) > _LONGEST_NAME or text[0].isdigit():
        return frozenset()
    behind = f"1 {text}"
    found = words(behind)
    quantity = read_quantity(found, 0, behind)
    if quantity is None or quantity.value != 1 or quantity.last != len(found):
        return frozenset()
    return frozenset((u.dimension, float(f"{u.factor:.9g}"), u.offset) for u in quantity.units)


class Reading(NamedTuple):
    """Words, moments and quantities of a text, with word positions."""

    text: str
    language: str
    words: tuple[Word, ...]
    moments: tuple[Moment, ...]
    quantities: tuple[Quantity, ...]
    """Numbers that are not part of a moment."""


def read(text: str, language: str) -> Reading:
    """Read a text, in time linear in its length."""
    found = words(text, language)
    moments = find_moments(found, text)
    taken = {at for moment in moments for at in range(moment.first, moment.last)}
    quantities: list[Quantity] = []
    at = 0
    while at < len(found):
        quantity = None if at in taken else read_quantity(found, at, text, language)
        if quantity is not None and taken.isdisjoint(range(at, quantity.last)):
            quantities.append(quantity)
            at = quantity.last
        else:
            at += 1
    return Reading(text, language, found, tuple(moments), _with_ranges(quantities, text, found))


def _with_ranges(
    quantities: Sequence[Quantity], text: str, every: Sequence[Word]
) -> tuple[Quantity, ...]:
    """Give both ends of ranges such as `10 to 20 days` the range and the unit."""
    found = list(quantities)
    for k, other in enumerate(quantities[1:]):
        one = found[k]
        if other.start - one.end > _LONGEST_BOUND or one.kind != other.kind:
            continue
        joint = _RANGE.fullmatch(text, one.end, other.start)
        before = every[max(0, one.first - 6) : one.first]
        opening = before[-1].form if before else ""
        is_change = opening == "from" and any(word.stem in _CHANGES for word in before)
        if (
            joint is None
            or (one.value >= other.value and not is_change)
            or ("and" in joint[0] and opening != "between")
        ):
            continue
        units = one.units or other.units
        low, high = (other.low, one.high) if is_change else (one.low, other.high)
        found[k] = one._replace(units=units, high=high)
        found[k + 1] = other._replace(units=units, low=low)
    return tuple(found)


def sizes(value: float, units: Sequence[Unit]) -> frozenset[str]:
    """Return a value in base units, by the dimension of each unit that it may have."""
    return frozenset(f"{unit.dimension}={unit.basic(value):.12g}" for unit in units or (_PLAIN,))


def comparable(one: Quantity, other: Quantity) -> bool:
    """Whether two quantities have the same dimension: two time spans, two counts."""
    if (one.kind == "ordinal") != (other.kind == "ordinal"):
        return False
    if not one.units or not other.units:
        return not one.units and not other.units
    return any(a.dimension == b.dimension for a in one.units for b in other.units)


def agree(one: Quantity, other: Quantity) -> bool:
    """Whether two quantities are consistent: equal, rounded, converted or within bounds.

    A number without a unit agrees with the same number with one.
    """
    if not one.units or not other.units:
        return one.kind == other.kind and _meet(one, other, _PLAIN, _PLAIN)
    return any(
        _meet(one, other, a, b)
        for a in one.units
        for b in other.units
        if a.dimension == b.dimension
    )


def _meet(one: Quantity, other: Quantity, unit: Unit, other_unit: Unit) -> bool:
    low, high = unit.basic(one.low), unit.basic(one.high)
    other_low, other_high = other_unit.basic(other.low), other_unit.basic(other.high)
    if low <= other_high and other_low <= high:
        return True
    value, other_value = unit.basic(one.value), other_unit.basic(other.value)
    if unit.factor != other_unit.factor:
        return isclose(value, other_value, rel_tol=_CONVERTED, abs_tol=1e-9)
    if inf in (high, other_high) or low == -inf or other_low == -inf:
        return False
    return _rounds(one.value, other.value)


def _rounds(one: float, other: float) -> bool:
    """Whether one number is the other rounded: 1.2 and 1.23, 53,000 and 53,208."""
    coarse, fine = sorted((one, other), key=lambda value: len(_digits(value)))
    n_digits = len(_digits(coarse))
    is_short = n_digits < _FEWEST_DIGITS and fine.is_integer()
    if n_digits == len(_digits(fine)) or n_digits > _MOST_DIGITS or is_short:
        return False
    return isclose(float(f"{fine:.{n_digits}g}"), coarse, rel_tol=1e-9)


def _digits(value: float) -> str:
    """Return the significant digits of a number: `123` of 1.23, `53` of 53,000."""
    return f"{abs(value):.15e}".partition("e")[0].replace(".", "").rstrip("0")


def _unit_at(found: Sequence[Word], at: int, text: str) -> tuple[tuple[Unit, ...], int]:
    """Return the possible units at a position, which may be none, and the position after them."""
    if not 0 < at < len(found) or not _GAP.fullmatch(text, found[at - 1].end, found[at].start):
        return (), at
    form = found[at].form
    following = found[at + 1].form if at + 1 < len(found) else ""
    if form == "per" and following == "cent":
        return _units()["percent"], at + 2
    if form in _DEGREES and following in _TEMPERATURE_LETTERS:
        return _units()[_TEMPERATURE_LETTERS[following]], at + 2
    if form in _SQUARES and following in _units():
        unit, power = _units()[following][0], _SQUARES[form]
        dimension = "volume" if form == "cubic" else "area"
        return (Unit(f"{form} {unit.name}", dimension, unit.factor**power),), at + 2
    if form in {"us", "u"} and following in {"$", "dollars"}:
        return _units()["$"], at + 2
    units = _named(found, at, text)
    return _rate(units, found, at + 1, text) if units else ((), at)


def _named(found: Sequence[Word], at: int, text: str) -> tuple[Unit, ...]:
    """Return the units that a word behind a number may name."""
    word = found[at]
    stuck = found[at - 1].end == word.start
    if len(word.text) == 1 and word.text.isascii() and word.text.isalpha():
        letter = word.text.upper()
        if (letter in _CAPITALS) != word.text.isupper() and letter != "L":
            return ()
        is_initial = _INITIAL.match(text, word.end)  # `17,000 U.S. soldiers`
        if is_initial or (stuck and letter in _APART):
            return ()
    is_word = word.form in _NEVER_ALONE or (word.form in _LAST_ALONE and at + 1 < len(found))
    if not stuck and (is_word or word.text == "IN"):
        return ()
    temperature = _TEMPERATURE_LETTERS.get(word.form, "")
    forms = (temperature, word.text, word.form)  # case matters
    return next((_units()[form] for form in forms if form in _units()), ())


def _rate(
    upper: tuple[Unit, ...], found: Sequence[Word], at: int, text: str
) -> tuple[tuple[Unit, ...], int]:
    """Divide units by those that follow: `mg/dl`, `euros per month`."""
    step = 1 if at < len(found) and found[at].form in _PER else 0
    if at + step >= len(found):
        return upper, at
    slash = text[found[at - 1].end : found[at].start].strip() == "/"
    lower = _units().get(found[at + step].form, ()) if slash or step else ()
    rates = tuple(
        Unit(f"{a.name}/{b.name}", f"{a.dimension}/{b.dimension}", a.factor / b.factor)
        for a in upper
        for b in lower
    )
    return (rates, at + step + 1) if rates else (upper, at)


def _limits(value: float, text: str, start: int, end: int) -> tuple[float, float]:
    """Return the bounds implied by phrases before and after: `at least`, `or more`."""
    before = text[max(0, start - _LONGEST_BOUND) : start].lower().rstrip("$£€¥ ").split()
    phrases = (" ".join(before[-n:]) for n in (3, 2, 1))
    bound = next((BOUNDS[phrase] for phrase in phrases if phrase in BOUNDS), None)
    following = text[end : end + _LONGEST_BOUND]
    if bound is None and ("+" in following or " or " in following or " oder " in following):
        after = _AFTER.match(following)
        bound = after.lastgroup if after else None
    step = abs(value) * 1e-9 or 1e-9
    if bound == "about":
        return value - abs(value) * _ROUGHLY, value + abs(value) * _ROUGHLY
    if bound in {"least", "more"}:
        return (value if bound == "least" else value + step), inf
    if bound in {"most", "less"}:
        return -inf, (value if bound == "most" else value - step)
    return value, value
