"""A text, or a fact, prepared for comparison: its sentences and their words.

A sentence is analysed by itself, never by what stands around it, so that deleting another
sentence changes nothing about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from factcheck.facts.spans import fold_text
from factcheck.judges.local.cancellation import checkpoint
from factcheck.judges.local.scopes import Mood, hedges, leads, negation_scopes
from factcheck.judges.local.sentences import split_passages
from factcheck.judges.local.words import TELLING, Word, words

STEM_PREFIX = 5
"""Letters two stems must share before they can be alike."""


class Passage(NamedTuple):
    """One sentence, ready to be compared."""

    text: str
    start: int
    words: tuple[Word, ...]
    units: tuple[int, ...]
    """Positions in `words` of what a statement is made of: content words, numbers and units of
    measure; all words if there are none of these."""
    ranks: tuple[int, ...]
    """For each word, how many units stand before it."""
    places: Mapping[str, tuple[int, ...]]
    """Where each stem stands in `words`."""
    negated: frozenset[int]
    """Positions of the words that a negation applies to."""
    within_negation: frozenset[int]
    """Positions that a negation may apply to: `negated` and the next few units."""
    hedged: Mapping[int, Mood]
    """Positions of the words that are only asked, supposed, wanted or refused, each with how."""
    moods: frozenset[Mood]
    """Every way in which something in the sentence is less than a plain statement."""
    leads: Mapping[int, tuple[str, ...]]
    """For each position, words like `before`, `by` and `all` that stand right before it."""
    folded: str
    """The sentence without differences of case, white space, quotation marks, Unicode form."""


class AnalysedText(NamedTuple):
    """All sentences of a text and which of them hold a stem."""

    passages: tuple[Passage, ...]
    holders: Mapping[str, tuple[int, ...]]
    """For each stem, the passages it occurs in, ascending."""
    prefixes: Mapping[str, tuple[str, ...]]
    """The longer stems of content words by their first `STEM_PREFIX` letters."""
    initials: Mapping[str, tuple[str, ...]]
    """The same by their first letter."""
    stated: Mapping[str, Passage]
    """The first passage of each folded form."""


@lru_cache(maxsize=64)
def analyse(text: str, language: str) -> AnalysedText:
    """The sentences of a text, prepared for comparison in one language."""
    passages = tuple(
        _passage(piece.text, piece.span.start, language) for piece in split_passages(text)
    )
    holders: dict[str, list[int]] = {}
    for number, passage in enumerate(passages):
        for stem in passage.places:
            holders.setdefault(stem, []).append(number)
    stems = [word.stem for passage in passages for word in passage.words if _is_long(word)]
    return AnalysedText(
        passages,
        {stem: tuple(numbers) for stem, numbers in holders.items()},
        prefixes=_by_beginning(stems, STEM_PREFIX),
        initials=_by_beginning(stems, 1),
        stated={passage.folded: passage for passage in reversed(passages)},
    )


@lru_cache(maxsize=8192)
def statements(fact: str, language: str) -> tuple[Passage, ...]:
    """The sentences of a fact; normally one, and the fact itself if it has no words."""
    parts = split_passages(fact)
    if not parts:
        return (_passage(fact, 0, language),)
    return tuple(_passage(part.text, part.span.start, language) for part in parts)


def _passage(text: str, start: int, language: str) -> Passage:
    checkpoint()
    found = words(text, language)
    units = tuple(k for k, word in enumerate(found) if word.kind in TELLING)
    units = units or tuple(range(len(found)))
    members = set(units)
    ranks: list[int] = []
    before = 0
    places: dict[str, list[int]] = {}
    for position, word in enumerate(found):
        ranks.append(before)
        before += position in members
        places.setdefault(word.stem, []).append(position)
    negated, within = negation_scopes(text, found, units)
    hedged, moods = hedges(text, found, units)
    return Passage(
        text=text,
        start=start,
        words=found,
        units=units,
        ranks=tuple(ranks),
        places={stem: tuple(positions) for stem, positions in places.items()},
        negated=negated,
        within_negation=within,
        hedged=hedged,
        moods=moods,
        leads=leads(found),
        folded=fold_text(text).strip(),
    )


def _is_long(word: Word) -> bool:
    return word.kind == "content" and len(word.stem) >= STEM_PREFIX


def _by_beginning(stems: Sequence[str], n_letters: int) -> dict[str, tuple[str, ...]]:
    """Stems by their first letters, each once, in text order."""
    groups: dict[str, dict[str, None]] = {}
    for stem in stems:
        groups.setdefault(stem[:n_letters], {})[stem] = None
    return {beginning: tuple(group) for beginning, group in groups.items()}
