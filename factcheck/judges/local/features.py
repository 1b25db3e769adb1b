"""What a fact and a sentence have in common, as numbers. Owns the alignment and the features.

Features of a sentence depend on the fact and that sentence only. Features of the whole text are
shares of the fact's words found anywhere in it, which can only fall when sentences are deleted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from factcheck.judges.local import lexicon
from factcheck.judges.local.passages import STEM_PREFIX, AnalysedText, Passage
from factcheck.judges.local.quantities import other_readings
from factcheck.judges.local.tokens import fold_form
from factcheck.judges.local.words import Word

PASSAGE_FEATURES = (
    "coverage",
    "plain_coverage",
    "neighbours",
    "complete",
    "rarest_missing",
)
TEXT_FEATURES = (
    "text_plain_coverage",
    "text_complete",
    "text_missing",
    "text_missing_rarity",
    "text_last",
)
FACT_FEATURES = ("length", "has_name", "has_number")
FEATURES = (*PASSAGE_FEATURES, *TEXT_FEATURES, *FACT_FEATURES)
"""Names of the features, in the order of the values."""

ALIKE_CREDIT = 0.8
"""What a word counts for that is found in a related form only (`discovery` for `discovered`)."""
_ALIKE_SHARE = 0.65
"""Share of the longer stem that two stems must have in common to be related."""
_LETTERS_LOST = 6
_LETTERS_REPLACED = 8
"""Letters a name must have before one lost, or one replaced, is taken for a misspelling."""
_NEAR = 2
"""Units apart that count as neighbours: one word may stand between."""
_LONG = 12
"""Units from which a statement is just long."""
_NEAR_BONUS = 1e-3
"""Among equal paths, the one without gaps is preferred."""


class Statement(NamedTuple):
    """One sentence of a fact, with what is asked of a text."""

    passage: Passage
    units: tuple[Word, ...]
    stems: tuple[str, ...]
    """What each unit is compared by."""
    weights: tuple[float, ...]
    """Share of each unit in the statement, by rarity; they add up to 1, or there are none."""
    names: tuple[int, ...]
    """Which units are names."""
    likely_names: tuple[int, ...]
    """Which units are names, or may be though they have the capital letter of the sentence."""
    numbers: tuple[int, ...]
    """Which units are numbers."""
    content: tuple[int, ...]
    """Which units say more than how much or when."""
    alternatives: tuple[int, ...]
    """Which units a slash joins to the next one."""


class Overlap(NamedTuple):
    """Which units of a statement a text holds, over all and sentence by sentence."""

    anywhere: tuple[float, ...]
    """For each unit: 1 if its stem is in the text, less for a related form, 0 if missing."""
    by_passage: dict[int, list[float]]
    """The same for each sentence that holds any of them."""
    spellings: tuple[tuple[tuple[str, float], ...], ...]
    """For each unit: the stems of the text it may be found as, with their credit."""


def statement(passage: Passage) -> Statement:
    """A fact's sentence with its units and their weights."""
    units = tuple(passage.words[position] for position in passage.units)
    total = sum(unit.rarity for unit in units)
    return Statement(
        passage,
        units,
        stems=tuple(unit.stem for unit in units),
        weights=tuple(unit.rarity / total for unit in units),
        names=tuple(k for k, unit in enumerate(units) if unit.is_name),
        likely_names=tuple(
            k
            for k, unit in enumerate(units)
            if unit.is_name or opens_bare(passage, passage.units[k])
        ),
        numbers=tuple(k for k, unit in enumerate(units) if unit.kind == "number"),
        content=tuple(k for k, unit in enumerate(units) if _tells(unit)),
        alternatives=tuple(k for k in range(len(units) - 1) if _slash_between(passage, units, k)),
    )


def opens_bare(passage: Passage, place: int) -> bool:
    """Whether a word may be a name though its capital letter is that of the sentence.

    It opens the sentence without an article, and is no plural.
    """
    word = passage.words[place]
    return (
        place == 0
        and word.kind == "content"
        and word.text[:1].isupper()
        and not word.text.endswith("s")
    )


def _tells(unit: Word) -> bool:
    return unit.kind == "content" and fold_form(unit.text) not in lexicon.WEEKDAYS


def _slash_between(passage: Passage, units: Sequence[Word], k: int) -> bool:
    one, other = units[k], units[k + 1]
    joined = passage.text[one.end : other.start].strip() == "/"
    return joined and one.kind == other.kind == "content"


def overlap(wanted: Statement, text: AnalysedText) -> Overlap:
    """Where in a text the units of a statement are found."""
    by_passage: dict[int, list[float]] = {}
    anywhere: list[float] = []
    spellings = []
    for place, unit in enumerate(wanted.units):
        options = [(unit.stem, 1.0)] if unit.stem in text.holders else []
        options.extend((stem, ALIKE_CREDIT) for stem in _related(unit, text))
        for stem, credit in reversed(options):
            for number in text.holders[stem]:
                by_passage.setdefault(number, [0.0] * len(wanted.units))[place] = credit
        anywhere.append(options[0][1] if options else 0.0)
        spellings.append(tuple(options))
    for found in (anywhere, *by_passage.values()):
        _credit_alternatives(wanted, found)
    return Overlap(tuple(anywhere), by_passage, tuple(spellings))


def _credit_alternatives(wanted: Statement, found: list[float]) -> None:
    """Words that a slash joins are alternatives: `Anna/Annie` is said by either."""
    for k in wanted.alternatives:
        one, other = found[k], found[k + 1]
        found[k], found[k + 1] = max(one, ALIKE_CREDIT * other), max(other, ALIKE_CREDIT * one)


def _related(unit: Word, text: AnalysedText) -> list[str]:
    """Stems of the same family in a text, and other spellings of long names."""
    stem = unit.stem
    if unit.kind == "number":
        return [other for other in other_readings(stem) if other in text.holders]
    if unit.kind != "content" or len(stem) < STEM_PREFIX:
        return []
    if unit.is_name:
        return [name for name in text.initials.get(stem[0], ()) if _same_name(stem, name)]
    listed = text.prefixes.get(stem[:STEM_PREFIX], ())
    return [other for other in listed if other != stem and _same_family(stem, other)]


def _same_name(stem: str, other: str) -> bool:
    """Whether one name begins the other (`Russia`, `Russian`), or is a misspelling of it."""
    if stem == other:
        return False
    if stem.startswith(other) or other.startswith(stem):
        return min(len(stem), len(other)) >= STEM_PREFIX
    return _is_misspelling(stem, other)


def _is_misspelling(stem: str, other: str) -> bool:
    """Whether a long name lost or gained one letter, or has one replaced in a longer one."""
    enough = _LETTERS_REPLACED if len(stem) == len(other) else _LETTERS_LOST
    if max(len(stem), len(other)) < enough:
        return False
    k = _n_shared(stem, other)
    return stem[k:] == other[k + 1 :] or stem[k + 1 :] in {other[k:], other[k + 1 :]}


def _same_family(stem: str, other: str) -> bool:
    return _n_shared(stem, other) >= _ALIKE_SHARE * max(len(stem), len(other))


def _n_shared(stem: str, other: str) -> int:
    """How many letters two stems begin with alike."""
    shared = 0
    for a, b in zip(stem, other, strict=False):
        if a != b:
            break
        shared += 1
    return shared


def align(wanted: Statement, passage: Passage, shared: Overlap) -> tuple[int | None, ...]:
    """For each unit of a statement, its place on the heaviest path through a sentence.

    The path meets units in the statement's order; a unit that is not on it has no place.
    """
    steps: list[tuple[int, int, float, int]] = []
    best = -1
    for unit, options in enumerate(shared.spellings):
        earlier = len(steps)
        for stem, credit in options:
            for place in passage.places.get(stem, ()):
                weight, previous = 0.0, -1
                for step in range(earlier):
                    _, other, sum_so_far, _ = steps[step]
                    near = _NEAR_BONUS if passage.ranks[place] - passage.ranks[other] == 1 else 0.0
                    if other < place and sum_so_far + near > weight:
                        weight, previous = sum_so_far + near, step
                steps.append((unit, place, weight + credit * wanted.weights[unit], previous))
    if steps:
        best = max(range(len(steps)), key=lambda step: steps[step][2])
    places: list[int | None] = [None] * len(wanted.units)
    while best >= 0:
        unit, place, _, best = steps[best]
        places[unit] = place
    return tuple(places)


def text_features(wanted: Statement, anywhere: Sequence[float]) -> tuple[float, ...]:
    """`TEXT_FEATURES`: none is higher after a sentence of the text is deleted."""
    missing = [1 - credit for credit in anywhere]
    return (
        sum(anywhere) / len(anywhere),
        min(anywhere),
        -sum(missing),
        -max(lack * unit.rarity for lack, unit in zip(missing, wanted.units, strict=True)),
        anywhere[-1],
    )


def fact_features(wanted: Statement) -> tuple[float, ...]:
    """`FACT_FEATURES`: what is asked for, whatever the text."""
    return (
        float(min(len(wanted.units), _LONG)),
        float(bool(wanted.names)),
        float(bool(wanted.numbers)),
    )


def passage_features(
    wanted: Statement, passage: Passage, found: Sequence[float], places: Sequence[int | None]
) -> tuple[float, ...]:
    """`PASSAGE_FEATURES`: they depend on the statement and this sentence only."""
    n = len(found)
    ranks = [passage.ranks[place] for place in places if place is not None]
    near = sum(ranks[k + 1] - ranks[k] <= _NEAR for k in range(len(ranks) - 1))
    missing = (unit.rarity for unit, credit in zip(wanted.units, found, strict=True) if not credit)
    return (
        _covered(wanted.weights, found),
        sum(found) / n,
        near / (n - 1) if n > 1 else float(bool(ranks)),
        float(all(found)),
        max(missing, default=0.0),
    )


def _covered(weights: Sequence[float], found: Sequence[float]) -> float:
    return sum(weight * credit for weight, credit in zip(weights, found, strict=True))
