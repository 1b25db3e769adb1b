"""Where a sentence says something else than a fact: another number, name, order, or the opposite.

A mismatch bars this one sentence from entailing the fact. It needs words on both sides; a word that
is merely missing is a `gap`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from factcheck.judges.local.features import Statement
from factcheck.judges.local.passages import Passage


class Mismatch(NamedTuple):
    """A reason why a sentence cannot entail a fact."""

    kind: Literal["negation", "number", "name", "order", "word", "gap"]
    said: str
    """Words of the sentence; empty for a gap."""
    wanted: str
    """Words of the fact."""
    unit: int
    """Which unit of the fact does not fit."""

    @property
    def contradicts(self) -> bool:
        """Whether the sentence says something incompatible, rather than too little."""
        return self.kind not in {"gap", "word"}


_YEAR = re.compile(r"1\d{3}|20\d{2}")
_AND = frozenset({"and", "or", "und", "oder", "et", "ou", "y", "e", "o"})
_REACH = 1
"""Units within which a word stands in place of another, counted from a word that fits."""
_CHARACTERS_IN_WORD = 4
_LEAST_SHARE = 0.26
"""Share of a fact's words that a sentence must have to entail it."""
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
        negation_mismatch(wanted, passage, places)
        or _number_mismatch(wanted, passage, found, places)
        or _name_mismatch(wanted, passage, found, places)
        or _order_mismatch(wanted, passage, found, places)
        or _gap(wanted, found, anywhere)
        or _scattered(wanted, passage, found)
        or _replaced_word(wanted, passage, places, anywhere)
    )


def negation_mismatch(
    wanted: Statement, passage: Passage, places: Sequence[int | None]
) -> Mismatch | None:
    """A word that is negated on one side only."""
    own = wanted.passage
    for k, (unit, place) in enumerate(zip(own.units, places, strict=True)):
        if place is None:
            continue
        said, meant = passage.words[place].text, own.words[unit].text
        if place in passage.negated and unit not in own.within_negation:
            return Mismatch("negation", f"not {said}", meant, k)
        if unit in own.negated and place not in passage.within_negation:
            return Mismatch("negation", said, f"not {meant}", k)
    return None


def _number_mismatch(
    wanted: Statement, passage: Passage, found: Sequence[float], places: Sequence[int | None]
) -> Mismatch | None:
    for k in wanted.numbers:
        unit = wanted.units[k]
        if found[k]:
            other = _counts_something_else(wanted, passage, k)
        else:
            others = [
                place
                for place in _beside_neighbours(wanted, passage, places, k)
                if passage.words[place].kind == "number"
                and passage.words[place].stem not in wanted.stems
                and _sort(passage.words[place].stem) == _sort(unit.stem)
            ]
            other = others[0] if others else None
        if other is not None:
            return Mismatch("number", passage.words[other].text, unit.text, k)
    return None


def _sort(number: str) -> str:
    """What a number can be exchanged for: a month for a month, a year for a year."""
    if ":" in number:
        return number.partition(":")[0]
    return "year" if _YEAR.fullmatch(number) else "count"


def _counts_something_else(wanted: Statement, passage: Passage, k: int) -> int | None:
    """The place of another number before the word that this number counts, if there is one."""
    if k + 1 >= len(wanted.units) or wanted.units[k + 1].kind != "content":
        return None
    if wanted.passage.units[k + 1] - wanted.passage.units[k] != 1:
        return None
    rivals = []
    for place in passage.places.get(wanted.units[k + 1].stem, ()):
        if place == 0 or passage.words[place - 1].kind != "number":
            return None
        if passage.words[place - 1].stem == wanted.units[k].stem:
            return None
        rivals.append(place - 1)
    return rivals[0] if rivals else None


def _name_mismatch(
    wanted: Statement, passage: Passage, found: Sequence[float], places: Sequence[int | None]
) -> Mismatch | None:
    """Another name where the fact's name should stand, beside a word that does fit."""
    for k, unit in enumerate(wanted.units):
        if found[k] or not (unit.is_name or _opens_bare(wanted.passage, wanted.passage.units[k])):
            continue
        for place in _beside_neighbours(wanted, passage, places, k):
            other = passage.words[place]
            is_name = other.is_name if unit.is_name else _opens_bare(passage, place)
            if (is_name or _opens_bare(passage, place)) and other.stem not in wanted.stems:
                return Mismatch("name", other.text, unit.text, k)
    return None


def _opens_bare(passage: Passage, place: int) -> bool:
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


def _beside_neighbours(
    wanted: Statement, passage: Passage, places: Sequence[int | None], k: int
) -> list[int]:
    """Where unit `k` of the fact would stand: the units after the one before it, and so on."""
    own, beside = wanted.units[k], []
    before, after = k - 1, k + 1
    while own.is_name and before >= 0 and wanted.units[before].is_name and places[before] is None:
        before -= 1
    while (
        own.is_name
        and after < len(places)
        and wanted.units[after].is_name
        and places[after] is None
    ):
        after += 1
    low = places[before] if before >= 0 else None
    high = places[after] if after < len(places) else None
    for place in passage.units:
        behind = (
            low is not None and low < place and passage.ranks[place] - passage.ranks[low] <= _REACH
        )
        ahead = (
            high is not None
            and place < high
            and passage.ranks[high] - passage.ranks[place] <= _REACH
        )
        inside = (low is None or place > low) and (high is None or place < high)
        if inside and (behind or ahead):
            beside.append(place)
    return beside


def _order_mismatch(
    wanted: Statement, passage: Passage, found: Sequence[float], places: Sequence[int | None]
) -> Mismatch | None:
    """Two words that changed places, in a sentence with the same words and the same voice."""
    if min(found) < 1 or None not in places or _is_passive(passage) != _is_passive(wanted.passage):
        return None
    stems = wanted.stems
    said = [passage.words[place].stem for place in passage.units]
    for start in range(len(said) - len(stems) + 1):
        moved = [k for k, stem in enumerate(stems) if said[start + k] != stem]
        if len(moved) != 2:  # noqa: PLR2004 - two change places
            continue
        first, second = moved
        if (stems[first], stems[second]) != (said[start + second], said[start + first]):
            continue
        if not _enumerated(wanted.passage, wanted.passage.units[first : second + 1]):
            other = passage.words[passage.units[start + first]].text
            return Mismatch("order", other, wanted.units[first].text, first)
    return None


def _is_passive(passage: Passage) -> bool:
    return any(stem in passage.places for stem in ("by", "von", "par", "por"))


def _enumerated(passage: Passage, places: Sequence[int]) -> bool:
    """Whether words are listed, as in `Anna and Ben`: nothing but `and` or `or` between them."""
    between = passage.words[places[0] + 1 : places[-1]]
    return all(word.stem in _AND for word in between)


def _gap(wanted: Statement, found: Sequence[float], anywhere: Sequence[float]) -> Mismatch | None:
    """A number that the sentence does not have, or a name that the text holds nowhere."""
    for k, unit in enumerate(wanted.units):
        if unit.kind == "number" and not found[k]:
            return Mismatch("gap", "", unit.text, k)
        if unit.is_name and not anywhere[k] and not _part_of_known_name(wanted, anywhere, k):
            return Mismatch("gap", "", unit.text, k)
    return None


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
