"""Rules for contradictions between a passage and a fact: numbers, units and dates.

The rules favour precision over recall: a conflict is reported only if the passage clearly is about
the same thing. They use English words without a parser. Swapped roles, antonyms, negations and
other words are left to the reader network, which is better at them
(`benchmarks/embedded/conflicts.md`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from factcheck.text.dates import Moment, differ, meet
from factcheck.text.units import Quantity, agree, comparable, read
from factcheck.text.words import Word

Place = tuple[int, int]
"""Positions `[first, last)` of words."""


class Analysed(NamedTuple):
    """A fact or a passage prepared for comparison; depends on its text only."""

    text: str
    words: tuple[Word, ...]
    quantities: tuple[Quantity, ...]
    """At most `_MAX_ITEMS`, like moments."""
    moments: tuple[Moment, ...]
    content: tuple[int, ...]
    """Positions of content words outside numbers and dates."""
    stems: frozenset[str]
    """Stems of the words at `content`."""

    def wording(self, first: int, last: int) -> str:
        """Return the text of the words at positions `[first, last)`."""
        return self.text[self.words[first].start : self.words[last - 1].end]


_MAX_ITEMS = 16
"""Maximum number of numbers and of dates; bounds the time per pair."""
_MIN_OVERLAP = 0.6
"""Minimum fraction of a fact's other content words in a passage about the same thing."""
_MIN_OVERLAP_SINGLE = 0.5
"""Minimum fraction if the passage has exactly one comparable number with a unit."""
_MIN_OVERLAP_DATES = 0.75
"""Minimum fraction for dates of which other parts are given: a month and year, a day and month."""


def analyse(text: str) -> Analysed:
    """Prepare a fact, or one passage of a text, for comparison; linear in its length."""
    found = read(text, "en")
    items: list[Quantity | Moment] = [*found.quantities, *found.moments]
    taken = {at for item in items for at in range(item.first, item.last)}
    content = tuple(k for k, w in enumerate(found.words) if w.kind == "content" and k not in taken)
    return Analysed(
        text=text,
        words=found.words,
        quantities=found.quantities[:_MAX_ITEMS],
        moments=found.moments[:_MAX_ITEMS],
        content=content,
        stems=frozenset(found.words[at].stem for at in content),
    )


def find_conflict(fact: Analysed, passage: Analysed) -> str | None:
    """Describe how a passage contradicts a fact, or return `None`."""
    if not fact.content or not passage.content:
        return None
    pair = _Pair(fact, passage)
    return next((reason for find in (_numbers, _dates) for reason in find(pair)), None)


class _Pair:
    """A fact and a passage, with measures shared by all rules."""

    def __init__(self, fact: Analysed, passage: Analysed) -> None:
        self.fact, self.passage = fact, passage
        self._held = {at for at in fact.content if fact.words[at].stem in passage.stems}

    def rest(self, place: Place) -> float:
        """Fraction of the fact's content words outside a place that the passage has, too."""
        others = [at for at in self.fact.content if not place[0] <= at < place[1]]
        return sum(at in self._held for at in others) / len(others) if others else 0.0

    def slot(self, ours: Place, theirs: Place) -> int:
        """Count the neighbours, up to two, that two places have in common."""
        return _common(_neighbours(self.fact, *ours), _neighbours(self.passage, *theirs))

    def wordings(self, ours: Place, theirs: Place) -> tuple[str, str]:
        """Return the text of the passage and of the fact at their places."""
        return self.passage.wording(*theirs), self.fact.wording(*ours)


def _neighbours(analysed: Analysed, first: int, last: int) -> tuple[str, str]:
    """Return the stems of the nearest content words or numbers before and after a place."""
    found = analysed.words
    before = found[max(0, first - 4) : first]
    return _first_stem(reversed(before)), _first_stem(found[last : last + 4])


def _first_stem(found: Iterable[Word]) -> str:
    return next((word.stem for word in found if word.kind in {"content", "number"}), "")


def _common(one: tuple[str, str], other: tuple[str, str]) -> int:
    return sum(bool(a) and a == b for a, b in zip(one, other, strict=True))


def _numbers(pair: _Pair) -> Iterator[str]:
    """Find a different number or unit for the same thing."""
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
            alone = bool(q.units) and len(rivals) == 1 and rest >= _MIN_OVERLAP_SINGLE
            if (same_noun and rest >= _MIN_OVERLAP) or (
                free and (alone or (near and rest >= _MIN_OVERLAP))
            ):
                text_word, fact_word = pair.wordings(place, (p.first, p.last))
                if q.value == p.value or not _same_digits(text_word, fact_word):
                    yield f"says {text_word}, the fact says {fact_word}"
                break


def _same_digits(one: str, other: str) -> bool:
    """Whether two numbers differ at most in separators: 18,365 and 18.365."""
    separators = str.maketrans("", "", ".,' \u00a0\u202f")
    return one.translate(separators) == other.translate(separators)


def _counted(analysed: Analysed, quantity: Quantity) -> str:
    """Return the stem of the noun that a number counts, or an empty string."""
    found, at = analysed.words, quantity.last
    if at >= len(found) or found[at].kind != "content":
        return ""
    between = analysed.text[quantity.end : found[at].start]
    return "" if between.strip(" -\u00a0") else found[at].stem


def _derived(quantity: Quantity, others: Sequence[Quantity]) -> bool:
    """Whether a number is the sum, difference or percentage of two others: 59 for 13 of 72."""
    return any(
        quantity.value in {a.value + b.value, abs(a.value - b.value)}
        or ("share" in {a.kind, b.kind} and quantity.value == a.value * b.value)
        for a, b in combinations(others, 2)
    )


def _dates(pair: _Pair) -> Iterator[str]:
    """Find a different day, month, year, weekday or time of the same event."""
    ours = pair.fact.moments
    theirs = pair.passage.moments
    for d in ours:
        place = (d.first, d.last)
        rest = pair.rest(place)
        if any(meet(d, m) for m in theirs) or rest < _MIN_OVERLAP:
            continue
        rivals = [m for m in theirs if differ(d, m)]
        for m in rivals:
            fits = (
                rest == 1.0
                or pair.slot(place, (m.first, m.last))
                or (len(rivals) == 1 and (rest >= _MIN_OVERLAP_DATES or _parts(d) == _parts(m)))
            )
            if fits and (d.clock is None) == (m.clock is None):
                text_word, fact_word = pair.wordings(place, (m.first, m.last))
                yield f"says {text_word}, the fact says {fact_word}"
                break


def _parts(moment: Moment) -> tuple[bool, ...]:
    return tuple(part is None for part in (moment.year, moment.month, moment.day))
