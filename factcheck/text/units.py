"""Quantities: numbers with their units and limits, and whether two of them can both be true.

Units of one dimension are converted: 90 minutes are 1.5 hours. Currencies are not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from math import inf, isclose
from typing import NamedTuple

from factcheck.text.numbers import NumberKind, read_number
from factcheck.text.words import Word


class Unit(NamedTuple):
    """A unit of measure."""

    name: str
    dimension: str
    factor: float
    """How many of the basic unit of its dimension it is."""


class Quantity(NamedTuple):
    """A number with what is said about it."""

    value: float
    low: float
    """The least and the greatest value it can have: `at least 5` is 5 to infinity."""
    high: float
    kind: NumberKind
    units: tuple[Unit, ...]
    """What it measures; two readings for `pounds`, none for a count."""
    first: int
    """Positions `[first, middle)` of the number and `[middle, last)` of the unit."""
    middle: int
    last: int
    start: int
    """Offsets in the text."""
    end: int

    @property
    def key(self) -> str:
        """The number in one spelling: `1200`, `0.5`, `ord:3`."""
        written = format(self.value, ".12g")
        return f"ord:{written}" if self.kind == "ordinal" else written


_TABLE = """
time: second 1 seconds sec secs s sekunden secondes segundos | minute 60 minutes min mins minuten
 minutos minuti | hour 3600 hours hr hrs h stunde stunden heure heures hora horas ore | day 86400
 days tag tage tagen jour jours dia dias giorni | week 604800 weeks woche wochen semaine semaines
 semana semanas settimane | fortnight 1209600 fortnights | month 2629746 months monat monate monaten
 mois mes meses mesi | year 31556952 years yr yrs jahr jahre jahren an ans annees ano anos anni |
 decade 315569520 decades | century 3155695200 centuries
length: millimetre .001 mm millimetres millimeters millimeter | centimetre .01 cm centimetres
 centimeters centimeter | metre 1 m metres meters meter metros metri | kilometre 1000 km kilometres
 kilometers kilometer kilometros chilometri | inch .0254 inches | foot .3048 feet ft |
 yard .9144 yards yd | mile 1609.344 miles mi
mass: milligram .001 mg milligrams | gram 1 g grams gramm | kilogram 1000 kg kilograms kilos kilo |
 tonne 1000000 tonnes ton tons | ounce 28.3495 ounces oz | pound 453.592 lb lbs pounds |
 stone 6350.29
money gbp: pound 1 £ pounds gbp quid
money usd: dollar 1 $ dollars usd
money eur: euro 1 € euros eur
money jpy: yen 1 ¥ jpy
money inr: rupee 1 ₹ rupees inr
money chf: franc 1 francs chf
share: percent .01 % pct prozent percentage
temperature c: celsius 1 °c centigrade
temperature f: fahrenheit 1 °f
volume: millilitre .001 ml millilitres milliliters | litre 1 l litres liters liter | gallon 3.78541
 gallons | pint .473176 pints
area: hectare 10000 hectares ha | acre 4046.86 acres
speed: kph 1 kmh km/h | mph 1.609344
data: kb 1 kilobytes | mb 1000 megabytes | gb 1000000 gigabytes | tb 1000000000 terabytes
power: watt 1 watts | kilowatt 1000 kilowatts kw | megawatt 1000000 megawatts mw |
 gigawatt 1000000000 gigawatts gw
"""
_STUCK_ONLY = frozenset(("s", "h", "m", "g", "l", "an", "min", "mi", "ha", "mes", "stone", "ore"))
"""Unit names that are other words when they stand alone."""
_BOUNDS = {
    "least": "at least;no fewer than;no less than;a minimum of;≥;mindestens;au moins;al menos",
    "more": "more than;greater than;higher than;longer than;over;above;exceeding;>;mehr als;über;"
    "plus de;más de;upwards of;later than;older than",
    "most": "at most;no more than;up to;as many as;as much as;a maximum of;≤;höchstens;bis zu;"
    "jusqu'à;hasta;within",
    "less": "fewer than;less than;lower than;shorter than;under;below;<;weniger als;unter;"
    "moins de;menos de;earlier than;younger than",
    "about": "about;around;approximately;approx;approx.;roughly;nearly;almost;some;close to;circa;"
    "c.;~;±;rund;etwa;ca.;fast;knapp;environ;presque;casi;unos;unas;cerca de;an estimated",
}
_BEFORE = {phrase: name for name, phrases in _BOUNDS.items() for phrase in phrases.split(";")}
_AFTER = re.compile(
    r"\s*(?:(?P<least>\+|(?:[\w-]+\s+)?(?:or (?:more|over|older|above)|oder mehr))"
    r"|(?P<most>(?:[\w-]+\s+)?or (?:less|fewer|under|younger))"
    r"|(?P<about>(?:[\w-]+\s+)?or so))(?!\w)",
    re.IGNORECASE,
)
_LONGEST_BOUND = 26
_RANGE = re.compile(r"\s*[-\u2013\u2014]\s*|\s+(?:to|bis|and)\s+")
_GAP = re.compile(r"[\s-]{0,3}")
_ROUGHLY = 0.1
"""How far `about` may be off, as a share of the value."""
_CONVERTED = 0.05
"""How far a rounded conversion may be off."""
_FEWEST_DIGITS = 2
"""Digits that a whole number needs to be another whole number rounded."""


@lru_cache(maxsize=1)
def _units() -> dict[str, tuple[Unit, ...]]:
    found: dict[str, tuple[Unit, ...]] = {}
    for line in _TABLE.strip().replace("\n ", " ").splitlines():
        dimension, _, entries = line.partition(": ")
        for entry in entries.split("|"):
            name, factor, *others = entry.split()
            unit = Unit(name, dimension, float(factor))
            for form in (name, *others):
                found[form] = (*found.get(form, ()), unit)
    del found["second"], found["pound"]
    return found | {"pound": found["pounds"]}


def read_quantity(
    found: Sequence[Word], at: int, text: str, language: str = "en"
) -> Quantity | None:
    """The number that starts at a word, with its unit and its limits, if one does.

    Args:
        found: The words of `text`.
        at: Position of the word; a currency sign before a number belongs to it.
        text: What the words were read from.
        language: Two-letter code.
    """
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
    start, end = found[first].start, found[last - 1].end
    low, high = _limits(number.value, text, start, end)
    kind = number.kind
    if any(unit.dimension == "share" for unit in units):
        kind = "share"
    elif kind == "share":
        units = units or (Unit("whole", "share", 1.0),)
    return Quantity(number.value, low, high, kind, units, first, number.last, last, start, end)


def with_ranges(quantities: Sequence[Quantity], text: str) -> list[Quantity]:
    """The same quantities, of which each end of `10 to 20 days` has range and unit."""
    found = list(quantities)
    for k in range(len(found) - 1):
        one, other = found[k], found[k + 1]
        if other.start - one.end > _LONGEST_BOUND or one.kind != other.kind:
            continue
        joint = _RANGE.fullmatch(text, one.end, other.start)
        if joint is None or one.value >= other.value:
            continue
        if "and" in joint[0] and not text[
            max(0, one.start - 9) : one.start
        ].rstrip().lower().endswith("between"):
            continue
        units = one.units or other.units
        found[k] = one._replace(units=units, high=other.high)
        found[k + 1] = other._replace(units=units, low=one.low)
    return found


def comparable(one: Quantity, other: Quantity) -> bool:
    """Whether two quantities measure the same kind of thing: two time spans, two plain counts."""
    if (one.kind == "ordinal") != (other.kind == "ordinal"):
        return False
    if not one.units or not other.units:
        return not one.units and not other.units
    return any(a.dimension == b.dimension for a in one.units for b in other.units)


def agree(one: Quantity, other: Quantity) -> bool:
    """Whether two quantities can both be true of one thing: equal, rounded, converted or a limit.

    A number without a unit agrees with the same number with one.
    """
    if not one.units or not other.units:
        return one.kind == other.kind and _meet(one, other, 1.0, 1.0)
    return any(
        _meet(one, other, a.factor, b.factor)
        for a in one.units
        for b in other.units
        if a.dimension == b.dimension
    )


def _meet(one: Quantity, other: Quantity, factor: float, other_factor: float) -> bool:
    low, high = one.low * factor, one.high * factor
    other_low, other_high = other.low * other_factor, other.high * other_factor
    if low <= other_high and other_low <= high:
        return True
    value, other_value = one.value * factor, other.value * other_factor
    if factor != other_factor:
        return isclose(value, other_value, rel_tol=_CONVERTED)
    if inf in (high, other_high) or low == -inf or other_low == -inf:
        return False
    return isclose(value, other_value, rel_tol=1e-9) or _rounds(one.value, other.value)


def _rounds(one: float, other: float) -> bool:
    """Whether one number is the other one rounded: 1.2 and 1.23, 53,000 and 53,208."""
    coarse, fine = sorted((one, other), key=lambda value: len(_digits(value)))
    n_digits = len(_digits(coarse))
    if n_digits == len(_digits(fine)) or (n_digits < _FEWEST_DIGITS and fine.is_integer()):
        return False
    return isclose(float(f"{fine:.{n_digits}g}"), coarse, rel_tol=1e-9)


def _digits(value: float) -> str:
    """The digits of a number that tell: `123` of 1.23, `53` of 53,000."""
    return f"{abs(value):.15e}".partition("e")[0].replace(".", "").rstrip("0")


def _unit_at(found: Sequence[Word], at: int, text: str) -> tuple[tuple[Unit, ...], int]:
    """The unit at a place and where it ends; none where something else stands there."""
    if not 0 < at < len(found) or not _GAP.fullmatch(text, found[at - 1].end, found[at].start):
        return (), at
    form = found[at].form
    following = found[at + 1].form if at + 1 < len(found) else ""
    if form == "per" and following == "cent":
        return _units()["percent"], at + 2
    if form in {"square", "sq", "cubic"} and following in _units():
        unit = _units()[following][0]
        return (
            Unit(f"{form} {unit.name}", form[:2], unit.factor ** (3 if form == "cubic" else 2)),
        ), at + 2
    if form in {"us", "u"} and following in {"$", "dollars"}:
        return _units()["$"], at + 2
    stuck = found[at - 1].end == found[at].start
    if form not in _units() or (form in _STUCK_ONLY and not stuck):
        return (), at
    return _units()[form], at + 1


def _limits(value: float, text: str, start: int, end: int) -> tuple[float, float]:
    """The least and the greatest value by what stands before and after: `at least`, `or more`."""
    before = text[max(0, start - _LONGEST_BOUND) : start].lower().rstrip("$£€¥ ").split()
    phrases = (" ".join(before[-n:]) for n in (3, 2, 1))
    bound = next((_BEFORE[phrase] for phrase in phrases if phrase in _BEFORE), None)
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
