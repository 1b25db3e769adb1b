"""Numbers that differ, and words around a number or a noun that turn its meaning round."""

from __future__ import annotations

import re
from collections.abc import Sequence

from factcheck.judges.local.differences import Mismatch, beside_neighbours
from factcheck.judges.local.features import Statement
from factcheck.judges.local.passages import Passage
from factcheck.judges.local.quantities import other_readings
from factcheck.judges.local.scopes import AFTER, AGAINST, BEFORE, CHANGES, FOR, QUANTIFIERS
from factcheck.judges.local.words import TELLING

_YEAR = re.compile(r"1\d{3}|20\d{2}")
_BOUND = re.compile(
    r"(?<!\w)(?:at (?:least|most)|(?:more|fewer|less|higher|lower|later|earlier) than|over|under|"
    r"above|below|up to|as (?:many|much) as|about|around|approximately|approx\.|roughly|nearly|"
    r"almost|some|or so|before|after|mindestens|höchstens|rund|etwa|ca\.|circa|über|unter|fast|"
    r"knapp|bis zu|(?:mehr|weniger) als|environ|presque|plus de|moins de|au moins|jusqu'à|"
    r"al menos|más de|menos de|casi|unos|unas|hasta|cerca de)\s+[$£€¥]?\s*\Z|[~<>≥≤±]\s*\Z",
    re.IGNORECASE,
)
_OPEN_END = re.compile(
    r"\+|\s+(?:\w+\s+)?or (?:more|fewer|less|so)\b|\s+oder mehr\b", re.IGNORECASE
)
_LONGEST_BOUND = 24
_OPPOSITES = ((BEFORE, AFTER), (AFTER, BEFORE), (FOR, AGAINST), (AGAINST, FOR))
_JOINED = re.compile(r"\s*[-\u2013:]\s*|\s+to\s+")


def number_mismatch(
    wanted: Statement, passage: Passage, found: Sequence[float], places: Sequence[int | None]
) -> Mismatch | None:
    """Another number where the fact's number should stand; a gap where both may hold."""
    for k in wanted.numbers:
        unit = wanted.units[k]
        if found[k]:
            other = _counts_something_else(wanted, passage, k)
            unsure = counts_nothing(passage, unit.stem)
        else:
            other = _rival(wanted, passage, places, k)
            unsure = other is not None and (
                _is_bound(wanted.passage, wanted.passage.units[k]) or _is_bound(passage, other)
            )
        if other is not None:
            said = passage.words[other].text
            return Mismatch("gap" if unsure else "number", said, unit.text, k)
        if (measure := _other_unit(wanted, passage, k)) is not None:
            return Mismatch("number", measure, wanted.units[k + 1].text, k + 1)
    return _more_than_one(wanted, passage)


def _other_unit(wanted: Statement, passage: Passage, k: int) -> str | None:
    """Another unit wherever the sentence has this number: `12 km` for `12 m`."""
    if k + 1 >= len(wanted.units) or wanted.units[k + 1].kind != "unit":
        return None
    if wanted.passage.units[k + 1] - wanted.passage.units[k] != 1:
        return None
    said = [
        passage.words[place + 1]
        for place in passage.places.get(wanted.stems[k], ())
        if place + 1 < len(passage.words) and passage.words[place + 1].kind == "unit"
    ]
    if not said or any(word.stem == wanted.stems[k + 1] for word in said):
        return None
    return said[0].text


def _more_than_one(wanted: Statement, passage: Passage) -> Mismatch | None:
    """`Two prizes` where the fact says `one prize`; elsewhere `one` is hardly a number."""
    own = wanted.passage
    for k, place in enumerate(own.units):
        if place == 0 or own.words[place - 1].stem != "one" or own.words[place].kind != "content":
            continue
        for other in passage.places.get(wanted.stems[k], ()):
            if other > 0 and passage.words[other - 1].kind == "number":
                return Mismatch("number", passage.words[other - 1].text, "one", k)
    return None


def _rival(wanted: Statement, passage: Passage, places: Sequence[int | None], k: int) -> int | None:
    for place in beside_neighbours(wanted, passage, places, k):
        word = passage.words[place]
        if word.kind != "number" or word.stem in wanted.stems:
            continue
        if _sort(word.stem) == _sort(wanted.units[k].stem):
            return place
    return None


def _sort(number: str) -> str:
    """What a number can be exchanged for: a month for a month, a year for a year."""
    if ":" in number:
        return number.partition(":")[0]
    return "year" if _YEAR.fullmatch(number) else "count"


def _is_bound(passage: Passage, place: int) -> bool:
    """Whether a number is only a limit or an estimate: `at least 50`, `50 or more`."""
    word = passage.words[place]
    before = passage.text[max(0, word.start - _LONGEST_BOUND) : word.start]
    return bool(_BOUND.search(before) or _OPEN_END.match(passage.text, word.end))


def _counts_something_else(wanted: Statement, passage: Passage, k: int) -> int | None:
    """The place of another number before the word that this number counts, if there is one."""
    if k + 1 >= len(wanted.units) or wanted.units[k + 1].kind == "number":
        return None
    if wanted.passage.units[k + 1] - wanted.passage.units[k] != 1:
        return None
    stem = wanted.units[k].stem
    rivals = []
    for place in passage.places.get(wanted.units[k + 1].stem, ()):
        if place == 0 or passage.words[place - 1].kind != "number":
            return None
        if passage.words[place - 1].stem in {stem, *other_readings(stem)}:
            return None
        rivals.append(place - 1)
    return rivals[0] if rivals else None


def counts_nothing(passage: Passage, stem: str) -> bool:
    """Whether a number stands without a word it counts, as in `three of which`, or counts years."""
    return any(
        place + 1 == len(passage.words)
        or passage.words[place + 1].kind not in TELLING
        or passage.words[place + 1].stem == "year"
        for place in passage.places.get(stem, ())
    )


def role_mismatch(
    wanted: Statement, passage: Passage, places: Sequence[int | None]
) -> Mismatch | None:
    """A fitting word that something before it turns round: `after` for `before`, `some` for `all`.

    It bars the sentence, and contradicts nothing: what else the sentence says is not looked at.
    """
    if passage.leads:
        for own, leads in wanted.passage.leads.items():
            k = wanted.passage.units.index(own)
            place = places[k]
            others = () if place is None else passage.leads.get(place, ())
            for meant in leads:
                for said in others:
                    if meant not in others and _clash(meant, said, is_number=k in wanted.numbers):
                        return Mismatch("sense", said, meant, k)
    return _reversed_score(wanted, passage) if len(wanted.numbers) > 1 else None


def _clash(meant: str, said: str, *, is_number: bool) -> bool:
    if meant in QUANTIFIERS:
        return QUANTIFIERS.get(said, QUANTIFIERS[meant]) < QUANTIFIERS[meant]
    if meant in CHANGES:
        return is_number and said in CHANGES
    return any(meant in one and said in other for one, other in _OPPOSITES)


def _reversed_score(wanted: Statement, passage: Passage) -> Mismatch | None:
    """`3-1` where the sentence has `1-3` and no `3-1`."""
    for k in wanted.numbers:
        if k + 1 not in wanted.numbers or not _is_joined(wanted.passage, wanted.passage.units[k]):
            continue
        pair = (wanted.stems[k], wanted.stems[k + 1])
        said = {
            (passage.words[place].stem, passage.words[place + 1].stem): place
            for place in range(len(passage.words) - 1)
            if passage.words[place].kind == "number" and _is_joined(passage, place)
        }
        if pair not in said and pair[::-1] in said:
            place = said[pair[::-1]]
            return Mismatch(
                "sense",
                passage.text[passage.words[place].start : passage.words[place + 1].end],
                wanted.passage.text[wanted.units[k].start : wanted.units[k + 1].end],
                k,
            )
    return None


def _is_joined(passage: Passage, place: int) -> bool:
    """Whether a dash, a colon or `to` joins a number to the next one."""
    if place + 1 >= len(passage.words):
        return False
    following = place + 1
    between = passage.text[passage.words[place].end : passage.words[following].start]
    return passage.words[following].kind == "number" and bool(_JOINED.fullmatch(between))
