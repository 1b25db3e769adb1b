"""Edits of an English sentence whose effect on its verdict is certain.

Only certain edits are made: a sentence with a hedge or a bound (`about`, `at least`, `until`, `for
3 days`) keeps its number, a number in a code stays, and a negated sentence is not
negated again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_BOUNDED = re.compile(
    r"\b(?:about|around|roughly|nearly|almost|approximately|some|circa|ca|least|most|up to|to|over"
    r"|more than|less than|fewer|under|above|below|between|from|until|till|since|before|after|by"
    r"|or more|within|minimum|maximum|half|twice)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.,:/\-\u2013])\d{1,3}(?:,\d{3})+(?![\w/:\-\u2013])(?![.,]\d)"
                     r"|(?<![\w.,:/\-\u2013])\d{1,6}(?![\w/:\-\u2013])(?![.,]\d)")  # fmt: skip
_LASTING = re.compile(r"\b(?:for|first|ahead) ?\d|\bahead\b", re.IGNORECASE)
"""What lasts longer also lasts that long."""
_NUMBERED = re.compile(r"\b(?:No|Nr)\.? ?$")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTH = re.compile(rf"\b(?:{'|'.join(MONTHS)})\b")
_YEAR = re.compile(r"(?<![\d.,])(?:1[5-9]|20)\d{2}(?![\d.,]\d|\d)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b")
_NO_NAMES = frozenset((*MONTHS, *_DAYS, "English", "German", "French", "Mr", "Mrs", "Dr"))
_NEW_NAMES = ("Zorvath", "Quillmere", "Brondack", "Yestrell", "Vopnik", "Halquist")
_AUXILIARY = re.compile(r"\b(?:is|was|are|were|will)\b(?! not)")
_NEGATED = re.compile(
    r"\b(?:not|no|never|nobody|none|nothing|neither|nor|without|only|unless|except|\w+n't|cannot)\b",
    re.IGNORECASE,
)
NUMBER_WORDS = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_PROPER_NAME = (
    r"(?!(?:He|She|It|They|We|You|I|This|These|Those|There)\b)[A-Z][\w-]+(?: [A-Z\d][\w-]*)*"
)
_PARTY = rf"(?:(?:The|the)(?: [a-z-]+){{1,3}}?|(?:[Tt]he )?{_PROPER_NAME})"
_SHARED = re.compile(
    rf"{_PARTY} (?:costs?|weigh(?:s|ed)|has|had|holds|needs|employs|contains|serves)"
    rf" (?:about |up to )?(?:\d|a single |(?:{'|'.join(NUMBER_WORDS)})\b)"
    rf"|{_PROPER_NAME} (?:is|was) an? "
)
"""A price, a weight, a number or a profession, which is nobody's alone."""
_UNIQUE = re.compile(
    r"%|\b(?:per ?cent|of|majority|monopoly|more|less|than|as|same|other|own|its|his|her|their)\b"
)
_SPELLINGS = {
    "per cent": "%", "percent": "per cent",
    "is not": "isn't", "was not": "wasn't", "are not": "aren't", "were not": "weren't",
    "does not": "doesn't", "did not": "didn't", "has not": "hasn't", "cannot": "can't",
    "will not": "won't",
}  # fmt: skip
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}}) ({'|'.join(MONTHS)})\b(?! \d{{4}})")
_SMALL = re.compile(r"(?<![\w.,:/\-])([2-9]|1[0-2])(?= [a-z]{3,})")


def change_number(sentence: str) -> str | None:
    """Put another number."""
    match = _only(_NUMBER, sentence, _BOUNDED, _MONTH, _NEGATED, _LASTING)
    if match is None or _YEAR.fullmatch(match.group()):
        return None
    if _NUMBERED.search(sentence[: match.start()]):
        return None
    value = int(match.group().replace(",", ""))
    changed = value + max(2, value // 2)
    return _put(sentence, match, f"{changed:,}" if "," in match.group() else str(changed))


def change_name(sentence: str) -> str | None:
    """Put an invented name for the last one."""
    found = [match for match in _NAME.finditer(sentence) if match.group() not in _NO_NAMES]
    invented = next((name for name in _NEW_NAMES if name not in sentence), None)
    if not found or invented is None or sentence.count(found[-1].group()) > 1:
        return None
    return _put(sentence, found[-1], invented)


def negate(sentence: str) -> str | None:
    """Put `not` after the auxiliary."""
    match = _only(_AUXILIARY, sentence, _NEGATED)
    return match and _put(sentence, match, f"{match.group()} not")


def limit(sentence: str) -> str | None:
    """Put `Only` before the subject, where others can always do the same."""
    if not _SHARED.match(sentence) or _NEGATED.search(sentence) or _UNIQUE.search(sentence):
        return None
    article = "The "
    if sentence.startswith(article):
        return f"Only the {sentence.removeprefix(article)}"
    return f"Only {sentence}"


EDITS: Mapping[str, Callable[[str], str | None]] = {
    "changed number": change_number,
    "changed name": change_name,
    "added negation": negate,
    "missing limit": limit,
}
"""By rule: what makes an English sentence one of which neither may follow from the other, or `None`
where the effect is uncertain. Of the last, the plain sentence does not entail the edited one."""


def paraphrase(sentence: str) -> str:
    """Change an English sentence lightly, its spaces if nothing else can be changed."""
    if date := _DAY_MONTH.search(sentence):
        return _put(sentence, date, f"{date.group(2)} {date.group(1)}")
    if match := _SMALL.search(sentence):
        return _put(sentence, match, NUMBER_WORDS[int(match.group()) - 2])
    for one, other in _SPELLINGS.items():
        changed = re.sub(rf"\b{one}\b", other, sentence)
        if changed != sentence:
            return changed.replace(" %", "%")
    return sentence.replace(" ", "  ", 3)


def _put(sentence: str, match: re.Match[str], new: str) -> str:
    return sentence[: match.start()] + new + sentence[match.end() :]


def _only(
    pattern: re.Pattern[str], sentence: str, *uncertain: re.Pattern[str]
) -> re.Match[str] | None:
    """Return the only match of a pattern; `None` where an uncertain one occurs, too."""
    found = list(pattern.finditer(sentence))
    if len(found) != 1 or any(other.search(sentence) for other in uncertain):
        return None
    return found[0]
