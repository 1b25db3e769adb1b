"""Quotes of a text, and texts with white space, quotes, dashes, case and Unicode folded."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from factcheck.facts.model import Evidence

KEYBOARD_MARKS = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`\u02bc\uff07", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-")
)
"""Turns quotation marks and dashes into those of a keyboard."""
_SPACE = re.compile(r"\s+")


@lru_cache(maxsize=8192)
def fold_text(text: str) -> str:
    """Fold white space, quotation marks, dashes, case and Unicode forms.

    Invisible format characters are removed.
    """
    plain = text.translate(KEYBOARD_MARKS)
    if plain.isascii():
        return _SPACE.sub(" ", plain.lower())
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", plain).casefold())
    shown = "".join(c for c in folded if unicodedata.category(c) != "Cf")
    return _SPACE.sub(" ", shown.translate(KEYBOARD_MARKS))


def locate(quote: str, text: str) -> Evidence | None:
    """Find the first occurrence of a quote; `None` for a blank one."""
    quote = quote.strip()
    start = text.find(quote) if quote else -1
    return Evidence(quote, start, start + len(quote)) if start >= 0 else None
