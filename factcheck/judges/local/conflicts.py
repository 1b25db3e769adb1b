"""Rules for contradictions between a passage and a fact, by English words and without a parser.

`find_conflict` compares numbers, units and dates, and favours precision over recall: a conflict is
reported only if the passage clearly is about the same thing. Negations, antonyms, swapped roles and
other words are left to the reader network, which is better at them
(`benchmarks/embedded/conflicts.md`); `name_difference` says in words what the reader has found. A
fact is called contradicted only where there are such words, and where the passage does not say what
another fact of the same source says (`Listed`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import combinations, islice, pairwise
from typing import NamedTuple

from factcheck.text.dates import Moment, differ, meet
from factcheck.text.units import Quantity, agree, comparable, read
from factcheck.text.words import Word, opposites, word_set, words


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


class Conflict(NamedTuple):
    """What a passage says otherwise than a fact."""

    reason: str
    there: str = ""
    """The words of the passage that stand for others of the fact; empty for negations and order."""


class Listed:
    """The facts of a source, looked up by their words."""

    def __init__(self, facts: Sequence[str]) -> None:
        self._facts = facts

    @cached_property
    def _by_stem(self) -> dict[str, list[Analysed]]:
        found: dict[str, list[Analysed]] = {}
        for fact in map(analyse, self._facts):
            for stem in {word.stem for word in fact.words}:
                found.setdefault(stem, []).append(fact)
        return found

    def explain(self, conflict: Conflict, fact: Analysed, passage: Analysed) -> bool:
        """Tell whether a passage in conflict with a fact only says what another fact says.

        That fact has the words in question, is in no conflict with the passage, and the passage is
        as much about it: `Turnout was 42 %` and `29 % voted by post`.
        """
        stems = [word.stem for word in words(conflict.there)]
        having = min((self._by_stem.get(stem, []) for stem in stems), key=len, default=[])
        overlap = _Pair(fact, passage).overlap
        return any(
            other.text != fact.text
            and {word.stem for word in other.words}.issuperset(stems)
            and _Pair(other, passage).overlap >= overlap
            and find_conflict(other, passage) is None
            for other in islice(having, _MAX_LISTED)
        )


_MAX_LISTED = 100
"""Maximum number of facts with a word that are looked at; bounds the time per conflict."""
_MAX_ITEMS = 16
"""Maximum number of numbers, of dates, and of clauses with any; bounds the time per pair."""
_CLAUSE_MARK = "; "
_MIN_OVERLAP = 0.6
"""Minimum fraction of a fact's content words in a passage about the same thing."""
_MIN_OVERLAP_SINGLE = 0.5
"""Minimum fraction if the passage has exactly one comparable number with a unit."""
_MIN_OVERLAP_OPPOSITE = 0.75
"""Minimum fraction of the words beside one of which the passage has the antonym."""
_MAX_SPREAD = 2.5
"""Maximum words of a passage for each content word that it has in another order."""
_ROOT = 3
"""Letters that spellings of one name have in common."""
_EXCLUSIVE = word_set("only except apart but unless")
_LINKS = word_set("and but while whereas")
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


def find_conflict(fact: Analysed, passage: Analysed) -> Conflict | None:
    """Describe how a passage contradicts a fact, or return `None`."""
    whole = _Pair(fact, passage)
    pairs = [whole]
    if _CLAUSE_MARK in passage.text:
        pairs = [_Pair(fact, clause) for clause in _valued_clauses(passage.text)]
    found = (_first_of((_numbers, _dates), pair) for pair in pairs)
    return next(filter(None, found), None) or _exchanged(whole) or _renamed(whole)


@lru_cache(maxsize=256)
def _valued_clauses(passage: str) -> tuple[Analysed, ...]:
    """Prepare what semicolons part, once for all facts: clauses with numbers or dates."""
    clauses = map(analyse, passage.split(_CLAUSE_MARK))
    valued = (clause for clause in clauses if clause.quantities or clause.moments)
    return tuple(islice(valued, _MAX_ITEMS))


def name_difference(fact: Analysed, passage: Analysed) -> Conflict | None:
    """Say what a passage that contradicts a fact says otherwise, or return `None`.

    May be asked only where something else has found that it does.
    """
    pair = _Pair(fact, passage)
    if pair.overlap < _MIN_OVERLAP_SINGLE:
        return None
    return _first_of((_opposite, _negation, _turned, _replaced), pair)


class _Pair:
    """A fact and a passage, with measures shared by all rules."""

    def __init__(self, fact: Analysed, passage: Analysed) -> None:
        self.fact, self.passage = fact, passage
        n_held = sum(fact.words[at].stem in passage.stems for at in fact.content)
        self.overlap = n_held / max(1, len(fact.content))
        """Fraction of the fact's content words that the passage has, too."""

    def slot(self, ours: Quantity | Moment, theirs: Quantity | Moment) -> int:
        """Count the neighbours, up to two, that two values have in common."""
        here = _neighbours(self.fact, ours.first, ours.last)
        return _common(here, _neighbours(self.passage, theirs.first, theirs.last))

    def says(self, ours: Quantity | Moment, theirs: Quantity | Moment) -> Conflict:
        """Say that the passage has another value than the fact."""
        there = self.passage.wording(theirs.first, theirs.last)
        return _says(there, self.fact.wording(ours.first, ours.last))

    def is_same_number(self, ours: Quantity, theirs: Quantity) -> bool:
        """Tell whether two are the same words, as `fewer than 200` and `200` may be."""
        here = self.fact.wording(ours.first, ours.last)
        there = self.passage.wording(theirs.first, theirs.last)
        return ours.value == theirs.value and here.lower() == there.lower()


def _first_of(
    finders: Iterable[Callable[[_Pair], Conflict | None]], pair: _Pair
) -> Conflict | None:
    return next(filter(None, (find(pair) for find in finders)), None)


def _neighbours(analysed: Analysed, first: int, last: int) -> tuple[str, str]:
    """Return the stems of the nearest content words or numbers before and after a place."""
    found = analysed.words
    before = found[max(0, first - 4) : first]
    return _first_stem(reversed(before)), _first_stem(found[last : last + 4])


def _first_stem(found: Iterable[Word]) -> str:
    return next((word.stem for word in found if word.kind in {"content", "number"}), "")


def _common(one: tuple[str, str], other: tuple[str, str]) -> int:
    return sum(bool(a) and a == b for a, b in zip(one, other, strict=True))


def _numbers(pair: _Pair) -> Conflict | None:
    """Find a different number or unit for the same thing."""
    ours = pair.fact.quantities
    theirs = pair.passage.quantities
    is_about = pair.overlap >= _MIN_OVERLAP
    for q in ours:
        noun = _counted(pair.fact, q)
        equal = [p for p in theirs if agree(q, p)]
        if any(_counted(pair.passage, p) in {noun, ""} for p in equal):
            continue
        rivals = [p for p in theirs if p not in equal and comparable(q, p)]
        if rivals and _derived(q, theirs):
            continue
        is_measured = bool(q.units) and q.units[0].name != "whole"  # `half` may be of anything
        is_alone = is_measured and len(rivals) == 1 and pair.overlap >= _MIN_OVERLAP_SINGLE
        for p in rivals:
            is_ours = any(agree(o, p) for o in ours if o is not q)
            is_open = is_ours or not equal
            has_noun = bool(noun) and is_open and _counted(pair.passage, p) == noun
            is_free = not equal and not is_ours
            is_near = is_about and pair.slot(q, p) > 0
            if (has_noun and is_about) or (is_free and (is_alone or is_near)):
                if not pair.is_same_number(q, p):
                    return pair.says(q, p)
                break
    return None


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


def _dates(pair: _Pair) -> Conflict | None:
    """Find a different day, month, year, weekday or time of the same event."""
    if pair.overlap < _MIN_OVERLAP:
        return None
    theirs = pair.passage.moments
    for d in pair.fact.moments:
        if any(meet(d, m) for m in theirs):
            continue
        rivals = [m for m in theirs if differ(d, m)]
        for m in rivals:
            is_alone = len(rivals) == 1 and _parts(d) == _parts(m)
            if pair.overlap == 1.0 or is_alone or pair.slot(d, m):
                return pair.says(d, m)
    return None


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


def _exchanged(pair: _Pair) -> Conflict | None:
    """Find a number that the passage gives of something else: `A rose 3 %, B 5 %`."""
    if len(pair.fact.quantities) != 1 or pair.overlap < _MIN_OVERLAP:
        return None
    ours = pair.fact.quantities[0]
    theirs = [p for p in pair.passage.quantities if comparable(ours, p) or agree(ours, p)]
    are_same = [agree(ours, p) for p in theirs]
    if sum(are_same) != 1:
        return None
    same = are_same.index(True)
    sides = _sides(pair.passage, theirs)
    owners = _owners(sides)
    owned = [word.stem for word in pair.fact.words if word.stem in owners]
    for at in sorted({owners[stem] for stem in owned} - {same}):
        side, own = sides[at], sides[same]
        is_held = bool(pair.fact.stems & own.stems - side.stems)
        is_other = own.stems and not is_held and (own.has_subject or at > 0)
        is_later = at > 0 and owned[0] in side.left and side.has_subject
        if (is_other or is_later) and not pair.is_same_number(ours, theirs[at]):
            return pair.says(ours, theirs[at])
    return None


def _owners(sides: Sequence[_Side]) -> dict[str, int]:
    """Map each stem that belongs to one value only to the place of that value."""
    counts = Counter(stem for side in sides for stem in side.stems)
    return {stem: at for at, side in enumerate(sides) for stem in side.stems if counts[stem] == 1}


def _sides(passage: Analysed, values: Sequence[Quantity]) -> list[_Side]:
    """Return what belongs to each value, parted by commas and `and`; empty if that is uncertain."""
    words = passage.words
    cuts = [0]
    for before, value in pairwise(values):
        links = [at for at in range(before.last, value.first) if _is_parted(passage, at)]
        if not links:
            return []
        turns = [at for at in links if words[at].form in ("while", "whereas")]
        cuts.append((turns or links)[-1])
    cuts.append(len(words))
    sides = []
    for value, (start, end) in zip(values, pairwise(cuts), strict=True):
        own = [at for at in passage.content if start <= at < end]
        left = [at for at in own if at < value.first]
        counted = not _is_parted(passage, value.last)
        right = [at for at in own if at > value.first and not (counted and at == value.last)]
        opening = next((at for at in range(start, end) if words[at].form not in _LINKS), start)
        is_named = words[opening].form in _ARTICLES or words[opening].text[:1].isupper()
        has_subject = bool(left) and (is_named or left == [opening] == [value.first - 1])
        sides.append(
            _Side(
                frozenset(words[at].stem for at in left),
                frozenset(words[at].stem for at in right),
                has_subject,
            )
        )
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


def _opposite(pair: _Pair) -> Conflict | None:
    """Find a word with its antonym: `rose` and `fell`."""
    ours = {word.stem: word.text for word in pair.fact.words}
    theirs = {word.stem: word.text for word in pair.passage.words}
    for stem, text in ours.items():
        others = pair.fact.stems - {stem}
        is_about = len(others & pair.passage.stems) >= _MIN_OVERLAP_OPPOSITE * len(others)
        for other in opposites().get(stem, ()):
            if is_about and stem not in theirs and other in theirs and other not in ours:
                return _says(theirs[other], text)
    return None


def _negation(pair: _Pair) -> Conflict | None:
    """Find a negation on one side only, of a word that both have."""
    ours, theirs = _negated(pair.fact), _negated(pair.passage)
    if bool(ours) == bool(theirs) or pair.overlap < _MIN_OVERLAP:
        return None
    forms = {word.form for word in (*pair.fact.words, *pair.passage.words)}
    if not _EXCLUSIVE.isdisjoint(forms):
        return None  # `only Anna came`, `nobody came but Anna`
    both = pair.fact.stems & pair.passage.stems
    denied = [word for word, stem in (*ours.items(), *theirs.items()) if stem in both]
    if not denied:
        return None
    with_ = "with" if theirs else "without"
    return Conflict(f'says it {with_} "{denied[0]}"')


def _negated(analysed: Analysed) -> dict[str, str]:
    """Map each negation to the stem of the content word behind it."""
    found = analysed.words
    return {
        word.text: _first_stem(found[at + 1 : at + 4])
        for at, word in enumerate(found)
        if word.kind == "negation"
    }


def _turned(pair: _Pair) -> Conflict | None:
    """Find the same words in another order: `Anna hired Tom` and `Tom hired Anna`."""
    places = {word.stem: at for at, word in enumerate(pair.passage.words)}
    order = [word.stem for word in pair.fact.words if word.kind in {"content", "number"}]
    if len({*order}) != len(order) or not {*order} <= {*places}:
        return None
    found = [places[stem] for stem in order]
    is_far = max(found, default=0) - min(found, default=0) > _MAX_SPREAD * len(found)
    if found == sorted(found) or is_far:
        return None
    there = pair.passage.wording(min(found), max(found) + 1)
    return Conflict(f'says "{there}", in another order')


def _replaced(pair: _Pair) -> Conflict | None:
    """Find the only word of a fact that the passage does not have, and the one in its place."""
    lost = [at for at in pair.fact.content if pair.fact.words[at].stem not in pair.passage.stems]
    if len(lost) != 1:
        return None
    ours = _neighbours(pair.fact, lost[0], lost[0] + 1)
    for at in pair.passage.content:
        word = pair.passage.words[at]
        theirs = _neighbours(pair.passage, at, at + 1)
        if all(ours) and ours == theirs:
            return _says(word.text, pair.fact.words[lost[0]].text)
    return None


def _renamed(pair: _Pair) -> Conflict | None:
    """Find the only word of a fact that the passage does not have, and another name in its place.

    Both words stand between the same two, so the passage says the same of another.
    """
    fact, passage = pair.fact, pair.passage
    lost = [at for at in fact.content if fact.words[at].stem not in passage.stems]
    if len(lost) != 1 or not _is_name(fact, lost[0]):
        return None
    before, name, after = _around(fact, lost[0])
    for at in passage.content:
        other = passage.words[at]
        is_there = _is_name(passage, at) and other.stem not in fact.stems
        if is_there and _around(passage, at) == (before, other.form, after):
            return (
                None
                if _is_variant(name, other.form)
                else _says(other.text, fact.words[lost[0]].text)
            )
    return None


def _is_name(analysed: Analysed, at: int) -> bool:
    word = analysed.words[at].text
    return at > 0 and word[:1].isupper() and not word.isupper()


def _around(analysed: Analysed, at: int) -> tuple[str, str, str]:
    """Return a word with the one before and the one behind it; empty at the end of a text."""
    forms = [word.form for word in analysed.words[at - 1 : at + 2]]
    return forms[0], forms[1], "".join(forms[2:])


def _is_variant(one: str, other: str) -> bool:
    """Tell whether two names may be spellings or forms of one: `Brazil` and `Brazilian`."""
    return one[:_ROOT] == other[:_ROOT]


def _says(there: str, here: str) -> Conflict:
    return Conflict(f"says {there}, the fact says {here}", there)
