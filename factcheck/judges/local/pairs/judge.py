"""Embedded pair judge: decides offline whether two values of a field are equivalent.

Values are compared by kind: quantities as quantities, dates as dates, lists by item. Pairs that
words cannot decide go to the networks of the embedded judge. `description` and `instructions` are
ignored; only language models understand them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from math import isqrt

from factcheck.errors import Failure
from factcheck.judges.local.cancellation import checkpoint, run_in_thread
from factcheck.judges.local.pairs.amounts import compare_amounts
from factcheck.judges.local.pairs.closed import (
    compare_absence,
    compare_closed,
    compare_codes,
    is_absent,
)
from factcheck.judges.local.pairs.model import (
    DECISION,
    OTHER,
    SAME,
    Finding,
    PairModel,
    against,
    load_pair_model,
)
from factcheck.judges.local.pairs.moments import compare_moments
from factcheck.judges.local.pairs.normal import LONG, Plain, plain, tidy, with_digraphs
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
from factcheck.text.words import NEGATIONS, word_set

_NORMAL, _JOINED, _OTHER_FORM = 0.99, 0.97, 0.35
"""Probabilities of values that are equal after normalisation, or without spaces, or except for
their legal forms."""
_MAX_COMBINATIONS = 2048
"""Maximum number of pairs of alternatives that are compared in full."""
_MAX_READ = 3
"""Maximum number of pairs of alternatives read by the networks."""
_MAX_DEPTH = 2
"""Maximum depth at which lists and objects are compared by part."""
_SAME_BAG, _LONG_SHARE = 0.8, 0.98
"""Probability for two long texts with at least this fraction of words in common."""
_DENIALS = sorted(word_set(" ".join(NEGATIONS.values())))


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
        return {"judge": f"local/6@{load_pair_model().version}"}

    async def compare(self, pairs: Sequence[ValuePair], ledger: Ledger) -> Sequence[PairResult]:
        """Return one verdict per pair, in order; free of charge."""
        del ledger
        return await run_in_thread(decide_each, compare_values, pairs, Failure.of)


def judge_pair(gold: str, extracted: str, specificity: Specificity, model: PairModel) -> Finding:
    """Judge two values; a lenient specificity never lowers the probability."""
    finding = _judge(gold, extracted, specificity, model)
    if specificity == "exact" or finding.probability >= SAME:
        return finding
    exact = _judge(gold, extracted, "exact", model)
    return exact if exact.probability > finding.probability else finding


def _judge(gold: str, extracted: str, specificity: Specificity, model: PairModel) -> Finding:
    """Judge by the closest pair of alternatives; the networks read only the closest pairs."""
    if gold == extracted:
        return Finding(1.0, "identical")
    first, second = read_value(gold), read_value(extracted)
    if not (isinstance(first, str) and isinstance(second, str)):
        return _compare(first, second, specificity, model, depth=0)
    ones, others, note = alternatives(first), alternatives(second), ""
    if len(ones) * len(others) > _MAX_COMBINATIONS:
        forms = [{plain(tidy(text)).tokens for text in texts} for texts in (ones, others)]
        if (forms[0] & forms[1]) - {()}:
            return Finding(_NORMAL, "same after normalisation")
        limit = isqrt(_MAX_COMBINATIONS)
        ones, others, note = ones[:limit], others[:limit], " (only the first alternatives compared)"
    if len(ones) == len(others) == 1:
        return compare_strings(ones[0], others[0], specificity, model)
    found = {pair: compare_strings(*pair, specificity, None) for pair in product(ones, others)}

    def order(pair: tuple[str, str]) -> tuple[float, list[str], tuple[str, str]]:
        return -found[pair].probability, sorted(pair), pair

    closest = sorted(found, key=order)[:_MAX_READ]
    if found[closest[0]].probability < DECISION:
        found |= {pair: compare_strings(*pair, specificity, model) for pair in closest}
    finding = found[min(found, key=order)]
    return finding._replace(reason=finding.reason + note)


def _compare(
    first: Value, second: Value, specificity: Specificity, model: PairModel | None, *, depth: int
) -> Finding:
    """Compare two values by structure; deeply nested parts are compared as texts."""

    def compare_parts(one: Value, other: Value, reads: bool) -> Finding:  # noqa: FBT001
        return _compare(one, other, specificity, model if reads else None, depth=depth + 1)

    def compare_as_texts(*, with_keys: bool) -> Finding:
        one, other = (as_text(value, with_keys=with_keys) for value in (first, second))
        return compare_strings(one, other, specificity, model, is_nested=depth > 0)

    are_texts = isinstance(first, str) and isinstance(second, str)
    if are_texts or depth == _MAX_DEPTH:
        return compare_as_texts(with_keys=True)
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return compare_objects(first, second, specificity, compare_parts)
    if isinstance(first, Mapping) or isinstance(second, Mapping):
        return compare_as_texts(with_keys=False)
    items = _items(first), _items(second)
    return compare_lists(*items, specificity, compare_parts, is_nested=depth > 0)


def _items(value: Value) -> Sequence[Value]:
    if isinstance(value, str):
        return () if is_absent(plain(tidy(value))) else read_list(value).items or (value,)
    return tuple(x for x in value if not (isinstance(x, str) and is_absent(plain(tidy(x)))))


def compare_strings(
    gold: str,
    extracted: str,
    specificity: Specificity,
    model: PairModel | None,
    *,
    is_nested: bool = False,
) -> Finding:
    """Compare two texts; order of items and notation do not count, numbers always do.

    Args:
        gold: Gold value or a part of it.
        extracted: Extracted value or a part of it.
        specificity: Permitted differences.
        model: Model for the outputs of the networks; `None`: do not use the networks.
        is_nested: Whether the texts are among many parts of a list or object.
    """
    if gold == extracted:
        return Finding(1.0, "identical")
    lists = read_list(gold), read_list(extracted)
    are_certain = [each.is_certain for each in lists]
    is_list = (any(are_certain) or all(each.items for each in lists)) and all(
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
    are_lists = any(are_certain) and len(ones) == len(others) > 1
    if by_items.probability >= finding.probability or are_lists:
        return by_items
    return finding if model is None else _compare_plain(gold, extracted, specificity, model)


def _compare_plain(
    gold: str, extracted: str, specificity: Specificity, model: PairModel | None
) -> Finding:
    """The finding on two texts by their form, as values of one kind, or else by their words."""
    first, second = tidy(gold), tidy(extracted)
    plains = plain(first), plain(second)
    spelt = with_digraphs(first), with_digraphs(second)
    finding = _by_form(first, second, plains)
    if spelt != (first, second):
        finding = finding or _by_form(*spelt, (plain(spelt[0]), plain(spelt[1])))
    if finding is None and max(len(first), len(second)) > LONG:
        return compare_absence(*plains) or _compare_long(*plains)
    if finding is not None:
        return finding
    language = language_of(first, second)
    finding = compare_moments(first, second, specificity) or compare_closed(first, second, plains)
    if finding is not None:
        return finding
    finding = compare_amounts(first, second, language, specificity) or compare_codes(first, second)
    return finding or compare_texts(first, second, plains, specificity, language, model)


def _by_form(first: str, second: str, plains: tuple[Plain, Plain]) -> Finding | None:
    """Compare two tidy texts by their normal forms; `None` if these do not decide."""
    one, other = plains
    if one.tokens and one.tokens == other.tokens and not _differ_in_case(first, second):
        if one.legal_form and other.legal_form and one.legal_form != other.legal_form:
            return Finding(_OTHER_FORM, against(one.legal_form, other.legal_form))
        return Finding(_NORMAL, "same after normalisation")
    if one.joined and one.joined == other.joined:
        return Finding(_JOINED, "same letters")
    return None if first != second else Finding(_NORMAL, "same after normalisation")


def _differ_in_case(first: str, second: str) -> bool:
    """Whether two texts with numbers differ in case, which may change a unit."""
    return first != second and any(map(str.isdigit, first)) and first.lower() == second.lower()


def _compare_long(first: Plain, second: Plain) -> Finding:
    """Compare two long texts by their common words."""
    one, other = Counter(first.tokens), Counter(second.tokens)
    common, largest = sum((one & other).values()), max(len(first.tokens), len(second.tokens))
    numbers = [
        [w for w in a - b if any(map(str.isdigit, w))] for a, b in ((one, other), (other, one))
    ]
    if all(numbers):
        return Finding(OTHER, against(*(", ".join(own[:3]) for own in numbers)))
    share = common / largest if largest else 1.0
    is_denied = any(one[denial] != other[denial] for denial in _DENIALS)
    is_same = share >= _LONG_SHARE and not is_denied and not any(numbers)
    probability = _SAME_BAG if is_same else share * DECISION * 0.9
    return Finding(probability, f"{common:,} of {largest:,} words in common")
