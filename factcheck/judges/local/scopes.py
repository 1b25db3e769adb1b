"""Which words of a sentence are denied, said as less than a fact, or turned round by others.

A sentence is read by itself. There is no parser: a negation, or a word like `may` or `plans to`,
applies to the next unit, which is the verb in nearly all sentences.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from factcheck.judges.local.words import TELLING, Word

Mood = Literal["asked", "conditional", "possible", "future", "intended", "refused", "excepted"]
"""How something is said that is no plain statement."""

_SCOPE_ENDS = frozenset(
    ("but", "because", "although", "though", "while", "whereas", "aber", "sondern", "mais", "pero")
)
_SCOPE_UNITS = 3
_REPORTING = frozenset(
    ("true", "case", "think", "believ", "evid", "sign", "correct", "proof", "clear", "certain")
)
"""After a negated one of these, the clause that follows is what is denied."""
_DENIALS = frozenset(("deni", "fals", "untru", "wrong", "incorrect"))
"""A clause introduced by `that` after one of these is denied."""


def negation_scopes(
    text: str, found: Sequence[Word], units: Sequence[int]
) -> tuple[frozenset[int], frozenset[int]]:
    """The units a negation applies to, and those it may apply to: the same and the next few."""
    negated: set[int] = set()
    within: set[int] = set()
    members = frozenset(units)
    for at, word in enumerate(found):
        if word.kind == "negation" and _negates(text, found, at):
            scope = _scope(text, found, members, at)
            before = [k for k in units if k < at]
            scope = scope or before[-1:]
            whole = bool(scope) and found[scope[0]].stem in _REPORTING
            negated.update(scope if whole else scope[:1])
            within.update(scope if whole else scope[:_SCOPE_UNITS])
        elif word.stem in _DENIALS and at + 1 < len(found) and found[at + 1].stem == "that":
            negated.update(_scope(text, found, members, at))
    return frozenset(negated), frozenset(within | negated)


def _negates(text: str, found: Sequence[Word], at: int) -> bool:
    """False for `No, he went`, `No 10`, `not only`."""
    word = found[at]
    following = found[at + 1] if at + 1 < len(found) else None
    if following is None:
        return at > 0
    if word.stem == "no" and (following.kind == "number" or text[word.end : word.end + 1] in ",."):
        return False
    return following.stem not in {"only", "just", "nur", "seulement", "solo"}


def _scope(text: str, found: Sequence[Word], members: frozenset[int], at: int) -> list[int]:
    scope = []
    for position in range(at + 1, len(found)):
        between = text[found[position - 1].end : found[position].start]
        if found[position].stem in _SCOPE_ENDS or any(mark in ";:()" for mark in between):
            break
        if position in members:
            scope.append(position)
    return scope


_ONE_WORD: Mapping[str, Mood] = {
    **dict.fromkeys(("may", "might", "could"), "possible"),
    "would": "future",
    "except": "excepted",
}
"""Words that make the next unit less than a fact. English, as the other tables here."""
_BEFORE_TO: Mapping[str, Mood] = {
    **dict.fromkeys(
        ("plan", "want", "hope", "expect", "intend", "aim", "tri", "threaten", "propos", "promis"),
        "intended",
    ),
    **dict.fromkeys(("refus", "fail", "declin"), "refused"),
}
"""Stems of words that do so before `to`."""
_HARMLESS: Mapping[str, Mood] = {"can": "possible", "will": "future", "shall": "future"}
"""Words of the same moods after which a sentence still says enough for a plain fact."""
_CONDITIONS = frozenset(("if", "unless"))
_MARKERS = frozenset((*_ONE_WORD, *_BEFORE_TO, *_HARMLESS, *_CONDITIONS, "whether"))
_NO_CONDITION = frozenset(("even", "as"))
"""`If` after one of these makes nothing depend on it."""
_QUESTIONS = frozenset(
    ("ask", "wonder", "know", "see", "decid", "check", "clear", "unclear", "sure")
)
"""After one of these, `if` opens an indirect question, and only that is uncertain."""
CHANGES = frozenset(("by", "to", "from", "um", "auf", "von"))
"""Before numbers: `rose by 5` is not `rose to 5`."""
FOR, AGAINST = frozenset(("for",)), frozenset(("against",))
BEFORE, AFTER = frozenset(("before", "until")), frozenset(("after", "since"))
QUANTIFIERS = {
    **dict.fromkeys(("all", "every", "each", "both"), 3),
    "most": 2,
    **dict.fromkeys(("some", "many", "several", "half", "few"), 1),
}
"""What is said of more is said of fewer, not the other way round."""
_LEADS = (
    CHANGES | BEFORE | AFTER | FOR | AGAINST | frozenset((*QUANTIFIERS, "everi", "mani", "sever"))
)
"""By stem."""
_ASKS = re.compile(r"[?\uff1f\u061f][)\]*_\s]*\Z")
_QUOTED_QUESTION = re.compile(r"[\"\u201c\u201e\u00ab].*[?\uff1f\u061f][^\w\s]+\Z", re.DOTALL)


def hedges(
    text: str, found: Sequence[Word], units: Sequence[int]
) -> tuple[Mapping[int, Mood], frozenset[Mood]]:
    """The units said as less than a fact, each with how, and all moods of the sentence."""
    hedged: dict[int, Mood] = {}
    moods: set[Mood] = set()
    for at, word in enumerate(found):
        stem = word.stem
        if stem not in _MARKERS:
            continue
        mood: Mood | None = _ONE_WORD.get(stem)
        if mood is None and at + 1 < len(found) and found[at + 1].stem == "to":
            mood = _BEFORE_TO.get(stem)
        if mood is not None:
            moods.add(mood)
            hedged.update((position, mood) for position in _following(units, at)[:1])
        elif stem in _HARMLESS:
            moods.add(_HARMLESS[stem])
        elif stem == "whether" or (stem in _CONDITIONS and _depends(found, at)):
            moods.add("conditional")
            indirect = stem == "whether" or (at > 0 and found[at - 1].stem in _QUESTIONS)
            scope = _following(units, at) if indirect else units
            hedged.update(dict.fromkeys(scope, "conditional"))
    if _ASKS.search(text[-8:]) or _QUOTED_QUESTION.match(text):
        moods.add("asked")
        hedged.update(dict.fromkeys(units, "asked"))
    return hedged, frozenset(moods)


def leads(found: Sequence[Word]) -> Mapping[int, tuple[str, ...]]:
    """For each word, the words right before it that can turn its meaning round."""
    led: dict[int, tuple[str, ...]] = {}
    pending: tuple[str, ...] = ()
    for at, word in enumerate(found):
        if pending and word.kind in TELLING:
            led[at] = pending
        if word.stem in _LEADS:
            pending = (*pending, word.text.lower())
        elif pending and word.kind not in {"function", "unit"}:
            pending = ()
    return led


def _following(units: Sequence[int], at: int) -> list[int]:
    return [position for position in units if position > at]


def _depends(found: Sequence[Word], at: int) -> bool:
    return at == 0 or found[at - 1].stem not in _NO_CONDITION
