"""Figures of records, fields and runs: plain data, and how counts become precision and recall.

Post-processors, at the end, change the results of a record before its figures are computed.
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
    """Weighted counts of fields, from which precision, recall and F1 follow."""

    matched: float = 0.0
    """Sum of the scores of matches and mismatches."""
    n_extracted: float = 0.0
    """Matches, mismatches and hallucinations."""
    n_gold: float = 0.0
    """Matches, mismatches and omissions."""

    def scores(self) -> Scores:
        """Precision, recall and F1; a share of nothing is 1."""
        precision = self.matched / self.n_extracted if self.n_extracted else 1.0
        recall = self.matched / self.n_gold if self.n_gold else 1.0
        if not self.n_extracted and not self.n_gold:
            return Scores(1.0, 1.0, 1.0)
        total = precision + recall
        return Scores(precision, recall, 2 * precision * recall / total if total else 0.0)

    def plus(self, other: Counts) -> Counts:
        return Counts(*(a + b for a, b in zip(self, other, strict=True)))


def count(results: Iterable[FieldResult], weights: Mapping[str, float] | None = None) -> Counts:
    """Count results; `weights` are by schema path, 1 for any other field."""
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
    """One record: its field results, and their precision, recall and F1."""

    record_id: str | int
    """The value of its `id_field`, or its position."""
    field_results: list[FieldResult]
    gold: Any
    extracted: Any
    precision: float
    recall: float
    f1: float
    counts: Counts = Counts()  # noqa: RUF009 - immutable
    """Where the three come from."""


@dataclass(frozen=True)
class FieldAggregation:
    """One path in the record, over all records."""

    mean_score: float
    """Mean score; omissions and hallucinations count 0."""
    matches: int
    mismatches: int
    omissions: int
    hallucinations: int


@dataclass(frozen=True, slots=True)
class FieldSummary:
    """One field of the schema, over all records and positions."""

    precision: float
    """1 if no record has the field extracted."""
    recall: float
    """1 if no gold record has the field, so that the support is 0."""
    f1: float
    support: int
    """How often gold has the field."""
    mean_score: float
    """Mean score; omissions and hallucinations count 0."""
    counts: Mapping[str, int]
    """Number of results by status; without the statuses that did not occur."""

    def n(self, status: str) -> int:
        return self.counts.get(status, 0)

    def weighted(self, weight: float = 1.0) -> Counts:
        """The counts behind precision, recall and F1, times a weight."""
        n_both, n_extracted, n_gold = _sizes(self.counts)
        matched = self.mean_score * (n_extracted + n_gold - n_both)
        return Counts(weight * matched, weight * n_extracted, weight * n_gold)


def _sizes(counts: Mapping[str, int]) -> tuple[int, int, int]:
    """Fields on both sides, extracted ones, and those in gold."""
    n = Counter(counts)
    n_both = n["match"] + n["mismatch"]
    return n_both, n_both + n["hallucination"], n_both + n["omission"]


def summary_of(counts: Mapping[str, int], matched: float) -> FieldSummary:
    """The figures of results: how many have each status, and the sum of their scores."""
    n_both, n_extracted, n_gold = _sizes(counts)
    n = n_extracted + n_gold - n_both
    scores = Counts(matched, n_extracted, n_gold).scores()
    return FieldSummary(*scores, n_gold, matched / n if n else 0.0, dict(counts))


def aggregation_of(counts: Mapping[str, int], matched: float) -> FieldAggregation:
    own = summary_of(counts, matched)
    matches, mismatches = own.n("match"), own.n("mismatch")
    return FieldAggregation(
        own.mean_score, matches, mismatches, own.n("omission"), own.n("hallucination")
    )


@dataclass(frozen=True)
class RunFigures:
    """All figures of a run. Means are over records (macro); `micro` is over all fields at once."""

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
    """By path in the record, `items[0].name`."""
    total_errors: int = 0
    """Fields whose comparator or transform failed; they are excluded from all metrics."""
    micro: Scores = Scores(1.0, 1.0, 1.0)  # noqa: RUF009 - immutable
    by_field: dict[str, FieldSummary] = field(default_factory=dict)
    """By path in the schema, `items[].name`; unknown keys by their own path."""
    schema_digest: str | None = None
    """Digest of the schema, equal for schemas that score alike; `None` if unknown."""
    weights: dict[str, float] = field(default_factory=dict)
    """Weight of each field by path in the schema; empty if all count the same."""

    def rollup(self) -> dict[str, FieldSummary]:
        """Every object and list of the schema with the sums over the fields in it, by its path.

        Scores are weighted, counts are not. Outer ones come first.
        """
        inside: dict[str, list[str]] = {}
        for path in self.by_field:
            for container in reversed(list(containers(path))):
                inside.setdefault(container, []).append(path)
        return {container: self._sum(paths) for container, paths in inside.items()}

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
    """The results of one field that share an undecided status."""

    field: str
    """Path in the schema."""
    status: str
    n_values: int
    """A record may have several."""
    reason: str
    """The first one; empty if there is none."""
    is_only_reason: bool


class Undecided:
    """The results without a verdict of some records."""

    def __init__(self, weights: Mapping[str, float], records: Iterable[RecordResult]) -> None:
        self._reasons: dict[tuple[str, str], list[str]] = {}
        self._loss_if_wrong = 0.0
        self._gain_if_right = 0.0
        self.n_records = 0
        """Records in which something was to be decided and nothing was. In the means each of them
        counts as 1, since nothing in it is known to be wrong."""
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
        """The fields that have some, most values first."""
        found = (
            UndecidedField(*key, len(own), own[0], is_only_reason=len({*own}) == 1)
            for key, own in self._reasons.items()
        )
        return sorted(found, key=lambda field: -field.n_values)

    def decided_f1(self, run: RunFigures) -> float | None:
        """Mean F1 without the undecided records; `None` if nothing is left."""
        n = run.total_records - self.n_records
        if not run.total_fields or not n:
            return None
        all_of_them = run.mean_f1 * run.total_records - self.n_records
        return all_of_them / n if self.n_records else run.mean_f1

    def bounds(self, mean_f1: float, n_records: int) -> tuple[float, float]:
        """Mean F1 if all undecided values were wrong, and if all were right."""
        n = n_records or 1
        low, high = mean_f1 - self._loss_if_wrong / n, mean_f1 + self._gain_if_right / n
        return max(0.0, low), min(1.0, high)


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
