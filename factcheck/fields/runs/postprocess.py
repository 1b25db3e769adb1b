"""Post-processors: they change the results of a record before its metrics are computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from factcheck.fields.comparators.builtin import exact_key
from factcheck.fields.types import FieldResult


@dataclass(frozen=True)
class NullHandling:
    """Which values stand for "there is none"."""

    absent_values: list[Any] = field(default_factory=lambda: [None])
    both_absent_skip: bool = True
    """Whether a field that neither side has is skipped; else it is a match."""
    missing_is_absent: bool = False
    """Whether a key that is not there is one of the absent values, too: gold null against a
    missing key is then no omission."""


def reclassify_nulls(field_results: list[FieldResult], config: NullHandling) -> list[FieldResult]:
    """Count absent values like missing keys: as omissions and hallucinations, or not at all.

    Args:
        field_results: Results of one record, changed in place. Containers that were compared as a
            whole by type (`[]` with `[]`, an object with a string) stay as they are.
        config: Which values are absent.

    Returns:
        The same list.
    """
    absent = config.absent_values
    for result in field_results:
        if result.status in {"match", "mismatch"} and result.comparator:
            gold_absent = _is_absent(result.gold_compared, absent)
            extracted_absent = _is_absent(result.extracted_compared, absent)
            _reclassify(result, (gold_absent, extracted_absent), config)
        elif config.missing_is_absent and result.status in {"omission", "hallucination"}:
            there = result.gold_value if result.status == "omission" else result.extracted_value
            if _is_absent(there, absent):
                _reclassify(result, (True, True), config)
    return field_results


def _reclassify(result: FieldResult, absent: tuple[bool, bool], config: NullHandling) -> None:
    gold_absent, extracted_absent = absent
    if gold_absent and extracted_absent:
        result.score = 0.0 if config.both_absent_skip else 1.0
        result.status = "skipped" if config.both_absent_skip else "match"
        result.reason = "both absent"
    elif gold_absent:
        result.status, result.score, result.reason = "hallucination", 0.0, "gold is absent"
    elif extracted_absent:
        result.status, result.score, result.reason = "omission", 0.0, "extracted is absent"


def _is_absent(value: Any, absent: Sequence[Any]) -> bool:
    return any(value is one or exact_key(value) == exact_key(one) for one in absent)


def propagate_batch_errors(field_results: list[FieldResult]) -> list[FieldResult]:
    """Distrust everything a batch comparator said in a record in which it failed once.

    Args:
        field_results: Results of one record, changed in place: every result of a comparator with a
            batch error becomes one, but for omissions and hallucinations.

    Returns:
        The same list.
    """
    failed = {r.comparator for r in field_results if r.status == "batch_error"}
    for result in field_results:
        if result.comparator in failed and result.status not in {"omission", "hallucination"}:
            result.status, result.score = "batch_error", 0.0
            result.reason = f"tainted: {result.comparator!r} failed on a field of this record"
    return field_results
