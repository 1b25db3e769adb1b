"""Texts without case and accents, so that `Énergie` is found in `ENERGIE`.

Only accents go: marks that make another letter, as in Japanese, Korean or the Indian scripts, stay.
Full-width and other compatibility forms become the letters they stand for.
"""

from __future__ import annotations

import functools
import unicodedata

_ACCENTS = (
    (0x0300, 0x036F),
    (0x0483, 0x0487),
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
    (0x20D0, 0x20FF),
    (0xFE20, 0xFE2F),
)
"""The blocks of combining marks that are put on letters of Latin, Greek and Cyrillic script."""
_STROKES = {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "\u0131": "i", "æ": "ae", "œ": "oe"}
"""Letters that Unicode does not take apart; in lower case."""


def folded(text: str) -> str:
    """The text in lower case and without accents; folding it again changes nothing.

    Source:
        Caseless matching of compatibility forms (The Unicode Standard, section 3.13, D146), with
        the marks of `_ACCENTS` left out.
    """
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text)
    lower = unicodedata.normalize("NFKD", apart.casefold())
    return unicodedata.normalize("NFC", lower.translate(_table()))


@functools.cache
def _table() -> dict[int, str | None]:
    table: dict[int, str | None] = {
        code: None for first, last in _ACCENTS for code in range(first, last + 1)
    }
    return table | {ord(letter): plain for letter, plain in _STROKES.items()}
