"""Embedded pair judge: decides offline whether two values of a field are equivalent.

Values are compared by kind: quantities as quantities, dates as dates, lists by item. Pairs that
words cannot decide go to the networks of the embedded judge. `description` and `instructions` are
ignored; only language models understand them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import isqrt

from factcheck.errors import Failure
from factcheck.judges.local.cancellation import checkpoint, run_in_thread
from factcheck.judges.local.pairs.model import (
    DECISION,
    SAME,
    VAGUE,
    Finding,
    PairModel,
    against,
    load_pair_model,
)
from factcheck.judges.local.pairs.normal import (
    LONG,
    Plain,
    compare_absence,
    compare_closed,
    compare_codes,
    is_absent,
    plain,
    tidy,
    with_digraphs,
)
from factcheck.judges.local.pairs.quantities import compare_amounts, compare_moments
from factcheck.judges.local.pairs.structures import (
    Value,
    alternatives,
    as_text,
    compare_lists,
    compare_objects,
    read_list,
    read_value,
)
from factcheck.judges.local.pairs.texts import compare_texts
from factcheck.judges.local.pairs.wording import language_of, wording
from factcheck.judges.ports import Ledger, PairResult, PairVerdict, Specificity, ValuePair
from factcheck.runtime.deadline import decide_each

_NORMAL, _JOINED, _OTHER_FORM = 0.99, 0.97, 0.35
"""Probabilities of values that are equal after normalisation, or without spaces, or except for
their legal forms."""
_MAX_COMBINATIONS = 2048
"""Maximum number of pairs of alternatives that are compared in full."""
_MAX_READ = 3
"""Maximum number of pairs of alternatives read by the networks."""
_MAX_DEPTH = 2
"""Maximum depth at which lists and objects are compared by part."""


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
        return {"judge": f"local/8@{load_pair_model().version}"}

    async def compare(self, pairs: Sequence[ValuePair], ledger: Ledger) -> Sequence[PairResult]:
        """Return one verdict per pair, in order; free of charge."""
        del ledger
        return await run_in_thread(decide_each, compare_values, pairs, Failure.of)


def judge_pair(gold: str, extracted: str, specificity: Specificity, model: PairModel) -> Finding:
    """Judge two values; a lenient specificity never lowers the probability."""
    if gold == extracted:
        return Finding(1.0, "identical")
    finding = _judge(gold, extracted, specificity, model)
    if specificity == "exact" or finding.probability >= SAME:
        return finding
    exact = _judge(gold, extracted, "exact", model)
    return exact if exact.probability > finding.probability else finding


def _judge(gold: str, extracted: str, specificity: Specificity, model: PairModel) -> Finding:
    """Judge by the closest pair of alternatives; the networks read only the closest pairs."""
    first, second = read_value(gold), read_value(extracted)
    if not (isinstance(first, str) and isinstance(second, str)):
        return _compare(first, second, specificity, model)
    ones, others, note = alternatives(first), alternatives(second), ""
    if len(ones) * len(others) > _MAX_COMBINATIONS:
        forms = [{plain(tidy(text)).tokens for text in texts} for texts in (ones, others)]
        if (forms[0] & forms[1]) - {()}:
            return Finding(_NORMAL, "same after normalisation")
        limit = isqrt(_MAX_COMBINATIONS)
        ones, others, note = ones[:limit], others[:limit], " (only the first alternatives compared)"
    if len(ones) == len(others) == 1:
        return _compare(ones[0], others[0], specificity, model)
    found = {pair: _compare(*pair, specificity, None) for pair in product(ones, others)}

    def order(pair: tuple[str, str]) -> tuple[float, list[str], tuple[str, str]]:
        return -found[pair].probability, sorted(pair), pair

    closest = sorted(found, key=order)[:_MAX_READ]
    if found[closest[0]].probability < DECISION:
        found |= {pair: _compare(*pair, specificity, model) for pair in closest}
    finding = found[min(found, key=order)]
    return finding._replace(reason=finding.reason + note)


def _compare(
    first: Value, second: Value, specificity: Specificity, model: PairModel | None, depth: int = 0
) -> Finding:
    """Compare two values by structure; deeply nested parts are compared as texts.

    Without a model, the networks are not used.
    """

    def compare_parts(one: Value, other: Value, reads: bool) -> Finding:  # noqa: FBT001
        return _compare(one, other, specificity, model if reads else None, depth + 1)

    are_texts = isinstance(first, str) and isinstance(second, str)
    are_objects = isinstance(first, Mapping), isinstance(second, Mapping)
    if not are_texts and depth < _MAX_DEPTH and not any(are_objects):
        items = _items(first), _items(second)
        return compare_lists(*items, specificity, compare_parts, is_nested=depth > 0)
    if depth < _MAX_DEPTH and isinstance(first, Mapping) and isinstance(second, Mapping):
        return compare_objects(first, second, specificity, compare_parts)
    with_keys = all(are_objects) or not any(are_objects) or depth == _MAX_DEPTH
    texts = as_text(first, with_keys=with_keys), as_text(second, with_keys=with_keys)
    return _compare_strings(*texts, specificity, model, is_nested=depth > 0)


def _items(value: Value) -> Sequence[Value]:
    if isinstance(value, str):
        return () if is_absent(plain(tidy(value))) else read_list(value).items or (value,)
    return tuple(x for x in value if not (isinstance(x, str) and is_absent(plain(tidy(x)))))


def _compare_strings(
    gold: str, extracted: str, specificity: Specificity, model: PairModel | None, *, is_nested: bool
) -> Finding:
    """Compare two texts, as lists if they may be; order and notation of items do not count."""
    lists = read_list(gold), read_list(extracted)
    are_certain = any(each.is_certain for each in lists)
    is_list = (are_certain or all(each.items for each in lists)) and all(
        each.has_breaks or not wording(tidy(text), language_of(text, text)).is_sentence
        for text, each in zip((gold, extracted), lists, strict=True)
    )
    finding = _compare_plain(gold, extracted, specificity, None if is_list else model)
    if not is_list or finding.probability >= SAME:
        return finding

    def compare_items(one: Value, other: Value, reads: bool) -> Finding:  # noqa: FBT001
        return _compare_plain(as_text(one), as_text(other), specificity, model if reads else None)

    ones, others = lists[0].items or (gold,), lists[1].items or (extracted,)
    by_items = compare_lists(ones, others, specificity, compare_items, is_nested=is_nested)
    are_lists = are_certain and len(ones) == len(others) > 1
    return by_items if are_lists or by_items.probability >= finding.probability else finding


def _compare_plain(
    gold: str, extracted: str, specificity: Specificity, model: PairModel | None
) -> Finding:
    """Compare two texts by their form, as values of one kind, or else by their words."""
    if gold == extracted:
        return Finding(1.0, "identical")
    first, second = tidy(gold), tidy(extracted)
    plains = plain(first), plain(second)
    spelt = with_digraphs(first), with_digraphs(second)
    finding = _by_form(first, second, plains)
    if spelt != (first, second):
        finding = finding or _by_form(*spelt, (plain(spelt[0]), plain(spelt[1])))
    if finding is None and max(len(first), len(second)) > LONG:
        return compare_absence(*plains) or Finding(VAGUE, "too long to compare word by word")
    language = language_of(first, second) if finding is None else ""
    return (
        finding
        or compare_moments(first, second, specificity)
        or compare_closed(first, second, plains)
        or compare_amounts(first, second, language, specificity)
        or compare_codes(first, second)
        or compare_texts(first, second, plains, specificity, language, model)
    )


def _by_form(first: str, second: str, plains: tuple[Plain, Plain]) -> Finding | None:
    """Compare two tidy texts by their normal forms; `None` if these do not decide.

    In texts with numbers case counts, since it may change a unit.
    """
    one, other = plains
    has_numbers = any(map(str.isdigit, first))
    differ_in_case = has_numbers and first != second and first.lower() == second.lower()
    if first == second or (one.tokens and one.tokens == other.tokens and not differ_in_case):
        if one.legal_form and other.legal_form and one.legal_form != other.legal_form:
            return Finding(_OTHER_FORM, against(one.legal_form, other.legal_form))
        return Finding(_NORMAL, "same after normalisation")
    are_equal = one.joined and one.joined == other.joined
    return Finding(_JOINED, "same letters") if are_equal else None
