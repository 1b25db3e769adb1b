"""A text, or a fact, prepared for comparison: its sentences, their words, and what is negated.

A sentence is analysed by itself, never by what stands around it, so that deleting another
sentence changes nothing about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from factcheck.facts.spans import fold_text
from factcheck.judges.local.sentences import split_sentences
from factcheck.judges.local.words import Word, words

STEM_PREFIX = 5
"""Letters two stems must share before they can be alike."""


class Passage(NamedTuple):
    """One sentence, ready to be compared."""

    text: str
    start: int
    words: tuple[Word, ...]
    units: tuple[int, ...]
    """Positions in `words` of what a statement is made of: content words and numbers; all words
    if there are none of these."""
    ranks: tuple[int, ...]
    """For each word, how many units stand before it."""
    places: Mapping[str, tuple[int, ...]]
    """Where each stem stands in `words`."""
    negated: frozenset[int]
    """Positions of the words that a negation applies to."""
    within_negation: frozenset[int]
    """Positions that a negation may apply to: `negated` and the next few units."""
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
        _passage(sentence.text, sentence.span.start, language) for sentence in split_sentences(text)
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
    parts = split_sentences(fact)
    if not parts:
        return (_passage(fact, 0, language),)
    return tuple(_passage(part.text, part.span.start, language) for part in parts)


def _passage(text: str, start: int, language: str) -> Passage:
    found = words(text, language)
    units = tuple(k for k, word in enumerate(found) if word.kind in {"content", "number"})
    units = units or tuple(range(len(found)))
    members = set(units)
    ranks: list[int] = []
    before = 0
    places: dict[str, list[int]] = {}
    for position, word in enumerate(found):
        ranks.append(before)
        before += position in members
        places.setdefault(word.stem, []).append(position)
    negated, within = _negation_scopes(text, found, units)
    return Passage(
        text=text,
        start=start,
        words=found,
        units=units,
        ranks=tuple(ranks),
        places={stem: tuple(positions) for stem, positions in places.items()},
        negated=negated,
        within_negation=within,
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


_SCOPE_ENDS = frozenset(
    ("but", "because", "although", "though", "while", "whereas", "aber", "sondern", "mais", "pero")
)
_SCOPE_UNITS = 3
_REPORTING = frozenset(
    ("true", "case", "think", "believ", "evid", "sign", "correct", "proof", "clear", "certain")
)
"""After a negated one of these, the clause that follows is what is denied."""
_DENIALS = frozenset(("deni", "fals", "untru", "wrong", "incorrect"))
"""A clause introduced by `that` after one of these is denied."""


def _negation_scopes(
    text: str, found: Sequence[Word], units: Sequence[int]
) -> tuple[frozenset[int], frozenset[int]]:
    negated: set[int] = set()
    within: set[int] = set()
    members = frozenset(units)
    for at, word in enumerate(found):
        if word.kind == "negation" and _negates(text, found, at):
            scope = _scope(text, found, members, at)
            before = [k for k in units if k < at]
            scope = scope or before[-1:]
            whole = bool(scope) and found[scope[0]].stem in _REPORTING
            negated.update(scope if whole else scope[:1])
            within.update(scope if whole else scope[:_SCOPE_UNITS])
        elif word.stem in _DENIALS and at + 1 < len(found) and found[at + 1].stem == "that":
            negated.update(_scope(text, found, members, at))
    return frozenset(negated), frozenset(within | negated)


def _negates(text: str, found: Sequence[Word], at: int) -> bool:
    """False for `No, he went`, `No 10`, `not only`."""
    word = found[at]
    following = found[at + 1] if at + 1 < len(found) else None
    if following is None:
        return at > 0
    if word.stem == "no" and (following.kind == "number" or text[word.end : word.end + 1] in ",."):
        return False
    return following.stem not in {"only", "just", "nur", "seulement", "solo"}


def _scope(text: str, found: Sequence[Word], members: frozenset[int], at: int) -> list[int]:
    scope = []
    for position in range(at + 1, len(found)):
        between = text[found[position - 1].end : found[position].start]
        if found[position].stem in _SCOPE_ENDS or any(mark in ";:()" for mark in between):
            break
        if position in members:
            scope.append(position)
    return scope
