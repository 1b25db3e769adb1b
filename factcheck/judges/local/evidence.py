"""What speaks for and against a fact in a text, as numbers in [0, 1] for a fitted model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from factcheck.judges.local.analysis import Analysed, quantity_keys
from factcheck.judges.local.conflicts import Conflict
from factcheck.text.names import same_name
from factcheck.text.units import agree
from factcheck.text.words import rarity

_CLOSE = 5
"""Words within which two neighbours of the fact still stand together."""


class Holdings(NamedTuple):
    """What a whole text holds; more passages never hold less."""

    stems: frozenset[str]
    numbers: frozenset[str]
    initials: frozenset[str]


class TextFeatures(NamedTuple):
    """How much of a fact a whole text holds; more text never makes one of them smaller."""

    words: float
    """Share of the content words."""
    rare_words: float
    """The same, each word by its rarity."""
    numbers: float
    """Share of the numbers and dates, in any spelling or unit; 1 where there are none."""
    names: float
    """Share of the names, by any of their parts; 1 where there are none."""


class PassageFeatures(NamedTuple):
    """How one passage compares with a fact."""

    words: float
    rare_words: float
    numbers: float
    """Here a rounded number counts, too, and one within a limit."""
    names: float
    order: float
    """Share of the neighbours in the fact that stand together in the passage, in order."""
    roles: float
    """1 where a verb has the same sides in both, 0 where they changed places, else 0.5."""
    number: float
    """1 where there is a conflict of this kind, as of those that follow."""
    unit: float
    date: float
    name: float
    negation: float
    antonym: float
    role: float
    quantifier: float
    hedge: float


def gather(passages: Iterable[Analysed]) -> Holdings:
    """What some passages hold together."""
    every = tuple(passages)
    return Holdings(
        frozenset(stem for passage in every for stem in passage.places),
        frozenset(key for passage in every for key in passage.number_keys),
        frozenset(initials for passage in every for initials in passage.initials),
    )


def text_features(fact: Analysed, text: Holdings) -> TextFeatures:
    """How much of a fact a text holds, wherever it stands."""
    numbers = [any(key in text.numbers for key in quantity_keys(q)) for q in fact.quantities]
    numbers += [all(key in text.numbers for key in moment.keys) for moment in fact.moments]
    names = [same_name(name, text.stems, text.initials) for name in fact.names]
    words, rare_words = _held(fact, text.stems)
    return TextFeatures(words, rare_words, _share(numbers), _share(names))


def passage_features(
    fact: Analysed, passage: Analysed, conflicts: Sequence[Conflict]
) -> PassageFeatures:
    """How a passage compares with a fact, of which it has these conflicts."""
    kinds = {conflict.kind for conflict in conflicts}
    numbers = [any(agree(q, p) for p in passage.quantities) for q in fact.quantities]
    numbers += [all(key in passage.number_keys for key in moment.keys) for moment in fact.moments]
    names = [same_name(name, passage.places, passage.initials) for name in fact.names]
    agreeing = any(
        one.key == other.key and one.agents & other.agents and one.patients & other.patients
        for one in fact.relations
        for other in passage.relations
    )
    words, rare_words = _held(fact, passage.places)
    return PassageFeatures(
        words,
        rare_words,
        _share(numbers),
        _share(names),
        _in_order(fact, passage),
        0.0 if "role" in kinds else 1.0 if agreeing else 0.5,
        *(float(kind in kinds) for kind in PassageFeatures._fields[6:]),
    )


def _held(fact: Analysed, stems: Iterable[str]) -> tuple[float, float]:
    """Shares of the content words that are among some stems: plain, and by rarity."""
    weights = [rarity(fact.words[at].form, fact.language) for at in fact.content]
    held = [fact.words[at].stem in stems for at in fact.content]
    found = sum(weight for weight, is_held in zip(weights, held, strict=True) if is_held)
    return _share(held), found / sum(weights) if weights else 1.0


def _share(held: Sequence[bool]) -> float:
    return sum(held) / len(held) if held else 1.0


def _in_order(fact: Analysed, passage: Analysed) -> float:
    stems = [fact.words[at].stem for at in fact.content]
    together = [
        any(
            0 < after - before <= _CLOSE
            for before in passage.places.get(one, ())
            for after in passage.places.get(other, ())
        )
        for one, other in pairwise(stems)
    ]
    return _share(together)
