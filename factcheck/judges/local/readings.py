"""What each sentence of a text says about a statement, and how likely it entails it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from factcheck.judges.local.cancellation import checkpoint
from factcheck.judges.local.differences import Mismatch
from factcheck.judges.local.features import (
    Overlap,
    Statement,
    align,
    fact_features,
    overlap,
    passage_features,
    text_features,
)
from factcheck.judges.local.mismatches import find_mismatch, scope_mismatch
from factcheck.judges.local.model import Model
from factcheck.judges.local.passages import AnalysedText, Passage
from factcheck.judges.local.words import Word

VERBATIM = 0.99
"""For a statement that stands in a sentence word for word; nothing is more probable."""
IN_ORDER = 0.92
"""At least this, for one whose content words stand in a sentence in order, none against it."""
BARRED = 0.3
"""At most this, for a sentence that lacks a name or a number, or has another word instead."""
CONTRADICTED = 0.1
"""At most this, for a sentence that says something else."""


class Reading(NamedTuple):
    """What one sentence says about a statement."""

    passage: Passage
    features: tuple[float, ...]
    """`PASSAGE_FEATURES`."""
    whole: tuple[float, ...]
    """`TEXT_FEATURES` and `FACT_FEATURES`."""
    aligned: float
    """Share of the statement, by rarity, that is aligned with the sentence; a unit that does not
    fit is left out of account."""
    mismatch: Mismatch | None
    lowest: float
    """No model may give a lower probability, because the words are all there."""
    highest: float
    """Nor a higher one, because the sentence says something else."""
    units: tuple[Word, ...]
    """What the statement is made of."""
    found: Sequence[float]
    """For each unit, what the sentence holds of it."""
    anywhere: Sequence[float]
    """For each unit, what the whole text holds of it."""

    @property
    def missing(self) -> tuple[str, ...]:
        """Words that the sentence does not have; symbols are left out, here as below."""
        return self._texts([not credit for credit in self.found])

    @property
    def nowhere(self) -> tuple[str, ...]:
        """Words that no sentence of the text has."""
        return self._texts([not credit for credit in self.anywhere])

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """Words that only other sentences of the text have."""
        pairs = zip(self.found, self.anywhere, strict=True)
        return self._texts([credit > 0 and not here for here, credit in pairs])

    @property
    def n_units(self) -> int:
        """How many words and numbers the statement is made of."""
        return len(self._texts([True] * len(self.units)))

    def _texts(self, chosen: Sequence[bool]) -> tuple[str, ...]:
        return tuple(
            unit.text
            for unit, is_chosen in zip(self.units, chosen, strict=True)
            if is_chosen and any(letter.isalnum() for letter in unit.text)
        )

    def probability(self, model: Model) -> float:
        """That this sentence entails the statement."""
        score = model.probability(self.features, self.whole)
        return min(max(score, self.lowest), self.highest)


def readings(wanted: Statement, text: AnalysedText) -> Iterator[Reading]:
    """One reading for each sentence that has a word of the statement, in text order."""
    if not wanted.units:
        return
    shared = overlap(wanted, text)
    whole = (*text_features(wanted, shared.anywhere), *fact_features(wanted))
    for number in sorted(shared.by_passage):
        checkpoint()
        yield _read(wanted, text.passages[number], shared.by_passage[number], shared, whole)


def _read(
    wanted: Statement,
    passage: Passage,
    found: Sequence[float],
    shared: Overlap,
    whole: tuple[float, ...],
) -> Reading:
    places = align(wanted, passage, shared)
    mismatch = find_mismatch(wanted, passage, found, places, shared.anywhere)
    lowest, highest = 0.0, VERBATIM
    if _is_verbatim(wanted, passage, mismatch):
        lowest, mismatch = VERBATIM, None
    elif mismatch is not None:
        highest = CONTRADICTED if mismatch.contradicts else BARRED
    elif None not in places and min(found) == 1:
        lowest = IN_ORDER
    return Reading(
        passage=passage,
        features=passage_features(wanted, passage, found, places),
        whole=whole,
        aligned=_aligned(wanted, places, mismatch),
        mismatch=mismatch,
        lowest=lowest,
        highest=highest,
        units=wanted.units,
        found=found,
        anywhere=shared.anywhere,
    )


def _aligned(wanted: Statement, places: Sequence[int | None], mismatch: Mismatch | None) -> float:
    others = [k for k in range(len(places)) if mismatch is None or k != mismatch.unit]
    total = sum(wanted.weights[k] for k in others)
    met = sum(wanted.weights[k] for k in others if places[k] is not None)
    return met / total if total else 0.0


def _is_verbatim(wanted: Statement, passage: Passage, mismatch: Mismatch | None) -> bool:
    """Whether the sentence is, or has in it, the statement word for word, not denied or hedged."""
    own = wanted.passage.words
    for start in passage.places.get(own[0].stem, ()):
        said = passage.words[start : start + len(own)]
        if [word.stem for word in said] == [word.stem for word in own]:
            places = [start + unit for unit in wanted.passage.units]
            if scope_mismatch(wanted, passage, places) is None:
                return True
    return mismatch is None and _holds_phrase(passage.folded, wanted.passage.folded)


def _holds_phrase(folded: str, phrase: str) -> bool:
    """Whether a folded phrase stands in a folded sentence, from one word edge to another."""
    at = folded.find(phrase)
    while at >= 0:
        before, after = folded[:at][-1:], folded[at + len(phrase) :][:1]
        cut_in = (before + phrase[0]).isalnum() and before
        cut_off = (phrase[-1] + after).isalnum() and after
        if not cut_in and not cut_off:
            return True
        at = folded.find(phrase, at + 1)
    return False
