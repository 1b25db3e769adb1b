"""When two different words are one, written or inflected otherwise. Forms are folded words."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from factcheck.judges.local.lexicon import IRREGULAR
from factcheck.judges.local.verbs import word_set
from factcheck.judges.local.words import is_common

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
_ENDINGS = word_set("s es d ed ing n en e er em ns y x ies ied") | {""}
_LETTERS_LOST = 6
"""Letters a word must have before one lost is taken for a misspelling."""
_LETTERS_REPLACED = 8
_LAST_LETTERS = 2
_PET_NAME_LETTERS = 3


def letter_name(letter: str) -> str:
    """`alpha` for the letter, as chemists write either."""
    name = unicodedata.name(letter, "")
    return name.rpartition(" ")[2].lower() if name.startswith("GREEK SMALL LETTER") else letter


@lru_cache(maxsize=16384)
def variant(form: str) -> str:
    """A word in American spelling: `colour` and `color` have the same."""
    if len(form) < _SHORTEST_VARIANT or not form.isascii():
        return form
    for pattern, replacement in _VARIANTS:
        form = pattern.sub(replacement, form)
    return form


def is_inflected(short: str, long: str, shared: int) -> bool:
    """Whether two words of one stem, alike in their first letters, differ in their ending only."""
    if IRREGULAR.get(long, long) == IRREGULAR.get(short, short):
        return True
    is_doubled = short[:shared] == short and long[shared : shared + 1] == short[-1:]
    ending = long[shared + 1 :] if is_doubled else long[shared:]
    return short[shared:] in _ENDINGS and ending in _ENDINGS


@lru_cache(maxsize=16384)
def is_misspelling(short: str, long: str, language: str) -> bool:
    """Whether a long word lost or gained one letter, or has one replaced in a longer one.

    Two words that are both known are different words, and so are those that differ in their first
    letter or, replaced, near their end (`propanol`, `propanal`).
    """
    enough = _LETTERS_REPLACED if len(short) == len(long) else _LETTERS_LOST
    if len(long) < enough or (is_common(short, language) and is_common(long, language)):
        return False
    k = n_shared(short, long)
    if k == 0:
        return False
    if len(short) < len(long):
        return short[k:] == long[k + 1 :]
    swapped = short[k : k + 2] == long[k : k + 2][::-1] and short[k + 2 :] == long[k + 2 :]
    replaced = short[k + 1 :] == long[k + 1 :] and len(long) - k > _LAST_LETTERS
    return swapped or replaced


def is_pet_name(short: str, long: str) -> bool:
    """`Rob` for `Robert`; `Paul` is none for `Paula`."""
    return (
        len(short) >= _PET_NAME_LETTERS
        and long.startswith(short)
        and len(long) - len(short) >= _PET_NAME_LETTERS
    )


def n_shared(one: str, other: str) -> int:
    """How many letters two words begin with alike."""
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared += 1
    return shared
