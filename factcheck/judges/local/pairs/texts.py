"""Comparison of two texts by their units and, if these do not decide, by the networks.

Numbers, bounds and signs of both values must agree, negations too, and the order of words that
tells who does what. Of the words that only one value has, those count that are not optional and
do not frame the other value as a sentence frames an answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations, pairwise, product
from typing import NamedTuple

from factcheck.judges.local.encoder import judge
from factcheck.judges.local.model import Model, read_model
from factcheck.judges.local.pairs.normal import (
    DECISION,
    OTHER,
    SAME,
    TABLES,
    TERMS,
    VAGUE,
    Finding,
    against,
    quoted,
)
from factcheck.judges.local.pairs.reading import CLASS_NOUNS, Reading, Unit, read
from factcheck.judges.ports import Specificity
from factcheck.reports.text import n_shared
from factcheck.text.words import antonyms, guess_language, word_set

FEATURES = ("least_entailed", "most_entailed", "names")
"""Features of values that both have distinct words; see `_features`."""
_SAME_WORDS, _TURNED, _LEAST = 0.93, 0.05, 0.06
"""Probabilities of values that differ in word order, inflection or a frame; of a negation, opposite
or swapped role; minimum probability of values that differ in words only."""
_PREFIXES = word_set(TABLES["prefixes"])
"""Beginnings that make another word of one: `biweekly`, `inpatient`."""
_PRIVATIVES, _LIMITS = word_set(TABLES["privatives"]), word_set(TABLES["limits"])
_WITHDRAWN = word_set(TABLES["withdrawn"])
_PLACE_MODIFIERS = word_set(TABLES["place_modifiers"])
_RIVALS = {frozenset(p) for row in TABLES["rivals"] for p in combinations(row.split(), 2)}
_STREETS = word_set(TABLES["streets"])
_ROLE = re.compile(rf"[-:/\\|]|\b(?:{'|'.join(TABLES['roles'].split())})\b")
"""Links of two words that give them their roles: `history of art`, `EUR/USD`."""
_SIGNS = frozenset("-:/|\\")
_ROLES = frozenset("<>=\u2190-:")
"""Signs that, as verbs do, give what stands before and behind them its role."""
_LARGEST_FRAME, _FEW, _MOST_REPEATED = 8, 3, 40
"""Maximum number of units that frame an answer, units in a reason, and equal units looked at."""
_LONGEST_ACRONYM = 8
_FIRST = 32
"""Maximum sum of the positions of a unit in both values for checks of order, and number of missing
units compared with each other, and of acronyms of a value."""
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


@lru_cache(maxsize=1)
def load_pair_model() -> Model:
    """Load the packaged model of equivalence."""
    return read_model("factcheck.judges.local.pairs", FEATURES)


def probability_by(model: Model, features: Sequence[float]) -> float:
    """Return the probability of equivalence, at least 0.06."""
    return _LEAST + (1 - _LEAST) * model.probability(features)


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
    first: str, second: str, specificity: Specificity, language: str, model: Model | None
) -> Finding:
    """Compare two tidy texts; without a model, by words only."""
    readings = [read(first, language), read(second, language)]
    specific = {"allow_more_specific": 1, "allow_less_specific": 0}.get(specificity)
    if specific is not None:  # `40 lb` says more than `40`
        units = tuple(map(_without_measure, readings[specific].units))
        readings[specific] = readings[specific]._replace(units=units)
    one, other = readings
    pairs, lone, rest = match(one.units, other.units)
    sides = [_side(one, lone), _side(other, rest)]
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
        return Finding(_SAME_WORDS, reason)
    is_open = all(side.own for side in sides) and not any(unit.is_typed for unit in own)
    if have_common and not is_open:
        return Finding(VAGUE, reason)
    is_read = is_open and language == "en" and max(len(first), len(second)) <= _LONGEST_READ
    if model is not None and is_read and not _is_doubtful(sides):
        probability = probability_by(model, _features(sides, specific))
        is_label = not have_common and max(len(one.units), len(other.units)) <= _LONGEST_LABEL
        if is_label and probability < _SURE:
            probability = min(probability, VAGUE)
        is_same = probability >= DECISION
        return Finding(probability, f"the same in other words ({reason})" if is_same else reason)
    return Finding(_LEAST + (VAGUE - _LEAST) * min(side.share for side in sides), reason)


def _without_measure(unit: Unit) -> Unit:
    """Let a measure also be equal to its number alone."""
    if unit.number is None:
        return unit
    return unit._replace(keys=unit.keys | {f"={unit.number:.12g}"})


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
        if key[-1] != "*" or not are_names  # `Anna Rise` is not `Anna Rose`
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
    pairs += _abbreviated(ones, lone, others, rest)
    pairs += [(i, j) for j, i in _abbreviated(others, rest, ones, lone)]
    return sorted(pairs), lone, rest


def is_in_order(first: str, second: str) -> bool:
    """Whether two texts have the same units in one order, but for an end put in front."""
    language = guess_language(f"{min(first, second)} {max(first, second)}")
    pairs, lone, rest = match(read(first, language).units, read(second, language).units)
    steps = [after - before for (_, before), (_, after) in pairwise(pairs)]
    return not (lone or rest) and sum(step != 1 for step in steps) <= 1


def _match_acronyms(
    units: Sequence[Unit], lone: set[int], texts: Sequence[Unit], rest: set[int]
) -> None:
    """Match acronyms with what they stand for in the other value, or in the same."""
    forms = [unit.form for unit in texts]
    for i in [i for i, unit in enumerate(units) if _is_acronym(unit)][:_FIRST]:
        unit = units[i]
        is_deep = len(unit.form) > len("PT") and unit.form not in TERMS
        for at in range(len(forms)):
            run = {*range(at, at + _n_spelt(unit.form, forms, at, is_deep=is_deep))}
            is_within = texts is units and i not in run and not {i, *run} <= lone
            is_across = texts is not units and i in lone and run <= rest
            if len(run) > 1 and (is_within or is_across):
                lone.discard(i)
                rest.difference_update(run)
                break


def _is_acronym(unit: Unit) -> bool:
    is_short = 1 < sum(map(str.isupper, unit.text)) <= len(unit.form) <= _LONGEST_ACRONYM
    return is_short and unit.form.isalpha()


def _n_spelt(short: str, forms: Sequence[str], at: int, *, is_deep: bool) -> int:
    """Return the number of words from a position that spell an acronym: 3 of `CRP`, 2 of `IgG`.

    Each gives its first letter; if `is_deep`, it may give later ones, too, the last word the next.
    """
    if at == len(forms) or not forms[at].startswith(short[0]):
        return 0
    taken = 0
    for k, letter in enumerate(short, 1):
        taken = forms[at].find(letter, taken) + 1
        if not taken or (k > 1 and not is_deep):
            return 0
        if k == len(short):
            return int(forms[at].startswith(short))
        if n_behind := _n_spelt(short[k:], forms, at + 1, is_deep=is_deep):
            return 1 + n_behind
    return 0


def _is_short(unit: Unit, whole: Unit) -> bool:
    """Whether a word is the beginning of another one, with a point behind it."""
    short, long = unit.form, whole.form
    is_cut = unit.is_cut and unit.is_capital == whole.is_capital
    is_beginning = short != "" and long.startswith(short) and len(long) > len(short) + 1
    return is_cut and is_beginning and (len(short) > 1 or unit.is_capital)


def _abbreviated(
    units: Sequence[Unit], lone: set[int], texts: Sequence[Unit], rest: set[int]
) -> list[tuple[int, int]]:
    """Match abbreviations with words: `H. pylori`."""
    pairs = []
    for i in sorted(lone):
        j = next((j for j in sorted(rest) if _is_short(units[i], texts[j])), None)
        if j is not None:
            pairs.append((i, j))
            lone.remove(i)
            rest.remove(j)
    return pairs


def _side(reading: Reading, lone: set[int]) -> Side:
    """Sort the units that the other value lacks."""
    units = reading.units
    if len(lone) == len(units):
        return Side(reading, units, (), (), 0.0)
    own = [k for k in sorted(lone) if not units[k].is_optional]
    added = tuple(units[k] for k in sorted(lone) if units[k].is_optional)
    heads = tuple(units[k] for k in own if _is_head(reading, k, lone))
    return Side(reading, tuple(units[k] for k in own), added, heads, 1 - len(own) / len(units))


def _is_head(reading: Reading, at: int, lone: set[int]) -> bool:
    """Whether a unit changes the meaning of a common one beside it."""
    units = reading.units
    if units[at].is_typed:  # a sign or bound, `50 or more`
        return not units[at].text[0].isalnum() or min(units[at].keys).startswith("bound")
    is_modifier = units[at].form in _PLACE_MODIFIERS
    is_first = units[at].is_capital
    low = at if is_first else at - 1
    if low < 0 or low + 1 >= len(units) or _gap(reading, low, low + 1).strip(" \"'*_-"):
        return False
    common = at + 1 if is_first else at - 1
    return common not in lone and (is_modifier if is_first else units[at].form not in CLASS_NOUNS)


def _is_frame(side: Side, other: Side) -> bool:
    """Whether a value is a sentence that contains the whole other one, as an answer does.

    It has no other quantity of the same kind: `10 mg (was 5 mg)` is not 5 mg.
    """
    kinds = {measure.dimension for unit in other.reading.units for measure in unit.measures}
    return (
        0 < len(side.own) <= _LARGEST_FRAME
        and side.share > 0
        and not (side.heads or other.own)
        and kinds.isdisjoint(measure.dimension for unit in side.own for measure in unit.measures)
        and side.reading.is_sentence
        and not other.reading.is_sentence
    )


def _conflict(one: Side, other: Side) -> Finding | None:
    """Find differences that outweigh anything in common."""
    ones = [unit for unit in one.own if unit.is_typed]
    others = [unit for unit in other.own if unit.is_typed]
    if ones and others:
        lacks_unit = any(
            min(a.keys).startswith("open") or min(b.keys).startswith("open")
            or (not (a.measures and b.measures) and a.number == b.number is not None)
            for a, b in product(ones[:_FIRST], others[:_FIRST])
        )  # fmt: skip
        reason = against(_listed(one, ones), _listed(other, others))
        return Finding(VAGUE if lacks_unit else OTHER, reason)
    are_sentences = one.reading.is_sentence or other.reading.is_sentence
    are_same = not (one.own or other.own)
    qualifiers = _PRIVATIVES | _LIMITS if are_same and not are_sentences else _PRIVATIVES
    for side, rest, name in ((one, other, "gold"), (other, one, "extracted")):
        forms = {u.form for u in side.own if u.text.islower() or not are_sentences}
        found = (forms | side.reading.grammar - rest.reading.grammar) & qualifiers
        if not rest.own:
            found |= _withdrawing(side)
        if found:
            has_both = rest.own or rest.reading.grammar - side.reading.grammar
            texts = one.reading.written, other.reading.written
            only = f"only in {name}: {', '.join(sorted(found))}"
            return Finding(_TURNED, against(*texts) if has_both and all(texts) else only)
        is_denied = side.reading.is_denied and not rest.reading.is_denied
        if is_denied and not (one.own and other.own):
            return Finding(_TURNED, f"denied in {name} only: {quoted(side.reading.text)}")
    for a, b in product(_distinct(one.own), _distinct(other.own)):
        pair = {a.form, b.form}
        are_streets = pair <= _STREETS and a.is_capital and b.is_capital
        are_rivals = are_streets or pair in _RIVALS or pair in antonyms()
        if are_rivals or _is_changed(*sorted((a.form, b.form), key=len)):
            return Finding(_TURNED, against(a.text, b.text))
    if one.added and other.added:
        return Finding(VAGUE, against(one.reading.text, other.reading.text))
    return None


def _withdrawing(side: Side) -> set[str]:
    """Return the words that take the common value back or doubt it: `aspirin (discontinued)`."""
    has_name = any(unit.is_typed or unit.is_capital for unit in side.added)
    qualifiers = _WITHDRAWN if has_name else _WITHDRAWN | _PRIVATIVES
    added, own = ({unit.form for unit in units} for units in (side.added, side.own))
    return (added & qualifiers) | (own & _WITHDRAWN)


def _distinct(units: Sequence[Unit]) -> list[Unit]:
    """Return the first units of different form or capital."""
    return [*{(unit.form, unit.is_capital): unit for unit in units}.values()][:_FIRST]


def _is_changed(base: str, form: str) -> bool:
    """Whether a word is another one as a comparative or with a prefix: `faster`, `biweekly`."""
    if len(base) >= _SHORTEST_BASE and form.removesuffix(base) in _PREFIXES:
        return True
    return form in {f"{base}er", f"{base}est"}


def _misplaced(one: Reading, other: Reading, matched: Sequence[tuple[int, int]]) -> Finding | None:
    """Find common units whose order or relation changes the value: `EUR/USD`, `paid by Anna`."""
    pairs = [(i, j) for i, j in matched if i + j < _FIRST]
    ones, others = one.units, other.units
    are_numbers = all(unit.is_typed for unit in ones + others)
    verbs = [(k, m) for k, m in pairs if _is_verbal(ones[k]) and _is_verbal(others[m])]
    for (i, j), (n, p) in pairwise([(-1, -1), *pairs]):
        links, other_links = _links(one, i, n) - {"of"}, _links(other, j, p) - {"of"}
        are_beside = n == i + 1 and p == j + 1 and not (links | other_links) & _SIGNS
        if are_beside and links != other_links and (i >= 0 or (links and other_links)):
            return Finding(VAGUE, against(one.text, other.text))
    for (i, j), (n, p) in combinations(pairs, 2):
        if j < p:
            continue
        links, other_links = _links(one, i, n), _links(other, p, j)
        has_verb = any(i < k < n and p < m < j for k, m in verbs)
        changes_voice = ("by" in links) != ("by" in other_links)
        turned = ones[i], ones[n], others[j], others[p]
        are_names = _gap(one, i, n) == " " == _gap(other, p, j)
        are_names = are_names and all(unit.is_capital for unit in turned)
        are_figures = are_numbers and None not in [unit.number for unit in turned]
        governs = [_ROLE.findall(gap.lower())[-1:] for gap in (_gap(one, i, n), _gap(other, p, j))]
        are_linked = governs[0] == governs[1] != [] or links | other_links == {"to", "-"}
        if (has_verb and not changes_voice) or are_names or are_linked or are_figures:
            return Finding(_TURNED, against(one.text, other.text))
    return None


def _is_verbal(unit: Unit) -> bool:
    return unit.text.islower() or unit.text in _ROLES


def _gap(reading: Reading, first: int, last: int) -> str:
    start = reading.units[first].end if first >= 0 else 0
    return reading.text[start : reading.units[last].start]


def _links(reading: Reading, first: int, last: int) -> frozenset[str]:
    """Return the words and signs between two units that give them their roles."""
    return frozenset(_ROLE.findall(_gap(reading, first, last).lower()))


def _is_doubtful(sides: Sequence[Side]) -> bool:
    """Whether the networks are unreliable, as they overlook what is not alike in alike words.

    These are short words, nouns behind a number, words with a common beginning or end, such as
    `bilateral` and `unilateral`, and words that differ in one letter.
    """
    one, other = _words_of(sides[0]), _words_of(sides[1])
    longest = max(len(one), len(other))
    if longest <= _FEW or all(map(_has_counted, sides)):
        return True
    n_start, n_end = n_shared(one, other), n_shared(one[::-1], other[::-1])
    is_slip = " " not in one + other and n_start + n_end >= longest - 1
    if is_slip or max(_FAMILY_LETTERS, longest / 2) <= n_end < min(len(one), len(other)):
        return True
    are_names = all(unit.is_capital for side in sides for unit in side.own)
    share = _FAMILY_SHARE if " " in one + other else 0.0
    if are_names:
        share = _NAME_SHARE
    return n_start >= max(_FAMILY_LETTERS - are_names, share * longest)


def _words_of(side: Side) -> str:
    return " ".join(unit.form for unit in side.own)


def _has_counted(side: Side) -> bool:
    """Whether a short value has a word behind a number that the other value lacks."""
    behind = {two for one, two in pairwise(side.reading.units) if one.number is not None}
    return len(side.reading.units) <= _FEW and not behind.isdisjoint(side.own)


def _features(sides: Sequence[Side], specific: int | None) -> tuple[float, ...]:
    """Compute `FEATURES`, in one direction only if one side may be more specific."""
    # Of two plain sentences, the networks overlook a single word that differs.
    sentences = [f"The answer is {side.reading.text.rstrip('.')}." for side in sides]
    entailed = [judge(*pair).entailed for pair in (sentences, sentences[::-1])]
    names = min(map(_share_of_names, sides))
    least = min(entailed) if specific is None else entailed[1 - specific]
    return least, max(entailed), _CAPITAL * names


def _share_of_names(side: Side) -> float:
    return sum(unit.is_capital for unit in side.own) / (1 + len(side.own))


def _listed(side: Side, units: Sequence[Unit]) -> str:
    """Quote units, or the value if they are written in another way, as in `Q1`."""
    signs = ["-" if (unit.number or 0) < 0 and unit.text[0] != "-" else "" for unit in units]
    texts = [sign + unit.text for sign, unit in zip(signs, units, strict=True)]
    written, listed = side.reading.written, quoted(", ".join(texts[:_FEW]))
    return listed if not written or all(text in written for text in texts) else written


def _reason(sides: Sequence[Side], frames: Sequence[bool]) -> str:
    """Describe the common or the distinct units of two values."""
    if not all(side.share for side in sides):
        return "no word in common"
    if all(side.own for side in sides):
        return against(*(_listed(side, side.own) for side in sides))
    names = ("gold", "extracted")
    for side, is_frame, name, another in zip(sides, frames, names, names[::-1], strict=True):
        if side.own:
            is_only = f"only in {name}: {_listed(side, side.own)}"
            return f"{another} stands in {name}" if is_frame else is_only
    found = [name for side, name in zip(sides, names, strict=True) if side.added]
    return f"the same but for an addition in {found[0]}" if found else "same words"
