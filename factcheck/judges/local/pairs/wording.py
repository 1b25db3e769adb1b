"""Splitting of values into units (words, numbers, measures), and matching of units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from factcheck.judges.local.pairs.normal import TABLES, fold
from factcheck.text.language import DEFAULT, guess_language
from factcheck.text.numbers import cardinals
from factcheck.text.units import BOUNDS, read_quantity
from factcheck.text.words import Word, irregular_forms, rarity, word_set, words


class Unit(NamedTuple):
    """One word, number or measure of a value."""

    text: str
    forms: tuple[str, ...]
    """Forms for matching; units with a common form are equal."""
    start: int
    end: int
    stem: str = ""
    weight: float = 3.0
    """Information weight."""
    is_number: bool = False

    @property
    def form(self) -> str:
        """First form."""
        return self.forms[0]

    @property
    def is_capital(self) -> bool:
        """Whether the text starts with a capital letter."""
        return self.text[0].isupper()


class Wording(NamedTuple):
    """Units of a value, with its negations and function words."""

    text: str
    units: tuple[Unit, ...]
    is_denied: bool
    grammar: frozenset[str]
    """Folded function words."""
    is_sentence: bool


class Matching(NamedTuple):
    """Positions of the units of either value that the other value has."""

    first: set[int]
    second: set[int]
    pairs: list[tuple[int, int]]
    """Units matched one to one, in the order of the first value."""


_ABBREVIATIONS = {short: word_set(long) for short, long in TABLES["abbreviations"].items()}
_GRAMMAR = word_set(TABLES["grammar"])
"""Function words in any case; others may be names when capitalized: `Will`, `The Who`."""
_ROMAN = {
    f"{tens}{ones}": 10 * n_tens + n_ones
    for n_tens, tens in enumerate(("", "x", "xx"))
    for n_ones, ones in enumerate(("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"))
    if tens or ones
}
_AUXILIARIES = word_set("is was are were has have had will can did does do ist war hat est fue es")
_NO_VERBS = word_set("left felt ground wound saw")
_ENDINGS = word_set("s es d ed ing n en e er em ns x ies ied") | {""}
_SHORTEST = 5
"""Minimum number of words in a sentence without a verb."""
_MOST_REPEATED, _LETTERS = 40, 3


@lru_cache(maxsize=8192)
def language_of(first: str, second: str) -> str:
    """Guess the common language of two values."""
    both = f"{min(first, second)} {max(first, second)}"
    guess = guess_language(both)
    numbers = {word.form for word in words(both)} - cardinals(DEFAULT).keys() - {"once", "elf"}
    others = [each for each in ("de", "fr", "es") if numbers & cardinals(each).keys()]
    return others[0] if guess == DEFAULT and others else guess


@lru_cache(maxsize=8192)
def wording(text: str, language: str) -> Wording:
    """Read a tidy text."""
    found = words(text, language)
    units: list[Unit] = []
    grammar: set[str] = set()
    is_denied, at = False, 0
    has_content = any(_is_content(found, place) for place in range(len(found)))
    while at < len(found):
        word = found[at]
        number, last = _number(found, at, text, language, units)
        if number is not None:
            units.append(number)
        elif word.kind == "negation":
            phrase = " ".join(each.form for each in found[at : at + 3])
            if bound := BOUNDS.get(phrase):  # "no more than 5" denies nothing
                last, end = at + 3, found[at + 2].end
                units.append(Unit(text[word.start : end], (bound,), word.start, end, bound))
            else:
                is_denied = True
        elif has_content and not _is_content(found, at):
            grammar.add(word.form)
        else:
            form = fold(word.text).replace("'", "") or word.stem
            weight = max(rarity(word.form, language), 1.0)
            units.append(Unit(word.text, (form,), word.start, word.end, word.stem, weight))
        at = last
    inner = found[1:] if found and found[0].kind == "function" else found[1:-1]
    ends = text.endswith((".", "!")) and len(found) >= _SHORTEST
    is_sentence = any(map(_is_verb, inner)) or (ends and sum(w.text.islower() for w in found) > 1)
    return Wording(text, tuple(units), is_denied, frozenset(grammar), is_sentence)


def _is_verb(word: Word) -> bool:
    """Whether a word is an auxiliary or an unambiguous past form in lower case."""
    base = irregular_forms().get(word.form, "s")
    is_past = word.form.endswith("ed") or (base[0] == word.form[0] and word.form not in _NO_VERBS)
    is_past = is_past and not word.form.endswith(("eed", "s", "ice", "en", "dren", "eet"))
    return word.text.islower() and (
        word.form in _AUXILIARIES or (is_past and len(word.form) > _LETTERS)
    )


def _is_content(found: Sequence[Word], at: int) -> bool:
    """Whether a word carries content, also in `Will Smith`, `The Who` and `vitamin A`."""
    word = found[at]
    if word.kind in {"content", "number"} or (word.kind == "symbol" and word.text in "$£€¥₹%‰°"):
        return True
    if word.kind != "function" or not word.text[0].isupper():
        return False
    if len(word.text) == 1 and word.text.isascii():
        return at > 0 or (len(found) > 1 and not found[1].text.islower())
    return word.form not in _GRAMMAR


def _number(
    found: Sequence[Word], at: int, text: str, language: str, before: Sequence[Unit]
) -> tuple[Unit | None, int]:
    """Return the number or measure that starts at a word, or `None`, and the next position."""
    word, last = found[at], at + 1
    quantity = read_quantity(found, at, text, language, alone=True)
    forms: Sequence[str] = ()
    if quantity is not None and quantity.units:
        last = quantity.last
        forms = [f"{u.dimension}={u.basic(quantity.value):.12g}" for u in quantity.units]
    elif quantity is not None or any(character.isdigit() for character in word.form):
        last = plain_end = quantity.last if quantity is not None else last
        while last < len(found) and found[last].start == found[last - 1].end:
            if found[last].kind == "symbol":
                break
            last += 1
        written = text[word.start : found[last - 1].end]
        is_version = written.endswith("0") and "." in written and before and before[-1].is_capital
        is_plain = quantity is not None and last == plain_end and not is_version
        forms = [quantity.key if quantity and is_plain else fold(written)]
    elif value := _roman(found, at, before):
        forms = [f"{value}", f"ord:{value}"]
    end = found[last - 1].end
    unit = Unit(text[word.start : end], tuple(forms), word.start, end, is_number=True)
    return (unit if forms else None), last


def _roman(found: Sequence[Word], at: int, before: Sequence[Unit]) -> int:
    """Return the value of a Roman numeral after a word, or 0."""
    written = found[at].text
    if not before or before[-1].is_number or not written.isupper():
        return 0
    follows = at + 1 < len(found) and found[at + 1].text[0].isupper()
    if len(written) == 1 and (follows or not before[-1].is_capital):
        return 0
    return _ROMAN.get(found[at].form, 0)


def match(first: Wording, second: Wording) -> Matching:
    """Match the units of two values, closest forms and positions first; symmetric in the values."""
    ones, others = first.units, second.units
    holders: dict[str, list[int]] = {}
    for j, unit in enumerate(others):
        for key in _keys(unit):
            holders.setdefault(key, []).append(j)
    candidates = {
        (_unlikeness(unit, others[j]), abs(i - j), i + j, i, j)
        for i, unit in enumerate(ones)
        for key in _keys(unit)
        for j in holders.get(key, ())[:_MOST_REPEATED]
    }
    found = Matching(set(), set(), [])
    for unlikeness, _, _, i, j in sorted(candidates):
        if unlikeness < 1 and i not in found.first and j not in found.second:
            found.first.add(i)
            found.second.add(j)
            found.pairs.append((i, j))
    _add_acronyms(found, ones, others)
    found.pairs.sort()
    return found


def _add_acronyms(found: Matching, ones: Sequence[Unit], others: Sequence[Unit]) -> None:
    """Match acronyms with what they stand for, in the other value or in their own."""
    sides = ((found.first, ones, found.second, others), (found.second, others, found.first, ones))
    for matched, units, rest, texts in sides:
        for i, run in _spelt_out(units, texts):
            if i not in matched and rest.isdisjoint(run):
                matched.add(i)
                rest.update(run)
    for matched, units in ((found.first, ones), (found.second, others)):
        for i, run in _spelt_out(units, units):
            if not matched.isdisjoint((i, *run)):
                matched.update((i, *run))


def _keys(unit: Unit) -> set[str]:
    """Return keys of which units that may be equivalent have one in common."""
    if unit.is_number:
        return {*unit.forms}
    return {unit.form, f"{unit.stem}-", *_ABBREVIATIONS.get(unit.form, ())}


def _unlikeness(one: Unit, other: Unit) -> float:
    """Return 0 for equal units, below 1 for a word inflected or abbreviated, 1 for others."""
    if one.is_number or other.is_number:
        is_same = one.is_number and other.is_number and not {*one.forms}.isdisjoint(other.forms)
        return 0.0 if is_same else 1.0
    if one.form == other.form:
        return 0.0
    pairs = ((one.form, other.form), (other.form, one.form))
    if any(long in _ABBREVIATIONS.get(short, ()) for short, long in pairs):
        return 0.5
    short, long = sorted((one.form, other.form), key=len)
    return 0.3 if one.stem == other.stem and _is_inflected(short, long) else 1.0


def _spelt_out(units: Sequence[Unit], texts: Sequence[Unit]) -> Iterator[tuple[int, range]]:
    """Yield acronyms, each with the positions of the words whose initials it consists of."""
    initials = "".join(unit.form[0] for unit in texts)
    for i, unit in enumerate(units):
        at = initials.find(unit.form) if len(unit.form) > 1 and unit.text.isupper() else -1
        if at >= 0:
            yield i, range(at, at + len(unit.form))


def _is_inflected(short: str, long: str) -> bool:
    """Whether two words of one stem differ only in inflection."""
    irregular = irregular_forms()
    if irregular.get(long, long) == irregular.get(short, short):
        return True
    k = n_shared(short, long)
    ending = long[k + 1 :] if short[:k] == short and long[k : k + 1] == short[-1:] else long[k:]
    return short[k:] in _ENDINGS | {"y"} and ending in _ENDINGS


def n_shared(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the common prefix of two sequences."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
