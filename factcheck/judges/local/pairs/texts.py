"""Comparison of two texts by their units and, if these do not decide, by the networks.

Numbers, bounds and signs of both values must agree, negations too, and the order of words that
tells who does what. Of the words that only one value has, those count that are not optional and
do not frame the other value as a sentence frames an answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations, product
from typing import NamedTuple

from factcheck.judges.local.encoder import judge
from factcheck.judges.local.pairs.model import (
    DECISION,
    LEAST,
    OTHER,
    SAME,
    SAME_WORDS,
    TURNED,
    VAGUE,
    Finding,
    PairModel,
    against,
    quoted,
)
from factcheck.judges.local.pairs.normal import TABLES, n_shared
from factcheck.judges.local.pairs.reading import CLASS_NOUNS, Reading, Unit, read
from factcheck.judges.ports import Specificity
from factcheck.text.words import antonyms, word_set

_PREFIXES = word_set(TABLES["prefixes"])
"""Beginnings that make another word of one: `biweekly`, `inpatient`."""
_PRIVATIVES, _LIMITS = word_set(TABLES["privatives"]), word_set(TABLES["limits"])
_PLACE_MODIFIERS = word_set(TABLES["place_modifiers"])
_OPPOSITES = [tuple(map(word_set, sides)) for sides in TABLES["opposites"]]
_RIVALS = {frozenset(p) for row in TABLES["rivals"] for p in combinations(row.split(), 2)}
_STREETS = word_set(TABLES["streets"])
_ROLE = re.compile(
    r"[-:/\\|]|\b(?:of|over|than|to|in|on|under|by|for|from|via|through|after|before|until|with|without"
    r"|between|against|into|onto|then|towards?|instead|during|since|per|above|below|behind|near)\b"
)
"""Links of two words that give them their roles: `history of art`, `EUR/USD`."""
_SIGNS = frozenset("-:/|\\")
_ROLES = frozenset("<>=\u2190-:")
"""Signs that, as verbs do, give what stands before and behind them its role."""
_VOWELS = frozenset("aeiouy")
_LARGEST_FRAME, _FEW, _MOST_REPEATED = 8, 3, 40
"""Maximum number of units that frame an answer, units in a reason, and equal units looked at."""
_FIRST = 32
"""Maximum sum of the positions of a unit in both values for checks of order."""
_FAMILY_LETTERS, _FAMILY_SHARE, _NAME_SHARE = 5, 0.65, 0.5
"""Minimum number and share of common first letters of related words, or of names that differ."""
_CAPITAL = 3.0
"""Information weight of a word with a capital letter, as the model was fitted."""
_SHORTEST_BASE = 4
_LONGEST_READ = 400
"""Maximum length in characters of values read by the networks."""
_LONGEST_LABEL, _SURE = 2, 0.7
"""Maximum number of units of a label, which has no context, and minimum probability of two labels
without a word in common: below it, most are neighbours such as `low` and `borderline`."""


class Side(NamedTuple):
    """One value of a pair, relative to the other."""

    reading: Reading
    own: tuple[Unit, ...]
    """Units missing from the other value that count."""
    added: tuple[Unit, ...]
    """Missing optional units."""
    heads: tuple[Unit, ...]
    """Missing units that change the meaning of the rest: `attack` in `heart attack`."""
    share: float
    """Fraction of the units that are common or do not count; 0 if nothing is common."""


def compare_texts(
    first: str, second: str, specificity: Specificity, language: str, model: PairModel | None
) -> Finding:
    """Compare two tidy texts; without a model, by words only."""
    readings = [read(first, language), read(second, language)]
    specific = {"allow_more_specific": 1, "allow_less_specific": 0}.get(specificity)
    if specific is not None:
        readings[specific] = _with_bare_numbers(readings[specific])
    one, other = readings
    pairs, lone, rest = match(one.units, other.units)
    sides = [_side(one, lone), _side(other, rest)]
    if one.is_sentence and other.is_sentence and all(side.added for side in sides):
        sides = [side._replace(own=side.own + side.added, added=()) for side in sides]
    frames = [_is_frame(*sides), _is_frame(*sides[::-1])]
    if (conflict := _conflict(*sides) or _misplaced(one, other, pairs)) is not None:
        return conflict
    reason = _reason(sides, frames)
    have_common = all(side.share for side in sides)
    if specific is not None and have_common:
        sides[specific] = sides[specific]._replace(own=sides[specific].heads)
    own = [unit for side in sides for unit in side.own]
    if any(frames) or (have_common and not own):
        if all(unit.is_typed for unit in one.units + other.units):
            return Finding(SAME, "same quantity" if reason == "same words" else reason)
        return Finding(SAME_WORDS, reason)
    is_open = all(side.own for side in sides) and not any(unit.is_typed for unit in own)
    if have_common and not is_open:
        return Finding(VAGUE, reason)
    is_read = is_open and language == "en" and max(len(first), len(second)) <= _LONGEST_READ
    if model is not None and is_read and not _is_doubtful(sides):
        probability = model.probability(_features(sides, specific))
        is_label = not have_common and max(len(one.units), len(other.units)) <= _LONGEST_LABEL
        if is_label and probability < _SURE:
            probability = min(probability, VAGUE)
        is_same = probability >= DECISION
        return Finding(probability, f"the same in other words ({reason})" if is_same else reason)
    return Finding(LEAST + (VAGUE - LEAST) * min(side.share for side in sides), reason)


def _with_bare_numbers(reading: Reading) -> Reading:
    """Let measures equal numbers that lack the unit."""
    bare = [{f"={n:.12g}" for n in (unit.number,) if n is not None} for unit in reading.units]
    units = [
        unit._replace(keys=unit.keys | keys) for unit, keys in zip(reading.units, bare, strict=True)
    ]
    return reading._replace(units=tuple(units))


def match(
    ones: Sequence[Unit], others: Sequence[Unit]
) -> tuple[list[tuple[int, int]], set[int], set[int]]:
    """Match the units of two values, closest first; return pairs and positions of the rest."""
    holders: dict[str, list[int]] = {}
    for j, unit in enumerate(others):
        for key in unit.keys:
            holders.setdefault(key, []).append(j)
    are_names = all(unit.is_capital or unit.is_typed for unit in (*ones, *others))
    candidates = {
        (unit.form != others[j].form, abs(i - j), i + j, i, j)
        for i, unit in enumerate(ones)
        for key in unit.keys
        for j in holders.get(key, ())[:_MOST_REPEATED]
        if key[-1] != "*" or not are_names  # `Roberts`
    }
    pairs: list[tuple[int, int]] = []
    lone, rest = {*range(len(ones))}, {*range(len(others))}
    for *_, i, j in sorted(candidates):
        if i in lone and j in rest:
            pairs.append((i, j))
            lone.remove(i)
            rest.remove(j)
    sides = (ones, lone), (others, rest)
    for one, other in (sides, sides[::-1], sides[:1] * 2, sides[1:] * 2):
        _match_acronyms(*one, *other)
    return sorted(pairs), lone, rest


def _match_acronyms(
    units: Sequence[Unit], lone: set[int], texts: Sequence[Unit], rest: set[int]
) -> None:
    """Match acronyms with what they stand for in the other value, or in the same."""
    initials = "".join(unit.form[:1] or " " for unit in texts)
    for i, unit in enumerate(units):
        at = initials.find(unit.form) if len(unit.form) > 1 and unit.text.isupper() else -1
        run = {*range(at, at + len(unit.form))}
        if at >= 0 and (not {i, *run} <= lone if texts is units else i in lone and run <= rest):
            lone.discard(i)
            rest.difference_update(run)


def _side(reading: Reading, lone: set[int]) -> Side:
    """Sort the units that the other value lacks."""
    units = reading.units
    if len(lone) == len(units):
        return Side(reading, units, (), (), 0.0)
    own = [k for k in sorted(lone) if not units[k].is_optional]
    added = tuple(units[k] for k in sorted(lone) if units[k].is_optional)
    heads = tuple(units[k] for k in own if _is_head(reading, k, lone))
    share = 1 - len(own) / len(units)
    return Side(reading, tuple(units[k] for k in own), added, heads, share)


def _is_head(reading: Reading, at: int, lone: set[int]) -> bool:
    """Whether a unit changes the meaning of a common one beside it."""
    unit = reading.units[at]
    if unit.is_capital:
        is_modifier = unit.form in _PLACE_MODIFIERS and at + 1 not in lone
        return is_modifier and _are_beside(reading, at, at + 1)
    if unit.is_typed:  # a sign or bound, `50 or more`
        return not unit.text[0].isalnum() or any(key.startswith("bound") for key in unit.keys)
    is_noun = unit.form not in CLASS_NOUNS and at - 1 not in lone
    return is_noun and _are_beside(reading, at - 1, at)


def _are_beside(reading: Reading, low: int, high: int) -> bool:
    """Whether no word is between two units."""
    if low < 0 or high >= len(reading.units):
        return False
    start, end = reading.units[low].end, reading.units[high].start
    return not reading.text[start:end].strip(" \"'*_-")


def _is_frame(side: Side, other: Side) -> bool:
    """Whether a value is a sentence that contains the whole other one, as an answer does."""
    return (
        0 < len(side.own) <= _LARGEST_FRAME
        and side.share > 0
        and not (side.heads or other.own)
        and side.reading.is_sentence
        and not other.reading.is_sentence
    )


def _conflict(one: Side, other: Side) -> Finding | None:
    """Find differences that outweigh anything in common."""
    typed = [[unit for unit in side.own if unit.is_typed] for side in (one, other)]
    if all(typed):
        lacks_unit = any(
            not (a.measures and b.measures) and a.number == b.number is not None
            for a, b in product(*typed)
        )
        return Finding(
            VAGUE if lacks_unit else OTHER,
            against(_listed(typed[0]), _listed(typed[1])),
        )
    are_sentences = one.reading.is_sentence or other.reading.is_sentence
    qualifiers = _PRIVATIVES
    if not (one.own or other.own or are_sentences):
        qualifiers = _PRIVATIVES | _LIMITS
    for side, rest, name in ((one, other, "gold"), (other, one, "extracted")):
        forms = {u.form for u in side.own if u.text.islower() or not are_sentences}
        if found := (forms | side.reading.grammar - rest.reading.grammar) & qualifiers:
            return Finding(TURNED, f"only in {name}: {', '.join(sorted(found))}")
    distinct = ({(u.form, u.is_capital): u for u in side.own}.values() for side in (one, other))
    for a, b in product(*distinct):
        pair = {a.form, b.form}
        are_streets = pair <= _STREETS and a.is_capital and b.is_capital
        are_rivals = are_streets or pair in _RIVALS or pair in antonyms()
        if are_rivals or _is_changed(*sorted((a.form, b.form), key=len)):
            return Finding(TURNED, against(a.text, b.text))
    if one.added and other.added:
        return Finding(VAGUE, against(one.reading.text, other.reading.text))
    return None if one.own and other.own else _reversed(one, other)


def _is_changed(base: str, form: str) -> bool:
    """Whether a word is another one as a comparative or with a prefix: `faster`, `biweekly`."""
    if len(base) >= _SHORTEST_BASE and form.removesuffix(base) in _PREFIXES:
        return True
    return form.startswith(base) and form[len(base) :] in {"er", "est"}


def _reversed(one: Side, other: Side) -> Finding | None:
    """Find a negation or opposite on one side: `not active`, `with` against `without`."""
    if one.reading.is_denied != other.reading.is_denied:
        name, denied = ("gold", one) if one.reading.is_denied else ("extracted", other)
        return Finding(TURNED, f"denied in {name} only: {quoted(denied.reading.text)}")
    words, others = one.reading.grammar, other.reading.grammar
    for low, high in (*_OPPOSITES, *(sides[::-1] for sides in _OPPOSITES)):
        if words & low and others & high and not (words & high or others & low):
            return Finding(TURNED, against(min(words & low), min(others & high)))
    return None


def _misplaced(one: Reading, other: Reading, matched: Sequence[tuple[int, int]]) -> Finding | None:
    """Find common units whose order or relation changes the value: `EUR/USD`, `paid by Anna`."""
    pairs = [(i, j) for i, j in matched if i + j < _FIRST]
    ones, others = one.units, other.units
    are_numbers = all(unit.is_typed for unit in ones + others)
    verbs = [
        (k, m)
        for k, m in pairs
        if all(unit.text.islower() or unit.text in _ROLES for unit in (ones[k], others[m]))
    ]
    for (i, j), (n, p) in combinations(pairs, 2):
        low, high = min(j, p), max(j, p)
        links, other_links = _links(one, i, n), _links(other, low, high)
        if j < p:
            is_beside = n == i + 1 and p == j + 1 and not (links | other_links) & _SIGNS
            if is_beside and links - {"of"} != other_links - {"of"}:
                return Finding(VAGUE, against(_text(one, i, n), _text(other, j, p)))
            continue
        has_verb = any(i < k < n and low < m < high for k, m in verbs)
        changes_voice = ("by" in links) != ("by" in other_links)
        turned = ones[i], ones[n], others[j], others[p]
        are_names = all(unit.is_capital for unit in turned)
        are_names = are_names and _gap(one, i, n) == " " == _gap(other, p, j)
        are_figures = are_numbers and None not in [unit.number for unit in turned]
        are_linked = bool(links & other_links) or links | other_links == {"to", "-"}
        if (has_verb and not changes_voice) or are_names or are_linked or are_figures:
            return Finding(TURNED, against(_text(one, i, n), _text(other, low, high)))
    return None


def _gap(reading: Reading, first: int, last: int) -> str:
    return reading.text[reading.units[first].end : reading.units[last].start]


def _links(reading: Reading, first: int, last: int) -> frozenset[str]:
    """Return the words and signs between two units that give them their roles."""
    return frozenset(_ROLE.findall(_gap(reading, first, last).lower()))


def _text(reading: Reading, first: int, last: int) -> str:
    return reading.text[reading.units[first].start : reading.units[last].end]


def _is_doubtful(sides: Sequence[Side]) -> bool:
    """Whether the networks are unreliable: symbols, `German` and `Germany`, other scripts."""
    if all(any(_is_symbol(u) or not u.text[1:].islower() for u in side.own) for side in sides):
        return True
    texts = [side.reading.text for side in sides]
    if any(len(text) < _FEW and not text.isupper() for text in texts) or any(
        all(_is_symbol(u) and not u.text.isupper() for u in side.own) for side in sides
    ):
        return True
    if all(len(side.reading.units) <= _FEW and _are_counted(side) for side in sides):
        return True
    one, other = (" ".join(unit.form for unit in side.own) for side in sides)
    longest = max(len(one), len(other))
    return not (one + other).isascii() or longest <= _FEW or _are_alike(one, other, sides)


def _are_alike(one: str, other: str, sides: Sequence[Side]) -> bool:
    """Whether words share so many letters that networks overlook the rest: `bilateral`."""
    longest = max(len(one), len(other))
    n_start, n_end = n_shared(one, other), n_shared(one[::-1], other[::-1])
    if n_end < min(len(one), len(other)) and n_end >= max(_FAMILY_LETTERS, longest / 2):
        return True
    if all(unit.is_capital for side in sides for unit in side.own):
        return n_start >= max(_FAMILY_LETTERS - 1, _NAME_SHARE * longest)
    share = _FAMILY_SHARE if " " in one + other else 0
    return n_start >= max(_FAMILY_LETTERS, share * longest)


def _are_counted(side: Side) -> bool:
    """Whether a word that the other value lacks stands behind a number."""
    units = side.reading.units
    return any(
        units[k - 1].number is not None for k in range(1, len(units)) if units[k] in side.own
    )


def _is_symbol(unit: Unit) -> bool:
    """Whether a word is a symbol or abbreviation: `kWh`, `J`, `rpm`."""
    is_short = len(unit.form) < _FEW and not unit.text.islower()
    return is_short or _VOWELS.isdisjoint(unit.form)


def _features(sides: Sequence[Side], specific: int | None) -> tuple[float, ...]:
    """Compute `FEATURES`, in one direction only if one side may be more specific."""
    # Of two plain sentences, the networks overlook a single word that differs.
    sentences = [f"The answer is {side.reading.text.rstrip('.')}." for side in sides]
    entailed = [judge(*pair).entailed for pair in (sentences, sentences[::-1])]
    capitals = [
        _CAPITAL * sum(unit.is_capital for unit in side.own) / (1 + len(side.own)) for side in sides
    ]
    least = min(entailed) if specific is None else entailed[1 - specific]
    return least, max(entailed), min(capitals)


def _listed(units: Sequence[Unit]) -> str:
    return quoted(", ".join(unit.text for unit in units[:_FEW]))


def _reason(sides: Sequence[Side], frames: Sequence[bool]) -> str:
    """Describe the common or the distinct units of two values."""
    if not all(side.share for side in sides):
        return "no word in common"
    if all(side.own for side in sides):
        return against(
            _listed(sides[0].own),
            _listed(sides[1].own),
        )
    names = ("gold", "extracted")
    for side, is_frame, name, another in zip(sides, frames, names, names[::-1], strict=True):
        if is_frame:
            return f"{another} stands in {name}"
        if side.own:
            return f"only in {name}: {_listed(side.own)}"
    found = [name for side, name in zip(sides, names, strict=True) if side.added]
    return f"the same but for an addition in {found[0]}" if found else "same words"
