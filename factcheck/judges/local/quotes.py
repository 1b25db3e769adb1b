"""Who says what stands between quotation marks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from factcheck.judges.local.tree import WORDS

_OPEN = r"(?:[\"\u201c\u00ab]|\u2018(?=\s?\w)|(?<!\S)'(?=\s))"
_CLOSE = r"(?:[\"\u201d\u00bb]|(?<=[\s.,!?])\u2019|(?<=\s)'(?!\S))"
_SAYING = "|".join(sorted(WORDS["saying"]))
_BEHIND, _BEHIND_OPEN = (
    re.compile(
        rf"{opens}(?P<said>.+?),?\s*{_CLOSE},?\s+(?P<who>[^\"\u201c\u201d]{{2,200}})\Z", re.DOTALL
    )
    for opens in (_OPEN, "")
)
_BEFORE = re.compile(
    rf"(?P<who>[^\"\u201c\u201d]{{2,200}}?)[:,]\s*{_OPEN}(?P<said>.+)\Z", re.DOTALL
)
_NAME_FIRST = re.compile(
    rf"(?P<name>[^,]{{1,80}}?)(?:,[^,]*,)?\s+(?P<verb>{_SAYING})\b", re.IGNORECASE
)
_VERB_FIRST = re.compile(
    rf"(?P<verb>{_SAYING})\s+(?P<name>[^,.]{{1,80}}?)(?=[,.]|\s(?:on|in|at|after|to|during)\s|\Z)",
    re.IGNORECASE,
)
_MARKS = re.compile(rf"\A\s*{_OPEN}\s*|\s*{_CLOSE}\s*\Z")
_WITHOUT_HEARER = {"told": "said", "tells": "says"}
_LONGEST = 6
"""Sentences of a quotation behind its first."""
_FEWEST = 3
"""Words of a quotation that is told apart from the sentence around it."""


class Quoted(NamedTuple):
    """A sentence that somebody says."""

    said: str
    start: int
    """Where it begins in the sentence."""
    who: str
    """The words beside it that name the speaker; empty if there are none."""
    speaker: str
    """`Anna Kern said`; empty if nobody is named."""


def read_quote(text: str, *, is_open: bool) -> Quoted | None:
    """Read a sentence of which the main part stands between quotation marks.

    Args:
        text: The sentence.
        is_open: Whether a quotation began before it.
    """
    for pattern in (_BEHIND_OPEN if is_open else _BEHIND, _BEFORE):
        match = pattern.match(text)
        speaker = _speaker(match["who"]) if match else ""
        if match and speaker and len(match["said"].split()) >= _FEWEST:
            return _quoted(text, match.start("said"), match.end("said"), match["who"], speaker)
    opens = re.match(_OPEN, text) is not None
    end = re.search(_CLOSE, text[1:])
    is_short = end is not None and not is_open and len(text.split()) < _FEWEST
    if not (is_open or opens) or is_short:
        return None
    if end and re.search(r"\w", text[1 + end.end() :]):
        return None
    return _quoted(text, 0, len(text), "", "")


def leaves_open(text: str, later: Sequence[str], *, is_open: bool) -> bool:
    """Tell whether a quotation goes on behind a sentence.

    One whose end is not in the next few sentences of `later` has lost it, or was none.
    """
    goes_on = _goes_on(text, is_open=is_open)
    if is_open or not goes_on:
        return goes_on
    return not all(_goes_on(each, is_open=True) for each in later[:_LONGEST])


def _goes_on(text: str, *, is_open: bool) -> bool:
    opened = len(re.findall("[\u201c\u00ab]", text)) + len(re.findall(r"\u2018(?=\s?\w)", text))
    closed = len(re.findall("[\u201d\u00bb]", text)) + len(re.findall(r"(?<=[\s.,!?])\u2019", text))
    is_odd = text.count('"') % 2 == 1
    if is_odd:
        return not is_open
    return opened > closed if opened != closed else is_open


def _quoted(text: str, start: int, end: int, who: str, speaker: str) -> Quoted:
    said = text[start:end]
    bare = _MARKS.sub("", said)
    return Quoted(bare, start + said.index(bare), who, speaker)


def _speaker(who: str) -> str:
    who = who.lstrip("'\u2018\u2019 ")
    match = _VERB_FIRST.match(who) or _NAME_FIRST.match(who)
    verb = match["verb"].lower() if match else ""
    verb = _WITHOUT_HEARER.get(verb, verb)
    return f"{match['name'].strip()} {verb}" if match else ""
