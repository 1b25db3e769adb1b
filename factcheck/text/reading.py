"""Words, quantities and moments of a text, read in one pass."""

from __future__ import annotations

from typing import NamedTuple

from factcheck.text.dates import Moment, find_moments
from factcheck.text.units import Quantity, read_quantity, with_ranges
from factcheck.text.words import Word, words


class Reading(NamedTuple):
    """Words, moments and quantities of a text, with word positions."""

    text: str
    language: str
    words: tuple[Word, ...]
    moments: tuple[Moment, ...]
    quantities: tuple[Quantity, ...]
    """Numbers that are not part of a moment."""


def read(text: str, language: str) -> Reading:
    """Read a text, in time linear in its length.

    Args:
        text: Any text.
        language: Two-letter code of its language.
    """
    found = words(text, language)
    moments = find_moments(found, text)
    taken = {at for moment in moments for at in range(moment.first, moment.last)}
    quantities: list[Quantity] = []
    at = 0
    while at < len(found):
        quantity = None if at in taken else read_quantity(found, at, text, language)
        if quantity is not None and taken.isdisjoint(range(at, quantity.last)):
            quantities.append(quantity)
            at = quantity.last
        else:
            at += 1
    return Reading(text, language, found, tuple(moments), tuple(with_ranges(quantities, text)))
