"""Two values without structure: compared by their form, their kind, their items or their words."""

from __future__ import annotations

from typing import NamedTuple

from factcheck.judges.local.pairs.amounts import compare_amounts, read_amounts
from factcheck.judges.local.pairs.codes import (
    compare_absence,
    compare_answers,
    compare_codes,
    compare_places,
)
from factcheck.judges.local.pairs.dates import compare_moments
from factcheck.judges.local.pairs.findings import IDENTICAL, VAGUE, Finding, against
from factcheck.judges.local.pairs.lists import compare_lists
from factcheck.judges.local.pairs.model import PairModel
from factcheck.judges.local.pairs.structures import TextList, Value, as_text, read_list
from factcheck.judges.local.pairs.text import LONG, Plain, plain, tidy, with_digraphs
from factcheck.judges.local.pairs.texts import compare_long, compare_texts
from factcheck.judges.local.pairs.words import language_of, wording
from factcheck.judges.ports import Specificity

NORMAL = 0.99
"""For values that are the same after normalisation."""
_JOINED = 0.97
_OTHER_FORM = 0.35


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
