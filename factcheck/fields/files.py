"""Reading records, schemas and runs from files, and evaluation of files of records.

Warnings go to the logger `factcheck.fields`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from factcheck.documents import PathOrDash, json_text, name_of
from factcheck.documents.files import Unparsed
from factcheck.documents.reading import read_document, read_entries
from factcheck.errors import InputError, located
from factcheck.facts.page import usage_text
from factcheck.fields.comparators.semantic import SemanticComparator
from factcheck.fields.evaluation import FieldEvaluator, Join
from factcheck.fields.pages import RunResult, field_text, undecided_text
from factcheck.fields.records import NullHandling, RecordResult, reclassify_nulls
from factcheck.fields.schemas import annotate
from factcheck.fields.schemas.references import infer_schema, resolved
from factcheck.fields.schemas.suggestions import id_key, suggest_schema
from factcheck.fields.values import Records, Unusable, json_type, object_in, unwrapped
from factcheck.reports.text import plural

_log = logging.getLogger("factcheck.fields")


def read_records(path: PathOrDash, *, extracted: bool = False) -> Records:
    """Read all records of a file; raise `InputError` if there are none, or not only objects.

    If they are extracted, null is a missing record, and anything but an object, and a line that is
    not JSON, is a reply that should contain one, or else is `Unusable`.
    """
    found: list[tuple[str, Any]] = []
    for place, value in read_entries(path):
        is_reply = extracted and isinstance(value, Unparsed)
        if isinstance(value, dict) or (extracted and value is None):
            found.append((place, value))
        elif isinstance(value, InputError) and not is_reply:
            raise value
        elif extracted:
            found.append((place, _reply(place, value)))
        else:
            raise InputError(f"{place}: expected an object, got {json_type(value)}")
    if not found:
        raise InputError(f"{name_of(path)} holds no records")
    places, values = zip(*found, strict=True)
    return Records(values, name_of(path), places)


def _reply(place: str, value: Any) -> Any:
    """Return the record in a reply."""
    if isinstance(value, Unparsed):
        text = value.text
    else:
        text = value if isinstance(value, str) else json_text(value)
    try:
        return object_in(text)
    except InputError as error:
        return Unusable(text, f"{place}: {error}")


def read_schema(path: PathOrDash) -> dict[str, Any]:
    """Read an evaluation schema, resolve it, and add default comparators to leaves without one."""
    data = _object_in(path)
    with located(name_of(path)):
        return dict(annotate(resolved(data)))


def _object_in(path: PathOrDash) -> dict[str, Any]:
    data = read_document(path, expected="a schema comes from").value
    if not isinstance(data, dict):
        raise InputError(f"{name_of(path)}: a schema must be an object, not {json_type(data)}")
    return data


def make_schema(
    records: Records, schema: PathOrDash | None = None, *, suggest: bool = True
) -> dict[str, Any]:
    """Make an evaluation schema for records, with suggested or default comparators."""
    base = None if schema is None else _object_in(schema)
    with located(records.name if schema is None else name_of(schema)):
        if not suggest:
            return dict(annotate(infer_schema(records)))
        return dict(suggest_schema(records, base))


def evaluate_files(
    gold_path: str,
    extracted_path: str,
    comparator: SemanticComparator,
    *,
    schema_path: str | None = None,
    id_field: str | None = None,
    join: Join = "position",
    nulls_absent: bool = False,
) -> RunResult:
    """Evaluate a file of extracted records against a file of gold records.

    Options are those of `FieldEvaluator`; without a schema, one is suggested from gold.
    Without `id_field`, an id is found by its name. `nulls_absent` treats null as a missing key. The
    notes of the run are the source of the schema and of the id, the judge and its usage.
    """
    schema = None if schema_path is None else read_schema(schema_path)
    gold, extracted = read_records(gold_path), read_records(extracted_path, extracted=True)
    key = id_field or id_key(gold)
    if join == "id" and key is None:
        fault = f"{gold.name} has no key with the name and values of an id"
        raise InputError(f"--join id: {fault}; name the key with --id-field KEY")
    notes = []
    if schema is None:
        schema = make_schema(gold)
        notes.append(f"Schema suggested from {gold.name}: 'fields suggest' shows why")
    nulls = NullHandling(missing_is_absent=True)
    post_process = partial(reclassify_nulls, config=nulls) if nulls_absent else None
    with located(name_of(schema_path or gold_path)):
        evaluator = FieldEvaluator(
            schema, id_field=key, post_process=post_process, semantic=comparator
        )
    run = evaluator.evaluate(gold, extracted, join=join)
    alerts = []
    if key and (n_moved := _n_moved(run.records, key)):
        moved = f"{n_moved:,} of {plural(len(run.records), 'record')}"
        alerts.append(f"The {key!r} of {moved} is at another position: pair by it with --join id")
    if key and not id_field:
        notes.append(f"Records are named by {key!r} and paired by {join}")
    if run.judge:
        usage = usage_text(comparator.usage)
        notes.append(f"Compared by meaning: {run.judge}{', ' if usage else ''}{usage}")
    return replace(run, notes=notes, alerts=alerts)


def _n_moved(records: Sequence[RecordResult], key: str) -> int:
    """Count the records whose id another extraction has, and not their own."""
    found = [unwrapped(one.extracted, {key})[0] for one in records]
    names = [one.get(key) if isinstance(one, dict) else None for one in found]
    known = {name for name in names if isinstance(name, (str, int))}
    ids = [one.record_id for one in records]
    return sum(own != name and own in known for own, name in zip(ids, names, strict=True))


def gate_scores(run: RunResult) -> tuple[float | None, float, str]:
    """Compute the scores that `factcheck.scoring.gates.fields_gate` checks, in its order."""
    f1 = run.mean_f1 if run.total_fields else None
    low_f1, _ = run.f1_bounds()
    no_verdict = ""
    for (path, status), reasons in [*run.undecided.items()][:1]:
        no_verdict = f"{field_text(path)}: {undecided_text(status, reasons)}"
    return f1, low_f1, no_verdict
