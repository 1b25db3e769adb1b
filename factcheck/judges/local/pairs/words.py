"""A value as units that can be paired with those of another value: words, numbers, measures.

Words and their stems are those of `words`. What is added: numbers in base units, Roman numerals,
spelling variants, and which words of a name are written in capitals.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from factcheck.judges.local import lexicon as common
from factcheck.judges.local import verbs
from factcheck.judges.local.language import DEFAULT, LATIN, guess_language
from factcheck.judges.local.pairs import lexicon
from factcheck.judges.local.pairs.quantities import Measure, read_measure
from factcheck.judges.local.pairs.spelling import letter_name, variant
from factcheck.judges.local.pairs.text import fold, with_digraphs
from factcheck.judges.local.phrases import is_finite_verb, is_past, tokenise
from factcheck.judges.local.quantities import other_readings
from factcheck.judges.local.scopes import leads
from factcheck.judges.local.tokens import Token, tokenize
from factcheck.judges.local.words import TELLING, Word, words


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
    is_capital: bool
    """Whether it is written with a capital letter."""
    numbers: frozenset[str] = frozenset()
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
    """Words that deny, by their stem."""
    grammar: frozenset[str]
    """The other words, folded."""
    is_sentence: bool
    """Whether the value is one, rather than a name or a phrase."""
    leads: Mapping[int, tuple[str, ...]]
    """For each unit, by its start, the words like `from` and `after` that stand right before it."""
    verbs: frozenset[int]
    """Where its finite verbs start."""


_ROMAN = {
    f"{tens}{ones}": str(10 * n_tens + n_ones)
    for n_tens, tens in enumerate(("", "x", "xx"))
    for n_ones, ones in enumerate(("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"))
    if tens or ones
}
"""Roman numerals up to 29, and the numbers they are."""
_ROMAN_IN_SMALL = frozenset(("ii", "iii", "iv", "vii", "viii", "xii", "xiii", "xiv", "xvi"))
"""Those that are numbers even as `Henry Viii`; `Xi` is a name."""
_OTHER_VERBS = verbs.word_set(
    """
    ist war sind waren wurde wurden hat haben heisst heissen liegt est etait sont etaient fut a ont
    se es fue son era eran tiene
    """
)
"""Forms of `to be` and the like by which a German, French or Spanish sentence is known."""
_ENDS_SENTENCE = re.compile(r"[.!][\"')]*\Z")
_FEWEST_WORDS = 5
_FEWEST_TOKENS = 2
_ENGLISH_TOO = ("once", "elf", "dix", "sept")
"""Number words of other languages that may be English, or names."""
_NUMBER_WEIGHT = 3.0
_LEAST_WEIGHT = 1.0


def language_of(first: str, second: str) -> str:
    """The language two values are read in: told by their script, small words or names of months.

    Only words in lower case are asked, since a name says nothing: `World War` is no German.
    """
    both = f"{min(first, second)} {max(first, second)}"
    language = guess_language(both)
    if language in LATIN:
        language = guess_language(" ".join(word for word in both.split() if word.islower()))
    if language != DEFAULT:
        return language
    forms = {token.form for token in tokenize(both) if token.sort == "word"}
    english = {*common.MONTHS[DEFAULT], *common.CARDINALS[DEFAULT], *_ENGLISH_TOO}
    for other, names in common.MONTHS.items():
        if forms & ({*names, *common.CARDINALS[other]} - english):
            return other
    return DEFAULT


@lru_cache(maxsize=8192)
def wording(text: str, language: str) -> Wording:
    found = words(text, language)
    tokens = tokenize(text)
    at_start = {token.start: place for place, token in enumerate(tokens)}
    units: list[Unit] = []
    denials: list[str] = []
    grammar: set[str] = set()
    end = 0
    has_telling = any(_tells(found, place) for place in range(len(found)))
    for place, word in enumerate(found):
        if word.start < end:
            continue
        unit = _number_unit(word, tokens, at_start, language, text)
        unit = unit or _roman(units, found, place)
        if unit is None and word.kind == "negation":
            denials.extend([word.stem] if _denies(text, found, place) else [])
        elif unit is None and has_telling and not _tells(found, place):
            grammar.add(fold(word.text))
        else:
            unit = unit or _word_unit(word)
            units.append(unit)
            end = unit.end
    starts = _verbs(text, language)
    return Wording(
        text,
        tuple(units),
        tuple(denials),
        frozenset(grammar),
        is_sentence=_is_sentence(text, found, starts),
        leads={found[place].start: said for place, said in leads(found).items()},
        verbs=starts,
    )


def _denies(text: str, found: Sequence[Word], place: int) -> bool:
    """False for `No 10` and `No. 5`."""
    following = found[place + 1].kind if place + 1 < len(found) else ""
    is_number_sign = found[place].stem == "no" and following == "number"
    return not is_number_sign and text[found[place].end : found[place].end + 1] != "."


def _tells(found: Sequence[Word], place: int) -> bool:
    """Whether a word tells something: `Will Smith`, `The Who`, `vitamin A`, too."""
    word = found[place]
    if word.kind in TELLING:
        return True
    if word.kind != "function" or not word.text[0].isupper():
        return False
    if len(word.text) == 1 and word.text.isascii():
        return place > 0 or (place + 1 < len(found) and not found[1].text.islower())
    return fold(word.text) not in lexicon.GRAMMAR


def _number_unit(
    word: Word, tokens: Sequence[Token], at_start: dict[int, int], language: str, text: str
) -> Unit | None:
    if word.kind not in {"number", "unit"}:
        return None
    place = at_start.get(word.start)
    measure = None
    if ":" not in word.stem and place is not None:
        measure = read_measure(tokens, place, language, text)
    if measure is not None and measure.units:
        return _measured(measure, text)
    if word.kind == "unit":
        return None
    forms = dict.fromkeys((word.stem, *other_readings(word.stem)))
    if _is_version(word, text):
        forms = dict.fromkeys((word.text,))
    elif measure is not None:
        forms.update(dict.fromkeys(str(number) for number in measure.numbers))
    start, end = word.start, word.end if measure is None else max(word.end, measure.end)
    numbers = (
        frozenset(str(number) for number in measure.numbers) if measure else frozenset((word.stem,))
    )
    return Unit(
        text[start:end], tuple(forms), word.stem, True, _NUMBER_WEIGHT, start, end, False, numbers
    )


def _is_version(word: Word, text: str) -> bool:
    """Whether the last nought counts: `Python 3.10`."""
    before = text[: word.start].rpartition(" ")[0].rpartition(" ")[2]
    return "." in word.text and word.text.endswith("0") and before[:1].isupper()


def _measured(measure: Measure, text: str) -> Unit:
    forms = tuple(sorted(f"{dimension}={value}" for dimension, value in measure.values))
    return Unit(
        text[measure.start : measure.end],
        forms,
        forms[0],
        is_number=True,
        weight=_NUMBER_WEIGHT,
        start=measure.start,
        end=measure.end,
        is_capital=False,
        numbers=frozenset(str(number) for number in measure.numbers),
        has_measure=True,
    )


def _roman(units: Sequence[Unit], found: Sequence[Word], place: int) -> Unit | None:
    """`VII` behind a name, as a number."""
    word = found[place]
    value = _ROMAN.get(word.text.lower())
    if value is None or not units or not units[-1].is_capital or not word.text[0].isupper():
        return None
    is_written_small = not word.text.isupper()
    if is_written_small and word.text.lower() not in _ROMAN_IN_SMALL:
        return None
    if len(word.text) == 1 and place + 1 < len(found) and found[place + 1].text[0].isupper():
        return None
    forms = (value, f"ord:{value}")
    return Unit(
        word.text,
        forms,
        value,
        True,
        _NUMBER_WEIGHT,
        word.start,
        word.end,
        False,
        frozenset((value,)),
    )


def _word_unit(word: Word) -> Unit:
    form = fold(word.text).replace("'", "") or word.stem
    if len(form) == 1 and not form.isascii():
        form = letter_name(form)
    forms = dict.fromkeys((form, variant(form), fold(with_digraphs(word.text)).replace("'", "")))
    weight = max(word.rarity, _LEAST_WEIGHT)
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


def _verbs(text: str, language: str) -> frozenset[int]:
    """Where the verbs and participles of a text start, as far as they are plain to see."""
    tokens = tokenise(text)
    inner = range(1, len(tokens) - 1)
    if language != DEFAULT:
        return frozenset(tokens[k].start for k in inner if fold(tokens[k].text) in _OTHER_VERBS)
    finite = [k for k in inner if is_finite_verb(tokens, k)]
    participles = [
        k for k in inner if finite and tokens[k].text.islower() and is_past(tokens[k].core)
    ]
    return frozenset(tokens[k].start for k in (*finite, *participles))


def _is_sentence(text: str, found: Sequence[Word], starts: frozenset[int]) -> bool:
    """A verb, or a full stop behind several words of which two are no names."""
    if starts or _ends_in_verb(text):
        return True
    small = sum(word.text.islower() for word in found)
    return len(found) >= _FEWEST_WORDS and small > 1 and bool(_ENDS_SENTENCE.search(text))


def _ends_in_verb(text: str) -> bool:
    """`The crane fell`."""
    tokens = tokenise(text)
    if len(tokens) < _FEWEST_TOKENS or not tokens[-1].text[0].islower():
        return False
    is_clause = (
        tokens[0].core in verbs.DETERMINERS | verbs.PRONOUNS and len(tokens) > _FEWEST_TOKENS
    )
    return (is_clause or bool(_ENDS_SENTENCE.search(text))) and is_past(tokens[-1].core)
