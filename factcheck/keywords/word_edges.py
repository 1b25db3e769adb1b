"""Whether a text has a word as a whole, in scripts with and without spaces.

A word ends where no letter, digit or mark follows. Chinese, Japanese, Thai and the like do not show
where words end: there every place between two characters counts as an end, and so does every
place where another script begins. `AI` is thus a word of `使用AI技术`, and `技术` is one too. Only
runs of katakana are taken for one word.

Source:
    The word boundaries of Unicode Standard Annex 29, of which this keeps what concerns letters,
    digits and marks; an apostrophe or hyphen is an end.
"""

from __future__ import annotations

import bisect
import unicodedata

_KATAKANA = ((0x30A0, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9F))
_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x0F00, 0x0FFF),  # Tibetan
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19FF),  # Tai Le, New Tai Lue
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x2E80, 0x2FDF),  # parts of Chinese characters
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3038, 0x303B),
    (0x3040, 0x309F),  # hiragana
    *_KATAKANA[:1],
    (0x3100, 0x312F),  # bopomofo
    (0x31A0, 0x31BF),
    *_KATAKANA[1:2],
    (0x3400, 0x4DBF),  # Chinese characters
    (0x4E00, 0x9FFF),
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAA7F),
    (0xF900, 0xFAFF),
    *_KATAKANA[2:],
    (0x20000, 0x3FFFF),
)
"""Scripts written without spaces between words, in order."""
_STARTS = [first for first, _ in _UNSPACED]


def has_word(text: str, word: str) -> bool:
    """Whether `word` stands somewhere in `text` with a word's end on both sides."""
    if not word:
        return False
    start = text.find(word)
    while start >= 0:
        end = start + len(word)
        before, after = text[start - 1 : start], text[end : end + 1]
        if not _joined(before, word[0]) and not _joined(word[-1], after):
            return True
        start = text.find(word, start + 1)
    return False


def is_unspaced(character: str) -> bool:
    """Whether the script of a character has no spaces between words."""
    code = ord(character)
    place = bisect.bisect_right(_STARTS, code) - 1
    return place >= 0 and code <= _UNSPACED[place][1]


def _joined(left: str, right: str) -> bool:
    """Whether two neighbouring characters belong to one word; the end of a text is empty."""
    if not left or not right or not _in_words(left) or not _in_words(right):
        return False
    if unicodedata.category(right)[0] == "M":
        return True
    if _is_katakana(left) and _is_katakana(right):
        return True
    return not is_unspaced(left) and not is_unspaced(right)


def _in_words(character: str) -> bool:
    return character == "_" or unicodedata.category(character)[0] in "LMN"


def _is_katakana(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in _KATAKANA)
