"""Edits of a fact's sentence whose effect is certain: mutations that falsify it, and paraphrases.

Only certain mutations are made: a sentence with a hedge or a bound (`about`, `at least`, `until`,
`for 3 days`) keeps its numbers and dates, and so does a negated one; a number in a code stays;
names are changed in English only, where a capital letter in the middle of a sentence marks one; a
negated sentence is not negated again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

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
"""What lasts longer also lasts that long."""
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


def _replaced(sentence: str, match: re.Match[str], new: str) -> str:
    return sentence[: match.start()] + new + sentence[match.end() :]


def changed_number(sentence: str, _language: str) -> str | None:
    """The sentence with its only number replaced; `None` where the effect is uncertain."""
    found = list(_NUMBER.finditer(sentence))
    uncertain = (_BOUNDED, _DATE, _NEGATED, _LASTING)
    if len(found) != 1 or any(pattern.search(sentence) for pattern in uncertain):
        return None
    match = found[0]
    if _YEAR.fullmatch(match.group()) or re.search(r"\b(?:No|Nr)\.? ?$", sentence[: match.start()]):
        return None
    value = int(match.group().replace(",", ""))
    changed = value + max(2, value // 2)
    return _replaced(sentence, match, f"{changed:,}" if "," in match.group() else str(changed))


def changed_date(sentence: str, language: str) -> str | None:
    """The sentence with another month, or another year if it names no month; else `None`."""
    if _BOUNDED.search(sentence):
        return None
    months = _MONTHS_DE if language == "de" else _MONTHS
    found = [match for match in _DATE.finditer(sentence) if match.group() in months]
    if len(found) == 1 and _BEFORE_MONTH.search(sentence[: found[0].start()]):
        other = months[(months.index(found[0].group()) + 5) % len(months)]
        return _replaced(sentence, found[0], other)
    years = list(_YEAR.finditer(sentence))
    if found or len(years) != 1 or not re.search(r"\b[Ii]n\s+$", sentence[: years[0].start()]):
        return None
    return _replaced(sentence, years[0], str(int(years[0].group()) - 7))


def changed_name(sentence: str, language: str) -> str | None:
    """The sentence with one name replaced by an invented one; `None` where it has none."""
    found = [match for match in _NAME.finditer(sentence) if match.group() not in _NO_NAMES]
    name = next((new for new in _NEW_NAMES if new not in sentence), None)
    if language != "en" or not found or name is None:
        return None
    return _replaced(sentence, found[-1], name) if sentence.count(found[-1].group()) == 1 else None


def negated(sentence: str, language: str) -> str | None:
    """The sentence with `not` after its only auxiliary verb; `None` where it has no such verb."""
    found = list(_AUXILIARY.finditer(sentence))
    if language != "en" or len(found) != 1 or _NEGATED.search(sentence):
        return None
    return _replaced(sentence, found[0], f"{found[0].group()} not")


MUTATIONS: Mapping[str, Callable[[str, str], str | None]] = {
    "changed number": changed_number,
    "changed date": changed_date,
    "changed name": changed_name,
    "added negation": negated,
}
"""By the name of their rule: from a sentence and its language to one that it must not entail."""

_NUMBER_WORDS = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_SWAPS = {
    "per cent": "%", "percent": "per cent",
    "is not": "isn't", "was not": "wasn't", "are not": "aren't", "were not": "weren't",
    "does not": "doesn't", "did not": "didn't", "has not": "hasn't", "cannot": "can't",
    "will not": "won't",
    "centre": "center", "metre": "meter", "metres": "meters", "litre": "liter",
    "litres": "liters", "kilometre": "kilometer", "kilometres": "kilometers", "colour": "color",
    "programme": "program", "licence": "license", "cancelled": "canceled", "grey": "gray",
}  # fmt: skip
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}}) ({'|'.join(_MONTHS)})\b(?! \d{{4}})")
_SMALL = re.compile(r"(?<![\w.,:/\-])([2-9]|1[0-2])(?= [a-z]{3,})")
_THOUSANDS = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?![\w,.]\d)")


def paraphrases(sentence: str, language: str) -> Iterator[str]:
    """Paraphrases of the sentence, each with one light change."""
    yield sentence.replace(" ", "  ", 3)
    if "'" in sentence:
        yield sentence.replace("'", "\u2019")
    if language != "en":
        return
    for one, other in _SWAPS.items():
        changed = re.sub(rf"\b{one}\b", other, sentence)
        if changed != sentence:
            yield changed.replace(" %", "%") if other == "%" else changed
    date = _DAY_MONTH.search(sentence)
    if date:
        yield _replaced(sentence, date, f"{date.group(2)} {date.group(1)}")
    if (match := _SMALL.search(sentence)) and not date:
        yield _replaced(sentence, match, _NUMBER_WORDS[int(match.group()) - 2])
    if match := _THOUSANDS.search(sentence):
        yield _replaced(sentence, match, match.group().replace(",", ""))
