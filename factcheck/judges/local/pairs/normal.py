"""Values brought to a normal form: what is left is what makes them different values.

Owns the differences that mean nothing: case, accents, punctuation, articles, legal forms, the dots
of initials. Signs that mean something stay: `A+` is not `A-`, `1.5` is not `1-5`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from factcheck.text.words import fold_word, word_set

_ARTICLES = word_set("the a an")
_FOREIGN_ARTICLES = word_set("der die das den dem des ein eine le la les l un une el los las il lo")
"""Dropped only where they open a value in lower case: `die Brücke`, but `Die Hard`."""

_LEGAL_FORMS = {
    **{
        form: form
        for form in word_set(
            """
            inc corp co ltd llc llp lp plc gmbh ag kg kgaa ohg ug se sa sas sarl srl spa bv nv ab
            oy oyj asa aps pty pvt mbh eg ev kk pte"""
        )
    },
    "incorporated": "inc",
    "corporation": "corp",
    "company": "co",
    "limited": "ltd",
    "aktiengesellschaft": "ag",
    "private": "pvt",
}
"""How the legal form of a company is written at the end of its name, and its short form."""

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
_HAS_UMLAUT = re.compile("[äöüÄÖÜ]")
_POWER = re.compile(r"(?<=[\d)])[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]")
_FRACTION = re.compile(r"(?<=\d)(?=[\u00bc-\u00be\u2150-\u215e])")
_UNPRINTABLE = re.compile(r"[^\S ]|[\x00-\x1f\x7f-\x9f]")
_DECADE = re.compile(r"(?<=\d0)'s\b")
_POINT_FIRST = re.compile(r"(?<![\w.])\.(?=\d)")
_STUCK_PAIR = re.compile(r"(?<!\d)(\d{1,9}\.\d{1,15}),(-?\d{1,9}\.\d{1,15})(?![\d.,])")
_POWER_OF_TEN = re.compile(r"(?<=\d)\s*[x\u00d7*]\s*10\s*\^\s*(\d{1,2})(?!\d)")
_BARE_POWER = re.compile(r"(?<![\d.,x\u00d7*^])(?<![x\u00d7*] )10\s*\^\s*(\d{1,2})(?!\d)")
_INITIALS = re.compile(r"(?<![\w.])(?:[^\W\d_]\.){2,}(?:[^\W\d_]\b(?!\.))?")
_SPACED_INITIALS = re.compile(r"(?<![\w.'])[A-Z](?:\.?\ (?:[A-Z]\b)(?!'))+\.?(?![\w'])")
_MINUS = re.compile(r"(?<![\w)\]])-(?=[$£€¥]?\s?\.?\d)")
_RATED = re.compile(r"(?<![\w-])([A-Z][A-Za-z]{0,2}\d?)-(?=\s|\Z|[,;)])")
_SIGN = "\u2212"
_TOKEN = re.compile(
    rf"{_SIGN}?\d+(?:[.,:/^-]\d+)*[^\W\d_]*|{_SIGN}|[^\W_]+(?:'[^\W_]+)*|(?<=\w)#"
    r"|[^\w\s#.,:;!?*|\\'\"`^-]"
)
_DEFINITE = "the"
LONG = 4_000
"""Characters from which a text is compared as a whole only, and not kept in memory."""
_SPACES = re.compile(r"\s+")
_BLANKS = {ord(mark): None for mark in "°()[]{}/&\u00b7\u2022\u2039\u203a¿¡§¶_"}


class Plain(NamedTuple):
    """A value in its normal form."""

    tokens: tuple[str, ...]
    legal_form: str
    """Of a company, in its short form; empty if none is named."""

    @property
    def text(self) -> str:
        return " ".join(self.tokens)

    @property
    def joined(self) -> str:
        """The same without spaces, if no digits could run into each other; else empty."""
        joined = "".join(self.tokens)
        return "" if any(c.isdigit() for c in joined) else joined


def tidy(text: str) -> str:
    """A text in one line, with one form of each mark and letter, and initials without dots."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8").translate(_UNIFIED)
        text = _POWER.sub(lambda match: "^" + unicodedata.normalize("NFKC", match[0]), text)
        text = unicodedata.normalize("NFKC", _FRACTION.sub(" ", text)).translate(_UNIFIED)
    text = _SPACES.sub(" ", _UNPRINTABLE.sub(" ", text)).strip()
    if any(c.isdigit() for c in text):
        text = _POINT_FIRST.sub("0.", _STUCK_PAIR.sub(r"\1, \2", _DECADE.sub("s", text)))
        text = _POWER_OF_TEN.sub(r"e\1", _BARE_POWER.sub(r"1e\1", text))
    if "." in text:
        text = _INITIALS.sub(lambda match: match[0].replace(".", ""), text)
    return _SPACED_INITIALS.sub(lambda match: re.sub(r"[. ]", "", match[0]), text)


def fold(text: str) -> str:
    """Lower case, without accents, every letter that of the alphabet it comes from."""
    if text.isascii():
        return text.lower().replace("`", "'")
    return " ".join(fold_word(word) for word in text.split(" ")).translate(_BASE_LETTERS)


def with_digraphs(text: str) -> str:
    """The text with `ä` as `ae`, and so on; the same text if it has none of these."""
    return text.translate(_DIGRAPHS) if _HAS_UMLAUT.search(text) else text


def plain(text: str) -> Plain:
    return _remembered(text) if len(text) <= LONG else _plain(text)


def _plain(text: str) -> Plain:
    marked = _RATED.sub(rf"\1{_SIGN}", _MINUS.sub(_SIGN, text)).replace("&", " and ")
    tokens = [_token(match) for match in _TOKEN.findall(fold(marked))]
    tokens = [token for token in tokens if token]
    tokens = _without_articles(tokens, text)
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
    if tokens and tokens[0] in _FOREIGN_ARTICLES and text[:1].islower():
        tokens = tokens[1:] or tokens
    last = len(tokens) - 1
    kept = [
        word
        for place, word in enumerate(tokens)
        if word not in _ARTICLES
        or not (word == _DEFINITE or (place < last and tokens[place + 1][0].isalnum()))
    ]
    return kept or tokens
