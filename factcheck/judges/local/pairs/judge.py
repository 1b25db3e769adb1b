"""Embedded pair judge: decides offline whether two values of a field are equivalent.

Values are compared by kind: dates as dates, lists by item, other texts by their numbers, signs and
words. Pairs that words cannot decide go to the networks of the embedded judge. `description` and
`instructions` are ignored; only language models understand them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate, product
from math import isqrt
from typing import Any, NamedTuple, Union

from factcheck.errors import Failure
from factcheck.judges.local.model import Model
from factcheck.judges.local.pairs.normal import (
    DECISION,
    LONG,
    OTHER,
    SAME,
    VAGUE,
    Finding,
    against,
    compare_closed,
    compare_codes,
    compare_moments,
    is_absent,
    meanings,
    normal,
    quoted,
    settle,
    tidy,
)
from factcheck.judges.local.pairs.reading import LABEL, read
from factcheck.judges.local.pairs.texts import compare_texts, is_in_order, load_pair_model
from factcheck.judges.ports import Ledger, PairResult, PairVerdict, Specificity, ValuePair
from factcheck.runtime.deadline import checkpoint, decide_each, run_in_thread
from factcheck.text.words import guess_language

Value = Union[str, "tuple[Value, ...]"]
"""A text, or a list whose order does not matter; an object is a list of texts, `key: value`."""
_DEEPEST = 32
_DEPTHS = {"[": 1, "{": 1, "]": -1, "}": -1}
_ALTERNATIVES = re.compile(r"(?<=\s)/(?=\s)(?!\s+(?:year|annum|month|week|day|hour|h)\b)")
_BULLET = re.compile(r"\A\s*(?:[-*\u2022\u2023\u00b7\u2013]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+(?=\S)")
_HARD_BREAK = re.compile(r"\s*(?:;|\r?\n)+\s*")
_SOFT_BREAK = re.compile(r"\s*,\s+(?:(?:and|und|et|y|e|&)\s+)?|(?<=\w),(?=[^\W\d])")
_TUPLE = re.compile(r"\s*(?:\(.*\)|-?\d+\.\d+\s*,\s*-?\d+\.\d+)\s*")
"""Values in order: `(3, 4)`, `48.85, 2.35`."""
_BRACKETS = re.compile(
    r"([^()]*[^\s()])\s*\(((?:[^\W\d_]+ )?(?=[^\s()]*[A-Z])(?:[^\W\d_]+\d|[A-Z]{2,})\w*)\)"
)
"""A name with a short one in brackets, which has a digit or two capitals."""
_AND = re.compile(r"\s+(?:and|und|et|y|&)\s+")
_RELATED = re.compile(r"(?:between|by|via|from|then|after|before)\b", re.IGNORECASE)
_NORMAL, _JOINED = 0.99, 0.97
"""Probabilities of values that are equal after normalisation, or without spaces."""
_MAX_ALTERNATIVES, _MAX_READ, _MAX_DEPTH = 45, 3, 2
"""Maximum numbers of alternatives of either value, and of pairs of them read by the networks; depth
at which lists and objects are compared by normal form."""
_MOST_CHARACTERS, _MOST_NESTED, _MOST_READ, _FEW = 60_000, 4, 4, 3
"""Maximum total length of pairs of items that are compared; maximum numbers of compared items of
nested lists, of pairs read by the networks, and of items in a reason."""


def compare_values(pair: ValuePair) -> PairVerdict:
    """Judge a pair of values; deterministic."""
    checkpoint()
    finding = judge_pair(pair.gold, pair.extracted, pair.specificity, load_pair_model())
    probability = round(min(max(finding.probability, 0.0), 1.0), 6)
    return PairVerdict(probability >= DECISION, probability, finding.reason, "local")


class LocalPairJudge:
    """Compares values of fields offline with `compare_values`."""

    @property
    def identity(self) -> Mapping[str, str]:
        """Judge name and model version."""
        return {"judge": f"local/21@{load_pair_model().version}"}

    async def compare(self, pairs: Sequence[ValuePair], ledger: Ledger) -> Sequence[PairResult]:
        """Return one verdict per pair, in order; free of charge."""
        del ledger
        return await run_in_thread(decide_each, compare_values, pairs, Failure.of)


class _Mode(NamedTuple):
    specificity: Specificity
    model: Model | None
    """`None`: the networks are not used."""
    depth: int = 0


def judge_pair(gold: str, extracted: str, specificity: Specificity, model: Model | None) -> Finding:
    """Judge two values; a lenient specificity never lowers the probability.

    Without a model, only the rules decide.
    """
    if gold == extracted:
        return Finding(1.0, "identical")
    modes = [_Mode(each, model) for each in dict.fromkeys((specificity, "exact"))]
    return max((_judge(gold, extracted, mode) for mode in modes), key=lambda found: found[0])


def _judge(gold: str, extracted: str, mode: _Mode) -> Finding:
    """Judge by the closest alternative of gold, which each extracted alternative must equal."""
    first, second = read_value(gold), read_value(extracted)
    ones, others = alternatives(first), alternatives(second)
    inner = short_name(first), short_name(second)
    if inner[0] and not inner[1]:
        ones += (inner[0],)
    if len(others) > 1:
        worst = Finding(1.0, "")
        for other in others[:_MAX_ALTERNATIVES]:
            worst = min(worst, _closest(ones, (other,), mode), key=lambda found: found.probability)
            if worst.probability < DECISION:
                break
        return worst
    return _closest(ones, others + ((inner[1],) if inner[1] and not inner[0] else ()), mode)


def _closest(ones: Sequence[Value], others: Sequence[Value], mode: _Mode) -> Finding:
    """Return the finding on the closest pair; the networks read only the closest pairs."""
    if len(ones) == len(others) == 1:
        return _compare(ones[0], others[0], mode)
    if {*map(key_of, ones)} & {*map(key_of, others)}:
        return Finding(_NORMAL, "same after normalisation")
    few = product(ones[:_MAX_ALTERNATIVES], others[:_MAX_ALTERNATIVES])
    found = {pair: _compare(*pair, mode._replace(model=None)) for pair in few}

    def order(pair: tuple[Value, Value]) -> tuple[float, list[str], list[str]]:
        texts = [*map(as_text, pair)]
        return -found[pair].probability, sorted(texts), texts

    closest = sorted(found, key=order)[:_MAX_READ]
    if found[closest[0]].probability < DECISION:
        found |= {pair: _compare(*pair, mode) for pair in closest}
    finding = found[min(found, key=order)]
    is_cut = max(len(ones), len(others)) > _MAX_ALTERNATIVES
    note = " (only the first alternatives compared)" if is_cut else ""
    return finding._replace(reason=finding.reason + note)


def _compare(first: Value, second: Value, mode: _Mode) -> Finding:
    """Compare two values by structure; deeply nested lists by their normal forms."""
    if isinstance(first, str) and isinstance(second, str):
        return _compare_strings(first, second, mode)
    if mode.depth < _MAX_DEPTH:
        return _compare_lists(_items(first), _items(second), mode)
    if key_of(first) == key_of(second):
        return Finding(_NORMAL, "same after normalisation")
    return Finding(VAGUE, against(as_text(first), as_text(second)))


def _items(value: Value) -> Sequence[Value]:
    items = (read_list(value) or (value,)) if isinstance(value, str) else tuple(value)
    return tuple(x for x in items if not (isinstance(x, str) and is_absent(tidy(x))))


def _compare_lists(first: Sequence[Value], second: Sequence[Value], mode: _Mode) -> Finding:
    """Compare two lists regardless of order; of long ones, only the first items that differ."""
    ones, others = _without(first, second), _without(second, first)
    met = [Finding(SAME, "same items")] * (len(first) - len(ones))
    longest = max((len(as_text(item)) for item in (*ones, *others)), default=0)
    most = max(isqrt(_MOST_CHARACTERS // (longest + 10)), 2)
    most = min(most, _MOST_NESTED) if mode.depth else most
    is_short = len(ones) * len(others) <= _MOST_READ
    within = mode._replace(model=mode.model if is_short else None, depth=mode.depth + 1)
    found = [
        (_compare(ones[i], others[j], within), i, j)
        for i, j in product(range(min(most, len(ones))), range(min(most, len(others))))
    ]
    found.sort(key=lambda each: (-each[0].probability, abs(each[1] - each[2]), sum(each[1:])))
    taken: dict[int, int] = {}
    for finding, i, j in found:
        if finding.probability >= DECISION and i not in taken and j not in taken.values():
            taken[i] = j
            met.append(finding)
    rest = (
        [item for i, item in enumerate(ones) if i not in taken],
        [item for j, item in enumerate(others) if j not in taken.values()],
    )
    finding = _on_the_rest(met, *rest, mode.specificity)
    is_cut = most < min(len(ones), len(others))
    note = f" (of the rest, only the first {most} items compared with each other)" if is_cut else ""
    return finding._replace(reason=finding.reason + note)


def _without(items: Sequence[Value], others: Sequence[Value]) -> list[Value]:
    """Return the items without those equal to one of the others."""
    free, rest = Counter(map(key_of, others)), []
    for item in items:
        free[key := key_of(item)] -= 1
        if free[key] < 0:
            rest.append(item)
    return rest


def _on_the_rest(
    met: Sequence[Finding],
    ones: Sequence[Value],
    others: Sequence[Value],
    specificity: Specificity,
) -> Finding:
    """Return the finding on two lists, given those on equivalent items, and the other items."""
    gold, extracted = (
        quoted(", ".join(sorted(map(as_text, rest[:_FEW])))) + ", …" * (len(rest) > _FEW)
        for rest in (ones, others)
    )
    if ones and others:
        share = len(met) / (len(met) + max(len(ones), len(others)))
        return Finding(OTHER + (VAGUE - OTHER) * share, against(gold, extracted))
    if not met and (ones or others):
        return Finding(OTHER, f"no value in {'extracted' if ones else 'gold'}")
    worst = min([*met, Finding(SAME, "same items")], key=lambda each: each.probability)
    if not ones and not others:
        return worst
    more = settle("less", specificity, f"only in gold: {gold}")
    if others:
        more = settle("more", specificity, f"only in extracted: {extracted}")
    return more._replace(probability=min(more.probability, worst.probability))


def _compare_strings(gold: str, extracted: str, mode: _Mode) -> Finding:
    """Compare two texts, as lists if both may be; order and notation of items do not count."""
    ones, others = read_list(gold), read_list(extracted)
    are_lists = bool(ones and others) and mode.depth <= _MAX_DEPTH
    finding = _compare_plain(gold, extracted, mode._replace(model=None) if are_lists else mode)
    if not are_lists or finding.probability >= SAME:
        return finding
    by_items = _compare_lists(ones, others, mode)
    is_parted = by_items.probability < DECISION <= finding.probability
    return finding if is_parted and is_in_order(tidy(gold), tidy(extracted)) else by_items


def _compare_plain(gold: str, extracted: str, mode: _Mode) -> Finding:
    """Compare two texts, of which one may be in doubt: `pneumonia?` is not `pneumonia`."""
    finding = _compare_forms(gold, extracted, mode)
    if _is_in_doubt(gold) == _is_in_doubt(extracted):
        return finding
    return Finding(min(finding.probability, VAGUE), against(gold, extracted))


def _is_in_doubt(text: str) -> bool:
    inner = text.strip(" ()")
    return "?" in {inner[:1], inner[-1:]} and any(map(str.isalnum, inner))


def _compare_forms(gold: str, extracted: str, mode: _Mode) -> Finding:
    """Compare two texts by their form, as values of one kind, or else by their units."""
    first, second = tidy(gold), tidy(extracted)
    one, other = LABEL.match(first), LABEL.match(second)
    if one and other:
        labels = [found[0].rstrip(": ") for found in (one, other)]
        if _compare_plain(labels[0], labels[1], mode._replace(model=None)).probability < DECISION:
            return Finding(VAGUE, against(first, second))
        first, second = first[one.end() :], second[other.end() :]
    is_long = max(len(first), len(second)) > LONG
    if not is_long and (finding := compare_closed(first, second)) is not None:
        return finding
    language = guess_language(f"{min(first, second)} {max(first, second)}")
    forms = normal(first), normal(second)
    if first == second or (forms[0] and forms[0] == forms[1]):
        return Finding(_NORMAL, "same after normalisation")
    has_numbers = any(map(str.isdigit, first))
    letters = [form.replace(" ", "") for form in forms]
    if letters[0] and not has_numbers and letters[0].lower() == letters[1].lower():
        is_same = letters[0] == letters[1]  # unlike `Co` and `CO`
        if not is_same or read(first, language).is_denied == read(second, language).is_denied:
            reason = "same letters" if is_same else against(first, second)
            return Finding(_JOINED if is_same else OTHER, reason)
    if is_long:
        return Finding(VAGUE, "too long to compare word by word")
    return (
        compare_moments(first, second, mode.specificity)
        or compare_codes(first, second)
        or compare_texts(first, second, mode.specificity, language, mode.model)
    )


def read_value(text: str) -> Value:
    """Parse a JSON list or object; return any other text unchanged."""
    stripped = text.strip()
    is_json = stripped[:1] + stripped[-1:] in {"[]", "{}"}
    if not is_json or max(accumulate(_DEPTHS.get(c, 0) for c in stripped)) > _DEEPEST:
        return text
    try:
        return _from_json(json.loads(stripped, parse_int=str, parse_float=str, parse_constant=str))
    except (ValueError, RecursionError):
        return text


def _from_json(parsed: Any) -> Value:
    if isinstance(parsed, dict):
        return tuple(sorted(f"{key}: {as_text(_from_json(each))}" for key, each in parsed.items()))
    if isinstance(parsed, list):
        return tuple(map(_from_json, parsed))
    return parsed if isinstance(parsed, str) else json.dumps(parsed)


def as_text(value: Value) -> str:
    """Format a value as text."""
    return value if isinstance(value, str) else ", ".join(map(as_text, value))


def key_of(value: Value) -> str:
    """Return a key that is equal for equal values, regardless of the order of their parts."""
    if isinstance(value, str):
        return normal(tidy(value)) or value
    return "[" + "; ".join(sorted(map(key_of, value))) + "]"


def alternatives(text: Value) -> tuple[Value, ...]:
    """Split alternatives separated by ` / `; a value without any is its only one."""
    if not isinstance(text, str):
        return (text,)
    parts = dict.fromkeys(part.strip() for part in _ALTERNATIVES.split(text) if part.strip())
    return (text,) if len(parts) < 2 or is_absent(tidy(text)) else tuple(parts)  # noqa: PLR2004


def short_name(text: Value) -> str:
    """Return the short name in brackets behind a name, `ALT` of `GPT (ALT)`; or an empty text."""
    found = _BRACKETS.fullmatch(text.strip()) if isinstance(text, str) else None
    if found is None or meanings(found[2]):
        return ""
    letters = "".join(filter(str.isalpha, found[2].lower()))
    name = found[1].lower()
    is_contained = all(letter in name for letter in letters) and name.startswith(letters[0])
    is_name = found[1].istitle() and " " in found[1]  # of a person, whose office is in brackets
    return found[2] if is_contained or not is_name else ""


def read_list(text: str) -> tuple[str, ...]:
    """Split a list written as text; no items if it is none, or a list of clauses."""
    if len(text) > LONG or _TUPLE.fullmatch(text):
        return ()
    parts = [_BULLET.sub("", part, count=1) for part in _HARD_BREAK.split(text.strip())]
    parts = [part for part in parts if part.strip()]
    if len(parts) == 1:
        parts = [part for part in _SOFT_BREAK.split(" ".join(text.split())) if part.strip()]
        parts = [*parts[:-1], *_AND.split(parts[-1])] if parts else []
        tidied = tidy(text)
        is_sentence = len(parts) > 1 and read(tidied, guess_language(tidied)).is_sentence
        if is_sentence or any(map(_RELATED.match, parts[1:])):
            return ()
    return tuple(part.strip() for part in parts) if len(parts) > 1 else ()
