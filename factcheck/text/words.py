"""Words of a text, with offsets, folded forms, stems and kinds, and a guess of its language."""

from __future__ import annotations

import io
import json
import re
import threading
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple
from zipfile import ZipFile

from factcheck.facts.sources import KEYBOARD_MARKS
from factcheck.text.weights import read_weights

WordKind = Literal["content", "number", "negation", "function", "symbol"]


class Word(NamedTuple):
    """One word of a text; a single character in scripts without spaces."""

    text: str
    """As written: `source[start:end]`."""
    form: str
    """Folded: lower case, no accents, no look-alike letters; `not` for `n't` and `cannot`."""
    stem: str
    """Stem for comparison; equal for `Houses` and `house`, `sold` and `selling`."""
    kind: WordKind
    start: int
    end: int


def word_set(text: str) -> frozenset[str]:
    """Return the set of words in a string separated by spaces."""
    return frozenset(text.split())


TABLES: Mapping[str, Any] = json.loads((files(__package__) / "tables.json").read_text("utf-8"))
"""Words and units, by what they have in common, most of them by language."""
NEGATIONS: Mapping[str, str] = TABLES["negations"]
"""Words that negate a statement, by language."""
_COMMON_CHARACTERS = frozenset("的了是在和有也與而及之其はがのをにへともでたしてるいすま")
_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "es": "spanish", "fi": "finnish", "fr": "french", "hu": "hungarian",
    "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
_MARKS = (
    "\u00ad\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u200b-\u200d\u2060\ufeff"
)
_INDIC = (
    "\u0900-\u0963\u0970-\u09e5\u09f0-\u0a65\u0a70-\u0ae5\u0af0-\u0b65\u0b70-\u0be5"
    "\u0bf0-\u0c65\u0c70-\u0ce5\u0cf0-\u0d65\u0d70-\u0de5"
)
_SPACELESS = (
    "\u0e00-\u0e4e\u0e80-\u0ece\u1000-\u103f\u1780-\u17d3"
    "\u3005\u3040-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_ATTACHED = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3"
    "\u3099\u309a\u0300-\u036f"
)
_IN_WORD = rf"(?:(?![{_SPACELESS}])[\w{_MARKS}{_INDIC}])"
_APOSTROPHES = "'\u2019\u02bc\u00b4`\uff07"
_TOKEN = re.compile(
    rf"(?P<character>[{_SPACELESS}][{_ATTACHED}]*)"
    rf"|(?P<number>\d+(?:[.,{_APOSTROPHES}\u00a0\u202f\u2009]\d+)*)"
    rf"|(?P<word>{_IN_WORD}+(?:[{_APOSTROPHES}]{_IN_WORD}+)*)"
    rf"|(?P<symbol>[^\w\s])"
)
PLAIN_MARKS = KEYBOARD_MARKS | dict.fromkeys(
    map(ord, "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff")
)
"""Turns quotation marks and dashes into those of a keyboard, and drops invisible characters."""
_STRAIGHT = {ord(mark): "'" for mark in _APOSTROPHES}
_DROPPED = dict.fromkeys((0xAD, *range(0x200B, 0x200E), 0x2060, 0xFEFF))
_LOOK_ALIKES = str.maketrans(
    "АВЕКМНОРСТУХІЈЅавекмнорстухіјѕһԁԛԝѵΑΒΕΖΗΙΚΜΝΟΡΤΥΧαβεγηικνορτυχωıɡ",
    "ABEKMHOPCTYXIJSabekmhopctyxijshdqwvABEZHIKMNOPTYXabeynikvoptuxwig",
)
"""Cyrillic, Greek and phonetic homoglyphs of Latin letters."""
DIGRAPHS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
_LATIN = re.compile(r"[A-Za-z]")
_NOT_LATIN = re.compile(r"[\u0370-\u052f\u0131\u0261]")
_ELISIONS = word_set("l d j m t s c n qu lorsqu jusqu puisqu dell all un nell sull dall")
_lock = threading.Lock()


def fold_word(word: str) -> str:
    """Fold a word: lower case, no accents or invisible marks, straight apostrophes, no homoglyphs.

    A word with a Latin letter is read as Latin: `n\u043et` with a Cyrillic letter is `not`.
    """
    if word.isascii():
        return word.lower().replace("`", "'")
    plain = unicodedata.normalize("NFKD", word.translate(_STRAIGHT | _DROPPED))
    if _NOT_LATIN.search(plain) and _LATIN.search(plain):
        plain = plain.translate(_LOOK_ALIKES)
    plain = unicodedata.normalize("NFKD", plain.casefold())
    return "".join(c for c in plain if not unicodedata.combining(c))


def without_accents(text: str) -> str:
    """Remove accents from letters."""
    letters = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(c for c in letters if not unicodedata.combining(c)))


def spellings(text: str) -> tuple[str, str]:
    """Spell a text without accents: `Muller` for `Müller`, and `Mueller`."""
    return without_accents(text), without_accents(text.translate(DIGRAPHS))


def words(text: str, language: str = "en") -> tuple[Word, ...]:
    """Split a text into words, numbers and symbols, in order, without punctuation.

    Digits are separated from following letters (`12` `km`), and contractions are split (`did`
    `n't`). In an unknown language, stems are folded forms.
    """
    found: list[Word] = []
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        sort = match.lastgroup
        if sort == "word":
            for form, begin, stop in _pieces(match[0], start, language):
                kind, stem = _meaning(form, language)
                found.append(Word(text[begin:stop], form, stem, kind, begin, stop))
        elif sort == "number":
            form = _digits(match[0])
            found.append(Word(match[0], form, form, "number", start, end))
        elif sort == "character":
            form = fold_word(match[0]) or match[0]
            kind = "function" if form in _COMMON_CHARACTERS else "content"
            kind = "negation" if form in _negations(language) else kind
            found.append(Word(match[0], form, form, kind, start, end))
        elif unicodedata.category(match[0])[0] == "S" or match[0] in "%‰":
            form = fold_word(match[0]) or match[0]
            found.append(Word(match[0], form, form, "symbol", start, end))
    return tuple(found)


@lru_cache(maxsize=1)
def _wordnet() -> Mapping[str, Any]:
    data: Mapping[str, Any] = json.loads((files(__package__) / "wordnet.json").read_text("utf-8"))
    return data


@lru_cache(maxsize=1)
def names_of_parser() -> Mapping[str, list[str]]:
    """Return the words, tags, relations and entities that the parser of `syntax.py` knows.

    They are stored as an array of bytes beside its weights, and read here without NumPy.
    """
    with ZipFile(io.BytesIO(read_weights(files(__package__), "syntax.npz"))) as stored:
        array = stored.read("names.npy")
    names: dict[str, list[str]] = json.loads(array[10 + int.from_bytes(array[8:10], "little") :])
    return names


@lru_cache(maxsize=1)
def english_ranks() -> Mapping[str, int]:
    """Map 8,000 common English words to their rank by frequency, from 1."""
    return {word: rank for rank, word in enumerate(names_of_parser()["words"], 1)}


@lru_cache(maxsize=1)
def english_words() -> frozenset[str]:
    """Return the common English words, and about 5,000 rarer ones."""
    return frozenset(english_ranks()).union(names_of_parser()["rare words"])


def irregular_forms() -> Mapping[str, str]:
    """Map irregular English forms to their bases: `sold` to `sell`."""
    forms: dict[str, str] = _wordnet()["irregular"]
    return forms


@lru_cache(maxsize=1)
def antonyms() -> frozenset[frozenset[str]]:
    """Return pairs of English antonyms."""
    return frozenset(map(word_set, _wordnet()["antonyms"]))


@lru_cache(maxsize=1)
def opposites() -> Mapping[str, frozenset[str]]:
    """Map the stem of an English word to the stems of its antonyms."""
    found: dict[str, set[str]] = {}
    for pair in antonyms():
        stems = {_stem(word, "en") for word in pair}
        for stem in stems:
            found.setdefault(stem, set()).update(stems - {stem})
    return {stem: frozenset(others) for stem, others in found.items()}


@lru_cache(maxsize=1)
def things() -> frozenset[str]:
    """Return English nouns that end like words for people and are none: `boiler`."""
    return frozenset(_wordnet()["things"])


def content_stems(text: str, language: str) -> frozenset[str]:
    """Return the stems of content words and numbers, or of all words if there are none."""
    found = words(text, language)
    content = frozenset(word.stem for word in found if word.kind in {"content", "number"})
    return content or frozenset(word.stem for word in found)


def _pieces(written: str, start: int, language: str) -> list[tuple[str, int, int]]:
    """Split a word at its apostrophe: `didn't`, `Anna's`, `l'homme`; returns forms and offsets."""
    form, end = fold_word(written) or written, start + len(written)
    if "'" not in form:
        if language == "en" and form in {"cannot", "nt"}:
            form = "not"
        return [(form, start, end)]
    head, _, last = form.rpartition("'")
    if last == "t" and head.endswith("n"):
        cut = max(end - 3, start + 1)
        head = {"ca": "can", "wo": "will", "sha": "shall"}.get(head[:-1], head[:-1])
        return [(head, start, cut), ("not", cut, end)] if head else [("not", start, end)]
    if last in {"s", "re", "ve", "ll", "d", "m"} and head:
        return [(head.replace("'", ""), start, max(end - len(last) - 1, start + 1))]
    first, _, rest = form.partition("'")
    if language in {"fr", "it", "ca"} and first in _ELISIONS and rest:
        cut = min(start + len(first) + 1, end - 1)
        return [(first, start, cut), (rest.replace("'", ""), cut, end)]
    return [(form.replace("'", "") or form, start, end)]


@lru_cache(maxsize=65536)
def _meaning(form: str, language: str) -> tuple[WordKind, str]:
    if form in _negations(language):
        return "negation", form
    if form in _function_words(language):
        return "function", form
    return "content", _stem(form, language)


def _stem(form: str, language: str) -> str:
    if language == "en":
        form = irregular_forms().get(form, form)
    algorithm = _STEMMERS.get(language)
    if algorithm is None:
        return form
    with _lock:
        return fold_word(str(_stemmer(algorithm).stemWord(form))) or form


@lru_cache(maxsize=4)
def _stemmer(algorithm: str) -> Any:
    """Return a stemmer; it is stateful and must be used under the lock."""
    import snowballstemmer

    return snowballstemmer.stemmer(algorithm)


@lru_cache(maxsize=32)
def _negations(language: str) -> frozenset[str]:
    return word_set(NEGATIONS.get(language, ""))


@lru_cache(maxsize=32)
def _function_words(language: str) -> frozenset[str]:
    listed = word_set(TABLES["function words"].get(language, ""))
    return frozenset(map(fold_word, listed))


def _digits(text: str) -> str:
    if text.isascii():
        return text
    return "".join(str(unicodedata.digit(c, "")) if c.isdigit() else c for c in text).translate(
        _STRAIGHT
    )


DEFAULT = "en"
"""Language guessed without evidence for any."""
_SAMPLE = 4_000
"""Maximum number of characters examined, which bounds the time."""
_COMMON = 2_000
"""Number of English words that count as common."""
_SCRIPTS = (
    ("ja", re.compile(r"[\u3041-\u30ff]"), 0.1),
    ("ko", re.compile(r"[\uac00-\ud7af\u1100-\u11ff]"), 0.3),
    ("zh", re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]"), 0.3),
    ("uk", re.compile(r"[іїєґ]"), 0.03),
    ("ru", re.compile(r"[\u0400-\u04ff]"), 0.3),
    ("el", re.compile(r"[\u0370-\u03ff]"), 0.3),
    ("he", re.compile(r"[\u0590-\u05ff]"), 0.3),
    ("fa", re.compile(r"[پچژگیک]"), 0.05),
    ("ar", re.compile(r"[\u0600-\u06ff]"), 0.3),
    ("hi", re.compile(r"[\u0900-\u097f]"), 0.3),
    ("th", re.compile(r"[\u0e00-\u0e7f]"), 0.3),
)
_LETTER = re.compile(r"[^\W\d_]")
_LATIN_LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "sv")
_VOTES = {language: word_set(TABLES["function words"][language]) for language in _LATIN_LANGUAGES}
_VOTES[DEFAULT] |= word_set(f"{NEGATIONS[DEFAULT]} {TABLES['english words like foreign ones']}")
_WORD = re.compile(r"[^\W\d_]{2,}|\b[aeioyàèéó]\b", re.IGNORECASE)
_NAME = re.compile(r"\b[A-ZÀ-Þ]\w+(?: (?:d[aeiou]s?|del|der|van|von|la|le|los|las))+ (?=[A-ZÀ-Þ])")
"""The beginning of `Rio de Janeiro`: particles of names are no evidence."""


def guess_language(text: str) -> str:
    """Guess the language of a text from its script and function words.

    It selects stemmers and function words, and is no full identification.

    Args:
        text: Any text; only the beginning is examined.

    Returns:
        Two-letter code of the language of the dominant script. For Latin script, the language with
        the most function words among the words in lower case and the first one. English if it has
        as many, or if as many words in lower case are common in it: `Weil will ask`.
    """
    return _guess(text[:_SAMPLE])


@lru_cache(maxsize=4096)
def _guess(text: str) -> str:
    sample = text.lower()
    letters = 0 if sample.isascii() else len(_LETTER.findall(sample))
    for language, script, share in _SCRIPTS if letters else ():
        if len(script.findall(sample)) >= share * letters:
            return language
    written = _WORD.findall(_NAME.sub(" ", text))
    lower = {word for word in written if word.islower()}
    found = lower | {*map(str.lower, written[:1])}
    votes = {language: len(found & common) for language, common in _VOTES.items()}
    guess = max(votes, key=lambda language: votes[language])
    if guess == DEFAULT:
        return guess
    known = [word for word in lower if english_ranks().get(word, _COMMON + 1) <= _COMMON]
    return DEFAULT if len(known) >= votes[guess] else guess
