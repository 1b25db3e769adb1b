"""Guess of the language of a text from its script and most common words.

It selects stemmers and function words. It is not full language identification: text in a language
that is not listed counts as English.
"""

from __future__ import annotations

import re
from functools import lru_cache

from factcheck.text.words import TABLES, fold_word, frequencies, word_set, words

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
_VOTES = {language: word_set(common) for language, common in TABLES["most common words"].items()}
_WORD = re.compile(r"[^\W\d_]+")


def guess_language(text: str) -> str:
    """Guess the language of a text.

    Args:
        text: Any text; only the beginning is examined.

    Returns:
        Two-letter code of the language of the dominant script. For Latin script, the language with
        the most common words in the text, unless English knows at least as many of all words, since
        short texts have few function words, some of them in foreign names. Ties go to English
        unless the other language leads by two common words.
    """
    return _guess(text[:_SAMPLE])


@lru_cache(maxsize=4096)
def _guess(text: str) -> str:
    sample = text.lower()
    letters = 0 if sample.isascii() else len(_LETTERS.findall(sample))
    for language, script, share in _SCRIPTS if letters else ():
        if len(script.findall(sample)) >= share * letters:
            return language
    found = set(_WORD.findall(sample))
    votes = {language: len(found & common) for language, common in _VOTES.items()}
    guess = max(votes, key=lambda language: votes[language])
    if guess == DEFAULT:
        return DEFAULT
    written = [word.text for word in words(text) if word.text.isalpha()]
    forms = {fold_word(word) for word in [w for w in written if w.islower()] or written}
    known, in_english = (len(forms & frequencies(each).keys()) for each in (guess, DEFAULT))
    lead = votes[guess] - votes[DEFAULT]
    return DEFAULT if 0 < in_english >= known + (lead > 1) else guess
