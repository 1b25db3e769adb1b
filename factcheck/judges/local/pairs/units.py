"""Units of measure and money: their spellings, and what each is worth in its base unit.

Decimal steps and imperial units are exact; currencies are never converted.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple


class Unit(NamedTuple):
    """One unit of measure."""

    dimension: str
    """What it measures; only quantities of one dimension can be equal."""
    factor: Fraction
    """How many of the base unit it is."""
    offset: Fraction = Fraction(0)
    """Of its zero point, in base units."""


_UNITS = """
length 1 m meter meters metre metres metro metros
length 1/1000 mm millimeter millimeters millimetre millimetres
length 1/100 cm centimeter centimeters centimetre centimetres zentimeter
length 1/10 dm
length 1000 km kms kilometer kilometers kilometre kilometres kilometros
length 1/1000000 um μm micrometer micrometre micrometers micrometres micron microns
length 1/1000000000 nm nanometer nanometers nanometre nanometres
length 127/5000 in inch inches zoll
length 381/1250 ft foot feet
length 1143/1250 yd yds yard yards
length 201168/125 mi mile miles meile meilen
mass 1 g gram grams gramm gr gramme grammes
mass 1/1000 mg milligram milligrams milligramm
mass 1/1000000 ug μg mcg microgram micrograms
mass 1000 kg kgs kilo kilos kilogram kilograms kilogramm kilogramme kilogrammes
mass 1000000 t tonne tonnes tonnen
mass 45359237/100000 lb lbs
mass 45359237/1600000 oz ounce ounces
volume 1 l liter liters litre litres ltr
volume 1/1000 ml milliliter milliliters millilitre millilitres cc cm3 ccm
volume 1/100 cl
volume 1/10 dl
volume 1/1000000 ul μl
volume 1000 m3 cbm
area 1 m2 sqm qm quadratmeter
area 1/10000 cm2
area 1000000 km2 sqkm quadratkilometer
area 10000 ha hectare hectares hektar
area 4046.8564224 acre acres
area 0.09290304 sqft ft2
area 2589988.110336 mi2
time 1 s sec secs second seconds sek sekunde sekunden seconde secondes
time 1/1000 ms millisecond milliseconds
time 60 min mins minute minutes minuten
time 3600 h hr hrs hour hours std stunde stunden heure heures
time 86400 d day days tag tage tagen jour jours
time 604800 wk wks week weeks woche wochen semaine semaines
months 1 mo month months monat monate monaten mois
months 12 y yr yrs year years jahr jahre jahren an ans annee annees
data 1 b byte bytes
data 1000 kb kilobyte kilobytes
data 1000000 mb megabyte megabytes
data 1000000000 gb gigabyte gigabytes
data 1000000000000 tb terabyte terabytes
data 1024 kib
data 1048576 mib
data 1073741824 gib
power 1 w watt watts
power 1000 kw kilowatt kilowatts
energy 1 j joule joules
energy 1000 kj
energy 3600 wh
energy 3600000 kwh
energy 4184 kcal
pressure 1 pa
pressure 100 hpa mbar
pressure 1000 kpa
pressure 1000000 mpa
pressure 100000 bar
pressure 101325 atm
pressure 6894.757293168 psi
pressure 133.322387415 mmhg
frequency 1 hz hertz
frequency 1000 khz
frequency 1000000 mhz
frequency 1000000000 ghz
voltage 1 v volt volts
voltage 1/1000 mv
voltage 1000 kv
current 1 a amp amps ampere amperes
current 1/1000 ma
amount 1 mol
amount 1/1000 mmol
amount 1/1000000 umol μmol
length/time 5/18 kmh kph
length/time 1397/3125 mph
share 1/100 % percent pct prozent percentage
share 1/1000 ‰ promille
share 1/1000000 ppm
angle 1 ° degree degrees grad
temperature 1 °c celsius
money:usd 1 usd $ dollar dollars us$ $us bucks
money:eur 1 eur € euro euros
money:gbp 1 gbp £ sterling quid
money:jpy 1 jpy ¥ yen
money:inr 1 inr ₹ rupee rupees rs
money:chf 1 chf sfr franken
money:cad 1 cad c$ ca$
money:aud 1 aud a$ au$
money:nzd 1 nzd nz$
money:cny 1 cny rmb yuan renminbi
money:sek 1 sek
money:nok 1 nok
money:dkk 1 dkk
money:pln 1 pln zł zl zloty
money:krw 1 krw ₩ won
money:rub 1 rub ₽ rubel ruble rubles
money:brl 1 brl r$
money:mxn 1 mxn
"""
_PHRASES = """
per cent|%
us dollar|usd
us dollars|usd
square meter|m2
square meters|m2
square metre|m2
square metres|m2
sq m|m2
m ^2|m2
square kilometer|km2
square kilometers|km2
square kilometre|km2
square kilometres|km2
sq km|km2
square foot|sqft
square feet|sqft
sq ft|sqft
square mile|mi2
square miles|mi2
sq mi|mi2
cubic meter|m3
cubic meters|m3
cubic metre|m3
cubic metres|m3
cubic centimetre|cm3
cubic centimeter|cm3
miles per hour|mph
miles an hour|mph
degree celsius|°c
degrees celsius|°c
° c|°c
degree c|°c
degrees c|°c
c|°c
grad celsius|°c
degree fahrenheit|°f
degrees fahrenheit|°f
° f|°f
degrees f|°f
f|°f
pound sterling|gbp
pounds sterling|gbp
metric tons|tonne
metric ton|tonne
"""
_AFFINE = {
    "°f": Unit("temperature", Fraction(5, 9), Fraction(-160, 9)),
    "fahrenheit": Unit("temperature", Fraction(5, 9), Fraction(-160, 9)),
    "kelvin": Unit("temperature", Fraction(1), Fraction("-273.15")),
}
CURRENCY_MARKS = frozenset("$£€¥₹₩₽")
"""Written before the number as often as behind it."""
LONGEST_PHRASE = 3
"""Words."""


@lru_cache(maxsize=1)
def units() -> dict[str, tuple[Unit, ...]]:
    """The units that a spelling may mean, by folded spelling; words are joined by spaces."""
    table: dict[str, tuple[Unit, ...]] = {}
    for line in _UNITS.strip().splitlines():
        dimension, factor, *names = line.split()
        for name in names:
            table[name] = (Unit(dimension, Fraction(factor)),)
    for name, unit in _AFFINE.items():
        table[name] = (unit,)
    for phrase, name in (line.split("|") for line in _PHRASES.strip().splitlines()):
        table[phrase] = table[name]
    table["pound"] = table["pounds"] = (*table["lb"], *table["gbp"])
    table["ton"] = table["tons"] = (*table["t"], Unit("mass", Fraction("907184.74")))
    return table


@lru_cache(maxsize=1)
def currencies() -> frozenset[str]:
    """The spellings of currencies that may stand before a number: marks and codes."""
    return frozenset(
        name
        for name, meant in units().items()
        if meant[0].dimension.startswith("money:") and (len(name) <= LONGEST_PHRASE)
    )
