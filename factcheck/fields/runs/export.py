"""Runs as rows, data frames and JSON, and JSON as runs; also the digest of a schema.

In JSON, null keys of a field result are left out, and so are compared values that equal the raw
ones. Values that JSON lacks are written as in `factcheck.fields.values.plain`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, get_args

from factcheck.documents import Reader
from factcheck.errors import ConfigError, InputError
from factcheck.facts import digest
from factcheck.fields.comparators.builtin import COMPARATORS
from factcheck.fields.runs.records import (
    Counts,
    FieldAggregation,
    FieldSummary,
    RecordResult,
    RunFigures,
    Scores,
)
from factcheck.fields.schemas.parsing import SchemaNode
from factcheck.fields.schemas.structure import schema_path
from factcheck.fields.types import FieldResult, FieldStatus
from factcheck.fields.values import NOT_FINITE, plain

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "factcheck-fields-run/1"
COLUMNS = (
    *("record", "path", "field", "status", "score", "comparator", "reason"),
    *("gold", "extracted", "gold_compared", "extracted_compared"),
)
"""Keys of a row: `record` is the id of the record, `path` the path in it, `field` that in the
schema; the last two only if transforms changed the value."""
_STATUSES: tuple[str, ...] = get_args(FieldStatus)


def iter_rows(records: Iterable[RecordResult]) -> Iterator[dict[str, Any]]:
    """One row per field result; values are the objects that were scored."""
    fields: dict[str, str] = {}
    for record in records:
        for result in record.field_results:
            path = result.path
            field = fields.get(path)
            if field is None:
                field = fields[path] = schema_path(path)
            row = {
                "record": record.record_id,
                "path": path,
                "field": field,
                "status": result.status,
                "score": result.score,
                "comparator": result.comparator,
                "reason": result.reason,
                "gold": result.gold_value,
                "extracted": result.extracted_value,
            }
            if _was_compared(result):
                if differ(result.gold_value, result.gold_compared):
                    row["gold_compared"] = result.gold_compared
                if differ(result.extracted_value, result.extracted_compared):
                    row["extracted_compared"] = result.extracted_compared
            yield row


def to_frame(records: Iterable[RecordResult]) -> pd.DataFrame:
    """All rows as a data frame with all columns.

    Raises:
        ConfigError: pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise ConfigError("to_pandas() needs pandas; install it: pip install pandas") from error
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for row in iter_rows(records):
        for name, values in columns.items():
            values.append(row.get(name))
    return pd.DataFrame(
        {
            name: pd.Series(values, dtype=float if name == "score" else object)
            for name, values in columns.items()
        }
    )


def differ(value: Any, other: Any) -> bool:
    """Whether two values are written differently; 1, 1.0 and true all are."""
    if value is other:
        return False
    if type(value) is not type(other):
        return True
    if isinstance(value, str):
        return bool(value != other)
    try:
        return repr(value) != repr(other)
    except Exception:  # noqa: BLE001 - the user's own type, or nested too deeply
        return True


def _was_compared(result: FieldResult) -> bool:
    """Whether a comparator got the values, after transforms that may have made them null."""
    if result.gold_compared is not None or result.extracted_compared is not None:
        return True
    return bool(result.comparator) and result.status in ("match", "mismatch")


def run_to_dict(run: RunFigures) -> dict[str, Any]:
    """Everything about a run as JSON-ready data."""
    return {
        "format": FORMAT,
        "schema_digest": run.schema_digest,
        "mean_precision": _number(run.mean_precision),
        "mean_recall": _number(run.mean_recall),
        "mean_f1": _number(run.mean_f1),
        "micro": _numbers(run.micro._asdict()),
        "total_records": run.total_records,
        "total_fields": run.total_fields,
        "total_omissions": run.total_omissions,
        "total_hallucinations": run.total_hallucinations,
        "total_batch_errors": run.total_batch_errors,
        "total_errors": run.total_errors,
        "by_field": {
            name: {
                "precision": _number(field.precision),
                "recall": _number(field.recall),
                "f1": _number(field.f1),
                "support": field.support,
                "mean_score": _number(field.mean_score),
                "counts": dict(field.counts),
            }
            for name, field in run.by_field.items()
        },
        "per_field": {
            name: {**asdict(field), "mean_score": _number(field.mean_score)}
            for name, field in run.per_field.items()
        },
        "records": [_record_to_dict(record) for record in run.records],
    }


def _number(value: float) -> Any:
    """A number that is read back as it was: never an integer, and never NaN."""
    return plain(float(value) if isinstance(value, (int, float)) else value)


def _numbers(values: Mapping[str, float]) -> dict[str, Any]:
    return {name: _number(value) for name, value in values.items()}


def _record_to_dict(record: RecordResult) -> dict[str, Any]:
    return {
        "id": record.record_id,
        "precision": _number(record.precision),
        "recall": _number(record.recall),
        "f1": _number(record.f1),
        "counts": _numbers(record.counts._asdict()),
        "gold": plain(record.gold),
        "extracted": plain(record.extracted),
        "fields": [_result_to_dict(result) for result in record.field_results],
    }


def _result_to_dict(result: FieldResult) -> dict[str, Any]:
    data: dict[str, Any] = {
        "path": result.path,
        "status": result.status,
        "score": _number(result.score),
        "comparator": result.comparator,
    }
    if result.reason is not None:
        data["reason"] = result.reason
    for key, value, compared in (
        ("gold", result.gold_value, result.gold_compared),
        ("extracted", result.extracted_value, result.extracted_compared),
    ):
        if value is not None:
            data[key] = plain(value)
        if differ(value, compared):
            data[f"{key}_compared"] = plain(compared)
    return data


def run_from_dict(data: Any) -> dict[str, Any]:
    """The arguments of `RunFigures` from what `run_to_dict` returned.

    Raises:
        InputError: The data is not a run in this format; says where, and what is wrong.
    """
    read = _Reader(data, "run")
    if data.get("format") != FORMAT:
        raise InputError(
            f"run: format {data.get('format')!r} is not {FORMAT!r}; it was written by another "
            "version, or is not a run of the field evaluator (RunResult.to_json writes one)"
        )
    records = [_record(item, f"run: record {n}") for n, item in enumerate(read.mappings("records"))]
    totals = ("records", "fields", "omissions", "hallucinations", "batch_errors", "errors")
    means = ("mean_precision", "mean_recall", "mean_f1")
    by_field, per_field = read.mapping_required("by_field"), read.mapping_required("per_field")
    return {
        "records": records,
        **{name: read.figure(name) for name in means},
        **{f"total_{name}": read.integer(f"total_{name}") for name in totals},
        "micro": Scores(*read.figures("micro", Scores._fields)),
        "per_field": {
            name: _aggregation(item, f"run: per_field {name!r}") for name, item in per_field.items()
        },
        "by_field": {
            name: _summary(item, f"run: by_field {name!r}") for name, item in by_field.items()
        },
        "schema_digest": read.text("schema_digest", None),
    }


class _Reader(Reader):
    """Reads numbers that may be NaN or infinite, too."""

    def figure(self, key: str) -> float:
        value = self._data.get(key)
        return float(value) if value in NOT_FINITE else self.number(key)

    def figures(self, key: str, names: Iterable[str]) -> list[float]:
        return [*map(self.below(key).figure, names)]

    def below(self, key: str) -> _Reader:
        return _Reader(self.mapping_required(key), f"{self._what}: {key}")


def _summary(data: Any, what: str) -> FieldSummary:
    read = _Reader(data, what)
    counts = read.below("counts")
    return FieldSummary(
        read.figure("precision"),
        read.figure("recall"),
        read.figure("f1"),
        support=read.integer("support"),
        mean_score=read.figure("mean_score"),
        counts={status: counts.integer(status) for status in data["counts"]},
    )


def _aggregation(data: Any, what: str) -> FieldAggregation:
    read = _Reader(data, what)
    statuses = ("matches", "mismatches", "omissions", "hallucinations")
    return FieldAggregation(read.figure("mean_score"), *map(read.integer, statuses))


def _record(data: Mapping[str, Any], what: str) -> RecordResult:
    read = _Reader(data, what)
    name = data.get("id")
    return RecordResult(
        name if isinstance(name, str) else read.integer("id"),
        [_result(item, f"{what}, field {n}") for n, item in enumerate(read.mappings("fields"))],
        data.get("gold"),
        data.get("extracted"),
        read.figure("precision"),
        read.figure("recall"),
        read.figure("f1"),
        Counts(*read.figures("counts", Counts._fields)),
    )


def _result(data: Mapping[str, Any], what: str) -> FieldResult:
    read = _Reader(data, what)
    status = data.get("status")
    if status not in _STATUSES:
        raise InputError(f"{what}: 'status' must be one of {_STATUSES}, not {status!r}")
    gold, extracted = data.get("gold"), data.get("extracted")
    return FieldResult(
        read.text("path"),
        read.figure("score"),
        read.text("comparator"),
        gold,
        extracted,
        status,
        read.text("reason", None),
        data.get("gold_compared", gold),
        data.get("extracted_compared", extracted),
    )


def schema_digest(schema: SchemaNode) -> str:
    """SHA-256 of everything in a schema that decides how records are scored.

    Schemas that differ in the order of properties, or in keys that the evaluator ignores, have the
    same digest. What a name of a comparator or transform refers to is not part of it.
    """
    settings = [json.dumps(plain(one), sort_keys=True) for one in _settings(schema)]
    return digest("\n".join(sorted(settings)))


def _settings(node: SchemaNode) -> Iterator[list[Any]]:
    if node.skip:
        yield [node.path, "skip"]
        return
    name = node.comparator.name
    if name or not node.children:
        transforms = [[transform.name, transform.params] for transform in node.transforms]
        description = "" if name in COMPARATORS else node.description  # batch comparators see it
        yield [
            *(node.path, node.weight, node.threshold, name, node.comparator.params),
            *(transforms, description),
        ]
        return
    align = {} if node.strategy == "ordered" else node.align
    yield [node.path, node.weight, node.json_type, align]
    for child in node.children:
        yield from _settings(child)
