"""Changes to the sentence of a fact after which it certainly says something else.

Only certain ones are made: a sentence with a hedge or a bound (`about`, `at least`, `until`, `for 3
days`) keeps its numbers and dates, and so does a denied one; a number in a code stays; names are
changed in English only, where a capital letter in the middle of a sentence tells one; a sentence
that is negated already is not negated again. What cannot be changed with certainty gives no change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_BOUNDED = re.compile(
    r"\b(?:about|around|roughly|nearly|almost|approximately|some|circa|ca|least|most|up to|to|over"
    r"|more than|less than|fewer|under|above|below|between|from|until|till|since|before|after|by"
    r"|or more|within|minimum|maximum|half|twice|rund|etwa|mindestens|h\u00f6chstens|bis|seit|vor"
    r"|nach|\u00fcber|unter|zwischen|mehr als|weniger als|fast|knapp|gut|ab)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.,:/\-\u2013])\d{1,3}(?:,\d{3})+(?![\w/:\-\u2013])(?![.,]\d)"
                     r"|(?<![\w.,:/\-\u2013])\d{1,6}(?![\w/:\-\u2013])(?![.,]\d)")  # fmt: skip
_LASTING = re.compile(r"\b(?:for|first|ahead|erste\w*|lang|voraus) ?\d|\bahead\b", re.IGNORECASE)
"""What lasts longer, lasts that long, too."""
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_MONTHS_DE = (
    "Januar", "Februar", "M\u00e4rz", "April", "Mai", "Juni", "Juli", "August", "September",
    "Oktober", "November", "Dezember",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DATE = re.compile(rf"\b(?:{'|'.join(dict.fromkeys(_MONTHS + _MONTHS_DE))})\b")
_BEFORE_MONTH = re.compile(r"\d\s*\.?\s*$|\b(?:in|im)\s+$", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\d.,])(?:1[5-9]|20)\d{2}(?![\d.,]\d|\d)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b")
_NO_NAMES = frozenset((*_MONTHS, *_DAYS, "English", "German", "French", "Mr", "Mrs", "Dr"))
_NEW_NAMES = ("Zorvath", "Quillmere", "Brondack", "Yestrell", "Vopnik", "Halquist")
_AUXILIARY = re.compile(r"\b(?:is|was|are|were|will)\b(?! not)")
_NEGATED = re.compile(
    r"\b(?:not|no|never|nobody|none|nothing|neither|nor|without|only|unless|except|\w+n't|cannot)\b",
    re.IGNORECASE,
)


def changed_number(sentence: str, language: str) -> str | None:
    """The sentence with another number in the place of its only one."""
    del language
    found = list(_NUMBER.finditer(sentence))
    if len(found) != 1 or any(
        one.search(sentence) for one in (_BOUNDED, _DATE, _NEGATED, _LASTING)
    ):
        return None
    match = found[0]
    if _YEAR.fullmatch(match.group()) or re.search(r"\b(?:No|Nr)\.? ?$", sentence[: match.start()]):
        return None
    value = int(match.group().replace(",", ""))
    changed = value + max(2, value // 2)
    shown = f"{changed:,}" if "," in match.group() else str(changed)
    return sentence[: match.start()] + shown + sentence[match.end() :]


def changed_date(sentence: str, language: str) -> str | None:
    """The sentence with another month, or another year where it names no month."""
    if _BOUNDED.search(sentence):
        return None
    months = _MONTHS_DE if language == "de" else _MONTHS
    found = [match for match in _DATE.finditer(sentence) if match.group() in months]
    if len(found) == 1 and _BEFORE_MONTH.search(sentence[: found[0].start()]):
        other = months[(months.index(found[0].group()) + 5) % len(months)]
        return sentence[: found[0].start()] + other + sentence[found[0].end() :]
    years = list(_YEAR.finditer(sentence))
    if found or len(years) != 1 or not re.search(r"\b[Ii]n\s+$", sentence[: years[0].start()]):
        return None
    year = str(int(years[0].group()) - 7)
    return sentence[: years[0].start()] + year + sentence[years[0].end() :]


def changed_name(sentence: str, language: str) -> str | None:
    """The sentence with a name that occurs nowhere in the place of one of its own."""
    if language != "en":
        return None
    found = [match for match in _NAME.finditer(sentence) if match.group() not in _NO_NAMES]
    if not found or sentence.count(found[-1].group()) != 1:
        return None
    name = next((new for new in _NEW_NAMES if new not in sentence), None)
    if name is None:
        return None
    return sentence[: found[-1].start()] + name + sentence[found[-1].end() :]


def negated(sentence: str, language: str) -> str | None:
    """The sentence with a `not` behind its only auxiliary verb."""
    found = list(_AUXILIARY.finditer(sentence))
    if language != "en" or len(found) != 1 or _NEGATED.search(sentence):
        return None
    return sentence[: found[0].end()] + " not" + sentence[found[0].end() :]


MUTATIONS: Mapping[str, Callable[[str, str], str | None]] = {
    "changed number": changed_number,
    "changed date": changed_date,
    "changed name": changed_name,
    "added negation": negated,
}
"""By the name of the rule: from a sentence and its language to what it must not be taken for."""
