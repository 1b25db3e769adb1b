"""Cutting a text into tokens, for any script. Owns no meaning: see `quantities` and `words`."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, NamedTuple

TokenSort = Literal["word", "character", "digits", "symbol"]


class Token(NamedTuple):
    """A stretch of a text, before it is known what it means."""

    form: str
    """Folded: lower case, no accents, straight apostrophes."""
    start: int
    end: int
    sort: TokenSort
    tail: str = ""
    """Letters stuck to the digits, as in `12km`; folded."""
    signed: bool = False
    """Whether a minus sign belongs to the digits."""


_MARKS = "\u00ad\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u200c\u200d"
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
_IN_WORD = rf"(?![{_SPACELESS}])[\w{_MARKS}{_INDIC}]"
_APOSTROPHES = "'\u2019\u02bc\u00b4`\uff07"
_TOKEN = re.compile(
    rf"(?P<character>[{_SPACELESS}][{_ATTACHED}]*)"
    rf"|(?P<sign>(?:(?<=\s)|(?<=\()|^)[-\u2212](?=\d))?"
    rf"(?P<digits>\d+(?:[.,{_APOSTROPHES}\u00a0\u202f\u2009]\d+)*)(?P<tail>(?:{_IN_WORD})*)"
    rf"|(?P<word>(?:{_IN_WORD})+(?:[{_APOSTROPHES}](?:{_IN_WORD})+)*)"
    rf"|(?P<symbol>[^\w\s])"
)
_STRAIGHT = {ord(mark): "'" for mark in _APOSTROPHES} | {0xAD: None, 0x200C: None, 0x200D: None}


def fold_form(text: str) -> str:
    """Lower case, without accents, with straight apostrophes."""
    if text.isascii():
        return text.lower().replace("`", "'")
    plain = unicodedata.normalize("NFKD", text.translate(_STRAIGHT).casefold())
    return "".join(c for c in plain if not unicodedata.combining(c))


def tokenize(text: str) -> list[Token]:
    """The words, numbers and meaningful symbols of a text; punctuation is left out.

    Scripts without spaces give one token per character, with its vowel signs.
    """
    tokens = []
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        found = match.lastgroup
        if found in {"word", "character"}:
            sort: TokenSort = "word" if found == "word" else "character"
            tokens.append(Token(fold_form(match[0]) or match[0], start, end, sort))
        elif found == "symbol":
            if unicodedata.category(match[0])[0] == "S" or match[0] == "%":
                tokens.append(Token(fold_form(match[0]) or match[0], start, end, "symbol"))
        else:
            tail = fold_form(match["tail"])
            signed = match["sign"] is not None
            tokens.append(Token(_digits(match["digits"]), start, end, "digits", tail, signed))
    return tokens


def _digits(text: str) -> str:
    if text.isascii():
        return text
    return "".join(str(unicodedata.digit(c, "")) if c.isdigit() else c for c in text).translate(
        _STRAIGHT
    )
