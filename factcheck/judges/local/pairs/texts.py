"""Whether two values mean the same by their words, where nothing more can be known about them.

Rules decide which words both must have, the fitted model how sure that makes it. A number, a name
or any other word that stands on one side only is never made up for by those in common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from factcheck.judges.local.pairs.matching import Matching, match
from factcheck.judges.local.pairs.model import (
    DECISION,
    OTHER,
    UNLESS_BOTH,
    VAGUE,
    Finding,
    PairModel,
    against,
    quoted,
)
from factcheck.judges.local.pairs.normal import Plain
from factcheck.judges.local.pairs.sides import Side, features, view
from factcheck.judges.local.pairs.words import Unit, Wording, wording
from factcheck.judges.ports import Specificity
from factcheck.text.words import NEGATIONS, word_set

_OPPOSITES = tuple(
    (frozenset(one.split()), frozenset(other.split()))
    for one, other in (
        ("before until vor", "after since nach"),
        ("with mit avec con including inclusive", "without ohne sans sin excluding exclusive"),
        ("in inside within", "out outside"),
        ("on", "off"),
        ("up", "down"),
        ("over above", "under below beneath"),
        ("more most", "less least fewer fewest"),
        ("for", "against"),
        ("any some", "none"),
        ("all every", "some few"),
        ("from", "to"),
        ("and und et", "or oder ou"),
    )
)
"""Grammar words that turn a value round."""
_EXCEPTIONS = word_set("except ausser sauf salvo excepto")
_HEDGES = word_set("may might could")
"""Grammar words that make a fact a possibility."""
_DENIALS = sorted(word_set(" ".join(NEGATIONS.values())))
LEAST = 0.06
"""That two values without a word in common mean the same: `fired`, `let go`. Without knowledge of
the world that cannot be ruled out, while a number, date or negation that differs can."""
UNSAID = 0.45
"""What is left of a probability where one value has a word of its own."""
REPLACED = 0.2
"""The same where both have."""
_DENIED = 0.05
_TURNED = 0.1
_FEW = 3
_FEW_PAIRS = 12
_COPULAS = frozenset(("is", "are", "was", "were", "be", "been", "ist", "war", "est", "es"))
_SIGNS = frozenset("+\u2212#<>=~^≤≥")
_SHORT = 6
"""Words up to which a sign makes a difference."""
_SAME_BAG = 0.8
_LONG_SHARE = 0.98
"""Of the words of two long texts: with fewer in common, they do not mean the same."""


class Sides(NamedTuple):
    """Both values, each as seen from the other."""

    first: Side
    second: Side


def compare_texts(
    first: str,
    second: str,
    plains: tuple[Plain, Plain],
    specificity: Specificity,
    language: str,
    model: PairModel,
) -> Finding:
    """How likely two tidy texts mean the same, by their words."""
    from rapidfuzz.fuzz import ratio

    one, other = wording(first, language), wording(second, language)
    matching = match(one, other, language)
    sides = Sides(view(one, matching.first, other), view(other, matching.second, one))
    sides = _without_rival_additions(sides)
    conflict = _conflict(one, other, sides) or _turned(one, other, matching)
    conflict = conflict or _recounted(one, other, matching)
    conflict = conflict or _crossed(one, other, matching) or _signs(first, second, plains)
    if conflict is not None:
        return conflict
    allowed = _allowed(sides, specificity)
    is_eased = allowed != sides and not any(side.own for side in allowed)
    letters = 1.0 if is_eased else ratio(*sorted(plain.text for plain in plains)) / 100
    probability = model.probability(features(allowed.first, allowed.second, letters))
    return Finding(_unsure(probability * _left(allowed)), _reason(sides))


def _unsure(probability: float) -> float:
    """A probability that is never below `LEAST`: words that differ may still mean the same."""
    if probability >= DECISION:
        return probability
    return LEAST + probability * (DECISION - LEAST) / DECISION


def _left(sides: Sides) -> float:
    """What is left of a probability for the words that one value has alone, or each of them."""
    return (1.0, UNSAID, REPLACED)[sum(bool(side.own) for side in sides)]


def _without_rival_additions(sides: Sides) -> Sides:
    """The sides with additions as words of their own where both have one: `Mr`, `Mrs`."""
    rival = [place for place in UNLESS_BOTH if all(place in side.added for side in sides)]
    return Sides(
        *(
            side._replace(own=(*side.own, *(unit for place in rival for unit in side.added[place])))
            for side in sides
        )
    )


def _allowed(sides: Sides, specificity: Specificity) -> Sides:
    """The sides without what one of them may say in addition."""
    if specificity == "allow_more_specific":
        return sides._replace(second=_without_details(sides.second))
    if specificity == "allow_less_specific":
        return sides._replace(first=_without_details(sides.first))
    return sides


def _without_details(side: Side) -> Side:
    if not side.n_shared:
        return side
    kept = side.heads
    shares = {
        place: share if place in {"before", "behind"} and kept else 0.0
        for place, share in side.shares.items()
    }
    return side._replace(shares=shares, own=kept)


def _conflict(one: Wording, other: Wording, sides: Sides) -> Finding | None:
    """What makes two values different whatever they have in common."""
    first, second = sides
    if bool(one.negations) != bool(other.negations):
        name, denied = ("gold", one) if one.negations else ("extracted", other)
        return Finding(_DENIED, f"denied in {name} only: {quoted(denied.text)}")
    if first.numbers and second.numbers:
        return Finding(OTHER, against(_listed(first.numbers), _listed(second.numbers)))
    for side, name in ((first, "gold"), (second, "extracted")):
        if side.privatives:
            return Finding(_TURNED, f"only in {name}: {', '.join(side.privatives)}")
    return _opposed(one, other) or _qualified(one, other)


def _opposed(one: Wording, other: Wording) -> Finding | None:
    """`with` against `without`."""
    for low, high in _OPPOSITES:
        for these, those in ((low, high), (high, low)):
            said, meant = one.grammar & these, other.grammar & those
            if said and meant and not (one.grammar & those or other.grammar & these):
                return Finding(_TURNED, against(min(said), min(meant)))
    return None


def _qualified(one: Wording, other: Wording) -> Finding | None:
    """`except Monday` against `Monday`, `may contain` against `contains`."""
    for kind, probability in ((_EXCEPTIONS, _TURNED), (_HEDGES, VAGUE)):
        said = (kind & one.grammar, kind & other.grammar)
        if bool(said[0]) != bool(said[1]):
            name = "gold" if said[0] else "extracted"
            return Finding(probability, f"only in {name}: {min(said[0] or said[1])}")
    return None


def _turned(one: Wording, other: Wording, matching: Matching) -> Finding | None:
    """`from Berlin` against `to Berlin`."""
    for i, j in matching.pairs:
        said = one.leads.get(one.units[i].start, "")
        meant = other.leads.get(other.units[j].start, "")
        if said and meant and said != meant:
            text = one.units[i].text
            return Finding(_TURNED, against(f"{said} {text}", f"{meant} {text}"))
    return None


def _recounted(one: Wording, other: Wording, matching: Matching) -> Finding | None:
    """`Flat 2, 10 High St` against `Flat 10, 2 High St`: a word with the number of another."""
    numbers = [pair for pair in matching.pairs if one.units[pair[0]].is_number]
    for i, j in matching.pairs if len(numbers) > 1 else ():
        for k, m in ((i - 1, j - 1), (i + 1, j + 1)):
            are_beside = _is_beside(one, i, k) and _is_beside(other, j, m)
            if are_beside and any((k == a) != (m == b) for a, b in numbers):
                return Finding(_TURNED, against(_stretch(one, i, k), _stretch(other, j, m)))
    return None


def _stretch(wording: Wording, *places: int) -> str:
    units = [wording.units[place] for place in sorted(places)]
    return wording.text[units[0].start : units[-1].end]


def _is_beside(wording: Wording, place: int, beside: int) -> bool:
    """Whether a number stands right beside a word."""
    if not 0 <= beside < len(wording.units):
        return False
    word, number = wording.units[place], wording.units[beside]
    gap = wording.text[min(word.end, number.end) : max(word.start, number.start)]
    return number.is_number and not word.is_number and not set(gap) & set(",;\n")


def _crossed(one: Wording, other: Wording, matching: Matching) -> Finding | None:
    """Both sides of a verb changed places: `The dog bit the man`, `The man bit the dog`.

    Unless only one of two statements is in the passive voice; then they have to.
    """
    if not (one.is_sentence and other.is_sentence):
        return None
    copulas = (one.grammar | other.grammar) & _COPULAS
    passive = "by" in one.grammar, "by" in other.grammar
    is_one_voice = not copulas or one.grammar == other.grammar
    for (i, j), (k, m), (n, p) in combinations(matching.pairs[:_FEW_PAIRS], 3):
        is_verb = one.units[k].text.islower() and i < k < n
        is_crossed = is_verb and p < m < j and is_one_voice
        agent = one.units[n].start if passive[0] else other.units[p].start
        by = (one if passive[0] else other).leads.get(agent)
        kept = is_verb and j < m < p and passive[0] != passive[1] and by == "by"
        if is_crossed or (kept and copulas):
            said, meant = _stretch(one, i, n), _stretch(other, j, p)
            return Finding(_TURNED, against(said, meant))
    return None


def _signs(first: str, second: str, plains: tuple[Plain, Plain]) -> Finding | None:
    """`C++` against `C`."""
    signs = [sorted(token for token in plain.tokens if token in _SIGNS) for plain in plains]
    if signs[0] == signs[1] or max(len(plain.tokens) for plain in plains) > _SHORT:
        return None
    return Finding(_TURNED, against(first, second))


def _numbers_in(words: Counter[str]) -> list[str]:
    return [word for word in words if any(c.isdigit() for c in word)]


def _listed(units: Sequence[Unit]) -> str:
    return quoted(", ".join(unit.text for unit in units[:_FEW]))


def _count(sides: Sides) -> str:
    n_shared = min(side.n_shared for side in sides)
    return f"{n_shared} of {max(side.n_units for side in sides)} words in common"


def _reason(sides: Sides) -> str:
    """What two values have in common, or what each has on its own."""
    first, second = sides
    if not (first.n_shared and second.n_shared):
        return "no word in common"
    if first.own and second.own:
        if max(len(first.own), len(second.own)) <= _FEW:
            return against(_listed(first.own), _listed(second.own))
        return _count(sides)
    named = ((first, "gold", "extracted"), (second, "extracted", "gold"))
    own = [f"only in {name}: {_listed(side.own)}" for side, name, _ in named if side.own]
    framed = [f"{other} stands in {name}" for side, name, other in named if side.shares["frame"]]
    return next(iter(own + framed), "") or _nuance(sides)


def _nuance(sides: Sides) -> str:
    """How two values differ that mean the same."""
    names = ("gold", "extracted")
    added = [name for side, name in zip(sides, names, strict=True) if side.extra]
    if added:
        return f"the same but for an addition in {' and '.join(added)}"
    is_same = not any(side.loss for side in sides)
    return "same words" if is_same else "same words in another form"


def compare_long(first: Plain, second: Plain) -> Finding:
    """How likely two long texts mean the same, by how many words they have in common."""
    one, other = Counter(first.tokens), Counter(second.tokens)
    common = sum((one & other).values())
    largest = max(len(first.tokens), len(second.tokens))
    reason = f"{common:,} of {largest:,} words in common"
    numbers = [_numbers_in(a - b) for a, b in ((one, other), (other, one))]
    if all(numbers):
        return Finding(OTHER, against(*(", ".join(own[:_FEW]) for own in numbers)))
    share = common / largest if largest else 1.0
    is_denied = any(one[denial] != other[denial] for denial in _DENIALS)
    if share >= _LONG_SHARE and not is_denied and not any(numbers):
        return Finding(_SAME_BAG, reason)
    return Finding(share * UNSAID, reason)
