"""Built-in comparators of values, texts, numbers, names and telephone numbers."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from factcheck.errors import ParameterError
from factcheck.fields.comparators.dates import date
from factcheck.fields.types import (
    MATCH,
    THRESHOLD,
    BoundComparator,
    BuiltinComparator,
    Outcome,
    check_params,
    is_number,
)
from factcheck.fields.values import exact_key, is_nan, wrong_type
from factcheck.judges.local.pairs import DECISION, judge_pair
from factcheck.judges.local.pairs.normal import TABLES, fold, is_like_name
from factcheck.text.words import spellings, word_set, words

_TYPE_ERROR: Final[Outcome] = (0.0, "type_error")
_PLAIN = frozenset({int, float})
_MOST_DIGITS = 4_000
_ARRAY_LIMIT = 2**52
"""Largest number compared as a float, so that differences are exact, too."""


def _compare_exactly(gold: Any, extracted: Any) -> Outcome:
    return MATCH if exact_key(gold) == exact_key(extracted) else (0.0, "mismatch")


def _bind_oneof(*, values: list[Any] | None = None) -> BoundComparator:
    if values is None:
        raise ParameterError("oneof requires 'values', the list of allowed values")
    has_nan = any(map(is_nan, values))

    def compare(_gold: Any, extracted: Any) -> Outcome:
        is_allowed = extracted in values or (has_nan and is_nan(extracted))
        return MATCH if is_allowed else (0.0, "no match in values")

    return BoundComparator(compare)


def _bind_fuzzy(*, threshold: float | None = None) -> BoundComparator:
    from rapidfuzz.distance.Indel import similarity

    def compare(gold: Any, extracted: Any) -> Outcome:
        if not (isinstance(gold, str) and isinstance(extracted, str)):
            return _other_types("fuzzy compares strings", gold, extracted)
        if gold == extracted:
            return 1.0, "ratio 1"
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
"""Match if the extracted value is an allowed one; as in Python, `1` allows `1.0` and `true`."""
fuzzy = BuiltinComparator("fuzzy", _bind_fuzzy, {"threshold": THRESHOLD})
"""Score the normalized Indel similarity of two strings (`rapidfuzz.fuzz.ratio`), in [0, 1]."""

_SHORT = {long: short for short, long in TABLES["legal"].items() if long}
_SHORT |= dict.fromkeys(("md", "phd", "dds", "doctor"), "dr")
_OPTIONAL = frozenset(TABLES["legal"]) | word_set(
    "dr prof mr mrs ms mx herr frau mag ing dipl phd msc mba"
)
_DIALLED = re.compile(r"\A\W*00(?=\W*[1-9])")
"""Prefix of a number that is called from abroad."""
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
        required, additions = [], set()
        for word in words(spelling):
            form = fold(word.text)
            form = _SHORT.get(form, form)
            if form in _OPTIONAL and not is_like_name(word.text):
                additions.add(form)
            elif form and form not in _AND:
                required.append(form)
        found.append(_Name(tuple(sorted(required)), frozenset(additions)))
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
    texts = [_DIALLED.sub("+", str(value)) for value in (gold, extracted)]
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
"""Match names of the same person or company."""
phone = BuiltinComparator("phone", lambda: BoundComparator(_compare_phones))
"""Match the same telephone number; the country may be missing on one side."""


def number_of(value: Any) -> int | float | None:
    """Convert a value to a number as `float` does, but keep large whole numbers; else `None`.

    Booleans are 0 and 1.
    """
    if type(value) in _PLAIN:
        return value  # type: ignore[no-any-return]
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if isinstance(value, str) and abs(number) > _ARRAY_LIMIT:
        if math.isinf(number) and any(map(str.isdigit, value)):
            large = Decimal(value.strip())
            return int(large) if abs(large.adjusted()) < _MOST_DIGITS else None
        whole, _, fraction = value.strip().partition(".")
        with suppress(ValueError):  # an exponent, or more digits than Python converts
            return number if fraction.strip("0") else int(whole)
    return number


def _errors(gold: float, extracted: float) -> tuple[float, float]:
    """Return the error relative to gold, or to 1 if gold is 0, and the absolute error."""
    try:
        gap = abs(gold - extracted)
        share = gap if gap == math.inf else gap / (abs(gold) or 1)
    except OverflowError:
        return math.inf, math.inf
    return share, float(gap) if gap <= sys.float_info.max else math.inf


def _within(limits: tuple[float, float] | None) -> BoundComparator:
    """Bind the limits of the relative and the absolute error; `None`: numbers must be equal."""
    rel, largest = limits or (0.0, 0.0)

    def compare(gold: Any, extracted: Any) -> Outcome:
        one, two = gold, extracted
        if not (type(gold) in _PLAIN and type(extracted) in _PLAIN):
            one, two = number_of(gold), number_of(extracted)
            if one is None or two is None:
                return MATCH if gold is None and extracted is None else _TYPE_ERROR
        if one == two:
            return MATCH
        share, gap = _errors(one, two)
        if share <= rel and gap <= largest:
            return MATCH
        if is_nan(one) or is_nan(two):
            return MATCH if is_nan(one) and is_nan(two) else _TYPE_ERROR
        reason = _reason(share, gap, rel, largest) if limits else "values differ without tolerance"
        return 0.0, reason

    if limits is None:
        return BoundComparator(compare, key=_number_key)
    return BoundComparator(compare, scores=partial(_scores, rel=rel, largest=largest))


def _reason(share: float, gap: float, rel: float, largest: float) -> str:
    reasons = [f"relative error {share:.12g} is above {rel:.12g}"] if share > rel else []
    if gap > largest:
        reasons.append(f"absolute error {gap:.12g} is above {largest:.12g}")
    return "; ".join(reasons)


def _scores(gold: Sequence[Any], extracted: Sequence[Any], rel: float, largest: float) -> Any:
    """Score all pairs of plain numbers; `None` for others, or if floats are not exact for all."""
    import numpy as np

    numbers = (*gold, *extracted)
    if not {*map(type, numbers)} <= _PLAIN or not all(abs(n) <= _ARRAY_LIMIT for n in numbers):
        return None
    values = np.array(gold, dtype=float)[:, None]
    gap = abs(values - np.array(extracted, dtype=float))
    near = gap <= largest
    if rel < math.inf:
        with np.errstate(over="ignore"):
            near &= gap / np.where(values == 0, 1.0, abs(values)) <= rel
    return near.astype(float)


def _number_key(value: Any) -> Hashable:
    number = number_of(value)
    if number is None:
        return None if value is None else object()
    return "NaN" if is_nan(number) else number


_LIMIT = ("a finite number of at least 0", lambda limit: is_number(limit) and limit >= 0)
_TOLERANCE = (
    "an object with 'rel', 'abs' or both, such as {'rel': 0.01}",
    lambda value: value is None or isinstance(value, Mapping),
)


def _bind_numeric(*, tolerance: Mapping[str, Any] | None = None) -> BoundComparator:
    if not tolerance:
        return _within(None)
    check_params("the tolerance of numeric", tolerance, {"rel": _LIMIT, "abs": _LIMIT})
    return _within((float(tolerance.get("rel", math.inf)), float(tolerance.get("abs", math.inf))))


numeric = BuiltinComparator("numeric", _bind_numeric, {"tolerance": _TOLERANCE})
"""Match two numbers, or strings that represent them; integers of any size are compared exactly."""

COMPARATORS: Mapping[str, BuiltinComparator] = MappingProxyType(
    {
        comparator.name: comparator
        for comparator in (exact, numeric, oneof, fuzzy, date, name, phone)
    }
)
"""Built-in comparators that score one field at a time, by name."""
