"""Rules for contradictions between a passage and a fact, by English words and without a parser.

`find_conflict` compares numbers, units and dates, and favours precision over recall: a conflict is
reported only if the passage clearly is about the same thing. Negations, antonyms, swapped roles and
other words are left to the reader network, which is better at them
(`benchmarks/embedded/conflicts.md`); `name_difference` says in words what the reader has found. A
fact is called contradicted only where there are such words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from factcheck.text.dates import Moment, differ, meet
from factcheck.text.units import Quantity, agree, comparable, read
from factcheck.text.words import Word, opposites, word_set

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
_MIN_OVERLAP_EXCHANGE = 0.6
"""Minimum fraction for a value that the passage gives of something else."""
_MAX_SPREAD = 2.5
"""Maximum words of a passage for each content word that it has in another order."""
_EXCLUSIVE = word_set("only except apart but unless")
_CONTRASTS = word_set("but while whereas")
_LINKS = _CONTRASTS | {"and", "or"}
_SPANS = word_set("from between")
_ARTICLES = word_set("the a an its his her their")


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
    finders = (_numbers, _dates, _exchanged)
    return next((reason for find in finders for reason in find(pair)), None)


def name_difference(fact: Analysed, passage: Analysed) -> str | None:
    """Say what a passage that contradicts a fact says otherwise, or return `None`.

    May be asked only where something else has found that it does.
    """
    pair = _Pair(fact, passage)
    finders = [_other_value]
    if pair.rest((0, 0)) >= _MIN_OVERLAP_SINGLE:
        finders += [_opposite, _negation, _turned, _replaced]
    return next(filter(None, (find(pair) for find in finders)), None)


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

    def alike(self, ours: Quantity) -> list[Quantity]:
        """Return the numbers of the passage that may be compared with one of the fact."""
        return [p for p in self.passage.quantities if comparable(ours, p) or agree(ours, p)]

    def says(self, ours: Quantity | Moment, theirs: Quantity | Moment) -> str:
        """Say that the passage has another value than the fact."""
        there = self.passage.wording(theirs.first, theirs.last)
        return _says(there, self.fact.wording(ours.first, ours.last))

    def have_same_words(self, ours: Quantity | Moment, theirs: Quantity | Moment) -> bool:
        """Tell whether two values are the same words, as `fewer than 200` and `200` may be."""
        here = self.fact.wording(ours.first, ours.last)
        return here.lower() == self.passage.wording(theirs.first, theirs.last).lower()

    def is_same_number(self, ours: Quantity, theirs: Quantity) -> bool:
        """Tell whether two are the same words, or 18,365 and 18.365."""
        if ours.value == theirs.value:
            return self.have_same_words(ours, theirs)
        separators = str.maketrans("", "", ".,' \u00a0\u202f")
        here = self.fact.wording(ours.first, ours.last)
        there = self.passage.wording(theirs.first, theirs.last)
        return here.translate(separators) == there.translate(separators)


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
        if rivals and _derived(q, theirs):
            continue
        for p in rivals:
            near = pair.slot(place, (p.first, p.last))
            is_ours = any(agree(o, p) for o in ours if o is not q)
            is_open = is_ours or not equal
            same_noun = bool(noun) and is_open and _counted(pair.passage, p) == noun
            free = not equal and not is_ours
            alone = bool(q.units) and len(rivals) == 1 and rest >= _MIN_OVERLAP_SINGLE
            if (same_noun and rest >= _MIN_OVERLAP) or (
                free and (alone or (near and rest >= _MIN_OVERLAP))
            ):
                if not pair.is_same_number(q, p):
                    yield pair.says(q, p)
                break


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
                yield pair.says(d, m)
                break


def _parts(moment: Moment) -> tuple[bool, ...]:
    return tuple(part is None for part in (moment.year, moment.month, moment.day))


class _Side(NamedTuple):
    """The stems that belong to one of several values of a passage."""

    left: frozenset[str]
    right: frozenset[str]
    has_subject: bool
    """Whether what the value is about stands between the last value and this one."""

    @property
    def stems(self) -> frozenset[str]:
        return self.left | self.right


def _exchanged(pair: _Pair) -> Iterator[str]:
    """Find a value that the passage gives of something else: `A rose 3 %, B 5 %`."""
    if len(pair.fact.quantities) == 1:
        ours = pair.fact.quantities[0]
        theirs = pair.alike(ours)
        yield from _exchange(pair, ours, theirs, [agree(ours, p) for p in theirs])
    if len(pair.fact.moments) == 1:
        date = pair.fact.moments[0]
        dates = [m for m in pair.passage.moments if meet(date, m) or differ(date, m)]
        yield from _exchange(pair, date, dates, [meet(date, m) for m in dates])


def _exchange(
    pair: _Pair,
    ours: Quantity | Moment,
    theirs: Sequence[Quantity | Moment],
    are_same: Sequence[bool],
) -> Iterator[str]:
    if sum(are_same) != 1 or pair.rest((ours.first, ours.last)) < _MIN_OVERLAP_EXCHANGE:
        return
    same = are_same.index(True)
    sides = _sides(pair.passage, theirs)
    owners = _owners(sides)
    owned = [word.stem for word in pair.fact.words if word.stem in owners]
    named = {owners[stem] for stem in owned}
    for at, side in enumerate(sides):
        if at == same or at not in named:
            continue
        held = pair.fact.stems & sides[same].stems - side.stems
        is_later = at > 0 and owned[0] in side.left and owners[owned[0]] == at
        is_other = not held and sides[same].stems and (sides[same].has_subject or at > 0)
        is_elsewhere = is_other or (is_later and side.has_subject)
        if is_elsewhere and not pair.have_same_words(ours, theirs[at]):
            yield pair.says(ours, theirs[at])


def _owners(sides: Sequence[_Side]) -> dict[str, int]:
    """Map each stem that belongs to one value only to the place of that value."""
    counts = Counter(stem for side in sides for stem in side.stems)
    return {stem: at for at, side in enumerate(sides) for stem in side.stems if counts[stem] == 1}


def _sides(passage: Analysed, values: Sequence[Quantity | Moment]) -> list[_Side]:
    """Return what belongs to each value, parted by commas and `and`; empty if that is uncertain."""
    words = passage.words
    cuts = [0]
    for before, value in pairwise(values):
        links = [at for at in range(before.last, value.first) if _is_parted(passage, at)]
        if not links or (before.first and words[before.first - 1].form in _SPANS):
            return []
        contrasts = [at for at in links if words[at].form in _CONTRASTS]
        cuts.append(contrasts[0] if contrasts else links[-1])
    cuts.append(len(words))
    taken = {at for value in values for at in range(value.first, value.last)}
    sides = []
    for value, (start, end) in zip(values, pairwise(cuts), strict=True):
        counted = {value.last} if not _is_parted(passage, value.last) else set[int]()
        own = [at for at in range(start, end) if at not in taken | counted]
        own = [at for at in own if words[at].kind in {"content", "number"}]
        left = [at for at in own if at < value.first]
        opening = next((at for at in range(start, end) if words[at].form not in _LINKS), start)
        is_named = words[opening].form in _ARTICLES or words[opening].text[:1].isupper()
        has_subject = bool(left) and (is_named or left == [opening] == [value.first - 1])
        right = frozenset(words[at].stem for at in own if at > value.first)
        sides.append(_Side(frozenset(words[at].stem for at in left), right, has_subject))
    if not all(side.left for side in sides[1:]):  # `3 % in Ulm and 5 % in Bonn`
        return [_Side(frozenset(), side.right, bool(side.right)) for side in sides]
    return sides


def _is_parted(passage: Analysed, at: int) -> bool:
    """Tell whether a comma or a word like `and` stands before a word, or is it."""
    if not 0 < at < len(passage.words):
        return at > 0
    word, before = passage.words[at], passage.words[at - 1]
    gap = passage.text[before.end : word.start]
    return word.form in _LINKS or "," in gap or ";" in gap


def _other_value(pair: _Pair) -> str | None:
    """Find the only number of a unit, or the only date, if it is another one."""
    for ours in pair.fact.quantities:
        theirs = pair.alike(ours)
        is_about = pair.rest((ours.first, ours.last)) >= _MIN_OVERLAP_SINGLE
        if is_about and ours.units and len(theirs) == 1 and not agree(ours, theirs[0]):
            return None if pair.is_same_number(ours, theirs[0]) else pair.says(ours, theirs[0])
    for date in pair.fact.moments:
        dates = pair.passage.moments
        if len(dates) == 1 and differ(date, dates[0]) and not meet(date, dates[0]):
            return pair.says(date, dates[0])
    return None


def _opposite(pair: _Pair) -> str | None:
    """Find a word with its antonym: `rose` and `fell`."""
    ours = {word.stem: word.text for word in pair.fact.words}
    theirs = {word.stem: word.text for word in pair.passage.words}
    for stem, text in ours.items():
        for other in opposites().get(stem, ()):
            if stem not in theirs and other in theirs and other not in ours:
                return _says(theirs[other], text)
    return None


def _negation(pair: _Pair) -> str | None:
    """Find a negation on one side only, of a word that both have."""
    ours, theirs = _negated(pair.fact), _negated(pair.passage)
    if bool(ours) == bool(theirs) or pair.rest((0, 0)) < _MIN_OVERLAP:
        return None
    forms = {word.form for word in (*pair.fact.words, *pair.passage.words)}
    if not _EXCLUSIVE.isdisjoint(forms):
        return None  # `only Anna came`, `nobody came but Anna`
    both = pair.fact.stems & pair.passage.stems
    denied = [word for word, stem in (*ours.items(), *theirs.items()) if stem in both]
    if not denied:
        return None
    return f'says it with "{denied[0]}"' if theirs else f'says it without "{denied[0]}"'


def _negated(analysed: Analysed) -> dict[str, str]:
    """Map each negation to the stem of the content word behind it."""
    found = analysed.words
    return {
        word.text: _first_stem(found[at + 1 : at + 4])
        for at, word in enumerate(found)
        if word.kind == "negation"
    }


def _turned(pair: _Pair) -> str | None:
    """Find the same words in another order: `Anna hired Tom` and `Tom hired Anna`."""
    places = {word.stem: at for at, word in enumerate(pair.passage.words)}
    order = [word.stem for word in pair.fact.words if word.kind in {"content", "number"}]
    if len({*order}) != len(order) or not {*order} <= {*places}:
        return None
    found = [places[stem] for stem in order]
    is_far = max(found, default=0) - min(found, default=0) > _MAX_SPREAD * len(found)
    if found == sorted(found) or is_far:
        return None
    return f'says "{pair.passage.wording(min(found), max(found) + 1)}", in another order'


def _replaced(pair: _Pair) -> str | None:
    """Find the only word of a fact that the passage does not have, and the one in its place."""
    lost = [at for at in pair.fact.content if pair.fact.words[at].stem not in pair.passage.stems]
    if len(lost) != 1:
        return None
    ours = _neighbours(pair.fact, lost[0], lost[0] + 1)
    for at in pair.passage.content:
        word = pair.passage.words[at]
        theirs = _neighbours(pair.passage, at, at + 1)
        is_there = all(ours) and ours == theirs
        if is_there and word.stem not in pair.fact.stems:
            return _says(word.text, pair.fact.words[lost[0]].text)
    return None


def _says(there: str, here: str) -> str:
    return f"says {there}, the fact says {here}"
