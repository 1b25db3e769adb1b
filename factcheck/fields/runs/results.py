"""What an evaluation gives back: per record, per field, per run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from factcheck.errors import InputError
from factcheck.fields.runs.metrics import Scores, Sums
from factcheck.fields.types import FieldResult
from factcheck.stats import Interval

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class RecordResult:
    """One record: its fields, and their precision, recall and F1."""

    record_id: str | int
    """Its `id_field`, or its position."""
    field_results: list[FieldResult]
    gold: Any
    extracted: Any
    precision: float
    recall: float
    f1: float
    sums: Sums = Sums()  # noqa: RUF009 - immutable
    """What the three are made of."""


@dataclass(frozen=True)
class FieldAggregation:
    """One path over all records."""

    mean_score: float
    """Mean of the scores, omissions and hallucinations counting 0."""
    matches: int
    mismatches: int
    omissions: int
    hallucinations: int


@dataclass(frozen=True, slots=True)
class FieldSummary:
    """One field of the schema over all records and positions."""

    precision: float
    """1 where the extracted side never has the field."""
    recall: float
    """1 where the gold side never has it, so that the support is 0."""
    f1: float
    support: int
    """How often the gold side has it."""
    mean_score: float
    """Mean of the scores, omissions and hallucinations counting 0."""
    counts: Mapping[str, int]
    """How often each status came up; those that did not are missing."""


@dataclass(frozen=True)
class RunResult:
    """All records of a run. Means are over records (macro); `micro` is over all fields at once."""

    records: list[RecordResult]
    """In the order of the gold records; empty if only the totals were asked for."""
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
    """Fields whose comparator or transform failed; they count in no share."""
    micro: Scores = Scores(1.0, 1.0, 1.0)  # noqa: RUF009 - immutable
    by_field: dict[str, FieldSummary] = field(default_factory=dict)
    """By path in the schema, `items[].name`; keys that the schema does not know under their own."""
    schema_digest: str | None = None
    """Says by which schema the records were scored: equal for equal ones. `None` where that is not
    known, as in runs that older versions saved."""

    def __str__(self) -> str:
        """The figures of the run in a few lines; `factcheck fields evaluate` prints a table."""
        from factcheck.fields.runs.words import run_in_words

        return run_in_words(self)

    def _kept(self, who: str) -> list[RecordResult]:
        if self.total_records and not self.records:
            raise InputError(
                f"{who} the results of single records, and of these {self.total_records:,} only "
                "the totals were kept; FieldEvaluator.evaluate keeps them, .stream hands them on"
            )
        return self.records

    def to_rows(self) -> list[dict[str, Any]]:
        """One dict for each field of each record, in order.

        Its keys are `record` (the id), `path`, `field` (the path in the schema), `status`, `score`,
        `comparator`, `reason`, `gold` and `extracted`; where transforms changed a value, also
        `gold_compared` or `extracted_compared`. Values are the objects that were scored.

        Raises:
            InputError: Only the totals of the records were kept.
        """
        from factcheck.fields.runs.rows import iter_rows

        return list(iter_rows(self._kept("rows need")))

    def to_pandas(self) -> pd.DataFrame:
        """The rows of `to_rows` as a table, in which every row has all columns.

        Raises:
            ConfigError: pandas is not installed.
            InputError: Only the totals of the records were kept.
        """
        from factcheck.fields.runs.rows import frame

        return frame(self._kept("a table of rows needs"))

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data.

        What JSON holds comes back from `from_dict` as it was. Tuples become lists, sets sorted
        lists, pydantic models objects; NaN, infinities and all other values become their text.
        """
        from factcheck.fields.runs.saved import run_to_dict

        return run_to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RunResult:
        """Inverse of `to_dict`.

        Raises:
            InputError: The data is no run, or not of this format; says where, and what is wrong.
        """
        from factcheck.fields.runs.saved import run_from_dict

        return run_from_dict(data)

    def to_json(self, *, indent: int | None = None) -> str:
        """`to_dict` as JSON text; the same run gives the same text."""
        from factcheck.fields.runs.saved import json_text

        return json_text(self.to_dict(), indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> RunResult:
        """Inverse of `to_json`.

        Raises:
            InputError: Not JSON, or not a run.
        """
        from factcheck.fields.runs.saved import json_data

        return cls.from_dict(json_data(text))

    def intervals(self, n_resamples: int = 2000, seed: int = 0) -> dict[str, Interval]:
        """95 % intervals of the means and of `micro`; see `factcheck.fields.runs.bootstrap`.

        Returns:
            `mean_precision`, `mean_recall`, `mean_f1`, `micro_precision`, `micro_recall` and
            `micro_f1`; (0, 1) where there are fewer than two records.

        Raises:
            InputError: The records were not kept, or the arguments cannot be used.
        """
        from factcheck.fields.runs.bootstrap import run_intervals

        return run_intervals(self, n_resamples, seed)

    def field_intervals(self, n_resamples: int = 2000, seed: int = 0) -> dict[str, Interval]:
        """95 % intervals of the F1 of each field that counts, by path in the schema.

        A resample in which a field does not come up has nothing to find fault with: it scores 1.

        Raises:
            InputError: The records were not kept, or the arguments cannot be used.
        """
        from factcheck.fields.runs.bootstrap import field_intervals

        return field_intervals(self, n_resamples, seed)
