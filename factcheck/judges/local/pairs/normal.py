"""Normalization of values.

Removes insignificant differences: case, accents, punctuation, articles, legal forms, dots of
initials. Significant signs are kept: `A+` is not `A-`, `1.5` is not `1-5`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from factcheck.text.words import fold_word, word_set

TABLES: Mapping[str, Any] = json.loads((files(__package__) / "words.json").read_text("utf-8"))
"""Word lists in normal form."""
_FOREIGN_ARTICLES = word_set(TABLES["articles"])
"""Articles dropped only at the start of a value in lower case: `die Brücke`, not `Die Hard`."""
_LEGAL_FORMS = {form: short for short, long in TABLES["legal"].items() for form in (short, long)}
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_QUOTES = "\u2018\u2019\u201a\u201b\u2032\u00b4`\u02bc\uff07"
_UNIFIED = str.maketrans(
    {
        **dict.fromkeys(_DASHES, "-"),
        **dict.fromkeys(_QUOTES, "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02", '"'),
        **dict.fromkeys("\u2122\u00ae\u00a9\u2120\u00ad\u200b\u200c\u200d\u200e\u200f\ufeff\ufe0f"),
    }
)
_BASE_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "\u0131": "i"}
)
_DIGRAPHS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
_POWER = re.compile(r"(?<=[\d)])[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]")
_FRACTION = re.compile(r"(?<=\d)(?=[\u00bc-\u00be\u2150-\u215e])")
_UNPRINTABLE = re.compile(r"[^\S ]|[\x00-\x1f\x7f-\x9f]")
_IN_NUMBERS = (
    (re.compile(r"(?<![\w.])\.(?=\d)"), "0."),
    (re.compile(r"(?<![\d.,x\u00d7*^])(?<![x\u00d7*] )10\s*\^\s*(\d{1,2})(?!\d)"), r"1e\1"),
    (re.compile(r"(?<=\d)\s*[x\u00d7*]\s*10\s*\^\s*(\d{1,2})(?!\d)"), r"e\1"),
)
_SPACED_INITIALS = re.compile(r"(?<![\w.'])[A-Z](?:\.?\ (?:[A-Z]\b)(?!'))+\.?(?![\w'])")
_MINUS = re.compile(r"(?<![\w)\]])-(?=[$£€¥]?\s?\.?\d)")
_SIGN = "\u2212"
_TOKEN = re.compile(
    rf"{_SIGN}?\d+(?:[.,:/^-]\d+)*[^\W\d_]*|{_SIGN}|[^\W_]+(?:'[^\W_]+)*|(?<=\w)#"
    r"|[^\w\s#.,:;!?*|\\'\"`^-]"
)
_BLANKS = {ord(mark): None for mark in "°()[]{}/&\u00b7\u2022\u2039\u203a¿¡§¶_"}
LONG = 4_000
"""Length in characters above which texts are compared as a whole and not cached."""


class Plain(NamedTuple):
    """A value in its normal form."""

    tokens: tuple[str, ...]
    legal_form: str
    """Legal form of a company, abbreviated; may be empty."""

    @property
    def text(self) -> str:
        return " ".join(self.tokens)

    @property
    def joined(self) -> str:
        """Text without spaces; empty if it contains digits, which could run together."""
        joined = "".join(self.tokens)
        return "" if any(c.isdigit() for c in joined) else joined


def tidy(text: str) -> str:
    """Put a text on one line, unify marks and letters, and join spaced initials."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8").translate(_UNIFIED)
        text = _POWER.sub(lambda match: "^" + unicodedata.normalize("NFKC", match[0]), text)
        text = unicodedata.normalize("NFKC", _FRACTION.sub(" ", text)).translate(_UNIFIED)
    text = " ".join(_UNPRINTABLE.sub(" ", text).split())
    for pattern, replacement in _IN_NUMBERS if any(c.isdigit() for c in text) else ():
        text = pattern.sub(replacement, text)
    return _SPACED_INITIALS.sub(lambda match: re.sub(r"[. ]", "", match[0]), text)


def fold(text: str) -> str:
    """Fold to lower case without accents, with base letters for `ø`, `ł` and the like."""
    if text.isascii():
        return text.lower().replace("`", "'")
    return " ".join(fold_word(word) for word in text.split(" ")).translate(_BASE_LETTERS)


def with_digraphs(text: str) -> str:
    """Replace umlauts by digraphs: `ä` by `ae`."""
    return text if text.isascii() else text.translate(_DIGRAPHS)


def plain(text: str) -> Plain:
    """Normalize a tidy text."""
    return _remembered(text) if len(text) <= LONG else _plain(text)


def _plain(text: str) -> Plain:
    marked = _MINUS.sub(_SIGN, text).replace("&", " and ")
    tokens = [_token(match) for match in _TOKEN.findall(fold(marked))]
    tokens = _without_articles([token for token in tokens if token], text)
    kept = len(tokens)
    while kept > 1 and (tokens[kept - 1] in _LEGAL_FORMS or tokens[kept - 1] == "and"):
        kept -= 1
    forms = [_LEGAL_FORMS[form] for form in tokens[kept:] if form != "and"]
    if kept == 1 and not text[:1].isupper():
        kept, forms = len(tokens), []
    return Plain(tuple(tokens[:kept]), " ".join(forms))


_remembered = lru_cache(maxsize=8192)(_plain)


def _token(written: str) -> str:
    if written[-1].isalnum() or written == "#":
        return written.replace("'", "")
    return written.translate(_BLANKS)


def _without_articles(tokens: list[str], text: str) -> list[str]:
    """Drop `the`, and `a` before another word, but not in `vitamin A`."""
    if tokens and tokens[0] in _FOREIGN_ARTICLES and text[:1].islower():
        tokens = tokens[1:] or tokens
    followed = [*(token[0].isalnum() for token in tokens[1:]), False][: len(tokens)]
    kept = [
        word
        for word, is_followed in zip(tokens, followed, strict=True)
        if word != "the" and not (word in {"a", "an"} and is_followed)
    ]
    return kept or tokens
