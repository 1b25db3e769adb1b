"""A text as words that can be compared: stems, kinds and rarities, with offsets.

Owns what counts as the same word. Numbers and units are read by `quantities`, dates by `dates`.
"""

from __future__ import annotations

import math
import threading
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from factcheck.judges.local import lexicon
from factcheck.judges.local.dates import read_date
from factcheck.judges.local.language import DEFAULT
from factcheck.judges.local.quantities import read_quantity
from factcheck.judges.local.tokens import Token, fold_form, tokenize

WordKind = Literal["content", "function", "number", "unit", "negation"]
TELLING: frozenset[WordKind] = frozenset({"content", "number", "unit"})
"""Kinds of words a statement is made of; the others are its grammar."""


class Word(NamedTuple):
    """One word of a text."""

    text: str
    """As written: `source[start:end]`."""
    stem: str
    """What it is compared by; equal for `Houses` and `house`, `1,200` and `1200`."""
    kind: WordKind
    rarity: float
    """From 0.2 (grammar) to 5 (hardly ever used): how much it tells."""
    start: int
    end: int
    is_name: bool
    """Whether its capital letter is not explained by its place in the sentence."""


_FUNCTION_RARITY = 0.2
_NUMBER_RARITY = 4.0
_NEGATION_RARITY = 1.5
_UNKNOWN_RARITY = 3.0
_RAREST_ZIPF = 2.5
_MOST_COMMON_ZIPF = 7.5
_MAX_RARITY = 5.0
_COMMON_NAME_ZIPF = 3.2
_SAMPLE = 2_000
"""Characters whose words are looked up to decide on a language."""
_OPENERS = " \t\"'\u201c\u201e\u00ab\u2018([*_#-"
_STEMMERS = {
    "ar": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
}
_COMMON_CHARACTERS = frozenset("的了是在和有也与而及之其はがのをにへともでたしてるいすま")
_NEGATION_CHARACTERS = frozenset("不没沒無无未非")
_lock = threading.Lock()


@lru_cache(maxsize=4096)
def words(text: str, language: str) -> tuple[Word, ...]:
    """The words of a text, in order.

    Args:
        text: Any text.
        language: Two-letter code; decides stems, grammar words and how numbers are read. An
            unknown one leaves words as they are, folded.
    """
    tokens = tokenize(text)
    openers = lexicon.quantity_openers(language)
    found: list[Word] = []
    at = 0
    while at < len(tokens):
        reading = None
        if tokens[at].sort == "digits" or tokens[at].form in openers:
            reading = read_date(tokens, at, language, text) or read_quantity(
                tokens, at, language, text
            )
        if reading is None:
            found.extend(_plain_words(tokens, at, language, text))
            at += 1
            continue
        for item in reading.quantities:
            kind: WordKind = "number" if item.is_number else "unit"
            rarity = _NUMBER_RARITY if item.is_number else _UNKNOWN_RARITY
            written = text[item.start : item.end]
            found.append(Word(written, item.stem, kind, rarity, item.start, item.end, False))
        at += reading.n_tokens
    return tuple(found)


def _plain_words(tokens: list[Token], at: int, language: str, text: str) -> list[Word]:
    token = tokens[at]
    start, end = token.start, token.end
    if token.sort != "word":
        return [_character(token, text)]
    if not token.form.isalpha() and any(c.isdigit() for c in token.form):
        written = text[start:end]
        return [Word(written, token.form, "number", _NUMBER_RARITY, start, end, False)]
    found = []
    for form, begin, stop in _pieces(token, language, text):
        if not form:
            continue
        kind, stem, rarity = _meaning(form, language)
        is_name = kind == "content" and _looks_like_name(
            form, token, text, language, opens=_opens_sentence(text, start)
        )
        found.append(Word(text[begin:stop], stem, kind, rarity, begin, stop, is_name))
    return found


def _character(token: Token, text: str) -> Word:
    kind, rarity = _kind_of_character(token)
    return Word(
        text[token.start : token.end], token.form, kind, rarity, token.start, token.end, False
    )


def _kind_of_character(token: Token) -> tuple[WordKind, float]:
    form = token.form
    if token.sort == "symbol":
        return "function", _FUNCTION_RARITY
    if form in _NEGATION_CHARACTERS:
        return "negation", _NEGATION_RARITY
    if form in _COMMON_CHARACTERS:
        return "function", _FUNCTION_RARITY
    return "content", _UNKNOWN_RARITY


def _pieces(token: Token, language: str, text: str) -> list[tuple[str, int, int]]:
    """A token cut at its apostrophes: `didn't`, `Anna's`, `l'homme`. Offsets are kept."""
    form, start, end = token.form, token.start, token.end
    if "'" not in form:
        if language == "en" and form in {"cannot", "t", "nt"}:
            form = "n't" if form != "cannot" else form
        return [(form, start, end)]
    head, _, last = form.rpartition("'")
    if last == "t" and head.endswith("n"):
        cut = end - 3 if end - start == len(form) else end
        return [(head[:-1], start, cut), ("n't", cut, end)]
    if last in {"s", "re", "ve", "ll", "d", "m"}:
        written = text[start:end]
        cut = start + len(written) - len(last) - 1
        return [(head.replace("'", ""), start, max(cut, start + 1))]
    first, _, rest = form.partition("'")
    if language in {"fr", "it", "ca"} and first in lexicon.ELISIONS and rest:
        cut = min(start + len(first) + 1, end)
        return [(first, start, cut), (rest.replace("'", ""), cut, end)]
    return [(form.replace("'", ""), start, end)]


@lru_cache(maxsize=65536)
def _meaning(form: str, language: str) -> tuple[WordKind, str, float]:
    if form in lexicon.NEGATIONS.get(language, ()):
        return "negation", "n't" if form in {"not", "cannot"} else form, _NEGATION_RARITY
    if form in lexicon.FUNCTION_WORDS.get(language, ()):
        return "function", form, _FUNCTION_RARITY
    zipfs = _frequencies(language)
    zipf = zipfs.get(form, _RAREST_ZIPF if zipfs else _MOST_COMMON_ZIPF - _UNKNOWN_RARITY)
    rarity = min(max(_MOST_COMMON_ZIPF - zipf, _FUNCTION_RARITY), _MAX_RARITY)
    return "content", _stem(form, language), rarity


def _stem(form: str, language: str) -> str:
    if language == "en" and form in lexicon.IRREGULAR:
        form = lexicon.IRREGULAR[form]
    algorithm = _STEMMERS.get(language)
    if algorithm is None:
        return form
    with _lock:
        stem = _stemmer(algorithm).stemWord(form)
    return fold_form(str(stem)) or form


@lru_cache(maxsize=4)
def _stemmer(algorithm: str) -> Any:
    """Stemmers keep state while they work, so they are used under a lock."""
    import snowballstemmer

    return snowballstemmer.stemmer(algorithm)


@lru_cache(maxsize=32)
def _frequencies(language: str) -> dict[str, float]:
    """Zipf frequencies of the common words of a language, by folded form; empty if unknown."""
    import wordfreq

    if language not in wordfreq.available_languages("small"):
        return {}
    zipfs: dict[str, float] = {}
    for centibels, forms in enumerate(wordfreq.get_frequency_list(language, "small")):
        zipf = math.log10(wordfreq.cB_to_freq(-centibels)) + 9
        for form in forms:  # the common ones first, all in lower case
            zipfs.setdefault(form if form.isascii() else fold_form(form), zipf)
    return zipfs


def is_common(form: str, language: str) -> bool:
    """Whether a folded form is in the list of the common words of a language."""
    return form in _frequencies(language)


def english_knows_as_many(text: str, guess: str) -> bool:
    """Whether English knows at least as many of a text's first words as the guessed language.

    A short text has few small words to guess by, and some of them belong to foreign names.
    """
    forms = {token.form for token in tokenize(text[:_SAMPLE]) if token.sort == "word"}
    known, in_english = (sum(is_common(form, each) for form in forms) for each in (guess, DEFAULT))
    return 0 < in_english >= known


def _looks_like_name(form: str, token: Token, text: str, language: str, *, opens: bool) -> bool:
    """Whether a capital letter marks a name rather than a noun or the start of a sentence."""
    written = text[token.start : token.end]
    if not written[0].isupper():
        return False
    capitals = sum(c.isupper() for c in written)
    if 1 < capitals < len(written) or (language != "de" and not opens):
        return True
    if language != "de" and text[token.end + 1 : token.end + 2].isupper():
        return True
    return _frequencies(language).get(form, 0.0) < _COMMON_NAME_ZIPF


def _opens_sentence(text: str, start: int) -> bool:
    before = text[:start].rstrip(_OPENERS)
    return not before or before[-1] in ".!?:\n\u2022\u3002"
