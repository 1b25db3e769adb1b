"""Splitting of values into units (words, numbers, measures), and matching of units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from factcheck.judges.local.pairs.amounts import measure
from factcheck.judges.local.pairs.normal import TABLES, fold
from factcheck.text.language import DEFAULT, guess_language
from factcheck.text.numbers import cardinals
from factcheck.text.units import read_quantity
from factcheck.text.words import (
    Word,
    irregular_forms,
    rarity,
    word_set,
    words,
)


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
    """Units of a value, with its negations, function words and verbs."""

    text: str
    units: tuple[Unit, ...]
    denials: int
    """Number of negations."""
    grammar: frozenset[str]
    """Folded function words."""
    verbs: frozenset[int]
    """Offsets of finite verbs."""
    is_sentence: bool


class Matching(NamedTuple):
    """Confidence, for each unit of both values, that the other value has it; 0 if missing."""

    first: list[float]
    second: list[float]
    pairs: list[tuple[int, int]]
    """Units matched one to one, in the order of the first value."""


TITLES = word_set(TABLES["titles"])
_ABBREVIATIONS = {short: word_set(long) for short, long in TABLES["abbreviations"].items()}
_GRAMMAR = word_set(
    "the a an of and or in on at by for from to with into onto as than but if then it its is are"
    " was were be been this that these those der die das den dem des ein eine einen einem einer"
    " eines und oder von im am an auf fur zu zur zum mit le la les l un une des du de d et ou en el"
    " los las unos unas del al y o e i s"
)
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
_MOST_LEFT = 40
_LETTERS = 3
_SAME, _INFLECTED, _SHORT, _REPEATED = 1.0, 0.97, 0.95, 0.9


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
    denials = at = 0
    has_content = any(_is_content(found, place) for place in range(len(found)))
    while at < len(found):
        word = found[at]
        some, last = _numbers(found, at, text, language, units)
        if not some and word.kind == "negation":
            denials += 1
        elif not some and has_content and not _is_content(found, at):
            grammar.add(word.form)
        elif not some:
            some = [_word_unit(word, language)]
        units += some
        at = last
    inner = found[1:] if found and found[0].kind == "function" else found[1:-1]
    verbs = frozenset(word.start for word in inner if _is_verb(word))
    ends = text.endswith((".", "!")) and len(found) >= _SHORTEST
    is_sentence = bool(verbs) or (ends and sum(word.text.islower() for word in found) > 1)
    return Wording(text, tuple(units), denials, frozenset(grammar), verbs, is_sentence)


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


def _numbers(
    found: Sequence[Word], at: int, text: str, language: str, before: Sequence[Unit]
) -> tuple[list[Unit], int]:
    """Return the units of a number or measure that starts at a word, and the next position."""
    word = found[at]

    def number(last: int, *forms: str) -> Unit:
        end = found[last - 1].end
        return Unit(text[word.start : end], forms, word.start, end, is_number=True)

    quantity = read_quantity(found, at, text, language, alone=True)
    last = at + 1
    if quantity is not None and quantity.units:
        values = measure(quantity, found, text, language).values
        forms = sorted(f"{dimension}={value:.12g}" for dimension, value in values)
        return [number(quantity.last, *forms)], quantity.last
    if quantity is not None or any(character.isdigit() for character in word.form):
        last = quantity.last if quantity is not None else last
        plain_end = last
        while last < len(found) and found[last].start == found[last - 1].end:
            if found[last].kind == "symbol":
                break
            last += 1
        written = text[word.start : found[last - 1].end]
        is_version = written.endswith("0") and "." in written and before and before[-1].is_capital
        if quantity is None or last > plain_end or is_version:
            return [number(last, fold(written))], last
        keys = [f"{value:.12g}" for value in measure(quantity, found, text, language).numbers]
        keys = sorted(keys, key=lambda key: key != quantity.key)
        return [number(last, *keys, quantity.key)], last
    value = _roman(found, at, before)
    return [number(last, f"{value}", f"ord:{value}")] if value else [], last


def _roman(found: Sequence[Word], at: int, before: Sequence[Unit]) -> int:
    """Return the value of a Roman numeral after a word, or 0."""
    written = found[at].text
    if not before or before[-1].is_number or not written.isupper():
        return 0
    follows = at + 1 < len(found) and found[at + 1].text[0].isupper()
    if len(written) == 1 and (follows or not before[-1].is_capital):
        return 0
    return _ROMAN.get(found[at].form, 0)


def _word_unit(word: Word, language: str) -> Unit:
    form = fold(word.text).replace("'", "") or word.stem
    weight = max(rarity(word.form, language), _SAME)
    return Unit(word.text, (form,), word.start, word.end, word.stem, weight)


def match(first: Wording, second: Wording) -> Matching:
    """Match the units of two values; symmetric in the values."""
    ones, others = first.units, second.units
    found = Matching([0.0] * len(ones), [0.0] * len(others), [])
    holders: dict[str, list[int]] = {}
    for j, unit in enumerate(others):
        for form in unit.forms:
            holders.setdefault(form, []).append(j)
    _pair_up(
        found,
        {
            (_SAME, i, j)
            for i, unit in enumerate(ones)
            for form in unit.forms
            for j in holders.get(form, ())[:_MOST_LEFT]
            if unit.is_number == others[j].is_number
        },
    )
    credit = found.first, found.second
    sides = enumerate(((ones, others), (others, ones)))
    runs = [(-len(run), i + run[0], side, i, run) for side, x in sides for i, run in _spelt_out(*x)]
    for _, _, side, i, run in sorted(runs, key=lambda each: each[:4]):
        if not credit[side][i] and not any(credit[1 - side][at] for at in run):
            credit[side][i] = _SHORT
            credit[1 - side][run.start : run.stop] = [_SHORT] * len(run)
    free, left = ([at for at, c in enumerate(each) if not c][:_MOST_LEFT] for each in credit)
    alike = {(_likeness(ones[i], others[j]), i, j) for i in free for j in left}
    _pair_up(found, {candidate for candidate in alike if candidate[0]})
    _forgive_repeats(ones, others, found.first)
    _forgive_repeats(others, ones, found.second)
    found.pairs.sort()
    return found


def _forgive_repeats(units: Sequence[Unit], others: Sequence[Unit], credits_: list[float]) -> None:
    """Credit words that repeat others or spell out an acronym; numbers are not credited."""
    forms = {form for unit in others if not unit.is_number for form in unit.forms}
    repeated = [
        [at]
        for at, unit in enumerate(units)
        if not unit.is_number and not forms.isdisjoint(unit.forms)
    ]
    for i, run in _spelt_out(units, units):
        if any(credits_[at] for at in (i, *run)):
            repeated.append([i, *run])
    for at in (at for span in repeated for at in span):
        credits_[at] = credits_[at] or _REPEATED


def _pair_up(found: Matching, candidates: set[tuple[float, int, int]]) -> None:
    """Match greedily by confidence; ties go to pairs in corresponding positions."""
    for credit, i, j in sorted(candidates, key=lambda c: (-c[0], abs(c[1] - c[2]), c[1] + c[2])):
        if not found.first[i] and not found.second[j]:
            found.first[i] = found.second[j] = credit
            found.pairs.append((i, j))


def _spelt_out(units: Sequence[Unit], texts: Sequence[Unit]) -> Iterator[tuple[int, range]]:
    """Yield acronyms, each with the positions of the words whose initials it consists of."""
    initials = "".join(unit.form[0] for unit in texts)
    for i, unit in enumerate(units):
        at = initials.find(unit.form) if len(unit.form) > 1 and unit.text.isupper() else -1
        if at >= 0:
            yield i, range(at, at + len(unit.form))


def _likeness(one: Unit, other: Unit) -> float:
    """Return the confidence that two different units are equivalent."""
    if one.is_number or other.is_number:
        return 0.0
    if other.form in _ABBREVIATIONS.get(one.form, ()) or one.form in _ABBREVIATIONS.get(
        other.form, ()
    ):
        return _SHORT
    short, long = sorted((one.form, other.form), key=len)
    return _INFLECTED if one.stem == other.stem and _is_inflected(short, long) else 0.0


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
