"""The embedded pair judge: whether two values of a field mean the same, offline.

Values are compared in the notation they are in: quantities as quantities, dates as dates, lists
item by item; the rest by its words. `description` and `instructions` are not read: they are
written for judges that understand them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from factcheck.judges.local.cancellation import checkpoint, run_in_thread
from factcheck.judges.local.pairs.codes import (
    compare_absence,
    compare_answers,
    compare_codes,
    compare_places,
    is_absent,
)
from factcheck.judges.local.pairs.lists import (
    TextList,
    Value,
    alternatives,
    as_text,
    compare_lists,
    compare_objects,
    read_list,
    read_value,
    values_as_text,
)
from factcheck.judges.local.pairs.model import (
    DECISION,
    IDENTICAL,
    VAGUE,
    Finding,
    PairModel,
    against,
    load_pair_model,
)
from factcheck.judges.local.pairs.moments import compare_moments
from factcheck.judges.local.pairs.normal import LONG, Plain, plain, tidy, with_digraphs
from factcheck.judges.local.pairs.quantities import compare_amounts, read_amounts
from factcheck.judges.local.pairs.texts import compare_long, compare_texts
from factcheck.judges.local.pairs.words import language_of, wording
from factcheck.judges.ports import Ledger, PairResult, PairVerdict, Specificity, ValuePair

NORMAL = 0.99
"""For values that are the same after normalisation."""
_JOINED = 0.97
_OTHER_FORM = 0.35
_MOST_COMBINATIONS = 2048
"""Of alternatives on both sides; where there are more, all are compared by their form only."""
_FEWEST_ALTERNATIVES = 32
_DEEPEST = 2
"""Levels of lists and objects that are compared part by part."""


def compare_values(pair: ValuePair) -> PairVerdict:
    """Whether the two values of a pair mean the same; the same for every call."""
    checkpoint()
    finding = judge_pair(pair.gold, pair.extracted, pair.specificity, load_pair_model())
    probability = round(min(max(finding.probability, 0.0), 1.0), 6)
    return PairVerdict(probability >= DECISION, probability, finding.reason, "local")


class LocalPairJudge:
    """Compares the values of fields offline, by `compare_values`."""

    @property
    def identity(self) -> Mapping[str, str]:
        """The judge and the version of its model."""
        return {"judge": f"local/2@{load_pair_model().version}"}

    async def compare(self, pairs: Sequence[ValuePair], ledger: Ledger) -> Sequence[PairResult]:
        """One verdict per pair, in their order; costs nothing and never fails."""
        del ledger
        return await run_in_thread(_compare_all, tuple(pairs))


def _compare_all(pairs: Sequence[ValuePair]) -> tuple[PairVerdict, ...]:
    return tuple(compare_values(pair) for pair in pairs)


def judge_pair(gold: str, extracted: str, specificity: Specificity, model: PairModel) -> Finding:
    """How likely two values mean the same; with leeway, never less likely than without."""
    finding = _judge(gold, extracted, specificity, model)
    if specificity == "exact" or finding.probability >= DECISION:
        return finding
    exact = _judge(gold, extracted, "exact", model)
    return exact if exact.probability > finding.probability else finding


def _judge(gold: str, extracted: str, specificity: Specificity, model: PairModel) -> Finding:
    """As likely as the closest two of their alternatives."""
    if gold == extracted:
        return Finding(IDENTICAL, "identical")
    first, second = read_value(gold), read_value(extracted)
    if not (isinstance(first, str) and isinstance(second, str)):
        return _compare(first, second, specificity, model, depth=0)
    ones, others = _with_alternatives(first), _with_alternatives(second)
    if len(ones) * len(others) > _MOST_COMBINATIONS:
        return _closest_of_many(ones, others, specificity, model)
    return _closest(ones, others, specificity, model)


def _with_alternatives(text: str) -> tuple[str, ...]:
    parts = alternatives(text)
    return parts if len(parts) == 1 else (text, *parts)


def _closest(
    ones: Sequence[str], others: Sequence[str], specificity: Specificity, model: PairModel
) -> Finding:
    found = {
        (*sorted((one, other)), one): compare_strings(one, other, specificity, model)
        for one in ones
        for other in others
    }
    return found[min(found, key=lambda texts: (-found[texts].probability, texts))]


def _closest_of_many(
    ones: Sequence[str], others: Sequence[str], specificity: Specificity, model: PairModel
) -> Finding:
    """Alternatives that are the same, or else the closest of the first ones."""
    forms = [{plain(tidy(text)).tokens for text in texts} for texts in (ones, others)]
    if (forms[0] & forms[1]) - {()}:
        return Finding(NORMAL, "same after normalisation")
    first = ones[: max(_FEWEST_ALTERNATIVES, _MOST_COMBINATIONS // len(others))]
    second = others[: max(_FEWEST_ALTERNATIVES, _MOST_COMBINATIONS // len(ones))]
    finding = _closest(first, second, specificity, model)
    return finding._replace(reason=f"{finding.reason} (only the first alternatives compared)")


def _compare(
    first: Value, second: Value, specificity: Specificity, model: PairModel, *, depth: int
) -> Finding:
    """Compare two values by their structure; what is nested deep, as texts."""

    def compare_parts(one: Value, other: Value) -> Finding:
        return _compare(one, other, specificity, model, depth=depth + 1)

    def compare_texts(one: str, other: str) -> Finding:
        return compare_strings(one, other, specificity, model, is_nested=depth > 0)

    are_texts = isinstance(first, str) and isinstance(second, str)
    if are_texts or depth == _DEEPEST:
        return compare_texts(as_text(first), as_text(second))
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return compare_objects(first, second, specificity, compare_parts)
    if isinstance(first, Mapping) or isinstance(second, Mapping):
        return max(
            compare_texts(as_text(first), as_text(second)),
            compare_texts(values_as_text(first), values_as_text(second)),
        )
    items = _items(first), _items(second)
    return compare_lists(*items, specificity, compare_parts, is_nested=depth > 0)


def _items(value: Value) -> Sequence[Value]:
    if isinstance(value, tuple):
        return tuple(item for item in value if not _is_empty(item))
    if not isinstance(value, str) or _is_empty(value):
        return ()
    return read_list(value).items or (value,)


def _is_empty(item: Value) -> bool:
    return isinstance(item, str) and is_absent(plain(tidy(item)))


class Texts(NamedTuple):
    """Both values, tidied, with their normal forms."""

    first: str
    second: str
    plains: tuple[Plain, Plain]


def compare_strings(
    gold: str,
    extracted: str,
    specificity: Specificity,
    model: PairModel,
    *,
    is_nested: bool = False,
) -> Finding:
    """How likely two texts mean the same; order and notation never matter, numbers always do.

    Args:
        gold: One value, or a part of one.
        extracted: The other.
        specificity: What may differ.
        model: How sure words in common make it.
        is_nested: Whether they are parts of a list or an object, of which there may be many.
    """
    if gold == extracted:
        return Finding(IDENTICAL, "identical")
    texts = _texts(gold, extracted)
    finding = _by_form(texts)
    if finding is None and max(len(texts.first), len(texts.second)) > LONG:
        return compare_absence(*texts.plains) or compare_long(*texts.plains)
    if finding is not None:
        return finding
    in_words = _in_parts(texts, specificity, model)
    lists = _lists(gold, extracted)
    if lists is None:
        return in_words

    def compare_items(one: Value, other: Value) -> Finding:
        parts = _texts(as_text(one), as_text(other))
        return _by_form(parts) or _in_parts(parts, specificity, model)

    items = (lists[0].items or (gold,), lists[1].items or (extracted,))
    by_items = compare_lists(*items, specificity, compare_items, is_nested=is_nested)
    return by_items if _is_better(by_items, in_words, lists) else in_words


def _texts(gold: str, extracted: str) -> Texts:
    first, second = tidy(gold), tidy(extracted)
    return Texts(first, second, (plain(first), plain(second)))


def _by_form(texts: Texts) -> Finding | None:
    """What can be said of two texts by their normal forms alone."""
    first, second, (one, other) = texts
    if one.tokens and one.tokens == other.tokens:
        if one.legal_form and other.legal_form and one.legal_form != other.legal_form:
            return Finding(_OTHER_FORM, against(one.legal_form, other.legal_form))
        return Finding(NORMAL, "same after normalisation")
    if one.joined and one.joined == other.joined:
        return Finding(_JOINED, "same letters")
    spelt = with_digraphs(first), with_digraphs(second)
    if spelt != (first, second):
        return _by_form(Texts(*spelt, (plain(spelt[0]), plain(spelt[1]))))
    return None if first != second else Finding(NORMAL, "same after normalisation")


def _in_parts(texts: Texts, specificity: Specificity, model: PairModel) -> Finding:
    """The finding on two texts as values of one kind, or else by their words."""
    language = language_of(texts.first, texts.second)
    finding = _by_kind(texts, specificity, language)
    return finding or compare_texts(*texts, specificity, language, model)


def _by_kind(texts: Texts, specificity: Specificity, language: str) -> Finding | None:
    """What can be said of two texts that are values of one closed kind."""
    first, second, plains = texts
    finding = compare_answers(*plains) or compare_absence(*plains)
    finding = finding or compare_moments(first, second, specificity)
    finding = finding or compare_places(first, second, plains)
    if finding is not None:
        return finding
    amounts = read_amounts(first, language), read_amounts(second, language)
    if amounts[0] is not None and amounts[1] is not None:
        finding = compare_amounts(amounts[0], amounts[1], specificity)
    codes = compare_codes(first, second) if finding is None or finding.probability < VAGUE else None
    return codes or finding


def _lists(gold: str, extracted: str) -> tuple[TextList, TextList] | None:
    """Both values as lists, if both may be one, or one of them can be nothing else."""
    lists = read_list(gold), read_list(extracted)
    is_list = any(listed.is_certain for listed in lists)
    if not is_list and not all(listed.items for listed in lists):
        return None
    for text, listed in zip((gold, extracted), lists, strict=True):
        if not listed.has_breaks and wording(tidy(text), language_of(text, text)).is_sentence:
            return None
    return lists


def _is_better(by_items: Finding, in_words: Finding, lists: tuple[TextList, TextList]) -> bool:
    """Whether two values are rather compared item by item than by all of their words."""
    if by_items.probability >= in_words.probability:
        return True
    ones, others = lists
    is_certain = ones.is_certain or others.is_certain
    return is_certain and len(ones.items) == len(others.items) > 0
