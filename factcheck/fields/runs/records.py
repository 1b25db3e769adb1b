"""Scores of records, fields and runs, computed from counts of field results.

Also contains post-processors, which edit the results of a record before its scores are computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from factcheck.fields.schemas.structure import containers, schema_path
from factcheck.fields.types import COUNTED, UNDECIDED, FieldResult
from factcheck.fields.values import exact_key


class Scores(NamedTuple):
    """Precision, recall and F1, each in [0, 1]."""

    precision: float
    recall: float
    f1: float


class Counts(NamedTuple):
    """Weighted counts of fields, from which precision, recall and F1 are computed."""

    matched: float = 0.0
    """Sum of the scores of matches and mismatches."""
    n_extracted: float = 0.0
    """Matches, mismatches and hallucinations."""
    n_gold: float = 0.0
    """Matches, mismatches and omissions."""

    def scores(self) -> Scores:
        """Compute precision, recall and F1; a fraction with denominator 0 is 1."""
        precision = self.matched / self.n_extracted if self.n_extracted else 1.0
        recall = self.matched / self.n_gold if self.n_gold else 1.0
        if not self.n_extracted and not self.n_gold:
            return Scores(1.0, 1.0, 1.0)
        total = precision + recall
        return Scores(precision, recall, 2 * precision * recall / total if total else 0.0)

    def plus(self, other: Counts) -> Counts:
        return Counts(*(a + b for a, b in zip(self, other, strict=True)))


def count(results: Iterable[FieldResult], weights: Mapping[str, float] | None = None) -> Counts:
    """Count results, weighted by schema path; the default weight is 1."""
    matched = n_extracted = n_gold = 0.0
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
    return Counts(matched, n_extracted, n_gold)


@dataclass(frozen=True, slots=True)
class RecordResult:
    """Field results of one record, with precision, recall and F1."""

    record_id: str | int
    """Value of the `id_field`, or the position."""
    field_results: list[FieldResult]
    gold: Any
    extracted: Any
    precision: float
    recall: float
    f1: float
    counts: Counts = Counts()  # noqa: RUF009 - immutable
    """Counts behind precision, recall and F1."""


@dataclass(frozen=True)
class FieldAggregation:
    """Results at one path in the record, over all records."""

    mean_score: float
    """Mean score; omissions and hallucinations count as 0."""
    matches: int
    mismatches: int
    omissions: int
    hallucinations: int


@dataclass(frozen=True, slots=True)
class FieldSummary:
    """Results of one field of the schema, over all records and positions."""

    precision: float
    """1 if the field was never extracted."""
    recall: float
    """1 if the support is 0."""
    f1: float
    support: int
    """Number of gold values."""
    mean_score: float
    """Mean score; omissions and hallucinations count as 0."""
    counts: Mapping[str, int]
    """Number of results by status; zero counts are left out."""

    def n(self, status: str) -> int:
        return self.counts.get(status, 0)

    def weighted(self, weight: float = 1.0) -> Counts:
        """Counts behind precision, recall and F1, times a weight."""
        n_both, n_extracted, n_gold = _sizes(self.counts)
        matched = self.mean_score * (n_extracted + n_gold - n_both)
        return Counts(weight * matched, weight * n_extracted, weight * n_gold)


def _sizes(counts: Mapping[str, int]) -> tuple[int, int, int]:
    """Number of values on both sides, extracted, and in gold."""
    n_both = counts.get("match", 0) + counts.get("mismatch", 0)
    return n_both, n_both + counts.get("hallucination", 0), n_both + counts.get("omission", 0)


def summary_of(counts: Mapping[str, int], matched: float) -> FieldSummary:
    """Summarize results, given counts by status and the sum of scores."""
    n_both, n_extracted, n_gold = _sizes(counts)
    n = n_extracted + n_gold - n_both
    scores = Counts(matched, n_extracted, n_gold).scores()
    return FieldSummary(*scores, n_gold, matched / n if n else 0.0, dict(counts))


def aggregation_of(counts: Mapping[str, int], matched: float) -> FieldAggregation:
    statuses = ("match", "mismatch", "omission", "hallucination")
    found = [counts.get(status, 0) for status in statuses]
    return FieldAggregation(matched / sum(found) if any(found) else 0.0, *found)


@dataclass(frozen=True)
class RunFigures:
    """Scores of a run. Means are over records (macro); `micro` is over all fields."""

    records: list[RecordResult]
    """In the order of the gold records; empty if only totals were kept."""
    mean_precision: float
    mean_recall: float
    mean_f1: float
    total_records: int
    total_fields: int
    """Matches, mismatches, omissions and hallucinations."""
    total_omissions: int
    total_hallucinations: int
    total_batch_errors: int
    per_field: dict[str, FieldAggregation]
    """Results by path in the record, `items[0].name`."""
    total_errors: int = 0
    """Number of fields whose comparator or transform failed; excluded from all metrics."""
    micro: Scores = Scores(1.0, 1.0, 1.0)  # noqa: RUF009 - immutable
    by_field: dict[str, FieldSummary] = field(default_factory=dict)
    """Results by path in the schema, `items[].name`; unknown keys by path in the record."""
    schema_digest: str | None = None
    """Digest of the schema, equal for schemas that score alike; `None` if unknown."""
    weights: dict[str, float] = field(default_factory=dict)
    """Weights by path in the schema; empty if all are equal."""

    def rollup(self) -> dict[str, FieldSummary]:
        """Summarize each object and list of the schema over its fields, outer ones first.

        Scores are weighted, counts are not.
        """
        members: dict[str, list[str]] = {}
        for path in self.by_field:
            for container in reversed(list(containers(path))):
                members.setdefault(container, []).append(path)
        return {container: self._sum(paths) for container, paths in members.items()}

    def _sum(self, paths: Iterable[str]) -> FieldSummary:
        sums, counts = Counts(), Counter[str]()
        for path in paths:
            sums = sums.plus(self.by_field[path].weighted(self.weights.get(path, 1.0)))
            counts.update(self.by_field[path].counts)
        stake = sums.n_extracted + sums.n_gold
        mean = 2 * sums.matched / stake if stake else 0.0
        return FieldSummary(*sums.scores(), _sizes(counts)[2], mean, dict(counts))

    def totals(self) -> Counter[str]:
        totals = Counter[str]()
        for summary in self.by_field.values():
            totals.update(summary.counts)
        return totals


class UndecidedField(NamedTuple):
    """Results of one field with the same undecided status."""

    field: str
    """Path in the schema."""
    status: str
    n_values: int
    """Number of values, in any number of records."""
    reason: str
    """Reason of the first one; may be empty."""
    is_only_reason: bool
    """Whether all have the same reason."""


class Undecided:
    """Results without a verdict, and their effect on F1."""

    def __init__(self, weights: Mapping[str, float], records: Iterable[RecordResult]) -> None:
        self._reasons: dict[tuple[str, str], list[str]] = {}
        self._loss_if_wrong = 0.0
        self._gain_if_right = 0.0
        self.n_records = 0
        """Number of records with undecided results and no verdict at all. Each counts as 1 in the
        means, since no value in it is known to be wrong."""
        for record in records:
            undecided = [one for one in record.field_results if one.status in UNDECIDED]
            if not undecided:
                continue
            self.n_records += COUNTED.isdisjoint(one.status for one in record.field_results)
            wrong = count(
                [replace(one, score=0.0, status="mismatch") for one in undecided], weights
            )
            right = wrong._replace(matched=wrong.n_extracted)
            self._loss_if_wrong += record.f1 - record.counts.plus(wrong).scores().f1
            self._gain_if_right += record.counts.plus(right).scores().f1 - record.f1
            for one in undecided:
                key = schema_path(one.path), one.status
                self._reasons.setdefault(key, []).append(one.reason or "")

    @property
    def fields(self) -> list[UndecidedField]:
        """Fields with undecided values, most values first."""
        fields = (
            UndecidedField(*key, len(reasons), reasons[0], is_only_reason=len({*reasons}) == 1)
            for key, reasons in self._reasons.items()
        )
        return sorted(fields, key=lambda field: -field.n_values)

    def decided_f1(self, run: RunFigures) -> float | None:
        """Mean F1 without the undecided records; `None` if there are no others."""
        n = run.total_records - self.n_records
        if not run.total_fields or not n:
            return None
        total = run.mean_f1 * run.total_records - self.n_records
        return total / n if self.n_records else run.mean_f1

    def bounds(self, mean_f1: float, n_records: int) -> tuple[float, float]:
        """Bounds of mean F1: all undecided values wrong, all right."""
        n = n_records or 1
        low, high = mean_f1 - self._loss_if_wrong / n, mean_f1 + self._gain_if_right / n
        return max(0.0, low), min(1.0, high)


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

    Args:
        field_results: Results of one record, changed in place: if a comparator has a batch error,
            all of its results become batch errors, except omissions and hallucinations.

    Returns:
        The same list.
    """
    failed = {r.comparator for r in field_results if r.status == "batch_error"}
    for result in field_results:
        if result.comparator in failed and result.status not in {"omission", "hallucination"}:
            result.status, result.score = "batch_error", 0.0
            result.reason = f"tainted: {result.comparator!r} failed on a field of this record"
    return field_results
