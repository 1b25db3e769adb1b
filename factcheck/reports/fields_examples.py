"""Examples of what went wrong with a field: equal ones once, those that cost most first."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from factcheck.fields import FieldResult, RecordResult
from factcheck.fields.runs.undecided import UndecidedField
from factcheck.fields.schemas.structure import schema_path
from factcheck.reports.content import one_line, shorten
from factcheck.reports.fields_values import shortened, shortened_pair, value_text, visible

ABSENT = {"omission": "missing", "hallucination": "not in gold"}
"""What stands for the side that has no value; not in quotes, so no value can look like it."""
_LOST = ("mismatch", "omission", "hallucination")
_UNSCORED = {
    "error": "could not be compared",
    "batch_error": "without an answer",
    "pending": "that nobody was asked about",
}
_MOST_GROUPS = 10_000
_LONGEST_ID = 24
_LONGEST_REASON = 120
_LONGEST_EXPLANATION = 400
"""Letters of a reason that says what to do about it, at its end."""


class Example(NamedTuple):
    """One thing that went wrong."""

    record: str
    """Id of the first record it happened in."""
    path: str
    """Where in that record; empty where the field stands for it."""
    gold: str
    extracted: str
    reason: str
    times: int
    """How often it happened."""


class FieldExamples(NamedTuple):
    """What went wrong with one field."""

    field: str
    examples: tuple[Example, ...]
    n_more: int
    """Losses that are not among the examples."""


class Unscored(NamedTuple):
    """Why values of a field could not be scored."""

    field: str
    words: str
    """How many, to be followed by the reason: `3 values could not be compared, such as:`."""
    reason: str


@dataclass(slots=True)
class _Group:
    """Equal losses of one field."""

    record_id: str | int
    result: FieldResult
    lost: float = 0.0
    count: int = 0


def worst_examples(
    records: Iterable[RecordResult], fields: Collection[str], limit: int
) -> tuple[FieldExamples, ...]:
    """Examples for these fields, in their order; fields that lost nothing have none.

    Args:
        records: The records of a run.
        fields: Schema paths.
        limit: Examples of a field.
    """
    groups: dict[str, dict[Any, _Group]] = {field: {} for field in fields}
    for record in records if limit > 0 else ():
        for result in record.field_results:
            if result.status in _LOST:
                own = groups.get(schema_path(result.path))
                if own is not None:
                    _add(own, record.record_id, result)
    return tuple(_examples(field, own, limit) for field, own in groups.items() if own)


def _add(groups: dict[Any, _Group], record_id: str | int, result: FieldResult) -> None:
    key: Any = (result.status, _key(result.gold_value), _key(result.extracted_value))
    if len(groups) >= _MOST_GROUPS and key not in groups:
        key = None
    group = groups.setdefault(key, _Group(record_id, result))
    group.count += 1
    group.lost += 1.0 - result.score


def _key(value: Any) -> Any:
    plain = value is None or isinstance(value, (str, int, float))
    return (type(value), value) if plain else value_text(value)


def _examples(field: str, groups: dict[Any, _Group], limit: int) -> FieldExamples:
    total = sum(group.count for group in groups.values())
    groups.pop(None, None)  # what was too various to be told apart
    shown = sorted(groups.values(), key=_rank)[:limit]
    return FieldExamples(
        field,
        tuple(_example(field, group) for group in shown),
        total - sum(group.count for group in shown),
    )


def _rank(group: _Group) -> tuple[float, int]:
    return -group.lost, _LOST.index(group.result.status)


def _example(field: str, group: _Group) -> Example:
    result = group.result
    gold, extracted = value_text(result.gold_value), value_text(result.extracted_value)
    if result.status == "omission":
        gold, extracted = shortened(gold), ABSENT["omission"]
    elif result.status == "hallucination":
        gold, extracted = ABSENT["hallucination"], shortened(extracted)
    else:
        gold, extracted = shortened_pair(gold, extracted)
    reason = _reason(result)
    return Example(
        shortened(visible(str(group.record_id)), _LONGEST_ID),
        "" if result.path == field else visible(result.path),
        gold,
        extracted,
        "" if reason == result.status else reason,
        group.count,
    )


def unscored(found: UndecidedField) -> Unscored:
    """What is said of the values of a field that have no verdict."""
    noun = "value" if found.n_values == 1 else "values"
    sign = ":" if found.is_only_reason else ", such as:"
    reason = shorten(visible(one_line(found.reason)), _LONGEST_EXPLANATION)
    words = f"{found.n_values:,} {noun} {_UNSCORED[found.status]}"
    return Unscored(found.field, words + (sign if reason else ""), reason)


def _reason(result: FieldResult) -> str:
    return shorten(visible(one_line(result.reason or "")), _LONGEST_REASON)
