"""Post-processors: they change the results of a record before its metrics are computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from factcheck.fields.types import FieldResult
from factcheck.fields.values import exact_key


@dataclass(frozen=True)
class NullHandling:
    """Values that mean "no value"."""

    absent_values: list[Any] = field(default_factory=lambda: [None])
    both_absent_skip: bool = True
    """Whether a field that is absent on both sides is skipped; otherwise it is a match."""
    missing_is_absent: bool = False
    """Whether a missing key is absent, too, so that gold null against a missing key is no
    omission."""


def reclassify_nulls(field_results: list[FieldResult], config: NullHandling) -> list[FieldResult]:
    """Treat absent values like missing keys: as omissions and hallucinations, or not at all.

    Args:
        field_results: Results of one record, changed in place. Containers that were compared as a
            whole by type (`[]` with `[]`, an object with a string) are left alone.
        config: Which values are absent.

    Returns:
        The same list.
    """
    for result in field_results:
        status = result.status
        if status in {"match", "mismatch"} and result.comparator:
            no_gold = _is_absent(result.gold_compared, config.absent_values)
            no_extracted = _is_absent(result.extracted_compared, config.absent_values)
        elif config.missing_is_absent and status in {"omission", "hallucination"}:
            value = result.gold_value if status == "omission" else result.extracted_value
            no_gold = no_extracted = _is_absent(value, config.absent_values)
        else:
            continue
        if no_gold and no_extracted:
            skips = config.both_absent_skip
            result.status, result.score = ("skipped", 0.0) if skips else ("match", 1.0)
            result.reason = "both absent"
        elif no_gold or no_extracted:
            result.status, result.score = "hallucination" if no_gold else "omission", 0.0
            result.reason = f"{'gold' if no_gold else 'extracted'} is absent"
    return field_results


def _is_absent(value: Any, absent: Sequence[Any]) -> bool:
    return any(value is one or exact_key(value) == exact_key(one) for one in absent)


def propagate_batch_errors(field_results: list[FieldResult]) -> list[FieldResult]:
    """Discard all results of a batch comparator in a record in which it failed once.

    Args:
        field_results: Results of one record, changed in place: every result of a comparator with a
            batch error becomes one, except omissions and hallucinations.

    Returns:
        The same list.
    """
    failed = {r.comparator for r in field_results if r.status == "batch_error"}
    for result in field_results:
        if result.comparator in failed and result.status not in {"omission", "hallucination"}:
            result.status, result.score = "batch_error", 0.0
            result.reason = f"tainted: {result.comparator!r} failed on a field of this record"
    return field_results
