"""The result of a run: its figures, and what can be done with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from factcheck.documents import json_text, parse_json
from factcheck.errors import InputError
from factcheck.fields.runs import export
from factcheck.fields.runs.records import RecordResult, RunFigures
from factcheck.reports.page import Page
from factcheck.reports.report import Report
from factcheck.stats.intervals import Interval

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class RunResult(Report, RunFigures):
    """The result of a run.

    `print` shows its report; `to_markdown`, `to_html` and `page` give it in other forms.
    """

    def page(
        self,
        *,
        intervals: Mapping[str, Interval] | None = None,
        weights: Mapping[str, float] | None = None,
        examples: int = 3,
    ) -> Page:
        """The report: mean and micro F1, the fields with the largest losses, and examples.

        Args:
            intervals: What `intervals` returns.
            weights: Weight of each field by schema path; 1 for any other.
            examples: Examples shown for each field.
        """
        from factcheck.fields.pages import run_page

        return run_page(self, intervals=intervals, weights=weights, examples=examples)

    def _kept(self, what: str) -> list[RecordResult]:
        if self.total_records and not self.records:
            raise InputError(
                f"{what} needs the results of single records, and of these "
                f"{self.total_records:,} only totals were kept; FieldEvaluator.evaluate keeps "
                "them, .stream yields them"
            )
        return self.records

    def to_rows(self) -> list[dict[str, Any]]:
        """One dict per field result, in order.

        Its keys are `record` (the id), `path`, `field` (the path in the schema), `status`, `score`,
        `comparator`, `reason`, `gold` and `extracted`; if transforms changed a value, also
        `gold_compared` or `extracted_compared`. Values are the objects that were scored.

        Raises:
            InputError: Only totals were kept.
        """
        return list(export.iter_rows(self._kept("to_rows()")))

    def to_pandas(self) -> pd.DataFrame:
        """The rows of `to_rows` as a data frame with all columns.

        Raises:
            ConfigError: pandas is not installed.
            InputError: Only totals were kept.
        """
        return export.to_frame(self._kept("to_pandas()"))

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

    def field_intervals(self, n_resamples: int = 2000, seed: int = 0) -> dict[str, Interval]:
        """95 % bootstrap intervals of the F1 of each field that counts, by path in the schema.

        In a resample without any result of a field, its F1 is 1.

        Raises:
            InputError: The records were not kept, or a setting is invalid.
        """
        from factcheck.fields.runs.resampling import field_intervals

        return field_intervals(self, n_resamples, seed)
