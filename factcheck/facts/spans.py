"""Locate quotes in a text, exactly or with white space, quotes, dashes, case and Unicode folded.

Offsets and quotes always refer to the original text.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from factcheck.facts.model import Evidence

KEYBOARD_MARKS = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`\u02bc\uff07", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-")
)
"""Turns quotation marks and dashes into those of a keyboard."""
_SPACE = re.compile(r"\s+")


class Folded(NamedTuple):
    """Normalised text with its offsets in the original."""

    text: str
    starts: tuple[int, ...]
    """Start of the original characters of each folded character."""
    ends: tuple[int, ...]
    """End of the original characters of each folded character."""


@lru_cache(maxsize=16)
def fold(text: str) -> Folded:
    """Fold white space, quotation marks, dashes, case and Unicode forms, keeping offsets.

    Operates on clusters (a character and its combining marks), so that composed and decomposed
    forms compare equal. Invisible format characters are removed.
    """
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    position, length = 0, len(text)
    while position < length:
        end = position + 1
        while end < length and unicodedata.combining(text[end]):
            end += 1
        folded = _fold_cluster(text[position:end])
        while folded == " " and end < length and text[end].isspace():
            end += 1
        pieces.append(folded)
        starts.extend([position] * len(folded))
        ends.extend([end] * len(folded))
        position = end
    return Folded("".join(pieces), tuple(starts), tuple(ends))


@lru_cache(maxsize=8192)
def fold_text(text: str) -> str:
    """Return `fold(text).text`; much faster for ASCII text."""
    plain = text.translate(KEYBOARD_MARKS)
    return _SPACE.sub(" ", plain.lower()) if plain.isascii() else fold(text).text


def _fold_cluster(cluster: str) -> str:
    if cluster.isspace():
        return " "
    if cluster.isascii():
        return cluster.translate(KEYBOARD_MARKS).lower()
    plain = unicodedata.normalize("NFKD", cluster.translate(KEYBOARD_MARKS)).casefold()
    plain = unicodedata.normalize("NFKD", plain).translate(KEYBOARD_MARKS)
    return "".join(c for c in plain if unicodedata.category(c) != "Cf")


def locate(quote: str, text: str) -> Evidence | None:
    """Find the first exact occurrence of a quote, or else the first after folding.

    `text[start:end] == quote` holds for the result, even after folding. Returns `None` for a blank
    quote.
    """
    quote = quote.strip()
    if not quote:
        return None
    start = text.find(quote)
    if start >= 0:
        return Evidence(quote, start, start + len(quote))
    needle, folded = fold(quote).text, fold(text)
    first = folded.text.find(needle) if needle else -1
    while first >= 0:
        last = first + len(needle) - 1
        if _on_cluster_edges(folded, first, last):
            begin, end = folded.starts[first], folded.ends[last]
            return Evidence(text[begin:end], begin, end)
        first = folded.text.find(needle, first + 1)
    return None


def _on_cluster_edges(folded: Folded, first: int, last: int) -> bool:
    """Whether a match starts and ends at cluster boundaries (`e` does not match in `é`)."""
    starts = folded.starts
    return starts[first - 1 : first] != starts[first : first + 1] and (
        starts[last : last + 1] != starts[last + 1 : last + 2]
    )
