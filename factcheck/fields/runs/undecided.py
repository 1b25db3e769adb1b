"""Fields without a verdict, and how far they could move F1.

They are excluded from all metrics, so a run is known only within bounds: all of them wrong, or all
of them right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from factcheck.fields.runs.records import Counts, RecordResult, RunFigures, WeightedCounts
from factcheck.fields.schemas.structure import schema_path
from factcheck.fields.types import COUNTED, UNDECIDED, FieldResult

_MAX_REASONS = 1_000
"""Distinct reasons kept for a field."""


class UndecidedField(NamedTuple):
    """The results of one field that share an undecided status."""

    field: str
    """Path in the schema."""
    status: str
    n_values: int
    """A record may have several."""
    reason: str
    """The most frequent one; empty if there is none."""
    is_only_reason: bool


class Undecided:
    """Counts results without a verdict, record by record; the records are not kept.

    Args:
        weights: Weight of each field by schema path; 1 for any other.
        records: Records to count.
    """

    def __init__(
        self, weights: Mapping[str, float] | None = None, records: Iterable[RecordResult] = ()
    ) -> None:
        self._count = WeightedCounts(weights or {})
        self._reasons: dict[tuple[str, str], Counter[str]] = {}
        self._n: Counter[tuple[str, str]] = Counter()
        self._n_without_errors = 0
        self._loss_if_wrong = 0.0
        self._loss_if_errors_wrong = 0.0
        self._gain_if_right = 0.0
        self.n_records = 0
        """Records in which something was to be decided and nothing was. In the means each of them
        counts as 1, since nothing in it is known to be wrong."""
        for record in records:
            self.add(record)

    def add(self, record: RecordResult) -> None:
        """Count one record."""
        undecided = [result for result in record.field_results if result.status in UNDECIDED]
        if not undecided:
            return
        errors = [result for result in undecided if result.status == "error"]
        if COUNTED.isdisjoint(result.status for result in record.field_results):
            self.n_records += 1
            self._n_without_errors += not errors
        wrong = self._count(map(_as_mismatch, undecided))
        right = Counts(wrong.n_extracted, wrong.n_extracted, wrong.n_gold)
        self._loss_if_wrong += record.f1 - record.counts.plus(wrong).scores().f1
        self._gain_if_right += record.counts.plus(right).scores().f1 - record.f1
        if errors:
            wrong = self._count(map(_as_mismatch, errors))
            self._loss_if_errors_wrong += record.f1 - record.counts.plus(wrong).scores().f1
        for result in undecided:
            key = (schema_path(result.path), result.status)
            self._n[key] += 1
            reasons = self._reasons.setdefault(key, Counter())
            reason = result.reason or ""
            if len(reasons) < _MAX_REASONS or reason in reasons:
                reasons[reason] += 1

    @property
    def fields(self) -> list[UndecidedField]:
        """The fields that have some, most values first."""
        return [
            UndecidedField(
                *key, n, self._reasons[key].most_common(1)[0][0], len(self._reasons[key]) == 1
            )
            for key, n in self._n.most_common()
        ]

    def decided_f1(self, run: RunFigures) -> float | None:
        """Mean F1 without the undecided records; `None` if nothing is left."""
        return _mean_without(run, self.n_records, 0.0)

    def strict_f1(self, run: RunFigures) -> float | None:
        """`decided_f1` with every value that could not be compared (`error`) counted as wrong."""
        return _mean_without(run, self._n_without_errors, self._loss_if_errors_wrong)

    def bounds(self, run: RunFigures) -> tuple[float, float]:
        """Mean F1 if all undecided values were wrong, and if all were right."""
        n = run.total_records or 1
        low, high = run.mean_f1 - self._loss_if_wrong / n, run.mean_f1 + self._gain_if_right / n
        return max(0.0, low), min(1.0, high)


def _mean_without(run: RunFigures, n_undecided: int, loss: float) -> float | None:
    """Mean F1 without some undecided records, and less a loss in others."""
    n = run.total_records - n_undecided
    if not run.total_fields or not n:
        return None
    if not n_undecided and not loss:
        return run.mean_f1
    return (run.mean_f1 * run.total_records - n_undecided - loss) / n


def _as_mismatch(result: FieldResult) -> FieldResult:
    return FieldResult(result.path, 0.0, result.comparator, None, None, "mismatch")
