"""A run as JSON, and back. What JSON cannot hold is written as in `factcheck.fields.runs.plain`.

Of a field result the keys that would be null are left out, and so are compared values that do not
differ from the raw ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, get_args

from factcheck.errors import InputError
from factcheck.facts.reading import Reader
from factcheck.fields.runs.metrics import Scores, Sums
from factcheck.fields.runs.plain import NOT_FINITE, plain
from factcheck.fields.runs.results import FieldAggregation, FieldSummary, RecordResult, RunResult
from factcheck.fields.runs.rows import differ
from factcheck.fields.strict_json import lines_of, parse_json
from factcheck.fields.types import FieldResult, FieldStatus

FORMAT = "factcheck-fields-run/1"
_STATUSES: tuple[str, ...] = get_args(FieldStatus)


def json_text(data: Any, *, indent: int | None = None) -> str:
    """JSON data as text that can be encoded as UTF-8."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, indent=indent)
    # Lone surrogates have no UTF-8 form; as `\udcff` they are valid JSON.
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def json_data(text: str | bytes, what: str = "run") -> Any:
    """Inverse of `json_text`.

    Args:
        text: One JSON value.
        what: What it is called in messages.

    Raises:
        InputError: Not JSON; says on which line.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError(f"{what}: not UTF-8 (byte {error.start})") from error
    return parse_json(text, lines_of(what, text))


def run_to_dict(run: RunResult) -> dict[str, Any]:
    """Everything about a run as JSON-ready data."""
    return {
        "format": FORMAT,
        "schema_digest": run.schema_digest,
        "mean_precision": _figure(run.mean_precision),
        "mean_recall": _figure(run.mean_recall),
        "mean_f1": _figure(run.mean_f1),
        "micro": _figures(run.micro),
        "total_records": run.total_records,
        "total_fields": run.total_fields,
        "total_omissions": run.total_omissions,
        "total_hallucinations": run.total_hallucinations,
        "total_batch_errors": run.total_batch_errors,
        "total_errors": run.total_errors,
        "by_field": {name: _summary_to_dict(field) for name, field in run.by_field.items()},
        "per_field": {
            name: {**asdict(field), "mean_score": _figure(field.mean_score)}
            for name, field in run.per_field.items()
        },
        "records": [_record_to_dict(record) for record in run.records],
    }


def _figure(value: float) -> Any:
    """A number that is read as it is written: never an integer, and never NaN."""
    return plain(float(value) if isinstance(value, (int, float)) else value)


def _figures(values: Scores | Sums) -> dict[str, Any]:
    return {name: _figure(value) for name, value in values._asdict().items()}


def _summary_to_dict(field: FieldSummary) -> dict[str, Any]:
    return {
        "precision": _figure(field.precision),
        "recall": _figure(field.recall),
        "f1": _figure(field.f1),
        "support": field.support,
        "mean_score": _figure(field.mean_score),
        "counts": dict(field.counts),
    }


def _record_to_dict(record: RecordResult) -> dict[str, Any]:
    return {
        "id": record.record_id,
        "precision": _figure(record.precision),
        "recall": _figure(record.recall),
        "f1": _figure(record.f1),
        "sums": _figures(record.sums),
        "gold": plain(record.gold),
        "extracted": plain(record.extracted),
        "fields": [_result_to_dict(result) for result in record.field_results],
    }


def _result_to_dict(result: FieldResult) -> dict[str, Any]:
    data: dict[str, Any] = {
        "path": result.path,
        "status": result.status,
        "score": _figure(result.score),
        "comparator": result.comparator,
    }
    if result.reason is not None:
        data["reason"] = result.reason
    if result.gold_value is not None:
        data["gold"] = plain(result.gold_value)
    if result.extracted_value is not None:
        data["extracted"] = plain(result.extracted_value)
    if differ(result.gold_value, result.gold_compared):
        data["gold_compared"] = plain(result.gold_compared)
    if differ(result.extracted_value, result.extracted_compared):
        data["extracted_compared"] = plain(result.extracted_compared)
    return data


def run_from_dict(data: Any) -> RunResult:
    """Inverse of `run_to_dict`.

    Raises:
        InputError: The data is no run, or not of this format; says where, and what is wrong.
    """
    read = Reader(data, "run")
    if data.get("format") != FORMAT:
        raise InputError(
            f"run: format {data.get('format')!r} is not {FORMAT!r}; it was written by another "
            "version, or is no run of the field evaluator (RunResult.to_json writes one)"
        )
    records = [_record(item, f"run: record {n}") for n, item in enumerate(read.mappings("records"))]
    return RunResult(
        records,
        _number(data, read, "mean_precision"),
        _number(data, read, "mean_recall"),
        _number(data, read, "mean_f1"),
        read.integer("total_records"),
        read.integer("total_fields"),
        read.integer("total_omissions"),
        read.integer("total_hallucinations"),
        read.integer("total_batch_errors"),
        per_field={
            name: _aggregation(item, f"run: per_field {name!r}")
            for name, item in read.mapping_required("per_field").items()
        },
        total_errors=read.integer("total_errors"),
        micro=Scores(*_numbers(read.mapping_required("micro"), Scores._fields, "run: micro")),
        by_field={
            name: _summary(item, f"run: by_field {name!r}")
            for name, item in read.mapping_required("by_field").items()
        },
        schema_digest=read.text("schema_digest", None),
    )


def _number(data: Mapping[str, Any], read: Reader, key: str) -> float:
    value = data.get(key)
    return float(value) if value in NOT_FINITE else read.number(key)


def _numbers(data: Any, keys: tuple[str, ...], what: str) -> list[float]:
    read = Reader(data, what)
    return [_number(data, read, key) for key in keys]


def _summary(data: Any, what: str) -> FieldSummary:
    precision, recall, f1, mean_score = _numbers(
        data, ("precision", "recall", "f1", "mean_score"), what
    )
    read = Reader(data, what)
    counts = read.mapping_required("counts")
    counting = Reader(counts, f"{what}: counts")
    return FieldSummary(
        precision,
        recall,
        f1,
        support=read.integer("support"),
        mean_score=mean_score,
        counts={status: counting.integer(status) for status in counts},
    )


def _aggregation(data: Any, what: str) -> FieldAggregation:
    read = Reader(data, what)
    return FieldAggregation(
        _number(data, read, "mean_score"),
        matches=read.integer("matches"),
        mismatches=read.integer("mismatches"),
        omissions=read.integer("omissions"),
        hallucinations=read.integer("hallucinations"),
    )


def _record(data: Mapping[str, Any], what: str) -> RecordResult:
    read = Reader(data, what)
    name = data.get("id")
    return RecordResult(
        name if isinstance(name, str) else read.integer("id"),
        [_result(item, f"{what}, field {n}") for n, item in enumerate(read.mappings("fields"))],
        data.get("gold"),
        data.get("extracted"),
        _number(data, read, "precision"),
        _number(data, read, "recall"),
        _number(data, read, "f1"),
        Sums(*_numbers(read.mapping_required("sums"), Sums._fields, f"{what}: sums")),
    )


def _result(data: Mapping[str, Any], what: str) -> FieldResult:
    read = Reader(data, what)
    status = data.get("status")
    if status not in _STATUSES:
        raise InputError(f"{what}: 'status' must be one of {_STATUSES}, not {status!r}")
    gold, extracted = data.get("gold"), data.get("extracted")
    return FieldResult(
        read.text("path"),
        _number(data, read, "score"),
        read.text("comparator"),
        gold,
        extracted,
        status,
        read.text("reason", None),
        data.get("gold_compared", gold),
        data.get("extracted_compared", extracted),
    )
