"""Which units of two values stand for each other, and how surely.

A unit is paired once. Pairs are the same word, a spelling or a form of it, a short form, an
initial, or several words that one compound, acronym or code stands for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from factcheck.judges.local.pairs.lexicon import ABBREVIATIONS, TITLES, places
from factcheck.judges.local.pairs.spelling import (
    is_inflected,
    is_misspelling,
    is_pet_name,
    n_shared,
)
from factcheck.judges.local.pairs.words import Unit, Wording

SAME_WORD = 1.0
INFLECTED = 0.97
SHORT_FORM = 0.95
REPEATED = 0.9
MISSPELT = 0.85
INITIAL = 0.85
WITHOUT_UNIT = 0.8
PET_NAME = 0.7
DERIVED = 0.6
_LONGEST_RUN = 6
_LONGEST_LEFT_OVER = 40
_SHORTEST_COMPOUND = 5
_FAMILY_SHARE = 0.65
_FAMILY_LETTERS = 5
_CODE_LETTERS = 3


class Matching(NamedTuple):
    """For each unit of both values, how surely the other value has it: 0 if it has not."""

    first: tuple[float, ...]
    second: tuple[float, ...]
    pairs: tuple[tuple[int, int], ...]
    """Units paired one to one, in the order of the first value."""


def match(first: Wording, second: Wording, language: str) -> Matching:
    """Pair the units of two values; swapping the values swaps the result."""
    ones, others = first.units, second.units
    left, right = [0.0] * len(ones), [0.0] * len(others)
    pairs: list[tuple[int, int]] = []
    _pair_up(_same_words(ones, others), left, right, pairs)
    _spell_out(ones, others, left, right)
    _pair_up(_alike(first, second, left, right, language), left, right, pairs)
    _forgive_repeats(ones, others, left)
    _forgive_repeats(others, ones, right)
    return Matching(tuple(left), tuple(right), tuple(sorted(pairs)))


Candidate = tuple[float, int, int]


def _pair_up(
    candidates: list[Candidate], left: list[float], right: list[float], pairs: list[tuple[int, int]]
) -> None:
    """Take the surest pairs first, among equals those in corresponding places."""
    for credit, i, j in sorted(candidates, key=lambda c: (-c[0], abs(c[1] - c[2]), c[1] + c[2])):
        if not left[i] and not right[j]:
            left[i] = right[j] = min(credit, SAME_WORD)
            pairs.append((i, j))


def _same_words(ones: Sequence[Unit], others: Sequence[Unit]) -> list[Candidate]:
    """Units with a form in common; surer where their neighbours have one, too."""
    holders: dict[str, list[int]] = {}
    for j, unit in enumerate(others):
        for form in unit.forms:
            holders.setdefault(form, []).append(j)
    found = {
        (i, j)
        for i, unit in enumerate(ones)
        for form in unit.forms
        for j in holders.get(form, ())[:_LONGEST_LEFT_OVER]
        if unit.is_number == others[j].is_number
    }
    return [
        (SAME_WORD + ((i - 1, j - 1) in found) + ((i + 1, j + 1) in found), i, j) for i, j in found
    ]


def _alike(
    first: Wording, second: Wording, left: Sequence[float], right: Sequence[float], language: str
) -> list[Candidate]:
    free = [i for i, credit in enumerate(left) if not credit][:_LONGEST_LEFT_OVER]
    open_ = [j for j, credit in enumerate(right) if not credit][:_LONGEST_LEFT_OVER]
    found = ((_likeness(first, second, i, j, language), i, j) for i in free for j in open_)
    return [candidate for candidate in found if candidate[0]]


def _likeness(first: Wording, second: Wording, i: int, j: int, language: str) -> float:
    one, other = first.units[i], second.units[j]
    if one.is_number or other.is_number:
        is_bare = one.has_measure != other.has_measure
        return WITHOUT_UNIT if is_bare and one.numbers & other.numbers else 0.0
    if one.form in TITLES and other.form in TITLES:
        is_short = other.form in ABBREVIATIONS.get(one.form, ())
        return SHORT_FORM if is_short or one.form in ABBREVIATIONS.get(other.form, ()) else 0.0
    if _shortens(first, i, other) or _shortens(second, j, one):
        return SHORT_FORM
    if len(one.form) == 1 or len(other.form) == 1:
        is_name = min(len(first.units), len(second.units)) > 1
        return INITIAL if is_name and _is_initial(*sorted((one, other), key=_length)) else 0.0
    is_last = i == len(first.units) - 1 or j == len(second.units) - 1
    return _kinship(one, other, language, is_last=is_last)


def _length(unit: Unit) -> int:
    return len(unit.form)


def _is_initial(letter: Unit, name: Unit) -> bool:
    """`J` for `John`, in names of several words."""
    are_names = letter.is_capital and name.is_capital and not name.text.isupper()
    return are_names and len(name.form) > 1 and letter.form == name.form[0]


def _shortens(wording: Wording, place: int, other: Unit) -> bool:
    """Whether a unit is a short form of another: `St`, `Univ.`."""
    unit = wording.units[place]
    if other.form in ABBREVIATIONS.get(unit.form, ()):
        return True
    has_stop = wording.text[unit.end : unit.end + 1] == "."
    return has_stop and len(unit.form) < len(other.form) and other.form.startswith(unit.form)


def _kinship(one: Unit, other: Unit, language: str, *, is_last: bool) -> float:
    """How likely two different words are meant to be the same."""
    short, long = sorted((one.form, other.form), key=lambda form: (len(form), form))
    shared = n_shared(short, long)
    if one.stem == other.stem and is_inflected(short, long, shared):
        return INFLECTED
    if one.is_capital and other.is_capital and is_misspelling(short, long, language):
        return MISSPELT
    if one.is_capital and other.is_capital and not is_last and is_pet_name(short, long):
        return PET_NAME
    if shared >= max(_FAMILY_LETTERS, _FAMILY_SHARE * len(long)):
        return DERIVED
    return 0.0


def _spell_out(
    ones: Sequence[Unit], others: Sequence[Unit], left: list[float], right: list[float]
) -> None:
    """Credit single units that stand for several of the other value, on both sides."""
    found = [
        (-n, abs(i - j), i + j, side, i, j, n)
        for side, (units, texts, free, open_) in enumerate(
            ((ones, others, left, right), (others, ones, right, left))
        )
        for i, j, n in _runs(units, texts, free, open_)
    ]
    for _, _, _, side, i, j, n in sorted(found):
        free, open_ = (left, right) if side == 0 else (right, left)
        if not free[i] and not any(open_[j : j + n]):
            free[i] = SHORT_FORM
            open_[j : j + n] = [SHORT_FORM] * n


def _runs(
    units: Sequence[Unit], texts: Sequence[Unit], free: Sequence[float], open_: Sequence[float]
) -> Iterator[tuple[int, int, int]]:
    """Units of the first that stand for `n` units of the other, from one on."""
    starts = [j for j, credit in enumerate(open_) if not credit][:_LONGEST_LEFT_OVER]
    for i in [i for i, credit in enumerate(free) if not credit][:_LONGEST_LEFT_OVER]:
        unit = units[i]
        if unit.is_number:
            continue
        meant = places().get(unit.form, frozenset()) if _may_be_place(unit) else frozenset()
        for j in starts:
            same_start = unit.form[0] == texts[j].form[0]
            if not (same_start or meant):
                continue
            for n in range(1, _LONGEST_RUN + 1):
                run = texts[j : j + n]
                if len(run) < n or open_[j + n - 1] or run[-1].is_number:
                    break
                if (meant and meant & _named(run)) or (n > 1 and _abridges(unit, run)):
                    yield i, j, n


def _abridges(unit: Unit, run: Sequence[Unit]) -> bool:
    """Whether a unit is the compound of several words, or has their initials."""
    if is_acronym(unit) and len(run) == len(unit.form):
        return "".join(word.form[0] for word in run) == unit.form
    if len(unit.form) < _SHORTEST_COMPOUND:
        return False
    return "".join(word.form for word in run) == unit.form


def _may_be_place(unit: Unit) -> bool:
    """False for short words that are codes in capitals only."""
    return len(unit.form) > _CODE_LETTERS or unit.text.isupper()


def _named(run: Sequence[Unit]) -> frozenset[str]:
    """The places that words name."""
    if len(run) == 1 and not _may_be_place(run[0]):
        return frozenset()
    return places().get(" ".join(word.form for word in run), frozenset())


def is_acronym(unit: Unit) -> bool:
    """Whether a unit is written in capitals, as the initials of other words are."""
    return unit.form.isalpha() and len(unit.form) <= _LONGEST_RUN and unit.text.isupper()


def _forgive_repeats(units: Sequence[Unit], others: Sequence[Unit], credits_: list[float]) -> None:
    """A word said twice is not missing where it is said once; numbers are."""
    forms = {form for unit in others if not unit.is_number for form in unit.forms}
    for place, unit in enumerate(units):
        if not credits_[place] and not unit.is_number and not forms.isdisjoint(unit.forms):
            credits_[place] = REPEATED
    for place, unit in enumerate(units):
        run = _spelt_in(units, place) if is_acronym(unit) else None
        if run is not None and any(credits_[k] for k in (place, *run)):
            for k in (place, *run):
                credits_[k] = credits_[k] or REPEATED


def _spelt_in(units: Sequence[Unit], place: int) -> range | None:
    """The units beside an acronym that have its initials."""
    n = len(units[place].form)
    for run in (range(place - n, place), range(place + 1, place + 1 + n)):
        is_whole = n > 1 and run.start >= 0 and run.stop <= len(units)
        if is_whole and "".join(units[k].form[0] for k in run) == units[place].form:
            return run
    return None
