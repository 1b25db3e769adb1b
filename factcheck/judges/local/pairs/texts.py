"""Comparison of two texts by word rules and, if these do not decide, by the networks.

Words of one value only are classified by their position relative to the common words: in a sentence
that frames an answer, in brackets, as a title, and so on. Only words that change the value count. A
number on one side only always counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations, product
from typing import NamedTuple

from factcheck.judges.local.encoder import judge
from factcheck.judges.local.pairs.closed import places
from factcheck.judges.local.pairs.model import (
    LEAST,
    OTHER,
    SAME_WORDS,
    SIMILAR,
    TURNED,
    VAGUE,
    Finding,
    PairModel,
    against,
    quoted,
)
from factcheck.judges.local.pairs.normal import TABLES, Plain
from factcheck.judges.local.pairs.wording import (
    TITLES,
    Matching,
    Unit,
    Wording,
    match,
    n_shared,
    wording,
)
from factcheck.judges.ports import Specificity
from factcheck.text.words import antonyms, word_set

_DEGREES, _CLASS_NOUNS = word_set(TABLES["degrees"]), word_set(TABLES["class_nouns"])
_PRIVATIVES, _MEASURES = word_set(TABLES["privatives"]), word_set(TABLES["measures"])
_PLACE_MODIFIERS = word_set(TABLES["place_modifiers"])
_OPPOSITES = tuple((word_set(a), word_set(b)) for a, b in TABLES["opposites"])
_CONVERSES = frozenset(word_set(pair) for pair in TABLES["converses"])
_CONVERSE = re.compile(r"(\w{3,})(?:er|or)s? \1ees?|(\w{3,})ees? \2(?:er|or)s?")
_EXCEPTIONS, _HEDGES = word_set("except ausser sauf salvo excepto"), word_set("may might could")
_CLAUSES = word_set("because although while when unless")
_COPULAS = word_set("is are was were be been ist war est es")
_HARMLESS = frozenset({"frame", "aside", "title", "degree"})
"""Positions in which a word does not change the value."""
_SIGNS = frozenset("+\u2212#<>=~^≤≥")
_GAP = re.compile(
    r"[\s\"'*_-]*(?:(?:the|an?|der|die|das|le|la|les|el|los|las)\s+)?[\"']*", re.IGNORECASE
)
_LABEL = re.compile(r"\s*[^\s:][^:\n]{0,118}:\s+")
_QUOTED = re.compile(r"\"([^\"]+)\"|(?<![\w'])'([^']+)'(?!\w)")
_ALIAS = re.compile(r"\s(?:aka|alias|or)\s|\s-\s|\s/\s")
_NESTED = re.compile(r"[(\[{][^()\[\]{}]*[)\]}]")
_JOINT = re.compile(r"\s(?:of|over|than|to|in|on|under)\s(?:the\s|an?\s)?")
_LARGEST_FRAME = 8
"""Maximum number of units that frame an answer."""
_FEW, _SHORT = 3, 6
_FIRST = 32
"""Maximum sum of the positions of a unit in both values for checks of order."""
_FAMILY_LETTERS, _FAMILY_SHARE = 5, 0.65
_LONGEST_READ = 400
"""Maximum length in characters of values read by the networks."""


class Side(NamedTuple):
    """One value of a pair, relative to the other."""

    own: tuple[Unit, ...]
    """Units missing from the other value, in positions that count."""
    added: dict[str, tuple[Unit, ...]]
    """Missing units by position, in positions that count only if both values have some."""
    heads: tuple[Unit, ...]
    """Missing units that change the meaning of the rest: `attack` in `heart attack`."""
    share: float
    """Fraction of the weight that is common or does not count."""
    n_shared: int
    """Number of units in common."""

    @property
    def all_own(self) -> tuple[Unit, ...]:
        """Units missing from the other value, except those that frame an answer."""
        added = (units for place, units in self.added.items() if place != "frame")
        return (*self.own, *(unit for units in added for unit in units))


def compare_texts(
    first: str,
    second: str,
    plains: tuple[Plain, Plain],
    specificity: Specificity,
    language: str,
    model: PairModel | None,
) -> Finding:
    """Compare two tidy texts; without a model, by words only."""
    one, other = wording(first, language), wording(second, language)
    matching = match(one, other)
    sides = _view(one, matching.first, other), _view(other, matching.second, one)
    if all(side.added.keys() - {"frame"} for side in sides):
        sides = sides[0]._replace(own=sides[0].all_own), sides[1]._replace(own=sides[1].all_own)
    conflict = (
        _conflict(one, other, sides)
        or _misplaced(one, other, matching)
        or _signs(first, second, plains)
    )
    if conflict is not None:
        return conflict
    reason = _reason(sides)
    if specificity != "exact":
        sides = _eased(sides, specificity)
    if not any(side.own for side in sides) and all(side.n_shared for side in sides):
        return Finding(SAME_WORDS, reason)
    are_styled = any(all(place in side.added for side in sides) for place in ("title", "degree"))
    if are_styled or any(unit.is_number for side in sides for unit in side.own):
        return Finding(VAGUE, reason)
    if not all(side.own for side in sides):
        return Finding(SIMILAR if _is_framed(one, other, sides) else VAGUE, reason)
    is_read = language == "en" and max(len(first), len(second)) <= _LONGEST_READ
    if model is not None and is_read:
        carried = _carried(one, other)
        if not _is_doubtful(sides):
            return Finding(model.probability(features(carried, sides, specificity)), reason)
    return Finding(LEAST + (VAGUE - LEAST) * min(side.share for side in sides), reason)


def _eased(sides: tuple[Side, Side], specificity: Specificity) -> tuple[Side, Side]:
    """Remove the units by which one side may be more specific."""
    gold, extracted = sides
    if specificity == "allow_more_specific":
        extracted = extracted._replace(own=extracted.heads) if extracted.n_shared else extracted
    else:
        gold = gold._replace(own=gold.heads) if gold.n_shared else gold
    return gold, extracted


def _is_doubtful(sides: Sequence[Side]) -> bool:
    """Whether the networks are unreliable: non-ASCII text, or similar words of different meaning.

    Examples are `German` and `Germany`, `universal` and `university`.
    """
    one, other = (" ".join(unit.form for unit in side.own) for side in sides)
    family = max(_FAMILY_LETTERS, _FAMILY_SHARE * max(len(one), len(other)))
    return not (one + other).isascii() or n_shared(one, other) >= family


def _is_framed(one: Wording, other: Wording, sides: Sequence[Side]) -> bool:
    """Whether one value is a sentence that contains the whole other one, as an answer does."""
    for each, side, rest in ((one, sides[0], other), (other, sides[1], one)):
        is_plain = each.is_sentence and not each.grammar & _CLAUSES and not side.heads
        if 0 < len(side.own) < _SHORT and is_plain and not rest.is_sentence:
            return True
    return False


def _carried(one: Wording, other: Wording) -> tuple[str, str]:
    """Turn values into short sentences, without common words at start and end but one of each.

    The networks may overlook a single differing word in a long sentence.
    """
    texts = [each.text.rstrip(".").split() for each in (one, other)]
    folded = [[word.lower() for word in text] for text in texts]
    starts, ends = (n_shared(*each) for each in (folded, [text[::-1] for text in folded]))
    cores = [" ".join(x[max(starts - 1, 0) : len(x) - max(ends - 1, 0)]) for x in texts]
    is_whole = max(starts, ends) <= 1
    first, second = (
        each.text if each.is_sentence and is_whole else f"The answer is {core}."
        for each, core in zip((one, other), cores, strict=True)
    )
    return first, second


def features(
    carried: tuple[str, str], sides: Sequence[Side], specificity: Specificity
) -> tuple[float, ...]:
    """Compute `FEATURES` of a pair; with a lenient specificity, from one direction only."""
    directions = {"allow_more_specific": (0,), "allow_less_specific": (1,)}.get(specificity, (0, 1))
    opinions = judge(*carried), judge(*carried[::-1])
    capitals = [sum(u.weight for u in s.own if u.is_capital) / (1 + len(s.own)) for s in sides]
    return (
        min(opinions[k].entailed for k in directions),
        max(opinion.entailed for opinion in opinions),
        min(capitals),
    )


def _view(wording: Wording, credits_: Sequence[float], other: Wording) -> Side:
    """Compare the units of one value with the other."""
    units = wording.units
    shared = [at for at, credit in enumerate(credits_) if credit]
    missing = [at for at, credit in enumerate(credits_) if not credit]
    nested = [found.span() for found in _NESTED.finditer(wording.text)]
    inside = [any(start < unit.start < end for start, end in nested) for unit in units]
    inside = [False] * len(units) if all(inside) else inside
    found: dict[int, str] = {}
    for answer in (_answer_in(wording, shared, other), None):
        found = {
            at: "aside" if inside[at] and shared else _place(wording, at, shared, answer)
            for at in missing
        }
        if sum(where == "frame" for where in found.values()) <= _LARGEST_FRAME:
            break
    own = tuple(units[at] for at, where in found.items() if where not in _HARMLESS)
    added: dict[str, tuple[Unit, ...]] = {}
    for at, where in found.items():
        if where in _HARMLESS:
            added[where] = (*added.get(where, ()), units[at])
    heads = [units[at] for at, where in found.items() if _is_head(units[at], where)]
    total = sum(unit.weight for unit in units) or 1.0
    return Side(own, added, tuple(heads), 1 - sum(u.weight for u in own) / total, len(shared))


def _is_head(unit: Unit, where: str) -> bool:
    """Whether an additional word changes the thing named: `heart attack`, `New York`."""
    if where == "behind":
        return not unit.is_capital and not unit.is_number
    return where == "before" and unit.is_capital and unit.form in _PLACE_MODIFIERS


def _answer_in(wording: Wording, shared: Sequence[int], other: Wording) -> tuple[int, int] | None:
    """Return the span of the answer in a labelled value, sentence or quotation.

    `Capital: Paris` or `It is called "Paris"` count as such only if the other value does not.
    """
    if not shared:
        return None
    first, last = wording.units[shared[0]].start, wording.units[shared[-1]].end
    label = _LABEL.match(wording.text)
    asides = _NESTED.sub(lambda found: " " * len(found[0]), wording.text)
    spans = [found.span() for found in _QUOTED.finditer(asides)]
    spans += [(label.end(), len(wording.text))] if label and not _LABEL.match(other.text) else []
    for start, end in spans:
        if start <= first and last <= end and end - start < len(wording.text):
            return start, end
    is_answer = wording.is_sentence and not (other.is_sentence or wording.grammar & _CLAUSES)
    return (0, len(wording.text)) if is_answer else None


def _place(wording: Wording, at: int, shared: Sequence[int], answer: tuple[int, int] | None) -> str:
    """Classify the position of a missing unit relative to the common ones."""
    if not shared:
        return "apart"
    units = wording.units
    unit, ours = units[at], [units[k] for k in shared]
    is_attached = _is_attached(wording, at, shared)
    is_before, is_behind = at < shared[0], at > shared[-1]
    are_names = all(each.is_capital for each in ours)
    low, high = (unit, ours[0]) if is_before else (ours[-1], unit)
    between = wording.text[low.end : max(high.start, low.end)]
    is_name = unit.is_capital and are_names
    behind_comma = " ".join(u.form for u in units if u.start >= ours[-1].end)
    readings = (
        ("frame", answer and (not answer[0] <= unit.start < answer[1] or not is_attached)),
        ("title", is_before and unit.form in TITLES and unit.is_capital),
        ("title", len(unit.form) == 1 and not (is_before or is_behind) and is_name),
        ("title", unit.form in _CLASS_NOUNS and are_names and is_attached),
        ("degree", is_behind and unit.form in _DEGREES and unit.is_capital),
        ("aside", is_behind and is_attached and _is_counted(unit, ours)),
        ("inside", not (is_before or is_behind)),
        ("aside", is_name and _ALIAS.search(between)),
        ("aside", is_behind and are_names and "," in between and behind_comma in places()),
        ("apart", not is_attached),
        ("before", is_before),
    )
    return next((name for name, fits in readings if fits), "behind")


def _is_counted(unit: Unit, ours: Sequence[Unit]) -> bool:
    """Whether a unit is counted by a lone number, as in `28 pieces`, not measured, `28 knots`."""
    is_measure = unit.form in _MEASURES or len(unit.form) <= _FEW
    return all(each.is_number for each in ours) and not (unit.is_number or is_measure)


def _is_attached(wording: Wording, at: int, shared: Sequence[int]) -> bool:
    """Whether a unit is connected to a common one, with only missing units between."""
    if wording.units[at].start in wording.verbs:
        return False
    near = [k for k in shared if k > at][:1] + [k for k in shared if k < at][-1:]
    return any(_touches(wording, *sorted((at, k))) for k in near)


def _touches(wording: Wording, low: int, high: int) -> bool:
    units = wording.units
    for one, other in zip(units[low:high], units[low + 1 : high + 1], strict=True):
        if not _GAP.fullmatch(wording.text[one.end : max(other.start, one.end)]):
            return False
        is_mixed = one.is_capital != other.is_capital and one.start > 0
        if is_mixed and not (one.is_number or other.is_number):
            return False
    return True


def _conflict(one: Wording, other: Wording, sides: Sequence[Side]) -> Finding | None:
    """Find differences that outweigh anything in common."""
    numbers = [[unit for unit in side.own if unit.is_number] for side in sides]
    if all(numbers):
        return Finding(OTHER, against(_listed(numbers[0]), _listed(numbers[1])))
    for side, name in zip(sides, ("gold", "extracted"), strict=True):
        privatives = [unit.text for unit in side.own if unit.form in _PRIVATIVES]
        if privatives:
            return Finding(TURNED, f"only in {name}: {', '.join(privatives)}")
    for a, b in product(sides[0].own, sides[1].own):
        both = frozenset({a.form, b.form})
        if both in _CONVERSES or both in antonyms() or _CONVERSE.fullmatch(f"{a.form} {b.form}"):
            return Finding(TURNED, against(a.text, b.text))
    if not all(side.own for side in sides) and (found := _reversed(one, other)):
        return found
    for kind, probability in ((_EXCEPTIONS, TURNED), (_HEDGES, VAGUE)):
        qualified = (kind & one.grammar, kind & other.grammar)
        if bool(qualified[0]) != bool(qualified[1]):
            name = "gold" if qualified[0] else "extracted"
            return Finding(probability, f"only in {name}: {min(qualified[0] | qualified[1])}")
    return None


def _reversed(one: Wording, other: Wording) -> Finding | None:
    """Find a negation or opposite on one side: `not active`, `with` against `without`."""
    if bool(one.denials) != bool(other.denials):
        name, denied = ("gold", one) if one.denials else ("extracted", other)
        return Finding(TURNED, f"denied in {name} only: {quoted(denied.text)}")
    for low, high in (*_OPPOSITES, *((high, low) for low, high in _OPPOSITES)):
        in_one, in_other = one.grammar & low, other.grammar & high
        if in_one and in_other and not (one.grammar & high or other.grammar & low):
            return Finding(TURNED, against(min(in_one), min(in_other)))
    return None


def _misplaced(one: Wording, other: Wording, matching: Matching) -> Finding | None:
    """Find common words whose order or neighbours change the value."""
    pairs = [(i, j) for i, j in matching.pairs if i + j < _FIRST]
    numbers = [pair for pair in pairs if one.units[pair[0]].is_number]
    for (i, j), step in [(pair, step) for pair in pairs for step in (-1, 1)] if numbers[1:] else ():
        k, m = i + step, j + step  # Flat 2, 10 High St; Flat 10, 2 High St
        are_beside = _is_beside(one, i, k) and _is_beside(other, j, m)
        if are_beside and any((k == a) != (m == b) for a, b in numbers):
            return Finding(TURNED, against(_stretch(one, i, k), _stretch(other, j, m)))
    return _crossed(one, other, pairs)


def _crossed(one: Wording, other: Wording, pairs: Sequence[tuple[int, int]]) -> Finding | None:
    """Find swapped sides of a word: `tenant pays landlord`, `landlord pays tenant`.

    If exactly one value is passive, sides that are not swapped are a conflict instead.
    """
    copulas = (one.grammar | other.grammar) & _COPULAS
    passive = "by" in one.grammar, "by" in other.grammar
    is_one_voice = not copulas or one.grammar == other.grammar
    for (i, j), (k, m), (n, p) in combinations(pairs, 3):
        is_verb = one.units[k].text.islower() and other.units[m].text.islower()
        is_kept = j < m < p and passive[0] != passive[1] and bool(copulas)
        is_turned = p < m < j and is_one_voice and (copulas or passive[0] == passive[1])
        if is_verb and (is_turned or is_kept):
            return Finding(TURNED, against(_stretch(one, i, n), _stretch(other, j, p)))
    for (i, j), (n, p) in combinations(pairs, 2):
        gaps = (
            one.text[one.units[i].end : one.units[n].start],
            other.text[other.units[p].end : other.units[j].start],
        )
        if p < j and all(_JOINT.fullmatch(gap) for gap in gaps):
            return Finding(TURNED, against(_stretch(one, i, n), _stretch(other, j, p)))
    return None


def _stretch(wording: Wording, *places_: int) -> str:
    units = [wording.units[at] for at in sorted(places_)]
    return wording.text[units[0].start : units[-1].end]


def _is_beside(wording: Wording, at: int, beside: int) -> bool:
    """Whether a number is adjacent to a word."""
    if not 0 <= beside < len(wording.units):
        return False
    word, number = wording.units[at], wording.units[beside]
    gap = wording.text[min(word.end, number.end) : max(word.start, number.start)]
    return number.is_number and not word.is_number and not set(gap) & set(",;\n")


def _signs(first: str, second: str, plains: tuple[Plain, Plain]) -> Finding | None:
    """Find different signs in short values: `C++` against `C`."""
    signs = [sorted(token for token in plain.tokens if token in _SIGNS) for plain in plains]
    if signs[0] == signs[1] or max(len(plain.tokens) for plain in plains) > _SHORT:
        return None
    return Finding(TURNED, against(first, second))


def _listed(units: Sequence[Unit]) -> str:
    return quoted(", ".join(unit.text for unit in units[:_FEW]))


def _reason(sides: Sequence[Side]) -> str:
    """Describe the common or the distinct words of two values."""
    first, second = sides
    if not (first.n_shared and second.n_shared):
        return "no word in common"
    if first.own and second.own:
        return against(_listed(first.own), _listed(second.own))
    for side, name, another in ((first, "gold", "extracted"), (second, "extracted", "gold")):
        if side.own:
            return f"only in {name}: {_listed(side.own)}"
        if "frame" in side.added:
            return f"{another} stands in {name}"
    names = [n for side, n in zip(sides, ("gold", "extracted"), strict=True) if side.added]
    return f"the same but for an addition in {' and '.join(names)}" if names else "same words"
