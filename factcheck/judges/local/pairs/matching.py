"""Which units of two values stand for each other, and how surely.

A unit is paired once. Pairs are the same word, a spelling or a form of it, a short form, an
initial, or several words that one compound, acronym or code stands for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from factcheck.judges.local.pairs.codes import places
from factcheck.judges.local.pairs.words import Unit, Wording
from factcheck.text.words import frequencies, irregular_forms, word_set

TITLES = word_set(
    """
    mr mrs ms miss mx dr prof professor sir dame lord lady rev reverend herr frau dipl ing monsieur
    madame mademoiselle m mme mlle senor senora don dona signor signora hon president king queen
    prince princess pope saint st general gen captain capt colonel col major maj sergeant sgt
    lieutenant lt emperor empress tsar czar duke duchess count countess baron baroness earl
    chancellor senator sen judge justice minister father sister brother mother
    """
)
"""Said before a name without making it another one."""
_ABBREVIATIONS = """
st street saint sankt strasse; str street strasse; ave avenue; av avenue avenida; rd road; blvd
boulevard; ln lane; dr drive doctor doktor; sq square; pl place platz; ct court; hwy highway; apt
apartment; mt mount mountain; ft fort feet foot; dept department; univ university universitat
universite; intl international; natl national; govt government; mgr manager; mgmt management; sr
senior; jr junior; asst assistant; eng engineer engineering english; dev developer development; vp
vicepresident; qty quantity; p page; pp pages; sec section; pcs pieces; pc piece; no number; nr
number nummer; tel telephone telefon; approx approximately; vs versus; bros brothers; mfg
manufacturing; rev reverend revised revision; prof professor; gen general; capt captain; col
colonel; sgt sergeant; lt lieutenant; sen senator; pt part point; vol volume; ed edition editor;
fl floor; n north and; s south; e east; w west; med medical medicine
"""
"""What common short forms stand for, with or without their full stop."""

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

_ENDINGS = word_set("s es d ed ing n en e er em ns y x ies ied") | {""}
_LETTERS_LOST = 6
"""Letters a word must have before one lost is taken for a misspelling."""
_LETTERS_REPLACED = 8
_LAST_LETTERS = 2
_PET_NAME_LETTERS = 3


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
        is_short = other.form in _abbreviations().get(one.form, ())
        return SHORT_FORM if is_short or one.form in _abbreviations().get(other.form, ()) else 0.0
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
    if other.form in _abbreviations().get(unit.form, ()):
        return True
    has_stop = wording.text[unit.end : unit.end + 1] == "."
    return has_stop and len(unit.form) < len(other.form) and other.form.startswith(unit.form)


def _kinship(one: Unit, other: Unit, language: str, *, is_last: bool) -> float:
    """How likely two different words are meant to be the same."""
    short, long = sorted((one.form, other.form), key=lambda form: (len(form), form))
    shared = _n_shared(short, long)
    if one.stem == other.stem and _is_inflected(short, long, shared):
        return INFLECTED
    if one.is_capital and other.is_capital and _is_misspelling(short, long, language):
        return MISSPELT
    if one.is_capital and other.is_capital and not is_last and _is_pet_name(short, long):
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


def _is_inflected(short: str, long: str, shared: int) -> bool:
    """Whether two words of one stem, alike in their first letters, differ in their ending only."""
    irregular = irregular_forms()
    if irregular.get(long, long) == irregular.get(short, short):
        return True
    is_doubled = short[:shared] == short and long[shared : shared + 1] == short[-1:]
    ending = long[shared + 1 :] if is_doubled else long[shared:]
    return short[shared:] in _ENDINGS and ending in _ENDINGS


@lru_cache(maxsize=1)
def _abbreviations() -> dict[str, frozenset[str]]:
    entries = (entry.split() for entry in " ".join(_ABBREVIATIONS.split()).split("; "))
    return {short: frozenset(meant) for short, *meant in entries}


@lru_cache(maxsize=16384)
def _is_misspelling(short: str, long: str, language: str) -> bool:
    """Whether a long word lost or gained one letter, or has one replaced in a longer one.

    Two words that are both known are different words, and so are those that differ in their first
    letter or, replaced, near their end (`propanol`, `propanal`).
    """
    enough = _LETTERS_REPLACED if len(short) == len(long) else _LETTERS_LOST
    if len(long) < enough or ({short, long} <= frequencies(language).keys()):
        return False
    k = _n_shared(short, long)
    if k == 0:
        return False
    if len(short) < len(long):
        return short[k:] == long[k + 1 :]
    swapped = short[k : k + 2] == long[k : k + 2][::-1] and short[k + 2 :] == long[k + 2 :]
    replaced = short[k + 1 :] == long[k + 1 :] and len(long) - k > _LAST_LETTERS
    return swapped or replaced


def _is_pet_name(short: str, long: str) -> bool:
    """`Rob` for `Robert`; `Paul` is none for `Paula`."""
    return (
        len(short) >= _PET_NAME_LETTERS
        and long.startswith(short)
        and len(long) - len(short) >= _PET_NAME_LETTERS
    )


def _n_shared(one: str, other: str) -> int:
    """How many letters two words begin with alike."""
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared += 1
    return shared
