"""Guess of the language of a text from its script and function words.

It selects stemmers and function words. It is not full language identification: text in a language
that is not listed counts as English.
"""

from __future__ import annotations

import re
from functools import lru_cache

from factcheck.text.words import NEGATIONS, TABLES, english_words, word_set

DEFAULT = "en"
"""Language guessed without evidence for any."""
_SAMPLE = 4_000
"""Maximum number of characters examined, which bounds the time."""
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
_LETTERS = re.compile(r"[^\W\d_]")
_LATIN = ("en", "de", "fr", "es", "it", "pt", "nl", "sv")
_VOTES = {language: word_set(TABLES["function words"][language]) for language in _LATIN}
_VOTES[DEFAULT] |= word_set(f"{NEGATIONS[DEFAULT]} {TABLES['english words like foreign ones']}")
_WORD = re.compile(r"[^\W\d_]{2,}|\b[aeioyàèéó]\b", re.IGNORECASE)
_NAME = re.compile(r"\b[A-ZÀ-Þ]\w+(?: (?:d[aeiou]s?|del|der|van|von|la|le|los|las))+ (?=[A-ZÀ-Þ])")
"""The beginning of `Rio de Janeiro`: particles of names are no evidence."""


def guess_language(text: str) -> str:
    """Guess the language of a text.

    Args:
        text: Any text; only the beginning is examined.

    Returns:
        Two-letter code of the language of the dominant script. For Latin script, the language with
        the most function words among the words in lower case and the first one. English if it has
        as many, or if there is just one and English knows all words: `car`, French for `because`.
    """
    return _guess(text[:_SAMPLE])


@lru_cache(maxsize=4096)
def _guess(text: str) -> str:
    sample = text.lower()
    letters = 0 if sample.isascii() else len(_LETTERS.findall(sample))
    for language, script, share in _SCRIPTS if letters else ():
        if len(script.findall(sample)) >= share * letters:
            return language
    written = _WORD.findall(_NAME.sub(" ", text))
    found = {word for word in written if word.islower()} | {*map(str.lower, written[:1])}
    votes = {language: len(found & common) for language, common in _VOTES.items()}
    guess = max(votes, key=lambda language: votes[language])
    if votes[guess] == 1 and found <= english_words():
        return DEFAULT
    return guess
