"""The embedded pair judge: whether two values of a field mean the same, offline.

Values are compared in the notation they are in: quantities as quantities, dates as dates, lists
item by item; the rest by its words. `description` and `instructions` are not read: they are
written for judges that understand them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from factcheck.judges.local.cancellation import checkpoint, run_in_thread
from factcheck.judges.local.checker import JUDGE
from factcheck.judges.local.model import load_model
from factcheck.judges.local.pairs.codes import is_absent
from factcheck.judges.local.pairs.findings import IDENTICAL, Finding
from factcheck.judges.local.pairs.lists import compare_lists, compare_objects
from factcheck.judges.local.pairs.model import PairModel, load_pair_model
from factcheck.judges.local.pairs.strings import NORMAL, compare_strings
from factcheck.judges.local.pairs.structures import (
    Value,
    alternatives,
    as_text,
    read_list,
    read_value,
    values_as_text,
)
from factcheck.judges.local.pairs.text import plain, tidy
from factcheck.judges.ports import Ledger, PairResult, PairVerdict, Specificity, ValuePair

DECISION = 0.5
"""The probability from which two values count as equivalent."""

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
    return PairVerdict(probability >= DECISION, probability, finding.reason, JUDGE)


class LocalPairJudge:
    """Compares the values of fields offline, by `compare_values`."""

    @property
    def identity(self) -> Mapping[str, str]:
        """The judge, and the versions of its models."""
        return {
            "judge": f"local/1@{load_model().version}",
            "compare": f"pairs/1@{load_pair_model().version}",
        }

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
