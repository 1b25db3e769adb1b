"""Which language a text is in, guessed from its script and its most common words.

The guess chooses stemmers, stop words and abbreviations. It is no language identification: a few
words in a language that is not listed count as English.
"""

from __future__ import annotations

import re

from factcheck.text.language import COMMON_WORDS

DEFAULT = "en"
"""What is guessed where nothing speaks for any language."""

_SAMPLE = 20_000
"""Characters looked at; enough for any guess, and a bound on the time for one."""
_SCRIPTS = (
    ("ja", re.compile(r"[\u3041-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af\u1100-\u11ff]")),
    ("zh", re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
)
_LETTERS = re.compile(r"[^\W\d_]")
_LATIN_WORDS = re.compile(r"[a-zà-öø-ÿœı]+")
LATIN = frozenset(COMMON_WORDS)
"""Languages told apart by their words alone."""
_LANGUAGES_OF: dict[str, list[str]] = {}
for _language, _listed in COMMON_WORDS.items():
    for _word in _listed.split():
        _LANGUAGES_OF.setdefault(_word, []).append(_language)


def guess_language(text: str) -> str:
    """ISO 639-1 code of the language a text seems to be in; `"en"` where nothing tells.

    Args:
        text: Any text; only its beginning is looked at.

    Returns:
        The language of the prevailing script, or for the Latin script the one whose common words
        occur most often. Ties go to English, then to the language listed first.
    """
    sample = text[:_SAMPLE].lower()
    if not sample.isascii():
        letters = len(_LETTERS.findall(sample))
        for language, script in _SCRIPTS:
            share = 0.1 if language == "ja" else 0.3
            if letters and len(script.findall(sample)) >= share * letters:
                return language
    votes = dict.fromkeys(COMMON_WORDS, 0)
    for word in _LATIN_WORDS.findall(sample):
        for language in _LANGUAGES_OF.get(word, ()):
            votes[language] += 1
    return max(votes, key=lambda language: votes[language])
