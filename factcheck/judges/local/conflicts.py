"""Evidence that a passage contradicts a fact: another number, unit or date, or two exchanged.

Precise rather than complete: a conflict is reported only where the passage plainly speaks of the
same thing. All is read off English words without a parser. Opposites, negations and other words are
left to the reader, who knows them better (`benchmarks/embedded/conflicts.md`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, groupby
from typing import NamedTuple

from factcheck.text.dates import Moment, differ, meet
from factcheck.text.reading import read
from factcheck.text.units import Quantity, agree, comparable
from factcheck.text.words import Word, irregular_forms, word_set

Place = tuple[int, int]
"""Positions `[first, last)` of words."""


class Analysed(NamedTuple):
    """A fact or a passage prepared for comparison; depends on nothing but its own text."""

    text: str
    words: tuple[Word, ...]
    quantities: tuple[Quantity, ...]
    """The first `_MOST_ITEMS`, as of moments and names."""
    moments: tuple[Moment, ...]
    names: tuple[Place, ...]
    """Runs of words with a capital letter."""
    content: tuple[int, ...]
    """Positions of the content words that belong to no number or date."""
    stems: frozenset[str]
    """Of these words."""
    passive: frozenset[int]
    """Positions of verbs in the passive voice."""

    def wording(self, first: int, last: int) -> str:
        """The words at positions `[first, last)` as they are written."""
        return self.text[self.words[first].start : self.words[last - 1].end]


_MOST_ITEMS = 16
"""Numbers, dates and names that are looked at: a bound on the time for one pair."""
_SAME = 0.6
"""Share of a fact's other content words from which a passage speaks of the same thing."""
_HARDLY = 0.5
"""The same, where a number has its like in the passage and no other can be meant."""
_PREPOSITIONS = word_set(
    "of by for from to in at on with against after before than into as during until under over"
)
_BE = word_set("is are was were be been being got gets get")
_MUTUAL = word_set(
    "marri meet divorc wed resembl join combin merg share match equal border face play fight"
    " call name connect relat link"
)
"""Stems of verbs whose two sides can change places."""
_LISTING = word_set("and or the")


def analyse(text: str) -> Analysed:
    """Prepare a fact, or one passage of a text, for comparison; linear in its length."""
    found = read(text, "en")
    items: list[Quantity | Moment] = [*found.quantities, *found.moments]
    taken = {at for item in items for at in range(item.first, item.last)}
    content = tuple(k for k, w in enumerate(found.words) if w.kind == "content" and k not in taken)
    return Analysed(
        text=text,
        words=found.words,
        quantities=found.quantities[:_MOST_ITEMS],
        moments=found.moments[:_MOST_ITEMS],
        names=tuple(_names(found.words, content))[:_MOST_ITEMS],
        content=content,
        stems=frozenset(found.words[at].stem for at in content),
        passive=_passives(found.words, content),
    )


def _names(every: Sequence[Word], content: Sequence[int]) -> Iterator[Place]:
    capitals = [at for at in content if every[at].text[0].isupper()]
    for _, run in groupby(enumerate(capitals), lambda pair: pair[1] - pair[0]):
        places = [at for _, at in run]
        yield places[0], places[-1] + 1


def _passives(every: Sequence[Word], content: Sequence[int]) -> frozenset[int]:
    """Verbs in the passive voice: `was hired`, `overtaken by`, `found in 2001 by`."""
    found = set()
    for at in content:
        is_past = every[at].form.endswith("ed") or every[at].form in irregular_forms()
        is_after_be = any(word.form in _BE for word in every[max(0, at - 3) : at])
        ahead = [word.form for word in every[at + 1 : at + 9]]
        is_participle = "by" in ahead and ahead[0] in _PREPOSITIONS
        if is_past and (is_after_be or is_participle):
            found.add(at)
    return frozenset(found)


def find_conflict(fact: Analysed, passage: Analysed) -> str | None:
    """How a passage says something else than a fact, if it does.

    The time is bounded by the lengths of the two, whatever they hold.
    """
    if not fact.content or not passage.content:
        return None
    pair = _Pair(fact, passage)
    return next((reason for find in (_numbers, _dates, _swaps) for reason in find(pair)), None)


class _Pair:
    """A fact and a passage with what all kinds of conflict ask about them."""

    def __init__(self, fact: Analysed, passage: Analysed) -> None:
        self.fact, self.passage = fact, passage
        self._held = {at for at in fact.content if fact.words[at].stem in passage.stems}

    def rest(self, place: Place) -> float:
        """Share of the fact's content words, without those at a place, that are held."""
        others = [at for at in self.fact.content if not place[0] <= at < place[1]]
        return sum(at in self._held for at in others) / len(others) if others else 0.0

    def slot(self, ours: Place, theirs: Place) -> int:
        """How many of the neighbours of two places are the same word."""
        return _common(_neighbours(self.fact, *ours), _neighbours(self.passage, *theirs))

    def wordings(self, ours: Place, theirs: Place) -> tuple[str, str]:
        """What the passage says at a place, and what the fact says at another."""
        return self.passage.wording(*theirs), self.fact.wording(*ours)


def _neighbours(analysed: Analysed, first: int, last: int) -> tuple[str, str]:
    """The nearest content word or number before and after a place, with a passive voice marked."""
    found = analysed.words
    sides = (range(first - 1, max(-1, first - 5), -1), range(last, min(len(found), last + 4)))
    return tuple(  # type: ignore[return-value]
        next(
            (
                found[at].stem + "~" * (at in analysed.passive)
                for at in side
                if found[at].kind in {"content", "number"}
            ),
            "",
        )
        for side in sides
    )


def _common(one: tuple[str, str], other: tuple[str, str]) -> int:
    return sum(bool(a) and a == b for a, b in zip(one, other, strict=True))


def _numbers(pair: _Pair) -> Iterator[str]:
    """Another number or unit for the same thing."""
    ours = pair.fact.quantities
    theirs = pair.passage.quantities
    dated = {n for m in pair.passage.moments for n in (m.year, m.day)}
    for q in ours:
        place, noun = (q.first, q.last), _counted(pair.fact, q)
        equal = [p for p in theirs if agree(q, p)]
        if q.value in dated or any(_counted(pair.passage, p) in {noun, ""} for p in equal):
            continue
        rest = pair.rest(place)
        rivals = [p for p in theirs if p not in equal and comparable(q, p)]
        for p in rivals:
            near = pair.slot(place, (p.first, p.last))
            if near < 2 and _derived(q, theirs):  # noqa: PLR2004 - both neighbours
                continue
            same_noun = bool(noun) and _counted(pair.passage, p) == noun
            free = not equal and not any(agree(o, p) for o in ours if o is not q)
            alone = bool(q.units) and len(rivals) == 1 and rest >= _HARDLY
            if (same_noun and rest >= _SAME) or (free and (alone or (near and rest >= _SAME))):
                text_word, fact_word = pair.wordings(place, (p.first, p.last))
                if q.value == p.value or not _same_digits(text_word, fact_word):
                    yield f"says {text_word}, the fact says {fact_word}"
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


def _derived(quantity: Quantity, others: Sequence[Quantity]) -> bool:
    """Whether a number is the sum, difference or share of two others: 59 for 13 of 72."""
    return any(
        quantity.value in {a.value + b.value, abs(a.value - b.value)}
        or ("share" in {a.kind, b.kind} and quantity.value == a.value * b.value)
        for a, b in combinations(others, 2)
    )


def _dates(pair: _Pair) -> Iterator[str]:
    """Another day, month, year, weekday or time of the same event."""
    ours = pair.fact.moments
    theirs = pair.passage.moments
    for d in ours:
        place = (d.first, d.last)
        if any(meet(d, m) for m in theirs) or pair.rest(place) < _SAME:
            continue
        rivals = [m for m in theirs if differ(d, m)]
        for m in rivals:
            fits = len(rivals) == 1 or pair.slot(place, (m.first, m.last))
            if fits and (d.clock is None) == (m.clock is None):
                text_word, fact_word = pair.wordings(place, (m.first, m.last))
                yield f"says {text_word}, the fact says {fact_word}"
                break


def _swaps(pair: _Pair) -> Iterator[str]:
    """Two names, dates or numbers that changed places."""
    here, there = _items(pair.fact), _items(pair.passage)
    for (key, ours), (other_key, others) in combinations(here.items(), 2):
        if key[0] != other_key[0] or key not in there or other_key not in there:
            continue
        if _may_change(pair.fact, ours[0], others[0]) or pair.rest(ours[0]) < _SAME:
            continue
        swapped = all(
            not any(_alike(pair, place, own) for place in mine for own in there[own_key])
            and any(_alike(pair, place, cross) for place in mine for cross in there[cross_key])
            for mine, own_key, cross_key in ((ours, key, other_key), (others, other_key, key))
        )
        if swapped:
            one, other = (pair.fact.wording(*places[0]) for places in (ours, others))
            yield f"has {one} and {other} the other way round"


def _items(analysed: Analysed) -> dict[tuple[str, object], list[Place]]:
    """The places of each name, date and number, by sort and content."""
    found: dict[tuple[str, object], list[Place]] = {}
    for name in analysed.names:
        stems = tuple(word.stem for word in analysed.words[slice(*name)])
        found.setdefault(("name", stems), []).append(name)
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
    return f"{before} {word}" if before and word in _PREPOSITIONS else before, after


def _may_change(analysed: Analysed, one: Place, other: Place) -> bool:
    """Whether two places are items of a list, or the two sides of a verb such as `married`."""
    low, high = sorted((one, other))
    between = analysed.words[low[1] : high[0]]
    return any(word.stem in _MUTUAL for word in between) or all(
        word.form in _LISTING or word.text[0].isupper() for word in between
    )
