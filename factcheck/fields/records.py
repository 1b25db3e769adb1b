"""Scores of records, and post-processors, which edit results before scores are computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from factcheck.fields.schemas import schema_path
from factcheck.fields.types import UNDECIDED, FieldResult
from factcheck.fields.values import exact_key
from factcheck.stats.resampling import Matrix, SumScores


class Scores(NamedTuple):
    """Precision, recall and F1, each in [0, 1]; `None` where no value has a verdict."""

    precision: float | None
    recall: float | None
    f1: float | None


class Counts(NamedTuple):
    """Weighted counts of fields, from which precision, recall and F1 are computed."""

    matched: float = 0.0
    """Sum of the scores of matches and mismatches."""
    n_extracted: float = 0.0
    """Matches, mismatches and hallucinations."""
    n_gold: float = 0.0
    """Matches, mismatches and omissions."""
    undecided: float = 0.0
    """Fields that should have a verdict and do not."""

    @property
    def has_score(self) -> bool:
        """Whether a field has a verdict, or none should have one."""
        return bool(self.n_extracted or self.n_gold or not self.undecided)

    def scores(self) -> Scores:
        """Compute precision, recall and F1; a fraction with denominator 0 is 1."""
        if not self.has_score:
            return Scores(None, None, None)
        precision = self.matched / self.n_extracted if self.n_extracted else 1.0
        recall = self.matched / self.n_gold if self.n_gold else 1.0
        return Scores(precision, recall, f1_of(self.matched, self.n_extracted, self.n_gold))

    def f1_bounds(self) -> tuple[float, float]:
        """Bound F1: undecided fields all wrong, and all right."""
        stakes = self.n_extracted + self.undecided, self.n_gold + self.undecided
        return f1_of(self.matched, *stakes), f1_of(self.matched + self.undecided, *stakes)


def f1_of(matched: float, n_extracted: float, n_gold: float) -> float:
    """Compute F1 from counts; 1 if there is nothing to extract."""
    stake = n_extracted + n_gold
    return 2 * matched / stake if stake else 1.0


def count(results: Iterable[FieldResult], weights: Mapping[str, float] | None = None) -> Counts:
    """Count results, weighted by schema path; the default weight is 1."""
    matched = n_extracted = n_gold = undecided = 0.0
    for result in results:
        weight = weights.get(schema_path(result.path), 1.0) if weights else 1.0
        status = result.status
        if status in ("match", "mismatch"):
            matched += weight * result.score
            n_extracted += weight
            n_gold += weight
        elif status == "omission":
            n_gold += weight
        elif status == "hallucination":
            n_extracted += weight
        elif status in UNDECIDED:
            undecided += weight
    return Counts(matched, n_extracted, n_gold, undecided)


@dataclass(frozen=True, slots=True)
class RecordResult:
    """Field results of one record, with precision, recall and F1; `None` if all are undecided."""

    record_id: str | int
    """Value of the `id_field`, or the position."""
    field_results: list[FieldResult]
    gold: Any
    extracted: Any
    precision: float | None
    recall: float | None
    f1: float | None
    counts: Counts = Counts()  # noqa: RUF009 - immutable
    """Counts behind precision, recall and F1."""

    @property
    def failure(self) -> str | None:
        """Reason why the extraction cannot be used; `None` if it can."""
        first = self.field_results[0] if self.field_results else None
        if first and first.status == "parse_failure":
            return first.reason or ""
        return None


MEASURES = tuple(f"{kind}_{name}" for kind in ("mean", "micro") for name in Scores._fields)
"""Names of the overall scores, `mean_precision` to `micro_f1`."""


N_SUMMANDS = 8


def summands(record: RecordResult) -> list[float]:
    """Return the numbers whose sums over records give the overall scores."""
    own = [score or 0.0 for score in (record.precision, record.recall, record.f1)]
    return [*own, record.f1 is not None, *record.counts]


def overall_scores(records: Sequence[RecordResult]) -> SumScores:
    def scores(sums: Matrix) -> Matrix:
        means = np.divide(sums[:3], sums[3], out=np.full_like(sums[:3], np.nan), where=sums[3] > 0)
        return np.concatenate([means, np.stack(scores_of(*sums[4:7]))])

    table = np.array([*map(summands, records)], dtype=float).reshape(-1, N_SUMMANDS)
    return SumScores(MEASURES, table.T.copy(), scores)


def scores_of(
    matched: Matrix, n_extracted: Matrix, n_gold: Matrix
) -> tuple[Matrix, Matrix, Matrix]:
    """Compute `Counts.scores` for arrays of counts."""
    ones = np.ones_like(matched)
    precision = np.divide(matched, n_extracted, out=ones.copy(), where=n_extracted != 0)
    recall = np.divide(matched, n_gold, out=ones, where=n_gold != 0)
    total = precision + recall
    f1 = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total != 0)
    return precision, recall, f1


@dataclass(frozen=True)
class NullHandling:
    """Values that mean "no value"."""

    absent_values: list[Any] = field(default_factory=lambda: [None])
    both_absent_skip: bool = True
    """Whether to skip a field that is absent on both sides; otherwise it is a match."""
    missing_is_absent: bool = False
    """Whether a missing key is also absent, so that gold null against a missing key is not an
    omission."""


def reclassify_nulls(field_results: list[FieldResult], config: NullHandling) -> list[FieldResult]:
    """Treat absent values like missing keys: as omissions or hallucinations, or skip them.

    Args:
        field_results: Results of one record, changed in place. Containers compared as a whole by
            type (`[]` with `[]`, an object with a string) are unchanged.
        config: Definition of absent values.

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
    """Discard all results of a batch comparator in a record where it failed on any field.

    They become batch errors in place, except omissions and hallucinations. Returns the same list.
    """
    failed = {r.comparator for r in field_results if r.status == "batch_error"}
    for result in field_results:
        if result.comparator in failed and result.status not in {"omission", "hallucination"}:
            result.status, result.score = "batch_error", 0.0
            result.reason = f"tainted: {result.comparator!r} failed on a field of this record"
    return field_results
