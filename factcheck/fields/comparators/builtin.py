"""Built-in comparators of any value and of texts, names and telephone numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from factcheck.errors import ParameterError
from factcheck.fields.comparators.dates import date
from factcheck.fields.comparators.numeric import numeric
from factcheck.fields.types import MATCH, THRESHOLD, BoundComparator, BuiltinComparator, Outcome
from factcheck.fields.values import exact_key, is_nan, value_key, wrong_type
from factcheck.judges.local.pairs import DECISION, judge_pair
from factcheck.judges.local.pairs.normal import TABLES, fold
from factcheck.text.words import spellings, word_set, words

_MISMATCH: Final[Outcome] = (0.0, "mismatch")
_OTHER_TYPES: Final[Outcome] = (1.0, "equal, but with other types inside, such as 1 and true")
_NOT_ALLOWED: Final[Outcome] = (0.0, "no match in values")
_SAME_TEXT: Final[Outcome] = (1.0, "ratio 1")
_EQUAL_IF_SAME = frozenset({str, int, bool, type(None)})
"""Types whose values are identical if and only if they are equal."""


def _compare_exactly(gold: Any, extracted: Any) -> Outcome:
    kind = type(gold)
    if kind is not type(extracted):
        return _MISMATCH
    if kind in _EQUAL_IF_SAME:
        return MATCH if gold == extracted else _MISMATCH
    if kind is float:
        both_nan = math.isnan(gold) and math.isnan(extracted)
        return MATCH if gold == extracted or both_nan else _MISMATCH
    if exact_key(gold) != exact_key(extracted):
        return _MISMATCH
    if value_key(gold) == value_key(extracted):
        return MATCH
    return _OTHER_TYPES


def _bind_oneof(*, values: list[Any] | None = None) -> BoundComparator:
    if values is None:
        raise ParameterError("oneof requires 'values', the list of allowed values")
    has_nan = any(map(is_nan, values))

    def compare(_gold: Any, extracted: Any) -> Outcome:
        is_allowed = extracted in values or (has_nan and is_nan(extracted))
        return MATCH if is_allowed else _NOT_ALLOWED

    return BoundComparator(compare)


def _bind_fuzzy(*, threshold: float | None = None) -> BoundComparator:
    from rapidfuzz.distance.Indel import similarity

    def compare(gold: Any, extracted: Any) -> Outcome:
        if not (isinstance(gold, str) and isinstance(extracted, str)):
            return _other_types("fuzzy compares strings", gold, extracted)
        if gold == extracted:
            return _SAME_TEXT
        ratio = similarity(gold, extracted) / (len(gold) + len(extracted))
        if threshold is None:
            return ratio, f"ratio {ratio:.6g}"
        if ratio >= threshold:
            return 1.0, f"ratio {ratio:.6g}, at least {threshold:.6g}"
        return 0.0, f"ratio {ratio:.6g} is below {threshold:.6g}"

    return BoundComparator(compare)


exact = BuiltinComparator("exact", lambda: BoundComparator(_compare_exactly, key=exact_key))
"""Match the same value of the same type; Python equality below the outermost level."""
oneof = BuiltinComparator(
    "oneof", _bind_oneof, {"values": ("a list", lambda value: isinstance(value, list))}
)
"""Match if the extracted value is an allowed one; the gold value is ignored.

Parameters:
    values: List of allowed values; as in Python, `1` also allows `1.0` and `true`.
"""
fuzzy = BuiltinComparator("fuzzy", _bind_fuzzy, {"threshold": THRESHOLD})
"""Score the normalized Indel similarity of two strings, in [0, 1]; other values as in `exact`.

Parameters:
    threshold: Minimum ratio of a match; without it the ratio is the score.

Source:
    `rapidfuzz.fuzz.ratio`, divided by 100.
"""

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
COMPARATORS: Mapping[str, BuiltinComparator] = MappingProxyType(
    {
        comparator.name: comparator
        for comparator in (exact, numeric, oneof, fuzzy, date, name, phone)
    }
)
"""Built-in comparators that score one field at a time, by name."""
