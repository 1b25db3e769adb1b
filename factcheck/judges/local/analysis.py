"""A fact or a passage prepared for comparison: what is denied, hedged, and who does what.

There is no parser: everything is read off the words and their places.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from factcheck.facts import Span
from factcheck.text.dates import Moment
from factcheck.text.names import Name
from factcheck.text.reading import Reading, read
from factcheck.text.units import Quantity
from factcheck.text.words import Word, irregular_forms, word_set


class Relation(NamedTuple):
    """Who does what to whom: a verb, the stems of its agent's side and of its patient's."""

    key: str
    agents: frozenset[str]
    patients: frozenset[str]
    at: int


class Analysed(NamedTuple):
    """A fact or a passage prepared for comparison; depends on nothing but its own text."""

    text: str
    language: str
    words: tuple[Word, ...]
    quantities: tuple[Quantity, ...]
    """The first `_MOST_ITEMS`, as of moments, names and relations."""
    moments: tuple[Moment, ...]
    names: tuple[Name, ...]
    content: tuple[int, ...]
    """Positions of the content words that belong to no number or date."""
    places: Mapping[str, tuple[int, ...]]
    """Where each stem stands, the first `_MOST_PLACES` times."""
    denied: Mapping[int, int]
    """Positions that a negation applies to, each with the position of the negation."""
    reach: frozenset[int]
    """Positions that a negation may apply to."""
    denied_whole: int | None
    """Position of `not` in `it is not true that`."""
    hedged: Mapping[int, int]
    """Positions said as less than a fact, each with that of the word that does so."""
    passive: frozenset[int]
    """Positions of verbs in the passive voice."""
    relations: tuple[Relation, ...]
    initials: frozenset[str]
    """Of all its names, and its words in capitals."""


_MOST_ITEMS = 16
"""Numbers, dates, names and verbs that are looked at: a bound on the time for one pair."""
_MOST_PLACES = 8
"""Places of one stem that are looked at."""
_REACH = 4
"""Content words after a negation that it may apply to."""
_SIDE = 12
"""Words on either side of a verb that may be its agent or its patient."""
_NOT_DENYING = word_set("only just merely simply necessarily least doubt matter surprise")
"""After `not` or `no`, these deny nothing."""
_DENYING_VERBS = word_set("fail refus declin neglect unabl")
"""Stems that deny what follows their `to`."""
_LACKING = word_set("lack except")
"""Stems that deny what follows at once; so do `_AVOIDING` before a form in -ing."""
_AVOIDING = word_set("deni avoid")
_NOUN_NEGATIONS = word_set("no without neither nor kein keine keinen keinem sans ohne sin senza")
"""They deny a whole run of words: `no new evidence`."""
_TRUE = word_set("true case fact")
"""After a negated one of these and `that`, a whole clause is denied."""
_SCOPE_ENDS = word_set("but because although though while whereas unless aber sondern mais pero")
_HEDGES = word_set(
    "may might could would allegedly reportedly possibly perhaps probably if whether"
)
_HEDGING_VERBS = word_set("plan want hope expect intend aim tri threaten propos promis about")
"""Stems that make less than a fact of what follows their `to`."""
TURNING = word_set(
    "before after until since for against above below inside outside over under up down"
)
"""Grammar words that have opposites."""
PREPOSITIONS = word_set(
    "of by for from to in at on with against after before than into as during until under over"
)
_BE = word_set("is are was were be been being got gets get")
_DETERMINERS = word_set("a an the his her its their our my your this that these those some any no")
_BREAKS = word_set(
    "who whom whose which that when while because although but if since before after"
)
_NO_SIDES = word_set(
    "marri meet divorc wed resembl join combin merg share match equal border face play fight call"
    " name includ base associ connect relat link locat live die born happen occur becom rent"
)
"""Stems of verbs whose two sides can change places, or that have one."""
_UNCHANGED = word_set("beat cut hit put set shut hurt let split quit bid cast bet")
"""Verbs whose past tense looks like the present."""
_CONVERSE = {
    ("buy", "from"): "sell", ("purchas", "from"): "sell", ("acquir", "from"): "sell",
    ("borrow", "from"): "lend", ("receiv", "from"): "give", ("learn", "from"): "teach",
    ("lose", "to"): "beat", ("belong", "to"): "own", ("work", "for"): "employ",
    ("inherit", "from"): "bequeath", ("follow", ""): "preced", ("succeed", ""): "preced",
    ("south", "of"): "north", ("west", "of"): "east", ("below", ""): "abov",
    ("shorter", "than"): "taller", ("smaller", "than"): "larger", ("fewer", "than"): "more",
    ("younger", "than"): "older", ("cheaper", "than"): "dearer", ("lower", "than"): "higher",
    ("lighter", "than"): "heavier", ("slower", "than"): "faster", ("less", "than"): "more",
}  # fmt: skip
"""Stems that, before a preposition, say another word from the other side."""
_SAME_RELATION = {"hire": "employ", "defeat": "beat", "win": "beat", "bigger": "larger"}
_COMPARING = {stem for stem, after in _CONVERSE if after in {"of", "than"}} | {"below"}
SIDED = _COMPARING | {stem for stem, _ in _CONVERSE} | set(_CONVERSE.values())
_COMPARING |= {_CONVERSE[stem, after] for stem, after in _CONVERSE if stem in _COMPARING}


def wording(analysed: Analysed, first: int, last: int) -> tuple[str, Span]:
    """The words at positions `[first, last)` as they are written, and where they stand."""
    start, end = analysed.words[first].start, analysed.words[last - 1].end
    return analysed.text[start:end], Span(start, end)


def analyse(text: str, language: str) -> Analysed:
    """Prepare a fact, or one passage of a text, for comparison; linear in its length.

    Args:
        text: One sentence, as a rule.
        language: Two-letter code; the same for a fact and the text it is compared with.
    """
    found = read(text, language)
    each = [(q.first, q.last) for q in found.quantities] + [
        (m.first, m.last) for m in found.moments
    ]
    taken = {at for first, last in each for at in range(first, last)}
    content = tuple(k for k, w in enumerate(found.words) if w.kind == "content" and k not in taken)
    english = language == "en"
    places: dict[str, list[int]] = {}
    for at, word in enumerate(found.words):
        if (word.kind == "content" and at not in taken) or (english and word.form in TURNING):
            places.setdefault(word.stem, []).append(at)
    denied, reach, whole = _negations(found)
    passive = _passives(found.words, content) if english else frozenset()
    return Analysed(
        text=text,
        language=language,
        words=found.words,
        quantities=found.quantities[:_MOST_ITEMS],
        moments=found.moments[:_MOST_ITEMS],
        names=found.names[:_MOST_ITEMS],
        content=content,
        places={stem: tuple(some[:_MOST_PLACES]) for stem, some in places.items()},
        denied=denied,
        reach=reach,
        denied_whole=whole,
        hedged=_hedges(found.words, taken) if english else {},
        passive=passive,
        relations=tuple(_relations(found, content, passive)) if english else (),
        initials=frozenset(
            [name.initials for name in found.names if len(name.initials) > 1]
            + [w.form for w in found.words if w.text.isupper() and len(w.text) > 1]
        ),
    )


def _negations(found: Reading) -> tuple[dict[int, int], frozenset[int], int | None]:
    """What each negation applies to, what it may apply to, and one of a whole clause."""
    text, every = found.text, found.words
    denied: dict[int, int] = {}
    reach: set[int] = set()
    whole = None
    for at, (word, following) in enumerate(pairwise(every)):
        start, is_noun = at + 1, word.form in _NOUN_NEGATIONS
        if word.kind == "negation":
            label = following.kind == "number" or text[word.end : word.end + 1] in {",", "."}
            if following.form in _NOT_DENYING or (word.form == "no" and label):
                continue
        elif word.stem in _DENYING_VERBS and following.form == "to":
            start = at + 2
        elif (
            word.stem in _LACKING
            or (word.form, following.form) == ("rather", "than")
            or (word.stem in _AVOIDING and following.form.endswith("ing"))
        ):
            is_noun = True
        else:
            continue
        if denied.pop(at, None) is not None:
            continue
        scope = list(_scope(every, start, text))
        if scope and every[scope[0]].form in _TRUE and every[scope[0] + 1 : scope[0] + 2]:
            if whole is None:
                whole = at
                reach.update(range(at, len(every)))
            continue
        run = 1
        while is_noun and run < len(scope) and scope[run] == scope[run - 1] + 1:
            run += 1
        denied.update(dict.fromkeys(scope[:run], at))
        reach.update(scope)
    return denied, frozenset(reach), whole


def _scope(every: Sequence[Word], start: int, text: str) -> Iterator[int]:
    """The first content words of a clause from a place on."""
    n_found = 0
    for at in range(start, min(len(every), start + 4 * _REACH)):
        between = text[every[at - 1].end : every[at].start]
        if every[at].form in _SCOPE_ENDS or any(mark in between for mark in ",;:()."):
            return
        if every[at].kind in {"content", "number"}:
            yield at
            n_found += 1
            if n_found == _REACH:
                return


def _passives(every: Sequence[Word], content: Sequence[int]) -> frozenset[int]:
    """Verbs in the passive voice: `was hired`, `overtaken by`, `found in 2001 by`."""
    found = set()
    for at in content:
        is_after_be = any(word.form in _BE for word in every[max(0, at - 3) : at])
        ahead = [word.form for word in every[at + 1 : at + 9]]
        is_participle = "by" in ahead and ahead[0] in PREPOSITIONS
        if (is_after_be and "by" in ahead[:2]) or (
            _in_past(every[at]) and (is_after_be or is_participle)
        ):
            found.add(at)
    return frozenset(found)


def _in_past(word: Word) -> bool:
    """Whether a word has the form of a past tense or participle: `hired`, `sold`."""
    return word.form.endswith("ed") or word.form in irregular_forms()


def _relations(
    found: Reading, content: Sequence[int], passive: frozenset[int]
) -> Iterator[Relation]:
    """The verbs of a text with the content words of their clause on either side.

    There is no parser: a side reaches to the next verb or to a word or mark that opens a clause.
    """
    every = found.words
    verbs = [at for at in content if _relates(every, at)][:_MOST_ITEMS]
    for at in verbs:
        ends = () if every[at].stem in _COMPARING else verbs
        left, right = _side(found, at, -1, ends), _side(found, at, 1, ends)
        key = _SAME_RELATION.get(every[at].stem, every[at].stem)
        flipped = False
        following = {word.form for word in every[at + 1 : at + 7]} | {""}
        for (stem, after), canonical in _CONVERSE.items():
            if stem == key and after in following:
                key, flipped = canonical, True
                break
        if at in passive:
            ahead = range(at + 1, min(len(every), at + _SIDE))
            by = next((k for k in ahead if every[k].form == "by"), None)
            ends = [k for k in ahead if every[k].form in PREPOSITIONS and k != by]
            agents = _side(found, by, 1, [*verbs, *ends]) if by else frozenset()
            patients = left | (right - agents if flipped else frozenset())
        else:
            agents, patients = left, right
        if flipped:
            agents, patients = patients, agents
        if agents and patients:
            yield Relation(key, agents - patients, patients - agents, at)


def _relates(every: Sequence[Word], at: int) -> bool:
    """Whether a word looks like a verb in the past or after a name, or is a comparison."""
    word = every[at]
    if word.stem in _COMPARING:
        return True
    if not word.text.islower() or word.stem in _NO_SIDES or word.form in _HEDGES:
        return False
    if at and every[at - 1].form in _DETERMINERS:
        return False
    named = at > 0 and every[at - 1].text[:1].isupper()
    return _in_past(word) or (named and (word.form.endswith("s") or word.form in _UNCHANGED))


def _side(found: Reading, at: int, step: int, verbs: Sequence[int]) -> frozenset[str]:
    """The stems on one side of a verb, up to the next verb or clause."""
    every, stems = found.words, set()
    for place in range(at + step, at + step * _SIDE, step):
        if not 0 <= place < len(every) or place in verbs or every[place].form in _BREAKS:
            break
        one, other = sorted((place, place - step))
        if any(mark in found.text[every[one].end : every[other].start] for mark in ";:()"):
            break
        if every[place].kind == "content":
            stems.add(every[place].stem)
    return frozenset(stems)


def _hedges(every: Sequence[Word], taken: Container[int]) -> dict[int, int]:
    """What is said as less than a fact: `may close`, `plans to close`, `if it closes`."""
    hedged: dict[int, int] = {}
    for at, (word, following) in enumerate(pairwise(every)):
        if at in taken:
            continue
        if word.form in _HEDGES or (word.stem in _HEDGING_VERBS and following.form == "to"):
            ahead = (
                k for k in range(at + 1, min(at + 6, len(every))) if every[k].kind == "content"
            )
            hedged.update(dict.fromkeys(list(ahead)[:1], at))
    return hedged
