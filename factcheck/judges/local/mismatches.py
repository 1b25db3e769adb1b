"""Where a sentence says something else than a fact: another number, name, order, or the opposite.

A mismatch bars this one sentence from entailing the fact. It needs words on both sides; a word that
is merely missing is a `gap`.
"""

from __future__ import annotations

from collections.abc import Sequence

from factcheck.judges.local.counts import counts_nothing, number_mismatch, role_mismatch
from factcheck.judges.local.differences import Mismatch, beside_neighbours
from factcheck.judges.local.features import Statement, opens_bare
from factcheck.judges.local.passages import Passage

_AND = frozenset({"and", "or", "und", "oder", "et", "ou", "y", "e", "o"})
_CHARACTERS_IN_WORD = 4
_LEAST_SHARE = 0.26
"""Share of a fact's words that a sentence must have to entail it."""
_FEW = 2
"""Content words up to which a fact needs all of them."""
_REPLACED_AMONG = 2
"""Words that must fit before the one that does not is taken for a replaced one."""


def find_mismatch(
    wanted: Statement,
    passage: Passage,
    found: Sequence[float],
    places: Sequence[int | None],
    anywhere: Sequence[float],
) -> Mismatch | None:
    """The first reason why this sentence cannot entail the statement, or `None`.

    Args:
        wanted: One sentence of a fact.
        passage: One sentence of the text.
        found: For each unit of the statement, what the sentence holds of it.
        places: Where it stands in the sentence, if it is aligned.
        anywhere: For each unit of the statement, what the whole text holds of it. A number or
            a name that is found nowhere is a gap; one found elsewhere in the text is none.
    """
    return (
        scope_mismatch(wanted, passage, places)
        or number_mismatch(wanted, passage, found, places)
        or role_mismatch(wanted, passage, places)
        or _name_mismatch(wanted, passage, found, places)
        or _order_mismatch(wanted, passage, found, places)
        or _gap(wanted, found, anywhere)
        or _too_little(wanted, passage, found, anywhere)
        or _scattered(wanted, passage, found)
        or _replaced_word(wanted, passage, places, anywhere)
    )


def scope_mismatch(
    wanted: Statement, passage: Passage, places: Sequence[int | None]
) -> Mismatch | None:
    """A word that is denied on one side only, or said as less than the fact says it."""
    return _negation_mismatch(wanted, passage, places) or _hedge_mismatch(wanted, passage, places)


def _negation_mismatch(
    wanted: Statement, passage: Passage, places: Sequence[int | None]
) -> Mismatch | None:
    own = wanted.passage
    for k, (unit, place) in enumerate(zip(own.units, places, strict=True)):
        if place is None:
            continue
        said, meant = passage.words[place].text, own.words[unit].text
        if place in passage.negated and unit not in own.within_negation:
            return Mismatch("negation", f"not {said}", meant, k)
        denied_elsewhere = place in passage.within_negation or place in passage.hedged
        if unit in own.negated and not denied_elsewhere:
            return Mismatch("negation", said, f"not {meant}", k)
    return None


def _hedge_mismatch(
    wanted: Statement, passage: Passage, places: Sequence[int | None]
) -> Mismatch | None:
    if not passage.hedged:
        return None
    for k, place in enumerate(places):
        mood = None if place is None else passage.hedged.get(place)
        if mood is not None and mood not in wanted.passage.moods:
            return Mismatch("hedge", mood, wanted.units[k].text, k)
    return None


def _name_mismatch(
    wanted: Statement, passage: Passage, found: Sequence[float], places: Sequence[int | None]
) -> Mismatch | None:
    """Another name where the fact's name should stand, beside a word that does fit."""
    for k in wanted.likely_names:
        if found[k]:
            continue
        unit = wanted.units[k]
        for place in beside_neighbours(wanted, passage, places, k):
            other = passage.words[place]
            is_name = other.is_name if unit.is_name else opens_bare(passage, place)
            if (is_name or opens_bare(passage, place)) and other.stem not in wanted.stems:
                return Mismatch("name", other.text, unit.text, k)
    return None


def _order_mismatch(
    wanted: Statement, passage: Passage, found: Sequence[float], places: Sequence[int | None]
) -> Mismatch | None:
    """Two words that changed places, in a sentence with the same words and the same voice.

    A date may stand anywhere; and two words alone may change places (`She left yesterday`).
    """
    if min(found) < 1 or None not in places or _is_passive(passage) != _is_passive(wanted.passage):
        return None
    stems = wanted.stems
    said = [passage.words[place].stem for place in passage.units]
    for start in range(len(said) - len(stems) + 1):
        moved = [k for k, stem in enumerate(stems) if said[start + k] != stem]
        if len(moved) != 2:  # noqa: PLR2004 - two change places
            continue
        first, second = moved
        if len(stems) == len(moved) or (first in wanted.numbers) != (second in wanted.numbers):
            continue
        if (stems[first], stems[second]) != (said[start + second], said[start + first]):
            continue
        if not _enumerated(wanted.passage, wanted.passage.units[first : second + 1]):
            other = passage.words[passage.units[start + first]].text
            return Mismatch("order", other, wanted.units[first].text, first)
    return None


def _is_passive(passage: Passage) -> bool:
    return any(stem in passage.places for stem in ("by", "von", "par", "por"))


def _enumerated(passage: Passage, places: Sequence[int]) -> bool:
    """Whether words are listed, as in `Anna and Ben`, or are the day and the year of one date."""
    between = passage.words[places[0] + 1 : places[-1]]
    return all(word.stem in _AND or word.stem.startswith("month:") for word in between)


def _gap(wanted: Statement, found: Sequence[float], anywhere: Sequence[float]) -> Mismatch | None:
    """A number that the sentence does not have, or a name that the text holds nowhere."""
    for k, unit in enumerate(wanted.units):
        if (
            unit.kind == "number"
            and not (anywhere if unit.stem.startswith("weekday:") else found)[k]
        ):
            return Mismatch("gap", "", unit.text, k)
        if unit.is_name and not _known(wanted, anywhere, k):
            return Mismatch("gap", "", unit.text, k)
    return None


def _too_little(
    wanted: Statement, passage: Passage, found: Sequence[float], anywhere: Sequence[float]
) -> Mismatch | None:
    """Nothing but numbers, units and weekdays in common, or a word short of a fact that has few."""
    content = wanted.content
    if not content:
        return _counted(wanted, passage)
    lacking = [k for k in content if not found[k]]
    absent = [k for k in lacking if not (k in wanted.likely_names and _known(wanted, anywhere, k))]
    if lacking and (len(lacking) == len(content) or (absent and len(content) <= _FEW)):
        return Mismatch("gap", "", wanted.units[lacking[0]].text, lacking[0])
    return None


def _counted(wanted: Statement, passage: Passage) -> Mismatch | None:
    """A number that counts something in the sentence, and nothing in a fact like `He was 46`."""
    for k in wanted.numbers:
        stem = wanted.stems[k]
        if counts_nothing(wanted.passage, stem) and not counts_nothing(passage, stem):
            return Mismatch("gap", "", wanted.units[k].text, k)
    return None


def _known(wanted: Statement, anywhere: Sequence[float], k: int) -> bool:
    """Whether a name, or a part of it, is in the text."""
    return bool(anywhere[k]) or _part_of_known_name(wanted, anywhere, k)


def _scattered(wanted: Statement, passage: Passage, found: Sequence[float]) -> Mismatch | None:
    """Too little in this sentence for it to say the fact, whatever the rest of the text has."""
    lacking = [k for k, credit in enumerate(found) if not credit]
    denied = wanted.passage.negated and not passage.negated
    if lacking and (denied or sum(found) < _LEAST_SHARE * len(found)):
        return Mismatch("gap", "", wanted.units[lacking[0]].text, lacking[0])
    return None


def _part_of_known_name(wanted: Statement, anywhere: Sequence[float], k: int) -> bool:
    """Whether the name beside this one is in the text: `Obama` for `Barack Obama`."""
    positions = wanted.passage.units
    for other in (k - 1, k + 1):
        if not 0 <= other < len(positions) or abs(positions[other] - positions[k]) != 1:
            continue
        if wanted.units[other].is_name and anywhere[other]:
            return True
    return False


def _replaced_word(
    wanted: Statement, passage: Passage, places: Sequence[int | None], anywhere: Sequence[float]
) -> Mismatch | None:
    """The one word of a fact that the text does not have, with another in its very place.

    Whether the two mean the same is more than can be told from words.
    """
    missing = [k for k, credit in enumerate(anywhere) if not credit]
    others = [place for k, place in enumerate(places) if k not in missing]
    if not missing or len(others) < _REPLACED_AMONG or None in others:
        return None
    first, last = missing[0], missing[-1]
    if last - first + 1 != len(missing) or len(missing) > _longest_word(wanted, first):
        return None
    before = places[first - 1] if first else None
    after = places[last + 1] if last + 1 < len(places) else None
    low = -1 if before is None else passage.ranks[before]
    high = len(passage.units) if after is None else passage.ranks[after]
    slot = passage.units[low + 1 : high]
    if not 1 <= len(slot) <= len(missing):
        return None
    said = passage.text[passage.words[slot[0]].start : passage.words[slot[-1]].end]
    meant = wanted.passage.text[wanted.units[first].start : wanted.units[last].end]
    return Mismatch("word", said, meant, first)


def _longest_word(wanted: Statement, k: int) -> int:
    """How many units may be one word: several where each character is one."""
    is_character = len(wanted.units[k].text) == 1 and not wanted.units[k].text.isascii()
    return _CHARACTERS_IN_WORD if is_character else 1
