"""A value as units that can be paired with those of another value: words, numbers, measures.

Words, numbers and dates are those of the text room. What is added: Roman numerals, spelling
variants, which words of a name are written in capitals, and whether a value is a sentence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from factcheck.judges.local.pairs.normal import fold, with_digraphs
from factcheck.judges.local.pairs.quantities import measure
from factcheck.text.dates import MONTHS, Moment, read_moment
from factcheck.text.language import DEFAULT, guess_language
from factcheck.text.numbers import cardinals
from factcheck.text.units import Quantity, read_quantity
from factcheck.text.words import Word, rarity, word_set, words


class Unit(NamedTuple):
    """One word, number or measure of a value."""

    text: str
    forms: tuple[str, ...]
    """What it is paired by: units with a form in common are the same."""
    stem: str
    is_number: bool
    weight: float
    """How much it tells."""
    start: int
    end: int
    is_capital: bool = False
    """Whether it is written with a capital letter."""
    numbers: frozenset[float] = frozenset()
    """What a number is without its unit."""
    has_measure: bool = False
    """Whether a unit of measure belongs to the number."""

    @property
    def form(self) -> str:
        return self.forms[0]


class Wording(NamedTuple):
    """The units of one value, with what stands between them."""

    text: str
    units: tuple[Unit, ...]
    negations: tuple[str, ...]
    """Words that deny, folded."""
    grammar: frozenset[str]
    """The other words, folded."""
    is_sentence: bool
    """Whether the value is one, rather than a name or a phrase."""
    leads: Mapping[int, str]
    """For each unit, by its start, the direction (`from`, `after`) that stands right before it."""
    verbs: frozenset[int]
    """Where its finite verbs start."""


_GRAMMAR = word_set(
    """
    the a an of and or in on at by for from to with into onto as than but if then it its is are was
    were be been this that these those der die das den dem des ein eine einen einem einer eines und
    oder von in im am an auf fur zu zur zum mit le la les l un une des du de d et ou en el los las
    unos unas del al y o e i s
    """
)
"""Function words that tell nothing, whatever their case; others are part of a name if they have a
capital letter (`Will Smith`, `The Who`)."""
_UNIT_SIGNS = frozenset("$£€¥₹₩₽%‰°")
DIRECTIONS = word_set("from to by for against before after until since")
_ROMAN = {
    f"{tens}{ones}": 10 * n_tens + n_ones
    for n_tens, tens in enumerate(("", "x", "xx"))
    for n_ones, ones in enumerate(("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"))
    if tens or ones
}
"""Roman numerals up to 29, and the numbers they are."""
_ROMAN_IN_SMALL = word_set("ii iii iv vii viii xii xiii xiv xvi")
"""Those that are numbers even as `Henry Viii`; `Xi` is a name."""
_AUXILIARIES = word_set("is was are were has have had will can did does do")
_OTHER_VERBS = word_set(
    """
    ist war sind waren wurde wurden hat haben heisst heissen liegt est etait sont etaient fut ont es
    fue son era eran tiene
    """
)
"""Forms of `to be` and the like by which a German, French or Spanish sentence is known."""
_PAST = word_set(
    """
    became beat began bought broke brought built came caught chose drew drove fell felt flew fought
    found gave got grew held hid hit kept knew laid led left lent lost made meant met paid put ran
    rose said sang sank sat saw sent set shook shot slept sold spent spoke spread stole stood
    struck swam taught thought threw told took understood went withdrew won wore wrote
    """
)
_PRESENT = word_set(
    """
    appears attends becomes begins belongs comes consists contains continues covers describes ends
    features follows gives grows helps holds includes involves lies lives makes moves needs offers
    owns plays produces provides receives remains represents requires runs serves sits speaks stands
    starts takes teaches tells uses wants weighs wins works writes
    """
)
_NOT_PAST = word_set(
    "bed breed feed hundred indeed kindred need seed shed speed united weed wicked"
)
_AFTER_VERBS = word_set(
    """
    the a an his her its their our my your this that these those to in at for from with on into over
    through about under after before until as up out off down back him them it us several many some
    all more
    """
)
"""What follows a verb, and seldom a participle that stands before its noun."""
_VARIANTS = (
    (re.compile(r"isation(s?)\Z"), r"ization\1"),
    (re.compile(r"is(e|ed|es|er|ers|ing)\Z"), r"iz\1"),
    (re.compile(r"ys(e|ed|es|er|ers|ing)\Z"), r"yz\1"),
    (re.compile(r"(?<=[a-z]{2})our"), "or"),
    (re.compile(r"(?<=[a-z]{2}[bt])re(s?)\Z"), r"er\1"),
    (re.compile(r"ogue(s?)\Z"), r"og\1"),
    (re.compile(r"ae(?=[a-z])|oe(?=[a-z])"), "e"),
    (re.compile(r"ll(ed|ing|er)\Z"), r"l\1"),
    (re.compile(r"(?<=[a-z])ence\Z"), "ense"),
)
_SHORTEST_VARIANT = 5
_ENDS_SENTENCE = re.compile(r"[.!][\"')]*\Z")
_DIGIT = re.compile(r"\d")
_FEWEST_WORDS = 5
_OTHER_LANGUAGES = ("de", "fr", "es")
_ENGLISH_TOO = word_set("once elf dix sept mars")
"""Names of months and numbers in other languages that may be English, or names."""
_NUMBER_WEIGHT = 3.0
_LEAST_WEIGHT = 1.0


@lru_cache(maxsize=8192)
def language_of(first: str, second: str) -> str:
    """The language two values are read in: told by their script, small words or names of months.

    Only words in lower case are asked, since a name says nothing: `World War` is no German.
    """
    both = f"{min(first, second)} {max(first, second)}"
    asked = (word for word in both.split() if not word.istitle() and not _DIGIT.search(word))
    language = guess_language(" ".join(asked))
    if language != DEFAULT:
        return language
    forms = {word.form for word in words(both)} - _names(DEFAULT) - _ENGLISH_TOO
    return next((other for other in _OTHER_LANGUAGES if forms & _names(other)), DEFAULT)


@lru_cache(maxsize=8)
def _names(language: str) -> frozenset[str]:
    """The names of months and numbers of a language."""
    return frozenset(cardinals(language)) | frozenset(MONTHS[language])


@lru_cache(maxsize=8192)
def wording(text: str, language: str) -> Wording:
    found = words(text, language)
    verbs = _verbs(found, text, language)
    units: list[Unit] = []
    denials: list[str] = []
    grammar: set[str] = set()
    leads: dict[int, str] = {}
    lead = ""
    has_telling = any(_tells(found, place) for place in range(len(found)))
    at = 0
    while at < len(found):
        word = found[at]
        some, last = _numbers(found, at, text, language, units)
        if not some and word.kind == "negation":
            denials.extend([word.form] if _denies(text, found, at) else [])
        elif not some and has_telling and not _tells(found, at):
            grammar.add(word.form)
        elif not some:
            some = [_word_unit(word, language)]
        units.extend(some)
        for unit in some if lead else ():
            leads[unit.start] = lead
        if word.form in DIRECTIONS:
            lead = word.form
        elif some or word.kind != "function":
            lead = ""
        at = last
    return Wording(
        text,
        tuple(units),
        tuple(denials),
        frozenset(grammar),
        is_sentence=_is_sentence(text, found, verbs),
        leads=leads,
        verbs=verbs,
    )


def _denies(text: str, found: Sequence[Word], at: int) -> bool:
    """False for `No 10` and `No. 5`."""
    following = found[at + 1].kind if at + 1 < len(found) else ""
    is_number_sign = found[at].form == "no" and following == "number"
    return not is_number_sign and text[found[at].end : found[at].end + 1] != "."


def _tells(found: Sequence[Word], at: int) -> bool:
    """Whether a word tells something: `Will Smith`, `The Who`, `vitamin A`, too."""
    word = found[at]
    if word.kind in {"content", "number"} or word.text in _UNIT_SIGNS:
        return True
    if word.kind != "function" or not word.text[0].isupper():
        return False
    if len(word.text) == 1 and word.text.isascii():
        return at > 0 or (at + 1 < len(found) and not found[1].text.islower())
    return word.form not in _GRAMMAR


def _numbers(
    found: Sequence[Word], at: int, text: str, language: str, before: Sequence[Unit]
) -> tuple[list[Unit], int]:
    """The units of the number or date that starts at a word, and where it ends."""
    moment = read_moment(found, at, text)
    if moment is not None and not _is_word(moment):
        return list(_of_moment(moment, found, text)), moment.last
    quantity = read_quantity(found, at, text, language, alone=True)
    if quantity is not None:
        return _of_quantity(quantity, found, text, language)
    word = found[at]
    if any(character.isdigit() for character in word.form):
        last = at + 1
        while last < len(found) and found[last].start == found[last - 1].end:
            last += 1
        return [
            _number(
                text,
                word.start,
                found[last - 1].end,
                text[word.start : found[last - 1].end].lower(),
            )
        ], last
    value = _roman(before, found, at)
    if value is None:
        return [], at + 1
    unit = _number(text, word.start, word.end, f"{value}", f"ord:{value}")
    return [unit._replace(numbers=frozenset({float(value)}))], at + 1


def _is_word(moment: Moment) -> bool:
    """Whether only a year or a day of the week is named, which any number or word is."""
    return moment.month is moment.minute is None


def _number(text: str, start: int, end: int, *forms: str) -> Unit:
    return Unit(text[start:end], forms, forms[0], True, _NUMBER_WEIGHT, start, end)


def _of_moment(moment: Moment, found: Sequence[Word], text: str) -> Iterator[Unit]:
    """One number for each part of a date or time that is said."""
    start, end = found[moment.first].start, found[moment.last - 1].end
    for key in moment.keys:
        kind, _, rest = key.partition(":")
        forms = [key]
        if kind in {"time", "clock"}:
            hour, _, minute = rest.partition(":")
            halves = {int(hour) % 12, int(hour) % 12 + 12} if kind == "clock" else {int(hour)}
            forms = [f"time:{each}:{minute}" for each in sorted(halves)]
        yield _number(text, start, end, *forms)


def _of_quantity(
    quantity: Quantity, found: Sequence[Word], text: str, language: str
) -> tuple[list[Unit], int]:
    """A number with its unit, or with the letters stuck to it: `5 kg`, `4a`."""
    meant = measure(quantity, found, text, language)
    start, end, last = quantity.start, quantity.end, quantity.last
    if quantity.units:
        forms = sorted(f"{dimension}={value:.12g}" for dimension, value in meant.values)
        unit = _number(text, start, end, *forms)
        return [unit._replace(numbers=meant.numbers, has_measure=True)], last
    while last < len(found) and found[last].start == end and found[last].kind != "symbol":
        last, end = last + 1, found[last].end
    if end > quantity.end:
        return [_number(text, start, end, fold(text[start:end]))], last
    if _is_version(text, start, end):
        return [_number(text, start, end, text[start:end])], last
    keys = [f"{number:.12g}" for number in sorted(meant.numbers)]
    forms = [*keys, *(f"ord:{key}" for key in keys)]
    unit = _number(text, start, end, *dict.fromkeys((quantity.key, *forms)))
    return [unit._replace(numbers=meant.numbers)], last


def _is_version(text: str, start: int, end: int) -> bool:
    """Whether the last nought counts: `Python 3.10`."""
    before = text[:start].rpartition(" ")[0].rpartition(" ")[2]
    return "." in text[start:end] and text[start:end].endswith("0") and before[:1].isupper()


def _roman(units: Sequence[Unit], found: Sequence[Word], at: int) -> int | None:
    """The number that `VII` is behind a name."""
    word = found[at]
    value = _ROMAN.get(word.text.lower())
    if value is None or not units or not units[-1].is_capital or not word.text[0].isupper():
        return None
    if not word.text.isupper() and word.text.lower() not in _ROMAN_IN_SMALL:
        return None
    if len(word.text) == 1 and at + 1 < len(found) and found[at + 1].text[0].isupper():
        return None
    return value


def _word_unit(word: Word, language: str) -> Unit:
    form = fold(word.text).replace("'", "") or word.stem
    if len(form) == 1 and not form.isascii():
        form = _letter_name(form)
    forms = dict.fromkeys((form, _variant(form), fold(with_digraphs(word.text)).replace("'", "")))
    weight = max(rarity(word.form, language), _LEAST_WEIGHT)
    return Unit(
        word.text,
        tuple(forms),
        word.stem,
        is_number=False,
        weight=weight,
        start=word.start,
        end=word.end,
        is_capital=word.text[0].isupper(),
    )


def _verbs(found: Sequence[Word], text: str, language: str) -> frozenset[int]:
    """Where the verbs and participles of a text start, as far as they are plain to see."""
    if language != DEFAULT:
        return frozenset(word.start for word in found[1:-1] if word.form in _OTHER_VERBS)
    finite = [at for at in range(1, len(found) - 1) if _is_finite(found, at, text)]
    participles = [at for at in range(1, len(found) - 1) if finite and _is_past(found[at])]
    return frozenset(found[at].start for at in (*finite, *participles))


def _is_finite(found: Sequence[Word], at: int, text: str) -> bool:
    word, following = found[at], found[at + 1]
    if not word.text[0].islower() or text[word.end : following.start].strip("\"'*` "):
        return False
    if word.form in _AUXILIARIES:
        return True
    if not _is_past(word) and word.form not in _PRESENT:
        return False
    return following.form in _AFTER_VERBS or not following.text[0].islower()


def _is_past(word: Word) -> bool:
    """Whether a word looks like a past form, or a participle."""
    regular = word.form.endswith("ed") and len(word.form) > len("red")
    return word.text[0].islower() and (
        (regular and word.form not in _NOT_PAST) or word.form in _PAST
    )


def _is_sentence(text: str, found: Sequence[Word], verbs: frozenset[int]) -> bool:
    """A verb, or a full stop behind several words of which two are no names."""
    ends = bool(_ENDS_SENTENCE.search(text))
    if verbs or (len(found) > 1 and _is_past(found[-1]) and (ends or _opens_clause(found))):
        return True
    return len(found) >= _FEWEST_WORDS and sum(word.text.islower() for word in found) > 1 and ends


def _opens_clause(found: Sequence[Word]) -> bool:
    """`The crane fell`, without a full stop."""
    return len(found) > 2 and found[0].kind == "function" and found[0].form not in {"of", "in"}  # noqa: PLR2004 - the, crane, fell


def _letter_name(letter: str) -> str:
    """`alpha` for the letter, as chemists write either."""
    name = unicodedata.name(letter, "")
    return name.rpartition(" ")[2].lower() if name.startswith("GREEK SMALL LETTER") else letter


@lru_cache(maxsize=16384)
def _variant(form: str) -> str:
    """A word in American spelling: `colour` and `color` have the same."""
    if len(form) < _SHORTEST_VARIANT or not form.isascii():
        return form
    for pattern, replacement in _VARIANTS:
        form = pattern.sub(replacement, form)
    return form
