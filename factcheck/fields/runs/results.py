"""The result of a run, and running totals: constant memory, mergeable, enough for all figures."""

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
    """The result of a run.

    `print` shows its report; `to_markdown`, `to_html` and `page` give it in other forms.
    """

    def page(
        self,
        *,
        intervals: Mapping[str, Interval] | None = None,
        examples: int = 3,
    ) -> Page:
        """The report: mean and micro F1, the fields with the largest losses, and examples.

        Args:
            intervals: What `intervals` returns.
            examples: Examples shown for each field.
        """
        from factcheck.fields.pages import run_page

        return run_page(self, intervals=intervals, examples=examples)

    def to_rows(self) -> list[dict[str, Any]]:
        """One dict per field result, in order.

        Its keys are `record` (the id), `path`, `field` (the path in the schema), `status`, `score`,
        `comparator`, `reason`, `gold` and `extracted`; if transforms changed a value, also
        `gold_compared` or `extracted_compared`. Values are the objects that were scored.

        Raises:
            InputError: Only totals were kept.
        """
        return list(export.iter_rows(self))

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data.

        JSON values come back unchanged from `from_dict`. Tuples become lists, sets sorted lists,
        pydantic models objects; NaN, infinities and all other values become strings.
        """
        return export.run_to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RunResult:
        """Inverse of `to_dict`.

        Raises:
            InputError: The data is not a run in this format; says where, and what is wrong.
        """
        return cls(**export.run_from_dict(data))

    def to_json(self, *, indent: int | None = None) -> str:
        """`to_dict` as JSON text; equal runs give equal texts."""
        return json_text(self.to_dict(), indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> RunResult:
        """Inverse of `to_json`.

        Raises:
            InputError: Not valid JSON, or not a run.
        """
        return cls.from_dict(parse_json(text, "run").value)

    def intervals(self, n_resamples: int = 2000, seed: int = 0) -> dict[str, Interval]:
        """95 % bootstrap intervals of the means and of `micro`, by record.

        They are too narrow below about twenty records, and have no width if all records are equal.

        Returns:
            `mean_precision`, `mean_recall`, `mean_f1`, `micro_precision`, `micro_recall` and
            `micro_f1`; (0, 1) with fewer than two records.

        Raises:
            InputError: The records were not kept, or a setting is invalid.
        """
        from factcheck.fields.runs.resampling import run_intervals

        return run_intervals(self, n_resamples, seed)


OTHER = "(other unknown keys)"
"""Counts the keys that the schema lacks, once there are too many of them."""
_MAX_UNKNOWN = 1_000
_path = attrgetter("path")
_status = attrgetter("status")


class RunTally:
    """The totals of scored records, which are not kept.

    Args:
        fields: All schema paths. `None`: count by path in the record, of which there are more the
            longer the arrays.
        schema_digest: Digest of the schema, if known.
        weights: Weight of each field by schema path; 1 for any other.
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
        """Results by path and status."""
        self._partial: dict[str, float] = {}
        """By path, how far scores are from 1 for a match and 0 for a mismatch, in sum."""

    def add(self, record: RecordResult) -> None:
        """Count one record."""
        self._add_means((record.precision, record.recall, record.f1), 1)
        self._sums = self._sums.plus(record.counts)
        results = record.field_results
        paths = map(self._place, map(_path, results))
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
        place = self._place(path)
        self._partial[place] = self._partial.get(place, 0.0) + difference

    def _place(self, path: str) -> str:
        """What the results at a path are counted under; few enough, whatever keys records have."""
        if self._fields is None:
            return path
        field = schema_path(path)
        if field not in self._fields and field not in self._unknown:
            if len(self._unknown) >= _MAX_UNKNOWN:
                return OTHER
            self._unknown.add(field)
        return field

    def merge(self, other: RunTally) -> None:
        """Add the totals of other records that were scored by the same schema.

        Raises:
            InputError: The other tally counts in another way, or by another schema.
        """
        if self._fields is None or other._fields is None:
            if self._fields is not other._fields:
                raise InputError("one tally counts by field and the other by path; use one kind")
        elif unlike := sorted(self._fields ^ other._fields):
            raise InputError(
                f"the tallies are of different schemas: only one has the field {unlike[0]!r}"
            )
        if self._schema_digest != other._schema_digest:
            if self._schema_digest and other._schema_digest:
                raise InputError(
                    "the tallies are of different schemas: same fields, but other comparators or "
                    "settings"
                )
            self._schema_digest = None
        self._add_means(other._means, other._n)
        self._sums = self._sums.plus(other._sums)
        for (path, status), count in other._counts.items():
            self._counts[self._place(path), status] += count
        for path, difference in other._partial.items():
            self._add_partial(path, difference)

    def result(self, records: Sequence[RecordResult] = ()) -> RunResult:
        """The result of the run.

        Args:
            records: The records that were counted, if they were kept.
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
