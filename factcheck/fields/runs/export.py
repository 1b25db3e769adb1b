"""Conversion of runs to rows and to and from JSON; digest of a schema.

JSON omits null keys of a field result and compared values that equal the raw ones. Values that are
not JSON are converted by `factcheck.fields.values.plain`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from factcheck.documents import Reader, from_plain, to_plain
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
"""Keys of a row: `record` is the record id, `path` the path in the record, `field` the path in the
schema; the last two keys are present only if transforms changed the value."""


def iter_rows(run: RunFigures) -> Iterator[dict[str, Any]]:
    """Yield one dict per field result, with keys from `COLUMNS`."""
    if run.total_records and not run.records:
        raise InputError(
            f"rows need the results of each record, but this run of {run.total_records:,} records "
            "kept only totals; FieldEvaluator.evaluate keeps results, .stream yields them"
        )
    for record in run.records:
        for result in record.field_results:
            row = {
                "record": record.record_id,
                "path": result.path,
                "field": schema_path(result.path),
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
    """Whether two values are written differently, as 1, 1.0 and true are."""
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
    """Whether a comparator was called; transforms may have turned both values into null."""
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


def run_from_dict(data: Any) -> dict[str, Any]:
    """Convert the output of `run_to_dict` to arguments of `RunFigures`."""
    read = Reader(data, "run")
    if data.get("format") != FORMAT:
        raise InputError(
            f"run: expected format {FORMAT!r}, got {data.get('format')!r}; write the file with "
            "RunResult.to_json of this version"
        )
    records = enumerate(read.get("records", list[Any]), 1)
    figures = from_plain(RunFigures, {**data, "records": []}, "run")
    return {**vars(figures), "records": [_record(one, f"run: record {n}") for n, one in records]}


def _record(data: Any, where: str) -> RecordResult:
    read = Reader(data, where)
    results = enumerate(read.get("fields", list[Any]), 1)
    return RecordResult(
        read.get("id", str | int),
        [_result(Reader(one, f"{where}: field {n}")) for n, one in results],
        data.get("gold"),
        data.get("extracted"),
        read.get("precision", float),
        read.get("recall", float),
        read.get("f1", float),
        read.get("counts", Counts),
    )


def _result(read: Reader) -> FieldResult:
    gold, extracted = read.get("gold", Any, None), read.get("extracted", Any, None)
    return FieldResult(
        read.get("path", str),
        read.get("score", float),
        read.get("comparator", str),
        gold,
        extracted,
        read.get("status", FieldStatus),
        read.get("reason", str, None),
        read.get("gold_compared", Any, gold),
        read.get("extracted_compared", Any, extracted),
    )


def schema_digest(schema: SchemaNode) -> str:
    """Return the SHA-256 of all settings in a schema that affect scores.

    The order of properties and keys that the evaluator ignores do not change it, nor does the code
    registered under the name of a comparator or transform.
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
        settings = (node.path, node.weight, node.threshold, name, node.comparator.params)
        yield [*settings, transforms, description]
    else:
        align = {} if node.strategy == "ordered" else node.align
        yield [node.path, node.weight, node.json_type, align]
        for child in node.children:
            yield from _settings(child)
