"""Runs as rows, data frames and JSON, and JSON as runs; also the digest of a schema.

In JSON, null keys of a field result are left out, and so are compared values that equal the raw
ones. Values that JSON lacks are written as in `factcheck.fields.values.plain`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from factcheck.documents import from_plain, shown, to_plain
from factcheck.errors import InputError
from factcheck.facts import digest
from factcheck.fields.registry import COMPARATORS
from factcheck.fields.runs.records import Counts, RecordResult, RunFigures, Scores
from factcheck.fields.schemas.parsing import SchemaNode
from factcheck.fields.schemas.structure import schema_path
from factcheck.fields.types import FieldResult, FieldStatus
from factcheck.fields.values import plain

FORMAT = "factcheck-fields-run/1"
COLUMNS = (
    *("record", "path", "field", "status", "score", "comparator", "reason"),
    *("gold", "extracted", "gold_compared", "extracted_compared"),
)
"""Keys of a row: `record` is the id of the record, `path` the path in it, `field` that in the
schema; the last two only if transforms changed the value."""
_LIKE_RAW: Any = object()
"""Stands for a compared value that equals the raw one, and is not written."""


def iter_rows(run: RunFigures) -> Iterator[dict[str, Any]]:
    """A dict for each field result, with the keys of `COLUMNS` that it has."""
    if run.total_records and not run.records:
        raise InputError(
            f"rows need the results of single records, and of these {run.total_records:,} only "
            "totals were kept; FieldEvaluator.evaluate keeps them, .stream yields them"
        )
    fields: dict[str, str] = {}
    for record in run.records:
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
    totals = ("records", "fields", "omissions", "hallucinations", "batch_errors", "errors")
    return {
        "format": FORMAT,
        "schema_digest": run.schema_digest,
        **({"weights": run.weights} if run.weights else {}),
        **_floats(run, "mean_precision", "mean_recall", "mean_f1"),
        "micro": _floats(run.micro, *Scores._fields),
        **{f"total_{name}": getattr(run, f"total_{name}") for name in totals},
        "by_field": to_plain(run.by_field),
        "per_field": to_plain(run.per_field),
        "records": [_record_to_dict(record) for record in run.records],
    }


def _floats(source: Any, *names: str) -> dict[str, float]:
    return {name: float(getattr(source, name)) for name in names}


def _record_to_dict(record: RecordResult) -> dict[str, Any]:
    return {
        "id": record.record_id,
        **_floats(record, *Scores._fields),
        "counts": _floats(record.counts, *Counts._fields),
        "gold": plain(record.gold),
        "extracted": plain(record.extracted),
        "fields": [_result_to_dict(result) for result in record.field_results],
    }


def _result_to_dict(result: FieldResult) -> dict[str, Any]:
    data: dict[str, Any] = {
        "path": result.path,
        "status": result.status,
        "score": float(result.score),
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


@dataclass(frozen=True)
class _SavedResult:
    path: str
    status: FieldStatus
    score: float
    comparator: str
    reason: str | None = None
    gold: Any = None
    extracted: Any = None
    gold_compared: Any = _LIKE_RAW
    extracted_compared: Any = _LIKE_RAW


@dataclass(frozen=True)
class _SavedRecord:
    id: Any
    precision: float
    recall: float
    f1: float
    counts: Counts
    fields: list[_SavedResult]
    gold: Any = None
    extracted: Any = None


@dataclass(frozen=True)
class _SavedRun(RunFigures):
    records: list[_SavedRecord]  # type: ignore[assignment]


def run_from_dict(data: Any) -> dict[str, Any]:
    """The arguments of `RunFigures` from what `run_to_dict` returned."""
    if isinstance(data, Mapping) and data.get("format") != FORMAT:
        raise InputError(
            f"run: format {data.get('format')!r} is not {FORMAT!r}; it was written by another "
            "version, or is not a run of the field evaluator (RunResult.to_json writes one)"
        )
    saved = from_plain(_SavedRun, data, "run")
    records = [_record(record, f"run: record {n}") for n, record in enumerate(saved.records)]
    return {**vars(saved), "records": records}


def _record(saved: _SavedRecord, where: str) -> RecordResult:
    if isinstance(saved.id, bool) or not isinstance(saved.id, (str, int)):
        raise InputError(f"{where}: 'id': expected a string or an integer, got {shown(saved.id)}")
    return RecordResult(
        saved.id,
        [
            FieldResult(
                result.path,
                result.score,
                result.comparator,
                result.gold,
                result.extracted,
                result.status,
                result.reason,
                _or_raw(result.gold_compared, result.gold),
                _or_raw(result.extracted_compared, result.extracted),
            )
            for result in saved.fields
        ],
        saved.gold,
        saved.extracted,
        saved.precision,
        saved.recall,
        saved.f1,
        saved.counts,
    )


def _or_raw(compared: Any, raw: Any) -> Any:
    return raw if compared is _LIKE_RAW else compared


def schema_digest(schema: SchemaNode) -> str:
    """SHA-256 of everything in a schema that decides how records are scored.

    Schemas that differ in the order of properties, or in keys that the evaluator ignores, have the
    same digest. What a name of a comparator or transform refers to is not part of it.
    """
    settings = [json.dumps(plain(one), sort_keys=True) for one in _settings(schema)]
    return digest("\n".join(sorted(settings)))


def _settings(node: SchemaNode) -> Iterator[list[Any]]:
    name = node.comparator.name
    if node.skip or node.unroll is not None:
        yield [node.path, "skip"] if node.skip else [node.path, node.weight, "recursive"]
    elif name or not node.children:
        transforms = [[transform.name, transform.params] for transform in node.transforms]
        description = "" if name in COMPARATORS else node.description  # batch comparators see it
        own = (node.path, node.weight, node.threshold, name, node.comparator.params)
        yield [*own, transforms, description]
    else:
        align = {} if node.strategy == "ordered" else node.align
        yield [node.path, node.weight, node.json_type, align]
        for child in node.children:
            yield from _settings(child)
