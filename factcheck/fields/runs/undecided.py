"""Values of a run that have no verdict, and what F1 could be if they had one.

They stand outside every share. A run is thus known only within bounds: that all of them are wrong,
and that all are right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from factcheck.fields.runs.metrics import Sums, Weighing
from factcheck.fields.runs.results import RecordResult, RunResult
from factcheck.fields.schemas.structure import schema_path
from factcheck.fields.types import COUNTED, FieldResult, FieldStatus

UNDECIDED = frozenset({"error", "batch_error", "pending"})
"""The statuses of values without a verdict."""
_MOST_REASONS = 1_000
"""Different reasons that are kept of one field."""


class UndecidedField(NamedTuple):
    """What has no verdict in one field of the schema."""

    field: str
    """Path in the schema."""
    status: str
    n_values: int
    """A record may have several."""
    reason: str
    """The one that came up most often; empty where none was given."""
    is_only_reason: bool


class Undecided:
    """Counts values without a verdict, record by record; the records are not kept.

    Args:
        weights: How much fields count, by schema path; those that are not in it count once.
        records: Those that are there already.
    """

    def __init__(
        self, weights: Mapping[str, float] | None = None, records: Iterable[RecordResult] = ()
    ) -> None:
        self._weigh = Weighing(weights or {})
        self._reasons: dict[tuple[str, str], Counter[str]] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        self._n_silent = 0
        self._lost_if_wrong = 0.0
        self._lost_if_errors_wrong = 0.0
        self._won_if_right = 0.0
        self.n_records = 0
        """Records of which nothing was decided although something could have been. In the means
        each of them counts as 1, as there is nothing in it to find fault with."""
        for record in records:
            self.add(record)

    def add(self, record: RecordResult) -> None:
        """Count one record."""
        open_results = [result for result in record.field_results if result.status in UNDECIDED]
        if not open_results:
            return
        errors = [result for result in open_results if result.status == "error"]
        if COUNTED.isdisjoint(result.status for result in record.field_results):
            self.n_records += 1
            self._n_silent += not errors
        stake = self._weigh(map(_as_wrong, open_results))
        right = Sums(stake.found, stake.found, stake.wanted)
        self._lost_if_wrong += record.f1 - record.sums.plus(stake).scores().f1
        self._won_if_right += record.sums.plus(right).scores().f1 - record.f1
        if errors:
            wrong = self._weigh(map(_as_wrong, errors))
            self._lost_if_errors_wrong += record.f1 - record.sums.plus(wrong).scores().f1
        for result in open_results:
            self._count(result)

    def _count(self, result: FieldResult) -> None:
        key = (schema_path(result.path), result.status)
        self._counts[key] += 1
        reasons = self._reasons.setdefault(key, Counter())
        reason = result.reason or ""
        if len(reasons) < _MOST_REASONS or reason in reasons:
            reasons[reason] += 1

    @property
    def fields(self) -> list[UndecidedField]:
        """The fields that have some, those with most values first."""
        return [
            UndecidedField(*key, count, self._reasons[key].most_common(1)[0][0], self._agree(key))
            for key, count in self._counts.most_common()
        ]

    def _agree(self, key: tuple[str, str]) -> bool:
        return len(self._reasons[key]) == 1

    def decided_f1(self, run: RunResult) -> float | None:
        """Mean F1 without the records in which nothing was decided; `None` if nothing is left."""
        return _without(run, self.n_records, 0.0)

    def strict_f1(self, run: RunResult) -> float | None:
        """Likewise, with every value that could not be compared (`error`) taken for wrong."""
        return _without(run, self._n_silent, self._lost_if_errors_wrong)

    def bounds(self, run: RunResult) -> tuple[float, float]:
        """Mean F1 if all of them were wrong, and if all were right."""
        n = run.total_records or 1
        low, high = run.mean_f1 - self._lost_if_wrong / n, run.mean_f1 + self._won_if_right / n
        return max(0.0, low), min(1.0, high)


def _without(run: RunResult, n_left_out: int, lost: float) -> float | None:
    """Mean F1 without some records, which count as 1 in it, and with something lost in others."""
    n = run.total_records - n_left_out
    if not run.total_fields or not n:
        return None
    if not n_left_out and not lost:
        return run.mean_f1
    return (run.mean_f1 * run.total_records - n_left_out - lost) / n


def _as_wrong(result: FieldResult) -> FieldResult:
    status: FieldStatus = "mismatch"
    return FieldResult(result.path, 0.0, result.comparator, None, None, status)
