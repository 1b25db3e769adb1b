"""Scores of fields and runs, and their rows and JSON data.

JSON omits null keys of a field result and compared values that equal the raw ones. Values that are
not JSON are converted by `factcheck.fields.values.plain`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from factcheck.documents import Reader, from_plain, parse_json, to_plain
from factcheck.errors import InputError
from factcheck.fields.records import MEASURES, Counts, RecordResult, Scores, count, overall_scores
from factcheck.fields.schemas import schema_path
from factcheck.fields.types import UNDECIDED, FieldResult
from factcheck.fields.values import plain, value_key
from factcheck.stats.intervals import Interval, wilson
from factcheck.stats.resampling import bootstrap_scores, mean_interval

if TYPE_CHECKING:
    from typing_extensions import Self

COLUMNS = (
    *("record", "path", "field", "status", "score", "comparator", "reason"),
    *("gold", "extracted", "gold_compared", "extracted_compared"),
)
"""Keys of a row; see `RunFigures.to_rows`."""


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

    precision: float | None
    """1 if the field was never extracted; with recall and F1, `None` if no value has a verdict."""
    recall: float | None
    """1 if the support is 0."""
    f1: float | None
    support: int
    """Number of gold values."""
    mean_score: float
    """Mean score; omissions and hallucinations count as 0."""
    counts: Mapping[str, int]
    """Number of results by status; zero counts are left out."""

    def count(self, status: str) -> int:
        return self.counts.get(status, 0)

    def aggregation(self) -> FieldAggregation:
        counted = map(self.count, ("match", "mismatch", "omission", "hallucination"))
        return FieldAggregation(self.mean_score, *counted)


class FieldSums:
    """Number of results by path and status, and the sum of scores by path."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self._matched: defaultdict[str, float] = defaultdict(float)

    def add(self, results: Sequence[FieldResult], path_of: Callable[[str], str]) -> None:
        """Count results under a function of their paths."""
        self._counts.update([(path_of(one.path), one.status) for one in results])
        for one in results:
            if one.score and one.status in ("match", "mismatch"):
                self._matched[path_of(one.path)] += one.score

    def merge(self, other: FieldSums) -> None:
        self._counts.update(other._counts)
        for path, matched in list(other._matched.items()):
            self._matched[path] += matched

    def summaries(self) -> dict[str, FieldSummary]:
        """Summarize the results at each path, in the order of their first results."""
        by_path: dict[str, Counter[str]] = {}
        for (path, status), n in self._counts.items():
            by_path.setdefault(path, Counter())[status] = n
        summaries = {}
        for path, counts in by_path.items():
            n_both = counts["match"] + counts["mismatch"]
            n_extracted, n_gold = n_both + counts["hallucination"], n_both + counts["omission"]
            matched, n = self._matched[path], n_extracted + n_gold - n_both
            n_undecided = sum(counts[status] for status in UNDECIDED)
            scores = Counts(matched, n_extracted, n_gold, n_undecided).scores()
            mean = matched / n if n else 0.0
            summaries[path] = FieldSummary(*scores, n_gold, mean, dict(counts))
        return summaries


@dataclass(frozen=True, repr=False)
class RunFigures:
    """Scores of a run. Means are over records (macro); `micro` is over all fields.

    Records of which no value has a verdict are not in the means, which are `None` without others.
    """

    format: ClassVar[str] = "factcheck-fields-run/1"
    records: list[RecordResult]
    """In the order of the gold records; empty if only totals were kept."""
    mean_precision: float | None
    mean_recall: float | None
    mean_f1: float | None
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
    judge: str = ""
    """Names and versions of the judge of `semantic`; empty if no field has that comparator."""
    notes: list[str] = field(default_factory=list)
    """How the run was made; the report ends with them."""
    alerts: list[str] = field(default_factory=list)
    """What may have gone wrong; the report begins with them."""

    def totals(self) -> Counter[str]:
        """Count the results by status."""
        totals = Counter[str]()
        for summary in self.by_field.values():
            totals.update(summary.counts)
        return totals

    @cached_property
    def undecided(self) -> dict[tuple[str, str], list[str]]:
        """Reasons of all results without a verdict, by field and status, most results first."""
        reasons: dict[tuple[str, str], list[str]] = {}
        for record in self.records:
            for one in record.field_results:
                if one.status in UNDECIDED:
                    key = schema_path(one.path), one.status
                    reasons.setdefault(key, []).append(one.reason or "")
        return dict(sorted(reasons.items(), key=lambda entry: -len(entry[1])))

    def doubtful(self) -> list[tuple[str | int, FieldResult]]:
        """Return the mismatches that may be matches, with the ids of their records."""
        results = (
            (record.record_id, one) for record in self.records for one in record.field_results
        )
        return [(name, one) for name, one in results if one.doubtful and one.status == "mismatch"]

    def f1_bounds(self) -> tuple[float, float]:
        """Bound the mean F1 of all records: all undecided values wrong, all right.

        Raises:
            InputError: The records were not kept.
        """
        bounds = [record.counts.f1_bounds() for record in self.kept_records()] or [(1.0, 1.0)]
        low, high = (sum(side) / len(bounds) for side in zip(*bounds, strict=True))
        return low, high

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one dict per field result, in order.

        Keys are `record` (the id), `path`, `field` (the path in the schema), `status`, `score`,
        `comparator`, `reason`, `gold` and `extracted`; if transforms changed a value, also
        `gold_compared` or `extracted_compared`; if it is, `doubtful`. Values are the scored objects
        themselves.

        Raises:
            InputError: The records were not kept.
        """
        records = self.kept_records()
        return [_row(record, one) for record in records for one in record.field_results]

    def to_dict(self) -> dict[str, Any]:
        """Return the run as JSON data.

        `from_dict` restores JSON values unchanged. Tuples become lists, sets sorted lists, pydantic
        models objects; NaN, infinities and all other values become strings.
        """
        totals = ("records", "fields", "omissions", "hallucinations", "batch_errors", "errors")
        return {
            "format": self.format,
            "schema_digest": self.schema_digest,
            **({"weights": self.weights} if self.weights else {}),
            "judge": self.judge,
            "notes": self.notes,
            **({"alerts": self.alerts} if self.alerts else {}),
            "mean_precision": self.mean_precision,
            "mean_recall": self.mean_recall,
            "mean_f1": self.mean_f1,
            "micro": self.micro._asdict(),
            **{f"total_{name}": getattr(self, f"total_{name}") for name in totals},
            "by_field": to_plain(self.by_field),
            "per_field": to_plain(self.per_field),
            "records": list(map(_record_to_dict, self.records)),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Undo `to_dict`.

        Raises:
            InputError: The data is not a run in this format; the message names the place.
        """
        read = Reader(data, "run")
        if data.get("format") != cls.format:
            raise InputError(
                f"run: expected format {cls.format!r}, got {data.get('format')!r}; write the file "
                "with RunResult.to_json of this version"
            )
        records = enumerate(read.get("records", list[Any]), 1)
        figures = from_plain(RunFigures, {**data, "records": []}, "run")
        kept = [_record(one, figures.weights, f"run: record {n}") for n, one in records]
        return cls(**{**vars(figures), "records": kept})

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read the text of `to_json`.

        Raises:
            InputError: Not valid JSON, or not a run.
        """
        return cls.from_dict(parse_json(text, "run").value)

    def intervals(self) -> dict[str, Interval]:
        """Compute 95 % intervals of mean and micro scores over records.

        They are bootstrapped; means of fewer than ten records have those of Student's t, and where
        all records are equal, the interval is Wilson's for as many trials.

        Returns:
            Intervals of `mean_precision`, `mean_recall`, `mean_f1`, `micro_precision`,
            `micro_recall` and `micro_f1`; (0, 1) with fewer than two records, or without a verdict.

        Raises:
            InputError: The records were not kept.
        """
        records = self.kept_records()
        if self.mean_f1 is None:
            return dict.fromkeys(MEASURES, Interval(0.0, 1.0))
        intervals = bootstrap_scores(overall_scores(records))
        scores = [(r.precision, r.recall, r.f1) for r in records if r.f1 is not None]
        for name, values in zip(MEASURES, zip(*scores, strict=True), strict=False):
            intervals[name] = mean_interval(values) or intervals[name]
        return {
            name: found if found.low < found.high else wilson(found.low, len(records))
            for name, found in intervals.items()
        }

    def kept_records(self, name: str = "this run") -> list[RecordResult]:
        """Return the records; raise `InputError` if any were not kept."""
        if len(self.records) != self.total_records:
            raise InputError(
                f"results of all records are needed, but {name} kept {len(self.records)} of "
                f"{self.total_records}; FieldEvaluator.evaluate keeps all, .stream yields them"
            )
        return self.records


def _values(result: FieldResult) -> dict[str, Any]:
    """Return the values of a result by the keys of rows and JSON, compared ones if they differ."""
    data = {
        "path": result.path,
        "status": result.status,
        "score": float(result.score),
        "comparator": result.comparator,
        "reason": result.reason,
        **({"doubtful": True} if result.doubtful else {}),
    }
    for key, value, compared in (
        ("gold", result.gold_value, result.gold_compared),
        ("extracted", result.extracted_value, result.extracted_compared),
    ):
        data[key] = value
        if value is not compared and value_key(value) != value_key(compared):
            data[f"{key}_compared"] = compared
    return data


def _row(record: RecordResult, result: FieldResult) -> dict[str, Any]:
    path = result.path
    row = {"record": record.record_id, "path": path, "field": schema_path(path), **_values(result)}
    compared = result.gold_compared, result.extracted_compared
    # transforms may have turned both values into null
    is_compared = result.status in ("match", "mismatch") and result.comparator
    if compared == (None, None) and not is_compared:
        row.pop("gold_compared", None)
        row.pop("extracted_compared", None)
    return row


def _record_to_dict(record: RecordResult) -> dict[str, Any]:
    return {
        "id": record.record_id,
        "precision": record.precision,
        "recall": record.recall,
        "f1": record.f1,
        "counts": record.counts._asdict(),
        "gold": plain(record.gold),
        "extracted": plain(record.extracted),
        "fields": list(map(_result_to_dict, record.field_results)),
    }


def _result_to_dict(result: FieldResult) -> dict[str, Any]:
    return {
        key: plain(value)
        for key, value in _values(result).items()
        if value is not None or key.endswith("_compared")
    }


def _record(data: Any, weights: Mapping[str, float], where: str) -> RecordResult:
    read = Reader(data, where)
    fields = [
        _result(one, f"{where}: field {n}")
        for n, one in enumerate(read.get("fields", list[Any]), 1)
    ]
    counts = count(fields, weights)
    name, values = read.get("id", str | int), (data.get("gold"), data.get("extracted"))
    return RecordResult(name, fields, *values, *counts.scores(), counts)


def _result(data: Any, where: str) -> FieldResult:
    Reader(data, where)
    gold, extracted = data.get("gold"), data.get("extracted")
    values = {"gold_value": gold, "extracted_value": extracted}
    compared = {"gold_compared": gold, "extracted_compared": extracted}
    return from_plain(FieldResult, {**values, **compared, **data}, where)
