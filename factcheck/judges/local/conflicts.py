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
from functools import cached_property
from itertools import combinations, islice, pairwise
from typing import NamedTuple

from factcheck.facts import Evidence
from factcheck.text.dates import Moment, differ, meet
from factcheck.text.units import Quantity, agree, comparable, read
from factcheck.text.words import Word, opposites, word_set, words


class Sentence(NamedTuple):
    """A sentence of a fact or text with what it says; what is read depends on `text` only."""

    text: str
    start: int
    """Offset in the text."""
    words: tuple[Word, ...]
    quantities: tuple[Quantity, ...]
    """At most `_MAX_ITEMS`, like moments."""
    moments: tuple[Moment, ...]
    content: tuple[int, ...]
    """Positions of content words outside numbers and dates."""
    stems: frozenset[str]
    """Stems of the words at `content`."""

    @property
    def evidence(self) -> Evidence:
        return Evidence(self.text, self.start, self.start + len(self.text))

    def wording(self, first: int, last: int) -> str:
        """Return the text of the words at positions `[first, last)`."""
        return self.text[self.words[first].start : self.words[last - 1].end]

    def value(self, item: Quantity | Moment) -> str:
        """Return a number, with its sign, or a date as it is written."""
        if isinstance(item, Quantity):
            return self.text[item.start : item.end]
        return self.wording(item.first, item.last)


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
    def _by_stem(self) -> dict[str, list[Sentence]]:
        found: dict[str, list[Sentence]] = {}
        for fact in map(read_sentence, self._facts):
            for stem in {word.stem for word in fact.words}:
                found.setdefault(stem, []).append(fact)
        return found

    def explain(self, conflict: Conflict, fact: Sentence, passage: Sentence) -> bool:
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
"""Maximum number of numbers, and of dates, of a sentence; bounds the time per pair."""
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
_EXCLUSIVE = word_set("only except apart unless")
_LINKS = word_set("and but while whereas")


def read_sentence(text: str, start: int = 0) -> Sentence:
    """Read a sentence, which starts at an offset of its text; linear in its length."""
    found = read(text, "en")
    items: list[Quantity | Moment] = [*found.quantities, *found.moments]
    taken = {at for item in items for at in range(item.first, item.last)}
    content = tuple(k for k, w in enumerate(found.words) if w.kind == "content" and k not in taken)
    return Sentence(
        text=text,
        start=start,
        words=found.words,
        quantities=found.quantities[:_MAX_ITEMS],
        moments=found.moments[:_MAX_ITEMS],
        content=content,
        stems=frozenset(found.words[at].stem for at in content),
    )


def find_conflict(fact: Sentence, passage: Sentence) -> Conflict | None:
    """Describe how a passage contradicts a fact, or return `None`."""
    rules = (_numbers, _dates, _exchanged, _renamed)
    return _first_of(rules, _Pair(fact, passage))


def name_difference(fact: Sentence, passage: Sentence) -> Conflict | None:
    """Say what a passage that contradicts a fact says otherwise, or return `None`.

    May be asked only where something else has found that it does.
    """
    pair = _Pair(fact, passage)
    if pair.overlap < _MIN_OVERLAP_SINGLE:
        return None
    return _first_of((_opposite, _negation, _turned, _replaced), pair)


class _Pair:
    """A fact and a passage, with measures shared by all rules."""

    def __init__(self, fact: Sentence, passage: Sentence) -> None:
        self.fact, self.passage = fact, passage
        lost = [at for at in fact.content if fact.words[at].stem not in passage.stems]
        self.overlap = (len(fact.content) - len(lost)) / max(1, len(fact.content))
        """Fraction of the fact's content words that the passage has, too."""
        self.lost = lost[0] if len(lost) == 1 else None
        """Position of the only content word that the passage does not have."""

    def is_beside(self, ours: Quantity | Moment, theirs: Quantity | Moment) -> bool:
        """Tell whether two values have a neighbour in common."""
        here = _neighbours(self.fact, ours.first, ours.last)
        there = _neighbours(self.passage, theirs.first, theirs.last)
        return any(a and a == b for a, b in zip(here, there, strict=True))

    def says(self, ours: Quantity | Moment, theirs: Quantity | Moment) -> Conflict:
        """Say that the passage has another value than the fact."""
        return _says(self.passage.value(theirs), self.fact.value(ours))

    def is_same_number(self, ours: Quantity, theirs: Quantity) -> bool:
        """Tell whether two are the same words, as `fewer than 200` and `200` may be."""
        here, there = self.fact.value(ours), self.passage.value(theirs)
        return ours.value == theirs.value and here.lower() == there.lower()


def _first_of(
    finders: Iterable[Callable[[_Pair], Conflict | None]], pair: _Pair
) -> Conflict | None:
    return next(filter(None, (find(pair) for find in finders)), None)


def _neighbours(sentence: Sentence, first: int, last: int) -> tuple[str, str]:
    """Return the stems of the nearest content words or numbers before and after a place."""
    found = sentence.words
    before = found[max(0, first - 4) : first]
    return _first_stem(reversed(before)), _first_stem(found[last : last + 4])


def _first_stem(found: Iterable[Word]) -> str:
    return next((word.stem for word in found if word.kind in {"content", "number"}), "")


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
            is_near = is_about and pair.is_beside(q, p)
            if (has_noun and is_about) or (is_free and (is_alone or is_near)):
                if not pair.is_same_number(q, p):
                    return pair.says(q, p)
                break
    return None


def _counted(sentence: Sentence, quantity: Quantity) -> str:
    """Return the stem of the noun that a number counts, or an empty string."""
    found, at = sentence.words, quantity.last
    if at >= len(found) or found[at].kind != "content":
        return ""
    between = sentence.text[quantity.end : found[at].start]
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
            if pair.overlap == 1.0 or is_alone or pair.is_beside(d, m):
                return pair.says(d, m)
    return None


def _parts(moment: Moment) -> tuple[bool, ...]:
    return tuple(part is None for part in (moment.year, moment.month, moment.day))


def _exchanged(pair: _Pair) -> Conflict | None:
    """Find a number that the passage gives of something else: `A rose 3 %, B 5 %`.

    What the fact is about is its first word that the passage has beside one of its values only.
    """
    if len(pair.fact.quantities) != 1 or pair.overlap < _MIN_OVERLAP:
        return None
    ours = pair.fact.quantities[0]
    theirs = [p for p in pair.passage.quantities if comparable(ours, p) or agree(ours, p)]
    places = [at for at, p in enumerate(theirs) if agree(ours, p)]
    if len(places) != 1:
        return None
    same = places[0]
    parts = _parts_by_value(pair.passage, theirs)
    counts = Counter(stem for part in parts for stem in part)
    owners = {stem: at for at, part in enumerate(parts) for stem in part if counts[stem] == 1}
    place = next((owners[word.stem] for word in pair.fact.words if word.stem in owners), same)
    own = {stem for stem, at in owners.items() if at == same}
    if place < same and (not own or own & pair.fact.stems):
        return None  # `Anna bought 3 apples and ate 5`
    if place == same or pair.is_same_number(ours, theirs[place]):
        return None
    return pair.says(ours, theirs[place])


def _parts_by_value(passage: Sentence, values: Sequence[Quantity]) -> list[set[str]]:
    """Return the stems that belong to each value; none if no comma or `and` parts two values."""
    words = passage.words
    cuts = [0]
    for before, value in pairwise(values):
        links = [at for at in range(before.last, value.first) if _is_parted(passage, at)]
        if not links:
            return []
        turns = [at for at in links if words[at].form in ("while", "whereas")]
        cuts.append((turns or links)[-1])
    before_it, behind_it = [], []
    for value, (start, end) in zip(values, pairwise([*cuts, len(words)]), strict=True):
        first = value.last if _is_parted(passage, value.last) else value.last + 1
        own = [(at, words[at].stem) for at in passage.content if start <= at < end]
        before_it.append({stem for at, stem in own if at < value.first})
        behind_it.append({stem for at, stem in own if at >= first})
    if not all(before_it[1:]):  # `3 % in Ulm and 5 % in Bonn`
        return behind_it
    return [one | other for one, other in zip(before_it, behind_it, strict=True)]


def _is_parted(passage: Sentence, at: int) -> bool:
    """Tell whether a comma or a word like `and` stands before a word, or is it."""
    if not 0 < at < len(passage.words):
        return at > 0
    word, before = passage.words[at], passage.words[at - 1]
    gap = passage.text[before.end : word.start]
    return word.form in _LINKS or "," in gap or ";" in gap


def _opposite(pair: _Pair) -> Conflict | None:
    """Find a word with its antonym, `rose` and `fell`, but not `refused` and `not accepted`."""
    ours = {word.stem: word.text for word in pair.fact.words}
    theirs = {word.stem: word.text for word in pair.passage.words}
    for stem, text in ours.items():
        others = pair.fact.stems - {stem}
        is_about = len(others & pair.passage.stems) >= _MIN_OVERLAP_OPPOSITE * len(others)
        for other in opposites().get(stem, ()):
            if not is_about or stem in theirs or other not in theirs or other in ours:
                continue
            if _is_denied(pair.fact, stem) == _is_denied(pair.passage, other):
                return _says(theirs[other], text)
    return None


def _is_denied(sentence: Sentence, stem: str) -> bool:
    """Tell whether a negation stands shortly before a word: `no longer accepted`."""
    at = next(at for at, word in enumerate(sentence.words) if word.stem == stem)
    return any(word.kind == "negation" for word in sentence.words[max(0, at - 3) : at])


def _negation(pair: _Pair) -> Conflict | None:
    """Find a negation on one side only, of a word that both have."""
    ours, theirs = _negated(pair.fact), _negated(pair.passage)
    if bool(ours) == bool(theirs) or pair.overlap < _MIN_OVERLAP:
        return None
    forms = {word.form for word in (*pair.fact.words, *pair.passage.words)}
    if not _EXCLUSIVE.isdisjoint(forms):
        return None  # `only Anna came`, `nobody came except Anna`
    both = pair.fact.stems & pair.passage.stems
    denied = [word for word, stem in (*ours.items(), *theirs.items()) if stem in both]
    if not denied:
        return None
    with_ = "with" if theirs else "without"
    return Conflict(f'says it {with_} "{denied[0]}"')


def _negated(sentence: Sentence) -> dict[str, str]:
    """Map each negation to the stem of the content word behind it."""
    found = sentence.words
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
    if pair.lost is None:
        return None
    ours = _neighbours(pair.fact, pair.lost, pair.lost + 1)
    for at in pair.passage.content:
        if all(ours) and ours == _neighbours(pair.passage, at, at + 1):
            return _says(pair.passage.words[at].text, pair.fact.words[pair.lost].text)
    return None


def _renamed(pair: _Pair) -> Conflict | None:
    """Find the only word of a fact that the passage does not have, and another name in its place.

    Both words stand between the same two, so the passage says the same of another.
    """
    fact, passage = pair.fact, pair.passage
    if pair.lost is None or not _is_name(fact, pair.lost):
        return None
    before, name, after = _around(fact, pair.lost)
    for at in passage.content:
        other = passage.words[at]
        is_there = _is_name(passage, at) and other.stem not in fact.stems
        if is_there and _around(passage, at) == (before, other.form, after):
            is_variant = name[:_ROOT] == other.form[:_ROOT]  # `Brazil` and `Brazilian`
            return None if is_variant else _says(other.text, fact.words[pair.lost].text)
    return None


def _is_name(sentence: Sentence, at: int) -> bool:
    word = sentence.words[at].text
    return at > 0 and word[:1].isupper() and not word.isupper()


def _around(sentence: Sentence, at: int) -> tuple[str, str, str]:
    """Return a word with the one before and the one behind it; empty at the end of a text."""
    forms = [word.form for word in sentence.words[at - 1 : at + 2]]
    return forms[0], forms[1], "".join(forms[2:])


def _says(there: str, here: str) -> Conflict:
    return Conflict(f"says {there}, the fact says {here}", there)
