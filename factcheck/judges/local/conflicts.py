"""Evidence that a passage contradicts a fact: another number, date, name or role, a negation.

Precise rather than complete: a conflict is reported only where the passage plainly speaks of the
same thing. All is read off words without a parser, so a conflict is a reason to doubt, no proof.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import combinations
from typing import Literal, NamedTuple

from factcheck.facts import Span
from factcheck.judges.local.analysis import (
    PREPOSITIONS,
    SIDED,
    TURNING,
    Analysed,
    Relation,
    wording,
)
from factcheck.text.dates import Moment, differ, meet
from factcheck.text.names import Name, same_name
from factcheck.text.units import Quantity, agree, comparable
from factcheck.text.words import Word, word_set, words

ConflictKind = Literal[
    "number", "unit", "date", "name", "negation", "antonym", "role", "quantifier", "hedge"
]
Place = tuple[int, int]
"""Positions `[first, last)` of words."""


class Conflict(NamedTuple):
    """One place where a passage says something else than a fact, with its wording in both."""

    kind: ConflictKind
    text_word: str
    fact_word: str
    text_span: Span
    """In the passage."""
    fact_span: Span

    @property
    def contradicts(self) -> bool:
        """Whether it speaks against the fact; a hedge only says that it is not established."""
        return self.kind != "hedge"

    @property
    def decides(self) -> bool:
        """Whether it weighs more than the reader; that one knows hedges and names better."""
        return self.kind not in {"hedge", "name"}


_SAME = 0.6
"""Share of a fact's other content words from which a passage speaks of the same thing."""
_HARDLY = 0.5
"""The same, where a number has its like in the passage and no other can be meant."""
_NEARLY_ALL = 0.8
"""The same, where no neighbour of a word fits."""

_WHOLE = 100.0
"""Percent."""
_ALL = 3
_MOST_PLACES = 8
"""Of one word in a passage that are looked at."""
_RANKS = {
    **dict.fromkeys(("all", "every", "each", "both"), _ALL),
    **dict.fromkeys(("most", "nearly", "almost"), 2),
    **dict.fromkeys(("some", "many", "several", "few", "half", "third", "quarter", "part"), 1),
}
"""What is said of more is said of fewer, not the other way round."""
_ONLY = word_set("only solely exclusively")
_EXCEPT = word_set("except but excluding")
_LISTING = word_set("and or the und et y as well")


def find_conflicts(
    fact: Analysed, passage: Analysed, known: Container[str] = ()
) -> tuple[Conflict, ...]:
    """Where a passage says something else than a fact, one of each kind of reason at most.

    The time is bounded by the lengths of the two, whatever they hold.

    Args:
        fact: Analysed in the same language as the passage.
        passage: One sentence of a text.
        known: Stems that stand anywhere in the text; a name among them is not missing.
    """
    if not fact.content or not passage.content:
        return ()
    pair = _Pair(fact, passage, known)
    finders = [_numbers, _dates, _names, _swaps, _negated, _hedged]
    if fact.language == "en":
        finders += [_antonyms, _roles, _quantifiers, _only]
    return tuple(conflict for find in finders for conflict in find(pair))


class _Pair:
    """A fact and a passage with what all kinds of conflict ask about them."""

    def __init__(self, fact: Analysed, passage: Analysed, known: Container[str]) -> None:
        self.fact, self.passage = fact, passage
        self.fact_words, self.words = fact.words, passage.words
        self.held = {at for at in fact.content if self.fact_words[at].stem in passage.places}
        self.absent_names = [
            name for name in fact.names if not same_name(name, passage.places, passage.initials)
        ]
        self.elsewhere = [
            name for name in self.absent_names if any(stem in known for stem in name.stems)
        ]

    def rest(self, place: Place) -> float:
        """Share of the fact's content words, without those at a place, that are held."""
        others = [at for at in self.fact.content if not place[0] <= at < place[1]]
        return sum(at in self.held for at in others) / len(others) if others else 0.0

    def slot(self, ours: Place, theirs: Place) -> int:
        """How many of the neighbours of two places are the same word."""
        return _common(_neighbours(self.fact, *ours), _neighbours(self.passage, *theirs))

    def conflict(self, kind: ConflictKind, ours: Place, theirs: Place) -> Conflict:
        """A conflict of the words at two places."""
        text_word, text_span = wording(self.passage, *theirs)
        fact_word, fact_span = wording(self.fact, *ours)
        return Conflict(kind, text_word, fact_word, text_span, fact_span)


def _neighbours(analysed: Analysed, first: int, last: int) -> tuple[str, str]:
    """The nearest content word or number before and after a place, with a passive voice marked."""
    found = analysed.words
    sides = (range(first - 1, max(-1, first - 5), -1), range(last, min(len(found), last + 4)))
    return tuple(  # type: ignore[return-value]
        next(
            (
                found[at].stem + "~" * (at in analysed.passive)
                for at in side
                if found[at].kind in {"content", "number"} and found[at].form not in _EXCEPT
            ),
            "",
        )
        for side in sides
    )


def _common(one: tuple[str, str], other: tuple[str, str]) -> int:
    return sum(bool(a) and a == b for a, b in zip(one, other, strict=True))


def _numbers(pair: _Pair) -> Iterator[Conflict]:
    """Another number or unit for the same thing, or numbers that changed their things."""
    ours = pair.fact.quantities
    theirs = pair.passage.quantities
    dated = {n for m in pair.passage.moments for n in (m.year, m.day)}
    for q in ours:
        place, noun = (q.first, q.last), _counted(pair.fact, q)
        equal = [p for p in theirs if agree(q, p)]
        if q.value in dated or any(_counted(pair.passage, p) in {noun, ""} for p in equal):
            continue
        if equal and not noun:
            continue
        rest = pair.rest(place)
        rivals = [p for p in theirs if p not in equal and comparable(q, p)]
        for p in rivals:
            near = pair.slot(place, (p.first, p.last))
            if _excepted(pair.passage, p):
                continue
            if near < 2 and _derived(q, theirs):  # noqa: PLR2004 - both neighbours
                continue
            same_noun = bool(noun) and _counted(pair.passage, p) == noun
            free = not equal and not any(agree(o, p) for o in ours if o is not q)
            alone = bool(q.units) and len(rivals) == 1 and rest >= _HARDLY
            if (same_noun and rest >= _SAME) or (free and (alone or (near and rest >= _SAME))):
                kind: ConflictKind = "unit" if q.value == p.value else "number"
                conflict = pair.conflict(kind, place, (p.first, p.last))
                if kind == "unit" or not _same_digits(conflict.text_word, conflict.fact_word):
                    yield conflict
                break


def _same_digits(one: str, other: str) -> bool:
    """Whether two numbers may differ in their separators only: 18,365 and 18.365."""
    separators = str.maketrans("", "", ".,' \u00a0\u202f")
    return one.translate(separators) == other.translate(separators)


def _counted(analysed: Analysed, quantity: Quantity) -> str:
    """The stem of the content word right after a number, if it counts that."""
    found, at = analysed.words, quantity.last
    if at >= len(found) or found[at].kind != "content":
        return ""
    between = analysed.text[quantity.end : found[at].start]
    return "" if between.strip(" -\u00a0") else found[at].stem


def _excepted(analysed: Analysed, quantity: Quantity) -> bool:
    """Whether an exception follows: `all eight delegates except Anna`."""
    return any(word.form in _EXCEPT for word in analysed.words[quantity.last : quantity.last + 3])


def _derived(quantity: Quantity, others: Sequence[Quantity]) -> bool:
    """Whether a number is the sum, difference or share of two others: 59 for 13 of 72."""
    plain = [other for other in others if other.kind != "ordinal"]
    pairs = [(a.value, b.value, "share" in {a.kind, b.kind}) for a, b in combinations(plain, 2)]
    pairs += [(_WHOLE, other.value, False) for other in plain if other.kind == "share"]
    return any(
        quantity.value in {a + b, abs(a - b)} or (has_share and quantity.value == a * b)
        for a, b, has_share in pairs
    )


def _dates(pair: _Pair) -> Iterator[Conflict]:
    """Another day, month, year, weekday or time of the same event."""
    ours = pair.fact.moments
    theirs = pair.passage.moments
    for d in ours:
        place = (d.first, d.last)
        rivals = [m for m in theirs if differ(d, m)]
        closest = [m for m in rivals if _equal_parts(d, m) and pair.slot(place, (m.first, m.last))]
        meeting = [m for m in theirs if meet(d, m)]
        if any(set(d.keys) <= set(m.keys) for m in meeting):
            continue
        if any(not closest or pair.slot(place, (m.first, m.last)) for m in meeting):
            continue
        if pair.rest(place) < _SAME:
            continue
        for m in closest or [r for r in rivals if not any(meet(o, r) for o in ours)]:
            fits = pair.slot(place, (m.first, m.last)) or _equal_parts(d, m) or len(rivals) == 1
            if fits and (d.minute is None) == (m.minute is None):
                yield pair.conflict("date", place, (m.first, m.last))
                break


def _equal_parts(one: Moment, other: Moment) -> int:
    """How many of year, month and day are equal."""
    parts = zip((one.year, one.month, one.day), (other.year, other.month, other.day), strict=True)
    return sum(a is not None and a == b for a, b in parts)


def _names(pair: _Pair) -> Iterator[Conflict]:
    """Another name in the very place of a name that the passage does not have."""
    if bool(pair.fact.denied) != bool(pair.passage.denied):
        return
    others = [
        name
        for name in pair.passage.names
        if not same_name(name, pair.fact.places, pair.fact.initials)
    ]
    for name in pair.absent_names:
        place = (name.first, name.last)
        if pair.rest(place) < _SAME:
            continue
        for other in others:
            alike = any(a[:4] == b[:4] for a in name.stems for b in other.stems)
            fits = pair.slot(place, (other.first, other.last))
            if alike or not fits:
                continue
            if fits > 1 or (name not in pair.elsewhere and _at_edges(pair, name, other)):
                yield pair.conflict("name", place, (other.first, other.last))
                break


def _at_edges(pair: _Pair, name: Name, other: Name) -> bool:
    """Whether both names begin their sentences, or both end them."""
    starts = name.first <= 1 and other.first <= 1
    return starts or (name.last == len(pair.fact_words) and other.last == len(pair.words))


def _swaps(pair: _Pair) -> Iterator[Conflict]:
    """Two names, dates or numbers that changed places."""
    here, there = _items(pair.fact), _items(pair.passage)
    for (key, ours), (other_key, others) in combinations(here.items(), 2):
        if key[0] != other_key[0] or key not in there or other_key not in there:
            continue
        if _listed(pair.fact, ours[0], others[0]):
            continue
        swapped = all(
            not any(_alike(pair, place, own) for place in mine for own in there[own_key])
            and any(_alike(pair, place, cross) for place in mine for cross in there[cross_key])
            for mine, own_key, cross_key in ((ours, key, other_key), (others, other_key, key))
        )
        if swapped and pair.rest(ours[0]) >= _SAME and not _apart(pair, ours[0], others[0]):
            yield pair.conflict("role" if key[0] == "name" else "number", ours[0], there[key][0])
            return


def _apart(pair: _Pair, one: Place, other: Place) -> bool:
    """Whether two names stand on the same different sides of some verb in both."""
    first, second = ({word.stem for word in pair.fact_words[at:end]} for at, end in (one, other))
    return any(
        a.key == b.key
        and any(
            (here & a.agents and here & b.agents) and (there & a.patients and there & b.patients)
            for here, there in ((first, second), (second, first))
        )
        for a in pair.fact.relations
        for b in pair.passage.relations
    )


def _items(analysed: Analysed) -> dict[tuple[str, object], list[Place]]:
    """The places of each name, date and number, by sort and content."""
    found: dict[tuple[str, object], list[Place]] = {}
    for name in analysed.names:
        found.setdefault(("name", name.stems), []).append((name.first, name.last))
    for moment in analysed.moments:
        found.setdefault(("date", moment.keys), []).append((moment.first, moment.last))
    for quantity in analysed.quantities:
        found.setdefault(("number", quantity.key), []).append((quantity.first, quantity.last))
    return found


def _alike(pair: _Pair, ours: Place, theirs: Place) -> bool:
    """Whether two places have a neighbour in common, after the same preposition."""
    here, there = _frame(pair.fact, *ours), _frame(pair.passage, *theirs)
    return _common(here, there) > 0


def _frame(analysed: Analysed, first: int, last: int) -> tuple[str, str]:
    """The neighbours of a place, that before it with the preposition between."""
    before, after = _neighbours(analysed, first, last)
    word = analysed.words[first - 1].form if first else ""
    return f"{before} {word}" if before and word in PREPOSITIONS else before, after


def _listed(analysed: Analysed, one: Place, other: Place) -> bool:
    """Whether two places are items of one list: `Anna, Ben and Carl`; a range is none."""
    every, low, high = analysed.words, *sorted((one, other))
    between = every[low[1] : high[0]]
    gap = analysed.text[every[low[1] - 1].end : every[low[1]].start]
    return not any(mark in gap for mark in "-\u2013(") and all(
        word.form in _LISTING or word.text[0].isupper() for word in between
    )


def _negated(pair: _Pair) -> Iterator[Conflict]:
    """A word or a whole fact that is denied on one side only."""
    fact, passage = pair.fact, pair.passage
    unmatched = pair.absent_names or any(
        not any(agree(q, p) for p in passage.quantities) for q in fact.quantities
    )
    only = any(word.form in _ONLY for word in pair.words[:99])
    if unmatched or only or (fact.denied and passage.denied):
        return
    if (fact.denied_whole is None) != (passage.denied_whole is None):
        at, place = fact.denied_whole or 0, passage.denied_whole or 0
        if not fact.denied and not passage.denied and pair.rest((at, at + 3)) >= _NEARLY_ALL:
            yield pair.conflict("negation", (at, at + 1), (place, place + 1))
        return
    for denier, other, is_fact in ((fact, passage, True), (passage, fact, False)):
        for at, cue in denier.denied.items():
            stem = denier.words[at].stem
            here, there = denier.places.get(stem, ()), other.places.get(stem, ())
            if not there or not all(place in denier.reach for place in here):
                continue
            if any(place in other.reach for place in there):
                continue
            mine, theirs = (at, at + 1), (there[0], there[0] + 1)
            ours, its = (mine, theirs) if is_fact else (theirs, mine)
            rest = pair.rest(ours)
            if rest >= _NEARLY_ALL or (rest >= _SAME and pair.slot(ours, its)):
                whole = (min(at, cue), max(at, cue) + 1)
                yield pair.conflict("negation", *((whole, its) if is_fact else (ours, whole)))
                return


@lru_cache(maxsize=1)
def _opposites() -> Mapping[str, frozenset[str]]:
    """The stems of the antonyms of each English stem."""
    data = json.loads((files("factcheck.text") / "wordnet.json").read_text("utf-8"))
    found: dict[str, set[str]] = {}
    for pair in data["antonyms"]:
        one, other = (word.stem for word in words(pair))
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return {stem: frozenset(others - {stem}) for stem, others in found.items()}


_PREFIXES = ("un", "dis", "in", "im", "il", "ir", "non")
_SHORTEST = 4
"""Letters that must be left of a word without its prefix."""


def _antonyms(pair: _Pair) -> Iterator[Conflict]:
    """The opposite of a word of the fact, in its place."""
    for at, word in enumerate(pair.fact_words):
        stem, is_grammar = word.stem, word.form in TURNING
        if stem in pair.passage.places or not (is_grammar or stem in pair.fact.places):
            continue
        bare = {stem[len(p) :] for p in _PREFIXES if stem.startswith(p)}
        others = {other for other in bare if len(other) >= _SHORTEST} | {
            p + stem for p in _PREFIXES
        }
        for other in _opposites().get(stem, frozenset()) | others:
            for place in pair.passage.places.get(other, ()):
                if other in pair.fact.places or _named(pair, at, place):
                    continue
                if (at in pair.fact.reach) != (place in pair.passage.reach):
                    continue
                fits = pair.slot((at, at + 1), (place, place + 1))
                needed = 1 + (is_grammar or stem in SIDED or other in SIDED)
                if fits >= needed and pair.rest((at, at + 1)) >= _SAME:
                    yield pair.conflict("antonym", (at, at + 1), (place, place + 1))
                    return


def _named(pair: _Pair, at: int, place: int) -> bool:
    """Whether one of two words is part of a name."""
    sides = ((pair.fact.names, at), (pair.passage.names, place))
    return any(name.first <= k < name.last for names, k in sides for name in names)


def _roles(pair: _Pair) -> Iterator[Conflict]:
    """The two sides of a verb changed places, or one has a name that is not the fact's."""
    rivals: dict[str, list[Relation]] = {}
    for relation in pair.passage.relations:
        rivals.setdefault(relation.key, []).append(relation)
    missing = [name for name in pair.absent_names if name not in pair.elsewhere]
    absent = {stem for name in missing for stem in name.stems}
    for ours in pair.fact.relations:
        theirs = rivals.get(ours.key, [])
        if theirs and all(_swapped(ours, other) for other in theirs):
            at, place = ours.at, theirs[0].at
            yield pair.conflict("role", (at, at + 1), (place, place + 1))
            return
        for one, other in ((ours.agents, ours.patients), (ours.patients, ours.agents)):
            is_agent = one is ours.agents
            sides = [(r.agents, r.patients) if is_agent else (r.patients, r.agents) for r in theirs]
            if (
                one
                and one <= absent
                and sides
                and all(_replaced(pair, s, t & other) for s, t in sides)
            ):
                name = next(n for n in missing if set(n.stems) & one)
                at = theirs[0].at
                yield pair.conflict("name", (name.first, name.last), (at, at + 1))
                return


def _replaced(pair: _Pair, side: frozenset[str], kept: frozenset[str]) -> bool:
    """Whether a verb keeps one side, and has a name that the fact does not have on the other."""
    names = (name for name in pair.passage.names if set(name.stems) <= side)
    return bool(kept) and any(
        not same_name(name, pair.fact.places, pair.fact.initials) for name in names
    )


def _swapped(one: Relation, other: Relation) -> bool:
    crossed = one.agents & other.patients and one.patients & other.agents
    return bool(crossed) and not one.agents & other.agents


def _quantifiers(pair: _Pair) -> Iterator[Conflict]:
    """`All` where the passage has `most` or an exception."""
    for at, k in _focused(pair.fact, _RANKS):
        if _RANKS[pair.fact_words[at].form] != _ALL or _holds_less(pair.fact_words, k):
            continue
        places = pair.passage.places.get(pair.fact_words[k].stem, ())[:_MOST_PLACES]
        less = places and all(_holds_less(pair.words, place) for place in places)
        if less and pair.rest((k, k + 1)) >= _SAME:
            yield pair.conflict("quantifier", (at, k + 1), (places[0], places[0] + 1))
            return


def _holds_less(words: Sequence[Word], place: int) -> bool:
    ranks = [_RANKS.get(word.form, 0) for word in words[max(0, place - 4) : place]]
    excepted = any(word.form in _EXCEPT for word in words[place + 1 : place + 2])
    return excepted or 0 < max(ranks, default=0) < _ALL


def _only(pair: _Pair) -> Iterator[Conflict]:
    """`Only` where the other side has something beside."""
    for one, other, is_fact in ((pair.fact, pair.passage, True), (pair.passage, pair.fact, False)):
        if any(word.form in _ONLY for word in other.words):
            continue
        for at, k in _focused(one, _ONLY):
            for place in other.places.get(one.words[k].stem, ())[:1]:
                sides = (at, k + 1), (place, place + 1)
                ours, theirs = sides if is_fact else sides[::-1]
                if _joined(one, other, k, place) and pair.rest(ours) >= _SAME:
                    yield pair.conflict("quantifier", ours, theirs)
                    return


def _focused(analysed: Analysed, cues: Container[str]) -> Iterator[Place]:
    """The words of some kind, each with the next content word."""
    every = analysed.words
    for at, word in enumerate(every):
        if word.form in cues:
            ahead = (
                k for k in range(at + 1, min(at + 5, len(every))) if every[k].kind == "content"
            )
            yield from ((at, k) for k in list(ahead)[:1])


def _joined(one: Analysed, other: Analysed, at: int, place: int) -> bool:
    """Whether `and` joins something to what is alone on the other side."""
    mine, theirs = one.words, other.words
    last = place + 1
    while last < len(theirs) and at + 1 < len(mine) and theirs[last].kind == "content":
        if theirs[last].stem != mine[at + 1].stem:
            break
        last, at = last + 1, at + 1
    before, after = theirs[max(0, place - 5) : place][::-1], theirs[last : last + 5]
    if after and after[0].form == "and":
        beside = after
    elif any(word.form == "and" for word in before[:2]):
        beside = before
    else:
        return False
    return next((w.stem not in one.places for w in beside if w.kind == "content"), False)


def _hedged(pair: _Pair) -> Iterator[Conflict]:
    """A word that the passage says as less than a fact."""
    for place, cue in pair.passage.hedged.items() if not pair.fact.hedged else ():
        for at in pair.fact.places.get(pair.words[place].stem, ())[:1]:
            if pair.rest((at, at + 1)) >= _SAME:
                yield pair.conflict("hedge", (at, at + 1), (cue, place + 1))
                return
