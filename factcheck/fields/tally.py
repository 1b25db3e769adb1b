"""Mergeable running totals of scored records, in constant memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter

from factcheck.errors import InputError
from factcheck.fields.figures import FieldSummary
from factcheck.fields.pages import RunResult
from factcheck.fields.records import Counts, RecordResult
from factcheck.fields.schemas.structure import schema_path
from factcheck.fields.types import COUNTED

_path = attrgetter("path")
_status = attrgetter("status")


class RunTally:
    """Running totals of scored records, which are not kept.

    Args:
        fields: All schema paths. `None`: count by path in the record; their number grows with the
            length of arrays.
        schema_digest: Digest of the schema, if known.
        weights: Weights by schema path; the default is 1.
    """

    def __init__(
        self,
        fields: Iterable[str] | None = None,
        schema_digest: str | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        self._schema_digest = schema_digest
        self._weights = weights or {}
        self._fields = None if fields is None else frozenset(fields)
        self._n = 0
        self._means = [0.0, 0.0, 0.0]
        self._sums = Counts()
        self._counts: Counter[tuple[str, str]] = Counter()
        """Number of results by path and status."""
        self._partial: defaultdict[str, float] = defaultdict(float)
        """By path, sum of score - 1 over matches and of scores over mismatches."""

    def add(self, record: RecordResult) -> None:
        """Count one record."""
        self._add_means((record.precision, record.recall, record.f1), 1)
        self._sums = self._sums.plus(record.counts)
        results = record.field_results
        paths = map(_path, results)
        if self._fields is not None:
            paths = map(self._key, paths)
        self._counts.update(zip(paths, map(_status, results), strict=True))
        for result in results:
            status = result.status
            if result.score != (status == "match") and status in ("match", "mismatch"):
                self._partial[self._key(result.path)] += result.score - (status == "match")

    def _add_means(self, means: Sequence[float], n: int) -> None:
        self._n += n
        for k, value in enumerate(means if n else ()):
            self._means[k] += (value - self._means[k]) * n / self._n

    def _key(self, path: str) -> str:
        return path if self._fields is None else schema_path(path)

    def merge(self, other: RunTally) -> None:
        """Add the totals of other records scored by the same schema.

        Raises:
            InputError: The other tally has a different schema, or counts by path and not by field.
        """
        digests = {self._schema_digest, other._schema_digest}
        if self._fields != other._fields or len(digests - {None}) > 1:
            raise InputError(
                "cannot merge tallies of different schemas; create both with the same schema and "
                "the same 'fields'"
            )
        if None in digests:
            self._schema_digest = None
        self._add_means(other._means, other._n)
        self._sums = self._sums.plus(other._sums)
        for (path, status), count in list(other._counts.items()):
            self._counts[path, status] += count
        for path, difference in list(other._partial.items()):
            self._partial[path] += difference

    def result(self, records: Sequence[RecordResult] = ()) -> RunResult:
        """Compute the result of the run.

        Args:
            records: The counted records, if they were kept.
        """
        totals = Counter[str]()
        for (_, status), n in self._counts.items():
            totals[status] += n
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
                path: summary.aggregation()
                for path, summary in self._summaries(str).items()
                if not COUNTED.isdisjoint(summary.counts)
            },
            total_errors=totals["error"],
            micro=self._sums.scores(),
            by_field=self._summaries(schema_path),
            schema_digest=self._schema_digest,
            weights=dict(self._weights),
        )

    def _summaries(self, key: Callable[[str], str]) -> dict[str, FieldSummary]:
        """Summarize the results by a key of their paths."""
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for (path, status), n in self._counts.items():
            counts[key(path)][status] += n
        matched = {name: float(own["match"]) for name, own in counts.items()}
        for path, difference in self._partial.items():
            matched[key(path)] += difference
        return {name: FieldSummary.of(own, matched[name]) for name, own in counts.items()}
