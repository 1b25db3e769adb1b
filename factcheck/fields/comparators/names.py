"""The comparators `name` and `phone`: the same person or firm, the same line, in any notation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from factcheck.fields.types import MATCH, BoundComparator, BuiltinComparator, Outcome
from factcheck.fields.values import exact_key, wrong_type
from factcheck.judges.local.pairs import DECISION, judge_pair
from factcheck.judges.local.pairs.normal import TABLES, fold
from factcheck.text.words import spellings, word_set, words

_SHORT = {long: short for short, long in TABLES["legal"].items() if long}
_OPTIONAL = frozenset(TABLES["legal"]) | word_set(
    "dr prof mr mrs ms mx herr frau mag ing dipl phd msc mba"
)
_AND = word_set("& + and und et y")


class _Name(NamedTuple):
    words: tuple[str, ...]
    """Words that both sides must have, in alphabetical order."""
    additions: frozenset[str]
    """Titles and legal forms."""


@lru_cache(maxsize=8192)
def _names(text: str) -> tuple[_Name, ...]:
    """Return the name with umlauts as plain vowels and as two letters."""
    found = []
    for spelling in spellings(text):
        forms = [_SHORT.get(form, form) for word in words(spelling) if (form := fold(word.text))]
        additions = _OPTIONAL.intersection(forms)
        required = sorted(form for form in forms if form not in additions | _AND)
        found.append(_Name(tuple(required), additions))
    return tuple(found)


def _have_common(ones: Sequence[str], others: Sequence[str]) -> bool:
    """Whether two names have a word in common or, if one is a single word, an initial."""
    if min(len(ones), len(others)) > 1:
        return not set(ones).isdisjoint(others)
    initials = {one[0] for one in ones}
    return not (ones and others) or not initials.isdisjoint(other[0] for other in others)


def _compare_names(gold: Any, extracted: Any) -> Outcome:
    if not (isinstance(gold, str) and isinstance(extracted, str)):
        return _other_types("name compares strings", gold, extracted)
    has_common = False
    for one, other in zip(_names(gold), _names(extracted), strict=True):
        has_common = has_common or _have_common(one.words, other.words)
        are_compatible = one.additions <= other.additions or other.additions <= one.additions
        if one.words and one.words == other.words and are_compatible:
            return MATCH
    if not has_common:
        return 0.0, "no word in common"
    finding = judge_pair(gold, extracted, "exact", None)
    return float(finding.probability >= DECISION), finding.reason


def _compare_phones(gold: Any, extracted: Any) -> Outcome:
    import phonenumbers

    if not isinstance(gold, (str, int)) or not isinstance(extracted, (str, int)):
        return _other_types("phone compares numbers of telephones", gold, extracted)
    texts = str(gold), str(extracted)
    relation = phonenumbers.is_number_match(*texts)
    kinds = phonenumbers.MatchType
    if relation in (kinds.EXACT_MATCH, kinds.NSN_MATCH):
        return MATCH
    characters = ["".join(filter(str.isalnum, text)).casefold() for text in texts]
    if characters[0] and characters[0] == characters[1]:
        return MATCH
    return 0.0, "another number"


def _other_types(expected: str, gold: Any, extracted: Any) -> Outcome:
    if exact_key(gold) == exact_key(extracted):
        return MATCH
    side, value = ("extracted", extracted) if isinstance(gold, str) else ("gold", gold)
    return 0.0, wrong_type(expected, side, value)


name = BuiltinComparator("name", lambda: BoundComparator(_compare_names))
"""Match names of the same person or company.

Case, accents, punctuation and the order of words do not count, nor do a title, a degree or a legal
form that only one side has, or an initial for a middle name.
"""
phone = BuiltinComparator("phone", lambda: BoundComparator(_compare_phones))
"""Match the same telephone number; the country may be missing on one side."""
