"""Running totals over records: constant memory, mergeable, and all that a run's figures need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

from factcheck.errors import InputError
from factcheck.fields.runs.metrics import Sums
from factcheck.fields.runs.results import FieldAggregation, FieldSummary, RecordResult, RunResult
from factcheck.fields.schemas.structure import schema_path
from factcheck.fields.types import COUNTED
from factcheck.stats import Interval, t_interval

OTHER = "(other unknown keys)"
"""Where keys that the schema does not know are counted, once there are too many of them."""
_MOST_UNKNOWN = 1_000
_MOST_PATHS = 100_000
_COMPARED = frozenset({"match", "mismatch"})
_path = attrgetter("path")
_status = attrgetter("status")


class RunTally:
    """The totals of records that have been scored; the records themselves are not kept.

    Args:
        fields: The schema paths. `None` counts by path in the record, position by position,
            whose number grows with the arrays.
        schema_digest: By which schema the records were scored, where it is known.
    """

    def __init__(
        self, fields: Iterable[str] | None = None, schema_digest: str | None = None
    ) -> None:
        self._schema_digest = schema_digest
        self._fields = None if fields is None else _Fields(fields)
        self._n = 0
        self._means = [0.0, 0.0, 0.0]
        self._squares = [0.0, 0.0, 0.0]
        """Of the distances from the means."""
        self._sums = Sums()
        self._counts: Counter[tuple[str, str]] = Counter()
        self._partial: dict[str, float] = {}
        """By how much scores differ from 1 for a match and 0 for a mismatch."""

    def add(self, record: RecordResult) -> None:
        """Count one record."""
        self._n += 1
        for k, value in enumerate((record.precision, record.recall, record.f1)):
            distance = value - self._means[k]
            self._means[k] += distance / self._n
            self._squares[k] += distance * (value - self._means[k])
        self._sums = self._sums.plus(record.sums)
        results = record.field_results
        paths: Iterable[str] = map(_path, results)
        if self._fields is not None:
            paths = map(self._fields.__getitem__, paths)
        self._counts.update(zip(paths, map(_status, results), strict=True))
        for result in results:
            if result.score != (result.status == "match") and result.status in _COMPARED:
                place = self._place(result.path)
                difference = result.score - (result.status == "match")
                self._partial[place] = self._partial.get(place, 0.0) + difference

    def merge(self, other: RunTally) -> None:
        """Count what another tally has counted, of other records of the same schema.

        Raises:
            InputError: The other tally counts in another way, or the fields of another schema.

        Source:
            Means and squared distances are combined as in Chan, Golub and LeVeque (1979).
        """
        if (self._fields is None) != (other._fields is None):
            raise InputError("one tally counts by field and the other by position; use one kind")
        if self._fields is not None and other._fields is not None:
            self._fields.require_same(other._fields)
        if self._schema_digest != other._schema_digest:
            if self._schema_digest and other._schema_digest:
                raise InputError(
                    "the tallies are of different schemas: their fields are the same, but not how "
                    "they are compared"
                )
            self._schema_digest = None
        n = self._n + other._n
        for k in range(3):
            distance = other._means[k] - self._means[k]
            if n:
                self._squares[k] += other._squares[k] + distance**2 * self._n * other._n / n
                self._means[k] += distance * other._n / n
        self._n = n
        self._sums = self._sums.plus(other._sums)
        for (path, status), count in other._counts.items():
            self._counts[self._place(path), status] += count
        for path, difference in other._partial.items():
            place = self._place(path)
            self._partial[place] = self._partial.get(place, 0.0) + difference

    def _place(self, path: str) -> str:
        return path if self._fields is None else self._fields[path]

    def intervals(self) -> dict[str, Interval]:
        """95 % confidence intervals of the means over records, by Student's distribution."""
        names = ("mean_precision", "mean_recall", "mean_f1")
        return {name: self._interval(k) for k, name in enumerate(names)}

    def _interval(self, k: int) -> Interval:
        if self._n < 2:  # noqa: PLR2004 - one record says nothing about another
            return Interval(0.0, 1.0)
        return t_interval(self._means[k], self._squares[k] / (self._n - 1) / self._n, self._n - 1)

    def result(self, records: Sequence[RecordResult] = ()) -> RunResult:
        """The figures of the run.

        Args:
            records: What was counted, where it was kept.
        """
        by_path = _by_path(self._counts)
        totals = Counter[str]()
        for counts in by_path.values():
            totals.update(counts)
        precision, recall, f1 = self._means if self._n else (1.0, 1.0, 1.0)
        return RunResult(
            records=list(records),
            mean_precision=precision,
            mean_recall=recall,
            mean_f1=f1,
            total_records=self._n,
            total_fields=sum(totals[status] for status in COUNTED),
            total_omissions=totals["omission"],
            total_hallucinations=totals["hallucination"],
            total_batch_errors=totals["batch_error"],
            per_field={
                path: self._aggregation(path, counts)
                for path, counts in by_path.items()
                if not COUNTED.isdisjoint(counts)
            },
            total_errors=totals["error"],
            micro=self._sums.scores(),
            by_field=self._by_field(by_path),
            schema_digest=self._schema_digest,
        )

    def _aggregation(self, path: str, counts: Mapping[str, int]) -> FieldAggregation:
        matches, mismatches, omissions, hallucinations = (
            counts.get(status, 0) for status in ("match", "mismatch", "omission", "hallucination")
        )
        n = matches + mismatches + omissions + hallucinations
        mean = (matches + self._partial.get(path, 0.0)) / n
        return FieldAggregation(mean, matches, mismatches, omissions, hallucinations)

    def _by_field(self, by_path: Mapping[str, Mapping[str, int]]) -> dict[str, FieldSummary]:
        counts: dict[str, Counter[str]] = {}
        partial: dict[str, float] = {}
        for path, own in by_path.items():
            field = schema_path(path)
            counts.setdefault(field, Counter()).update(own)
            partial[field] = partial.get(field, 0.0) + self._partial.get(path, 0.0)
        return {field: _summary(counts[field], partial[field]) for field in counts}


class _Fields(dict[str, str]):
    """The field that a path in a record belongs to; forgets what it can find again."""

    def __init__(self, known: Iterable[str]) -> None:
        super().__init__()
        self._known = frozenset(known)
        self._unknown: set[str] = set()

    def require_same(self, other: _Fields) -> None:
        """Both are of one schema.

        Raises:
            InputError: They are not; names a field that only one of them has.
        """
        if unlike := sorted(self._known ^ other._known):
            raise InputError(
                f"the tallies are of different schemas: only one has the field {unlike[0]!r}"
            )

    def __missing__(self, path: str) -> str:
        field = schema_path(path)
        if field not in self._known and field not in self._unknown:
            if len(self._unknown) >= _MOST_UNKNOWN:
                return OTHER
            self._unknown.add(field)
        if len(self) > _MOST_PATHS:
            self.clear()
        self[path] = field
        return field


def _by_path(counts: Mapping[tuple[str, str], int]) -> dict[str, dict[str, int]]:
    by_path: dict[str, dict[str, int]] = {}
    for (path, status), n in counts.items():
        by_path.setdefault(path, {})[status] = n
    return by_path


def _summary(counts: Counter[str], partial: float) -> FieldSummary:
    both = counts["match"] + counts["mismatch"]
    matched = counts["match"] + partial
    sums = Sums(matched, both + counts["hallucination"], both + counts["omission"])
    n = sum(counts[status] for status in COUNTED)
    return FieldSummary(
        *sums.scores(),
        support=int(sums.wanted),
        mean_score=matched / n if n else 0.0,
        counts=dict(counts),
    )
