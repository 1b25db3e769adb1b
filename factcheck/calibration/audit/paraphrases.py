"""Light paraphrases: the same sentence, written in another way, which must stay entailed."""

from __future__ import annotations

import re
from collections.abc import Iterator

_WORDS = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_SHORT = {
    "is not": "isn't",
    "was not": "wasn't",
    "are not": "aren't",
    "were not": "weren't",
    "does not": "doesn't",
    "did not": "didn't",
    "has not": "hasn't",
    "cannot": "can't",
    "will not": "won't",
}
_AMERICAN = {
    "centre": "center",
    "metre": "meter",
    "metres": "meters",
    "litre": "liter",
    "litres": "liters",
    "kilometre": "kilometer",
    "kilometres": "kilometers",
    "colour": "color",
    "programme": "program",
    "licence": "license",
    "cancelled": "canceled",
    "grey": "gray",
}
_DAY_MONTH = re.compile(
    r"\b(\d{1,2}) (January|February|March|April|May|June|July|August|September|October|November"
    r"|December)\b(?! \d{4})"
)
_SMALL = re.compile(r"(?<![\w.,:/\-])([2-9]|1[0-2])(?= [a-z]{3,})")
_THOUSANDS = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?![\w,.]\d)")


def paraphrases(sentence: str, language: str) -> Iterator[str]:
    """The sentence written in other ways, each with one thing changed."""
    yield sentence.replace(" ", "  ", 3)
    if "'" in sentence:
        yield sentence.replace("'", "\u2019")
    if language != "en":
        return
    yield from _swapped(sentence, {"per cent": "%", "percent": "per cent", **_SHORT, **_AMERICAN})
    if match := _DAY_MONTH.search(sentence):
        date = f"{match.group(2)} {match.group(1)}"
        yield sentence[: match.start()] + date + sentence[match.end() :]
    if (match := _SMALL.search(sentence)) and not _DAY_MONTH.search(sentence):
        word = _WORDS[int(match.group(1)) - 2]
        yield sentence[: match.start(1)] + word + sentence[match.end(1) :]
    if match := _THOUSANDS.search(sentence):
        plain = match.group().replace(",", "")
        yield sentence[: match.start()] + plain + sentence[match.end() :]


def _swapped(sentence: str, words: dict[str, str]) -> Iterator[str]:
    for one, other in words.items():
        changed = re.sub(rf"\b{one}\b", other, sentence)
        if changed != sentence:
            yield changed.replace(" %", "%") if other == "%" else changed
