"""Parsing of numbers in digits or words: `1,200`, `1.5 million`, `twenty-one`, `half`.

English is supported fully; German, French, Spanish and Italian with decimal commas and simple
number words; other languages with digits only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from factcheck.text.words import Word, word_set

NumberKind = Literal["count", "ordinal", "share"]


class Number(NamedTuple):
    """A number and its word positions `[first, last)`."""

    value: float
    kind: NumberKind
    """`share` for fractions of a whole such as `half` and `two thirds`."""
    first: int
    last: int


_UNITS = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen",
    "de": "null eins zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn "
    "funfzehn sechzehn siebzehn achtzehn neunzehn",
    "fr": "zero . deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze "
    "seize",
    "es": "cero . dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince "
    "dieciseis diecisiete dieciocho diecinueve veinte",
    "it": "zero . due tre quattro cinque sei sette otto nove dieci undici dodici tredici "
    "quattordici quindici sedici diciassette diciotto diciannove",
}
_TENS = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety",
    "de": "zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig",
    "fr": "vingt trente quarante cinquante",
    "es": ". treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    "it": "venti trenta quaranta cinquanta sessanta settanta ottanta novanta",
}
_POWERS = {
    "en": "hundred 2 thousand 3 million 6 billion 9 trillion 12 bn 9 mn 6 mln 6 tn 12 k 3",
    "de": "hundert 2 tausend 3 tsd 3 million 6 millionen 6 mio 6 milliarde 9 milliarden 9 mrd 9",
    "fr": "cent 2 cents 2 mille 3 million 6 millions 6 milliard 9 milliards 9",
    "es": "cien 2 mil 3 millon 6 millones 6",
    "it": "cento 2 mille 3 mila 3 milione 6 milioni 6 miliardo 9 miliardi 9",
}
_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12,
}  # fmt: skip
_ORDINALS |= {
    form + "th": n for n, form in enumerate(_UNITS["en"].split()) if n > max(_ORDINALS.values())
}
_ORDINALS |= {
    form[:-1] + "ieth": n for n, form in zip(range(20, 100, 10), _TENS["en"].split(), strict=True)
}
_PARTS = {"half": 2, "halves": 2, "quarter": 4, "quarters": 4} | {
    form + ending: number
    for form, number in list(_ORDINALS.items())[:12]
    for ending in ("", "s")
    if number > 2  # noqa: PLR2004 - first and second are no parts
}
_ONES = frozenset(("a", "an", "one", "ein", "eine", "un", "une", "una"))
_NO_COUNT = frozenset(("no", "any", "every", "each", "this", "that", "the", "another"))
"""Before `one`."""
DECIMAL_COMMA = word_set("de fr es it pt nl sv da nb no fi pl cs sk ru uk tr el hu ro bg")
"""Languages that write 1,5 for one and a half."""
_GROUPED = {
    True: re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?"),
    False: re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?"),
}
_MIXED = {
    True: re.compile(r"[1-9]\d{0,2}(?:(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})"),
    False: re.compile(r"[1-9]\d{0,2}(?:(?:,\d{3})+\.\d+|(?:,\d{3}){2,})"),
}
"""Numbers with both separators, or one twice, which are unambiguous in any language."""
_ROUND = re.compile(r"[1-9]\d{0,2}[.,]\d\d0")
"""Three digits of which the last is 0 are a group in any style: nobody writes 1.500 for 1.5."""
_SPACED = re.compile(r"\d{1,3}(?:['\u00a0\u202f\u2009]\d{3})+(?:[.,]\d+)?")
_PLAIN = re.compile(r"\d+(?:[.,]\d+)?")
_LONGEST = 15
"""Maximum number of digits that a float represents; longer numbers are codes."""
_JOINT = re.compile(r"[\s-]*|\s*[\u2010-\u2013]\s*")
_HUNDRED = 100
_LENGTH_HEADS = frozenset(
    ("high", "tall", "long", "wide", "deep", "away", "from", "race", "sprint", "freestyle", "dash")
)
"""After these, `100m` is a length and not a million."""


def read_digits(digits: str, language: str = "en") -> float | None:
    """The value of `1,200.50` or, in languages with a decimal comma, of `1.200,50`.

    Args:
        digits: Digits with separators, nothing else.
        language: Two-letter code.

    Returns:
        The value, or `None` for a code, a version or a date.
    """
    if len(digits) > _LONGEST + 8:
        return None
    comma = language in DECIMAL_COMMA
    if _SPACED.fullmatch(digits):
        digits = re.sub("['\u00a0\u202f\u2009]", "", digits).replace(",", ".")
    elif _GROUPED[comma].fullmatch(digits):
        point, group = (",", ".") if comma else (".", ",")
        digits = digits.replace(group, "").replace(point, ".")
    elif _MIXED[not comma].fullmatch(digits):
        return read_digits(digits, "en" if comma else "de")
    elif _ROUND.fullmatch(digits):
        digits = digits.replace(".", "").replace(",", "")
    elif _PLAIN.fullmatch(digits):
        digits = digits.replace(",", ".")
    else:
        return None
    return float(digits) if len(digits) <= _LONGEST + 1 else None


def read_number(found: Sequence[Word], at: int, text: str, language: str = "en") -> Number | None:
    """The number that starts at a word, if one does.

    Args:
        found: The words of `text`.
        at: Position of the word.
        text: What the words were read from.
        language: Two-letter code.
    """
    word = found[at]
    if word.kind == "number":
        return _in_digits(found, at, text, language)
    if word.form in _ONES:
        return _counted(found, at, text, language)
    if word.form in cardinals(language):
        number = _compound(found, at, text, language)
        part = _part(found, number.last, text, language)
        if part and number.value < _HUNDRED:
            return Number(number.value / part, "share", at, number.last + 1)
        return number
    following = found[at + 1].kind if at + 1 < len(found) else "function"
    if language == "en" and word.form == "half" and following in {"function", "symbol"}:
        return Number(0.5, "share", at, at + 1)
    ordinal = _ORDINALS.get(word.form) if language == "en" else None
    return Number(float(ordinal), "ordinal", at, at + 1) if ordinal else None


def _in_digits(found: Sequence[Word], at: int, text: str, language: str) -> Number | None:
    value = read_digits(found[at].form, language)
    if value is None:
        return None
    start = found[at].start
    if text[start - 1 : start] in {"-", "\u2212"} and (start < 2 or text[start - 2] in " (\n"):  # noqa: PLR2004 - sign and what stands before it
        value = -value
    tail = found[at + 1] if at + 1 < len(found) else None
    if tail is not None and tail.start == found[at].end and tail.kind != "symbol":
        if tail.form in {"st", "nd", "rd", "th"}:
            return Number(value, "ordinal", at, at + 2)
        power = _powers("en").get(tail.form) or (tail.form == "b" and 9)
        if not power and tail.form == "m" and _is_million(found, at, text):
            power = 6
        if power:
            return Number(value * 10**power, "count", at, at + 2)
        return Number(value, "count", at, at + 1)
    return _magnified(value, found, at, at + 1, text, language)


def _counted(found: Sequence[Word], at: int, text: str, language: str) -> Number | None:
    """`a million`, `a dozen`, `one third`, and `one` itself; no plain article."""
    following = found[at + 1] if at + 1 < len(found) else None
    if following is not None and _adjoin(found, at, text):
        if following.form == "dozen":
            return Number(12.0, "count", at, at + 2)
        part = _part(found, at + 1, text, language)
        if part:
            return Number(1 / part, "share", at, at + 2)
        if following.form in _powers(language):
            return _compound(found, at, text, language)
    counts = found[at].form == "one" and not (at and found[at - 1].form in _NO_COUNT)
    return _compound(found, at, text, language) if counts else None


def _part(found: Sequence[Word], at: int, text: str, language: str) -> int | None:
    """The denominator at a place; `third` counts only before `of`, `thirds` anywhere."""
    if language != "en" or not 0 < at < len(found) or not _adjoin(found, at - 1, text):
        return None
    form = found[at].form
    before_of = at + 1 < len(found) and found[at + 1].form == "of"
    plain = form.endswith("s") or form in {"half", "quarter"} or before_of
    return _PARTS.get(form) if plain else None


def _compound(found: Sequence[Word], at: int, text: str, language: str) -> Number:
    """`two hundred and fifty thousand`, from its first word."""
    ones, powers = cardinals(language), _powers(language)
    total, group, used = 0.0, float(ones.get(found[at].form, 1)), 1
    while at + used < len(found) and _goes_on(found, at + used - 1, text):
        form = found[at + used].form
        if form in powers and group:
            if powers[form] == 2 and group >= _HUNDRED:  # noqa: PLR2004 - ten to the second
                break
            if powers[form] == 2:  # noqa: PLR2004
                group *= _HUNDRED
            else:
                total, group = total + group * 10 ** powers[form], 0
        elif form == "dozen" and 0 < group < _HUNDRED:
            group *= 12
        elif form in ones and _continues(group, ones[form], total):
            group += ones[form]
        elif form in ones and not total and _is_year(group, ones[form]):
            group = group * _HUNDRED + ones[form]
        elif not (form == "and" and group % 100 == 0 and _is_cardinal(found, at + used + 1)):
            break
        used += 1
    decimals = _decimals(found, at + used)
    last = at + used + (1 + len(decimals) if decimals else 0)
    return Number(total + group + float(f"0.{decimals}"), "count", at, last)


def _decimals(found: Sequence[Word], at: int) -> str:
    """Return the decimals of a spelled number: the 5 of `three point five`."""
    digits = ""
    if at < len(found) and found[at].form == "point":
        for word in found[at + 1 : at + _LONGEST]:
            digit = str(cardinals("en").get(word.form, ""))
            if len(digit) != 1:
                break
            digits += digit
    return digits


def _is_year(century: float, value: int) -> bool:
    """Whether two number words are a year: `nineteen` `eighty-four`."""
    return 13 <= century <= 20 and value >= 10  # noqa: PLR2004 - of the last centuries


def _continues(group: float, value: int, total: float) -> bool:
    """Whether a number word continues: `twenty` `one`, `hundred` `five`, `thousand` `two`."""
    if group == 0:
        return total > 0
    return group % 100 == 0 or (value < 10 and group % 10 == 0 and group % 100 >= 20)  # noqa: PLR2004 - digits and tens


def _is_cardinal(found: Sequence[Word], at: int) -> bool:
    return at < len(found) and found[at].form in cardinals("en")


def _magnified(
    value: float, found: Sequence[Word], first: int, at: int, text: str, language: str
) -> Number:
    """Multiply a value by the magnitudes that follow it."""
    powers = _powers(language)
    while at < len(found) and found[at].form in powers and _adjoin(found, at - 1, text):
        value *= 10 ** powers[found[at].form]
        at += 1
    return Number(value, "count", first, at)


def _is_million(found: Sequence[Word], at: int, text: str) -> bool:
    """Whether an `m` attached to a number means million: `£3m`, `3m people`, not `3m high`."""
    if at and found[at - 1].kind == "symbol" and found[at - 1].end == found[at].start:
        return True
    if at + 2 >= len(found):
        return False
    following = found[at + 2]
    between = text[found[at + 1].end : following.start]
    return between == " " and following.form not in _LENGTH_HEADS and following.kind == "content"


def _goes_on(found: Sequence[Word], at: int, text: str) -> bool:
    """Whether a number continues after a word, also over a comma: `one thousand, nine hundred`."""
    if _adjoin(found, at, text):
        return True
    comma = text[found[at].end : found[at + 1].start] == ", "
    return comma and _powers("en").get(found[at].form, 0) > 2 and _is_cardinal(found, at + 1)  # noqa: PLR2004 - thousands


def _adjoin(found: Sequence[Word], at: int, text: str) -> bool:
    """Whether only a space or a hyphen separates a word from the next one."""
    return bool(_JOINT.fullmatch(text, found[at].end, found[at + 1].start))


@lru_cache(maxsize=32)
def cardinals(language: str) -> Mapping[str, int]:
    """Return the number words up to 99."""
    units = _UNITS.get(language, "").split()
    tens = list(zip(range(20, 100, 10), _TENS.get(language, "").split(), strict=False))
    table = {form: value for value, form in [*enumerate(units), *tens] if form != "."}
    if language == "de":
        ones = ["ein", *units[2:10]]
        table |= {f"{one}und{form}": v + k for v, form in tens for k, one in enumerate(ones, 1)}
    return table


@lru_cache(maxsize=32)
def _powers(language: str) -> Mapping[str, int]:
    entries = _POWERS.get(language, "").split()
    return {form: int(power) for form, power in zip(entries[::2], entries[1::2], strict=True)}


def power_of_ten(form: str) -> int:
    """Return the power of ten of a folded magnitude word, 6 for `million`, or 0.

    English takes precedence: a `billion` is ten to the ninth.
    """
    return next((powers[form] for powers in map(_powers, _POWERS) if form in powers), 0)
