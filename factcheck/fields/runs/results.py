"""Result of a run, and mergeable running totals in constant memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from factcheck.documents import json_text, parse_json
from factcheck.errors import InputError
from factcheck.fields.runs import export
from factcheck.fields.runs.records import (
    Counts,
    RecordResult,
    RunFigures,
    aggregation_of,
    summary_of,
)
from factcheck.fields.schemas.structure import schema_path
from factcheck.fields.types import COUNTED
from factcheck.reports.page import Page
from factcheck.reports.report import Report
from factcheck.stats.intervals import Interval


@dataclass(frozen=True, repr=False)
class RunResult(Report, RunFigures):
    """Result of a run.

    `print` shows its report; `to_markdown`, `to_html` and `page` return it in other formats.
    """

    def page(self, *, intervals: Mapping[str, Interval] | None = None, examples: int = 3) -> Page:
        """Build the report: mean and micro F1, the fields with the largest losses, and examples.

        Args:
            intervals: Result of the method `intervals`.
            examples: Maximum number of examples per field.
        """
        from factcheck.fields.pages import run_page

        return run_page(self, intervals=intervals, examples=examples)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one dict per field result, in order.

        Keys are `record` (the id), `path`, `field` (the path in the schema), `status`, `score`,
        `comparator`, `reason`, `gold` and `extracted`; if transforms changed a value, also
        `gold_compared` or `extracted_compared`. Values are the scored objects themselves.

        Raises:
            InputError: Only totals were kept.
        """
        return list(export.iter_rows(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the run as JSON data.

        `from_dict` restores JSON values unchanged. Tuples become lists, sets sorted lists, pydantic
        models objects; NaN, infinities and all other values become strings.
        """
        return export.run_to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RunResult:
        """Inverse of `to_dict`.

        Raises:
            InputError: The data is not a run in this format; the message names the place.
        """
        return cls(**export.run_from_dict(data))

    def to_json(self, *, indent: int | None = None) -> str:
        """Return `to_dict` as JSON text; equal runs give equal text."""
        return json_text(self.to_dict(), indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> RunResult:
        """Inverse of `to_json`.

        Raises:
            InputError: Not valid JSON, or not a run.
        """
        return cls.from_dict(parse_json(text, "run").value)

    def intervals(self, n_resamples: int = 2000, seed: int = 0) -> dict[str, Interval]:
        """Compute 95 % bootstrap intervals of mean and micro scores over records.

        They are too narrow below about twenty records, and have zero width if all records have
        equal scores.

        Returns:
            Intervals of `mean_precision`, `mean_recall`, `mean_f1`, `micro_precision`,
            `micro_recall` and `micro_f1`; (0, 1) with fewer than two records.

        Raises:
            InputError: The records were not kept, or a setting is invalid.
        """
        from factcheck.fields.runs.resampling import run_intervals

        return run_intervals(self, n_resamples, seed)


OTHER = "(other unknown keys)"
"""Key under which further unknown keys are counted."""
_MAX_UNKNOWN = 1_000
"""Maximum number of keys outside the schema that are counted separately."""
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
        self._unknown: set[str] = set()
        self._n = 0
        self._means = [0.0, 0.0, 0.0]
        self._sums = Counts()
        self._counts: Counter[tuple[str, str]] = Counter()
        """Number of results by path and status."""
        self._partial: dict[str, float] = {}
        """By path, sum of score - 1 over matches and of scores over mismatches."""

    def add(self, record: RecordResult) -> None:
        """Count one record."""
        self._add_means((record.precision, record.recall, record.f1), 1)
        self._sums = self._sums.plus(record.counts)
        results = record.field_results
        paths = map(self._key, map(_path, results))
        self._counts.update(zip(paths, map(_status, results), strict=True))
        for result in results:
            status = result.status
            if result.score != (status == "match") and status in ("match", "mismatch"):
                self._add_partial(result.path, result.score - (status == "match"))

    def _add_means(self, means: Sequence[float], n: int) -> None:
        self._n += n
        for k, value in enumerate(means if n else ()):
            self._means[k] += (value - self._means[k]) * n / self._n

    def _add_partial(self, path: str, difference: float) -> None:
        key = self._key(path)
        self._partial[key] = self._partial.get(key, 0.0) + difference

    def _key(self, path: str) -> str:
        """Return the key for counting a path; the number of keys is bounded."""
        if self._fields is None:
            return path
        field = schema_path(path)
        if field not in self._fields and field not in self._unknown:
            if len(self._unknown) >= _MAX_UNKNOWN:
                return OTHER
            self._unknown.add(field)
        return field

    def merge(self, other: RunTally) -> None:
        """Add the totals of other records scored by the same schema.

        Raises:
            InputError: The other tally has a different schema, or counts by path and not by field.
        """
        if self._fields is None or other._fields is None:
            if self._fields is not other._fields:
                raise InputError(
                    "cannot merge a tally by field with one by path; create both with, or both "
                    "without, 'fields'"
                )
        elif differing := sorted(self._fields ^ other._fields):
            raise InputError(
                f"the tallies are of different schemas: only one has the field {differing[0]!r}"
            )
        if self._schema_digest != other._schema_digest:
            if self._schema_digest and other._schema_digest:
                raise InputError(
                    "the tallies are of different schemas: same fields, but different comparators "
                    "or settings"
                )
            self._schema_digest = None
        self._add_means(other._means, other._n)
        self._sums = self._sums.plus(other._sums)
        for (path, status), count in other._counts.items():
            self._counts[self._key(path), status] += count
        for path, difference in other._partial.items():
            self._add_partial(path, difference)

    def result(self, records: Sequence[RecordResult] = ()) -> RunResult:
        """Compute the result of the run.

        Args:
            records: The counted records, if they were kept.
        """
        by_path: dict[str, Counter[str]] = {}
        for (path, status), n in self._counts.items():
            by_path.setdefault(path, Counter())[status] = n
        by_field: dict[str, Counter[str]] = {}
        partial: dict[str, float] = {}
        totals = Counter[str]()
        for path, counts in by_path.items():
            field = schema_path(path)
            by_field.setdefault(field, Counter()).update(counts)
            partial[field] = partial.get(field, 0.0) + self._partial.get(path, 0.0)
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
                path: aggregation_of(counts, counts["match"] + self._partial.get(path, 0.0))
                for path, counts in by_path.items()
                if not COUNTED.isdisjoint(counts)
            },
            total_errors=totals["error"],
            micro=self._sums.scores(),
            by_field={
                field: summary_of(counts, counts["match"] + partial[field])
                for field, counts in by_field.items()
            },
            schema_digest=self._schema_digest,
            weights=dict(self._weights),
        )
