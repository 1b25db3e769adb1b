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
from factcheck.judges.local.pairs.wording import Unit, Wording, match, n_shared, wording
from factcheck.judges.ports import Specificity
from factcheck.text.words import antonyms, word_set

_TITLES, _DEGREES = word_set(TABLES["titles"]), word_set(TABLES["degrees"])
_CLASS_NOUNS, _PRIVATIVES = word_set(TABLES["class_nouns"]), word_set(TABLES["privatives"])
_PLACE_MODIFIERS, _LIMITS = word_set(TABLES["place_modifiers"]), word_set(TABLES["limits"])
_OPPOSITES = [(word_set(a), word_set(b)) for a, b in TABLES["opposites"]]
_OPPOSITES += [(high, low) for low, high in _OPPOSITES]
_CONVERSES = frozenset(map(word_set, TABLES["converses"]))
_CLAUSES = word_set("because although while when unless")
_COPULAS = word_set("is are was were be been ist war est es")
_SIGNS = frozenset("+\u2212#<>=~^≤≥")
_GAP = re.compile(
    r"[\s\"'*_-]*(?:(?:the|an?|der|die|das|le|la|les|el|los|las)\s+)?[\"']*", re.IGNORECASE
)
_LABEL = re.compile(r"\s*[^\s:][^:\n]{0,118}:\s+")
_QUOTED = re.compile(r"\"([^\"]+)\"|(?<![\w'])'([^']+)'(?!\w)")
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
    added: tuple[Unit, ...]
    """Missing units in brackets or titles, which count only if both values have some."""
    is_framed: bool
    """Whether further units frame the other value as an answer."""
    heads: tuple[Unit, ...]
    """Missing units that change the meaning of the rest: `attack` in `heart attack`."""
    share: float
    """Fraction of the weight that is common or does not count; 0 if nothing is common."""


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
    sides: Sequence[Side] = (_view(one, matching.first, other), _view(other, matching.second, one))
    conflict = (
        _conflict(one, other, sides)
        or _misplaced(one, other, matching.pairs)
        or _signs(first, second, plains)
    )
    if conflict is not None:
        return conflict
    reason = _reason(sides)
    if specificity != "exact" and all(side.share for side in sides):
        at = 1 if specificity == "allow_more_specific" else 0
        sides = tuple(s._replace(own=s.heads) if k == at else s for k, s in enumerate(sides))
    if not any(side.own for side in sides) and all(side.share for side in sides):
        return Finding(SAME_WORDS, reason)
    has_numbers = any(unit.is_number for side in sides for unit in side.own)
    if has_numbers or not all(side.own for side in sides):
        is_framed = not has_numbers and _is_framed(one, other, sides)
        return Finding(SIMILAR if is_framed else VAGUE, reason)
    is_read = language == "en" and max(len(first), len(second)) <= _LONGEST_READ
    if model is not None and is_read and not _is_doubtful(sides):
        return Finding(model.probability(_features(one, other, sides, specificity)), reason)
    return Finding(LEAST + (VAGUE - LEAST) * min(side.share for side in sides), reason)


def _is_doubtful(sides: Sequence[Side]) -> bool:
    """Whether the networks are unreliable: non-ASCII text, or similar words of different meaning.

    Examples are `German` and `Germany`, `universal` and `university`; also different initials.
    """
    if all(any(u.text.isupper() and len(u.form) < _FEW for u in side.own) for side in sides):
        return True
    one, other = (" ".join(unit.form for unit in side.own) for side in sides)
    family = max(_FAMILY_LETTERS, _FAMILY_SHARE * max(len(one), len(other)))
    return not (one + other).isascii() or n_shared(one, other) >= family


def _is_framed(one: Wording, other: Wording, sides: Sequence[Side]) -> bool:
    """Whether one value is a sentence that contains the whole other one, as an answer does."""
    return any(
        0 < len(side.own) < _SHORT
        and not side.heads
        and each.is_sentence
        and not (each.grammar & _CLAUSES or rest.is_sentence)
        for each, side, rest in ((one, sides[0], other), (other, sides[1], one))
    )


def _features(
    one: Wording, other: Wording, sides: Sequence[Side], specificity: Specificity
) -> tuple[float, ...]:
    """Compute `FEATURES` of a pair; with a lenient specificity, from one direction only.

    The networks may overlook a single differing word in a long sentence, so that they read short
    sentences, without common words at start and end but one of each.
    """
    texts = [each.text.rstrip(".").split() for each in (one, other)]
    folded = [[word.lower() for word in text] for text in texts]
    starts, ends = (n_shared(*each) for each in (folded, [text[::-1] for text in folded]))
    cores = [" ".join(x[max(starts - 1, 0) : len(x) - max(ends - 1, 0)]) for x in texts]
    read = [
        each.text if each.is_sentence and max(starts, ends) <= 1 else f"The answer is {core}."
        for each, core in zip((one, other), cores, strict=True)
    ]
    directions = {"allow_more_specific": (0,), "allow_less_specific": (1,)}.get(specificity, (0, 1))
    entailed = [judge(*pair).entailed for pair in (read, read[::-1])]
    capitals = [sum(u.weight for u in s.own if u.is_capital) / (1 + len(s.own)) for s in sides]
    return min(entailed[k] for k in directions), max(entailed), min(capitals)


def _view(wording: Wording, matched: set[int], other: Wording) -> Side:
    """Compare the units of one value with the other."""
    units, shared = wording.units, sorted(matched)
    missing = [at for at in range(len(units)) if at not in matched]
    if not shared:
        return Side(units, (), is_framed=False, heads=(), share=0.0)
    nested = [found.span() for found in _NESTED.finditer(wording.text)]
    inside = {at for at, u in enumerate(units) if any(a < u.start < b for a, b in nested)}
    inside = set() if len(inside) == len(units) else inside
    answer = _answer_in(wording, shared, other) if len(missing) <= _LARGEST_FRAME else None
    are_names = all(units[k].is_capital for k in shared)
    own, added, heads = [], [], []
    for at in missing:
        unit, is_attached = units[at], _is_attached(wording, at, shared)
        is_before, is_behind = at < shared[0], at > shared[-1]
        frames = answer and (not answer[0] <= unit.start < answer[1] or not is_attached)
        if (
            at in inside
            or (not frames and is_before and unit.is_capital and unit.form in _TITLES)
            or (not frames and is_behind and unit.is_capital and unit.form in _DEGREES)
            or (not frames and is_attached and are_names and unit.form in _CLASS_NOUNS)
        ):
            added.append(unit)
        elif not frames:
            own.append(unit)
            is_modifier = is_before and unit.is_capital and unit.form in _PLACE_MODIFIERS
            is_noun = is_behind and not (unit.is_capital or unit.is_number)
            heads += [unit] if is_attached and (is_modifier or is_noun) else []
    total = sum(unit.weight for unit in units)
    share = 1 - sum(unit.weight for unit in own) / total
    is_framed = len(own) + len(added) < len(missing)
    return Side(tuple(own), tuple(added), is_framed, tuple(heads), share)


def _answer_in(wording: Wording, shared: Sequence[int], other: Wording) -> tuple[int, int] | None:
    """Return the span of the answer in a labelled value, sentence or quotation.

    A sentence counts as such only if the other value is none.
    """
    first, last = wording.units[shared[0]].start, wording.units[shared[-1]].end
    text = _NESTED.sub(lambda found: " " * len(found[0]), wording.text)
    label, end = _LABEL.match(wording.text), len(text)
    spans = [found.span() for found in _QUOTED.finditer(text) if len(found[0]) < end]
    spans += [(label.end(), end)] if label else []
    if wording.is_sentence and not (other.is_sentence or wording.grammar & _CLAUSES):
        spans.append((0, end))
    return next((span for span in spans if span[0] <= first and last <= span[1]), None)


def _is_attached(wording: Wording, at: int, shared: Sequence[int]) -> bool:
    """Whether a unit is connected to a common one, with only missing units between."""
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
    forms = [{unit.form for unit in side.own} for side in sides]
    forms = [forms[0] | (one.grammar - other.grammar), forms[1] | (other.grammar - one.grammar)]
    is_bare = not (any(side.own for side in sides) or one.is_sentence or other.is_sentence)
    qualifiers = _PRIVATIVES | _LIMITS if is_bare else _PRIVATIVES
    for found, name in zip(forms, ("gold", "extracted"), strict=True):
        if words := sorted(found & qualifiers):
            return Finding(TURNED, f"only in {name}: {', '.join(words)}")
    for a, b in product(sides[0].own, sides[1].own):
        if {a.form, b.form} in _CONVERSES or {a.form, b.form} in antonyms():
            return Finding(TURNED, against(a.text, b.text))
    if all(side.added for side in sides) or all(side.is_framed for side in sides):
        return Finding(VAGUE, against(one.text, other.text))
    return None if all(side.own for side in sides) else _reversed(one, other)


def _reversed(one: Wording, other: Wording) -> Finding | None:
    """Find a negation or opposite on one side: `not active`, `with` against `without`."""
    if one.is_denied != other.is_denied:
        name, denied = ("gold", one) if one.is_denied else ("extracted", other)
        return Finding(TURNED, f"denied in {name} only: {quoted(denied.text)}")
    for low, high in _OPPOSITES:
        in_one, in_other = one.grammar & low, other.grammar & high
        if in_one and in_other and not (one.grammar & high or other.grammar & low):
            return Finding(TURNED, against(min(in_one), min(in_other)))
    return None


def _misplaced(one: Wording, other: Wording, matched: Sequence[tuple[int, int]]) -> Finding | None:
    """Find common words whose order or neighbours change the value.

    Words swap roles around a verb, as in `tenant pays landlord`, unless one value is passive; if
    exactly one is passive, words that are not swapped do. They also do around `of` or `to`.
    """
    pairs = [(i, j) for i, j in matched if i + j < _FIRST]
    in_other, in_one = dict(pairs), {j: i for i, j in pairs}
    for (i, j), step in product(pairs, (-1, 1)):  # Flat 2, 10 High St; Flat 10, 2 High St
        k, m = i + step, j + step
        are_beside = _is_beside(one, i, k) and _is_beside(other, j, m)
        if are_beside and (in_other.get(k, m) != m or in_one.get(m, k) != k):
            return Finding(TURNED, against(_stretch(one, i, k), _stretch(other, j, m)))
    copulas = (one.grammar | other.grammar) & _COPULAS
    is_one_voice = not copulas or one.grammar == other.grammar
    changes_voice = ("by" in one.grammar) != ("by" in other.grammar)
    for (i, j), (k, m), (n, p) in combinations(pairs, 3):
        is_verb = one.units[k].text.islower() and other.units[m].text.islower()
        is_kept = j < m < p and changes_voice and bool(copulas)
        is_turned = p < m < j and is_one_voice and (copulas or not changes_voice)
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


def _stretch(wording: Wording, *at: int) -> str:
    return wording.text[wording.units[min(at)].start : wording.units[max(at)].end]


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
    if not (first.share and second.share):
        return "no word in common"
    if first.own and second.own:
        return against(_listed(first.own), _listed(second.own))
    for side, name, another in ((first, "gold", "extracted"), (second, "extracted", "gold")):
        if side.own:
            return f"only in {name}: {_listed(side.own)}"
        if side.is_framed:
            return f"{another} stands in {name}"
    names = [n for side, n in zip(sides, ("gold", "extracted"), strict=True) if side.added]
    return f"the same but for an addition in {names[0]}" if names else "same words"
