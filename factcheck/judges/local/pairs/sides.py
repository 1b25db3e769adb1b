"""What two values have in common and what each has on its own, as numbers.

What one value has alone is sorted by how it stands to the rest: in the frame of a sentence around
an answer, aside in brackets or behind a comma, before or behind the words in common. The features
of a pair do not depend on which value comes first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from factcheck.facts import Span
from factcheck.judges.local.pairs.codes import LABELS, places
from factcheck.judges.local.pairs.matching import DERIVED, REPEATED, TITLES
from factcheck.judges.local.pairs.model import HARMLESS, PLACES, UNLESS_BOTH
from factcheck.judges.local.pairs.words import Unit, Wording
from factcheck.text.dates import WEEKDAYS
from factcheck.text.words import word_set

_DEGREES = word_set(
    """
    phd md mba msc bsc ma ba jr sr esq obe mbe cbe kbe frs dds jd llm llb
    """
)
"""Said behind a name without making it another one."""
_CLASS_NOUNS = word_set(
    """
    film movie album song single novel book play series show programme program sitcom magazine
    newspaper band group team club fc cf afc company brand river racecourse stadium airport
    """
)
"""Beside a name, they say what it is the name of."""
_PRIVATIVES = word_set(
    """
    non not no never without former formerly ex anti fake pseudo quasi vice deputy assistant acting
    sub co pre post alleged allegedly suspected supposed possible possibly probable probably maybe
    perhaps almost nearly partly partially half semi un counter mock ehemalige ehemaliger ehemals
    stellvertretender stellvertretende ohne nicht kein keine ancien ancienne sans pas
    """
)
"""Said before a word, they make it something else rather than more specific."""
_PLACE_MODIFIERS = word_set(
    """
    new old north south east west northern southern eastern western central upper lower great
    greater little san santa sankt saint st los las el la mount mt lake port fort cape nord sud ost
    neu
    """
)
"""Before the name of a place, they make it another place: `York`, `New York`."""


class Side(NamedTuple):
    """One value of a pair, as seen from the other."""

    loss: float
    """Share of it that the other says in another form."""
    shares: dict[str, float]
    """Share of it that the other does not say, by place."""
    added: dict[str, tuple[Unit, ...]]
    """Units the other does not have, at each place where they matter only beside others."""
    own: tuple[Unit, ...]
    """Units the other does not have, at places where they matter."""
    privatives: tuple[str, ...]
    """Words among them that make something else of what follows."""
    heads: tuple[Unit, ...]
    """Words among them that make something else of what they follow: `attack` in `heart attack`."""
    n_units: int
    n_shared: int

    @property
    def extra(self) -> float:
        """Share of it that the other does not say, at places where it does not matter."""
        return sum(self.shares[place] for place in HARMLESS)

    @property
    def numbers(self) -> tuple[Unit, ...]:
        """Numbers that only this value has, at places where they matter."""
        return tuple(unit for unit in self.own if unit.is_number)


_GAP = re.compile(
    r"[\s\"'*_-]*(?:(?:the|a|an|der|die|das|le|la|les|el|los|las)\s+)?[\"']*", re.IGNORECASE
)
_LABEL = re.compile(r"\s*[^\s:][^:\n]{0,118}:\s+")
_QUOTED = re.compile(r"\"([^\"]+)\"|(?<![\w'])'([^']+)'(?!\w)")
_LARGEST_FRAME = 8
"""Units around an answer, above which a text says much besides."""
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_COMMA = re.compile(r",\s")
_ALIAS = re.compile(r"\s(?:aka|alias)\s|\s-\s|\s/\s")
_OR = re.compile(r"\s(?:or|oder|ou)\s")


def view(wording: Wording, credits_: Sequence[float], other: Wording) -> Side:
    units = wording.units
    total = sum(unit.weight for unit in units) or 1.0
    loss = sum(u.weight * (1 - c) for u, c in zip(units, credits_, strict=True) if c) / total
    shares = dict.fromkeys(PLACES, 0.0)
    own: list[Unit] = []
    added: dict[str, tuple[Unit, ...]] = {}
    privatives: list[str] = []
    heads: list[Unit] = []
    said = [place for place, credit in enumerate(credits_) if credit]
    shared = [place for place in said if credits_[place] != REPEATED] or said
    for place, unit in enumerate(units):
        if credits_[place] == DERIVED:
            own.append(unit)
    for place, where in _places(wording, credits_, shared, other).items():
        unit = units[place]
        shares[where] += unit.weight / total
        if where in UNLESS_BOTH:
            added[where] = (*added.get(where, ()), unit)
        if where not in HARMLESS:
            own.append(unit)
            privatives.extend([unit.text] if unit.form in _PRIVATIVES else [])
            heads.extend([unit] if _is_head(unit, where) else [])
    return Side(
        loss,
        shares,
        added,
        tuple(own),
        tuple(privatives),
        tuple(heads),
        n_units=len(units),
        n_shared=len(said),
    )


def _places(
    wording: Wording, credits_: Sequence[float], shared: Sequence[int], other: Wording
) -> dict[int, str]:
    """How each unit stands to the shared ones that the other value does not have."""
    missing = [place for place, credit in enumerate(credits_) if not credit]
    nested = _nested(wording)
    found: dict[int, str] = {}
    for answer in (_answer_in(wording, shared, other), None):
        found = {
            place: _place(wording, place, shared, answer, is_nested=nested[place])
            for place in missing
        }
        if sum(where == "frame" for where in found.values()) <= _LARGEST_FRAME:
            break
    return found


def _is_head(unit: Unit, where: str) -> bool:
    """Whether a word that is added names another thing: `heart attack`, `New York`."""
    if where == "behind":
        return not unit.is_capital and not unit.is_number
    return where == "before" and unit.is_capital and unit.form in _PLACE_MODIFIERS


def _answer_in(wording: Wording, shared: Sequence[int], other: Wording) -> Span | None:
    """The part of a label, a sentence or a quotation that may be the answer; `None` if it is none.

    `Capital: Paris` and `It is called "Paris"` are read so only beside a value that is not.
    """
    for quoted in _QUOTED.finditer(wording.text):
        inside = Span(quoted.start(), quoted.end())
        if inside.end - inside.start < len(wording.text) and _holds(inside, wording, shared):
            return inside
    label = _LABEL.match(wording.text)
    if label and not _LABEL.match(other.text):
        inside = Span(label.end(), len(wording.text))
        return inside if _holds(inside, wording, shared) else None
    is_answer = wording.is_sentence and not other.is_sentence
    return Span(0, len(wording.text)) if is_answer else None


def _holds(span: Span, wording: Wording, shared: Sequence[int]) -> bool:
    units = [wording.units[k] for k in shared]
    return bool(units) and units[0].start >= span.start and units[-1].end <= span.end


def _place(
    wording: Wording, place: int, shared: Sequence[int], answer: Span | None, *, is_nested: bool
) -> str:
    """Where a unit stands: the first of the readings that fits."""
    unit = wording.units[place]
    if not shared:
        return "apart"
    is_attached = _is_attached(wording, place, shared)
    is_outside = answer is not None and not answer.start <= unit.start < answer.end
    is_degree = unit.form in _DEGREES and unit.is_capital and place > shared[-1]
    readings = (
        ("aside", is_nested),
        ("frame", is_outside or (answer is not None and not is_attached)),
        ("title", _is_title(wording, place, shared)),
        ("degree", is_degree),
        ("counted", is_attached and _is_counted(wording, place, shared)),
        ("inside", shared[0] < place < shared[-1]),
        ("aside", _is_qualifier(wording, place, shared)),
        ("apart", not is_attached),
        ("before", place < shared[0]),
    )
    return next((name for name, fits in readings if fits), "behind")


def _is_title(wording: Wording, place: int, shared: Sequence[int]) -> bool:
    """Whether a unit only says who or what the rest is: `Dr.`, `PhD`, `album`, a middle initial."""
    unit = wording.units[place]
    if unit.form in TITLES and unit.is_capital and place < shared[0]:
        return True
    if unit.form in LABELS and place < shared[0]:
        return all(any(map(str.isdigit, wording.units[k].text)) for k in shared)
    is_among_names = all(wording.units[k].is_capital for k in shared)
    if len(unit.form) == 1 and unit.is_capital and shared[0] < place < shared[-1]:
        return is_among_names
    return unit.form in _CLASS_NOUNS and is_among_names and _is_attached(wording, place, shared)


def _is_counted(wording: Wording, place: int, shared: Sequence[int]) -> bool:
    """Whether a unit is what a lone number counts: `28 pieces`."""
    units = wording.units
    if not all(units[k].is_number for k in shared) or units[place].is_number:
        return False
    return place > shared[-1]


def _is_qualifier(wording: Wording, place: int, shared: Sequence[int]) -> bool:
    """Whether a unit is another name for the rest, or says where a place is (`Paris, France`)."""
    units = wording.units
    between = _between(wording, place, shared)
    are_names = units[place].is_capital and all(units[k].is_capital for k in shared)
    if _ALIAS.search(between) or (are_names and _OR.search(between)):
        return units[place].form not in WEEKDAYS
    comma = _COMMA.search(between)
    if not comma or place < shared[0] or not units[shared[-1]].is_capital:
        return False
    start = units[shared[-1]].end + comma.end()
    return " ".join(unit.form for unit in units if unit.start >= start) in places()


def _between(wording: Wording, place: int, shared: Sequence[int]) -> str:
    """The text between a unit outside the shared ones and the nearest of these."""
    units = wording.units
    if place < shared[0]:
        return wording.text[units[place].end : units[shared[0]].start]
    return wording.text[units[shared[-1]].end : units[place].start]


def _is_attached(wording: Wording, place: int, shared: Sequence[int]) -> bool:
    """Whether nothing but other such words stand between a unit and a shared one."""
    if wording.units[place].start in wording.verbs:
        return False
    ahead = [k for k in shared if k > place][:1]
    behind = [k for k in shared if k < place][-1:]
    return any(_touches(wording, *sorted((place, k))) for k in (*ahead, *behind))


def _touches(wording: Wording, low: int, high: int) -> bool:
    units = wording.units
    for one, other in zip(units[low:high], units[low + 1 : high + 1], strict=True):
        if not _GAP.fullmatch(wording.text[one.end : other.start]):
            return False
        is_mixed = one.is_capital != other.is_capital and not one.is_number and one.start > 0
        if is_mixed and not other.is_number:
            return False
    return True


def _nested(wording: Wording) -> list[bool]:
    """For each unit, whether it stands in brackets that do not hold the whole value."""
    nested, closers, at = [], [], 0
    for unit in wording.units:
        for character in wording.text[at : unit.start]:
            if character in _BRACKETS:
                closers.append(_BRACKETS[character])
            elif closers and character == closers[-1]:
                closers.pop()
        nested.append(bool(closers))
        at = unit.end
    return nested if not all(nested) else [False] * len(nested)


def features(one: Side, other: Side, letters: float) -> tuple[float, ...]:
    """`FEATURES` of a pair, whichever side comes first.

    Args:
        one: One value.
        other: The other.
        letters: How alike they are letter by letter, in [0, 1].
    """
    core = [
        side.loss + sum(share for place, share in side.shares.items() if place not in HARMLESS)
        for side in (one, other)
    ]
    return (
        one.loss + other.loss,
        *(one.shares[place] + other.shares[place] for place in PLACES),
        min(core),
        float(bool(one.numbers or other.numbers)),
        1 - letters,
    )
