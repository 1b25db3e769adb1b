"""Case and accent folding, and whole-word search in scripts with and without spaces."""

from __future__ import annotations

import bisect
import functools
import unicodedata

_ACCENTS = (
    (0x0300, 0x036F), (0x0483, 0x0487), (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF), (0x20D0, 0x20FF), (0xFE20, 0xFE2F),
)  # fmt: skip
"""Blocks of combining marks used with Latin, Greek and Cyrillic letters. Marks that make another
letter, as in Japanese, Korean or the Indic scripts, are not among them."""
_STROKES = {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "\u0131": "i", "æ": "ae", "œ": "oe"}
"""Lower-case letters that have no decomposition in Unicode."""
_KATAKANA = ((0x30A0, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9F))
_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x0F00, 0x0FFF),  # Tibetan
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19FF),  # Tai Le, New Tai Lue
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3021, 0x3029), (0x3038, 0x303B),  # CJK radicals, marks
    (0x3040, 0x309F), _KATAKANA[0], (0x3100, 0x312F), (0x31A0, 0x31BF), _KATAKANA[1],
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF),  # CJK ideographs
    (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F),  # Burmese extensions
    (0xF900, 0xFAFF), _KATAKANA[2], (0x20000, 0x3FFFF),
)  # fmt: skip
"""Scripts written without spaces between words, in code point order."""
_STARTS = [first for first, _ in _UNSPACED]


@functools.lru_cache(maxsize=8)
def folded(text: str) -> str:
    """The text in lower case, without accents, in compatibility form; idempotent.

    Source:
        Caseless matching of compatibility forms (The Unicode Standard, section 3.13, D146), with
        the marks of `_ACCENTS` removed.
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    lower = unicodedata.normalize("NFKD", decomposed.casefold())
    return unicodedata.normalize("NFC", lower.translate(_folding_table()))


@functools.cache
def _folding_table() -> dict[int, str | None]:
    accents: dict[int, str | None] = {
        code: None for first, last in _ACCENTS for code in range(first, last + 1)
    }
    return accents | {ord(letter): plain for letter, plain in _STROKES.items()}


def has_word(text: str, word: str) -> bool:
    """Whether `word` occurs in `text` with a word boundary on both sides.

    A word ends where no letter, digit or mark follows; an apostrophe or hyphen is a boundary. In
    scripts without spaces (Chinese, Japanese, Thai ...) every position between two characters is
    one, and so is every change to another script; only runs of katakana count as one word.

    Source:
        Word boundaries of Unicode Standard Annex 29, reduced to letters, digits and marks.
    """
    start = text.find(word) if word else -1
    while start >= 0:
        end = start + len(word)
        before, after = text[start - 1 : start], text[end : end + 1]
        if not _is_joined(before, word[0]) and not _is_joined(word[-1], after):
            return True
        start = text.find(word, start + 1)
    return False


def is_unspaced(character: str) -> bool:
    """Whether the script of a character is written without spaces between words."""
    code = ord(character)
    place = bisect.bisect_right(_STARTS, code) - 1
    return place >= 0 and code <= _UNSPACED[place][1]


def _is_joined(left: str, right: str) -> bool:
    """Whether two neighbouring characters belong to one word; empty at an end of the text."""
    if not left or not right or not _is_word_character(left) or not _is_word_character(right):
        return False
    if unicodedata.category(right)[0] == "M":
        return True
    if _is_katakana(left) and _is_katakana(right):
        return True
    return not is_unspaced(left) and not is_unspaced(right)


def _is_word_character(character: str) -> bool:
    return character == "_" or unicodedata.category(character)[0] in "LMN"


def _is_katakana(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in _KATAKANA)
