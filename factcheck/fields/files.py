"""Records, schemas and runs from files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from factcheck.documents import PathOrDash, Place, json_text, name_of
from factcheck.documents.reading import read_document, read_entries
from factcheck.errors import InputError, SchemaError
from factcheck.fields.runs.results import RunResult
from factcheck.fields.schemas.references import resolved
from factcheck.fields.schemas.structure import annotate
from factcheck.fields.schemas.suggestions import suggest_schema
from factcheck.fields.schemas.validation import infer_schema
from factcheck.fields.values import json_type, object_in


class Records(NamedTuple):
    """The records of a file."""

    name: str
    """File name as shown in messages."""
    values: list[Any]
    """Objects; also `None` and text that is no object, if they were extracted."""
    places: list[Place]


def read_records(path: PathOrDash, *, extracted: bool = False) -> Records:
    """All records of a file; see `iter_records`."""
    records = Records(name_of(path), [], [])
    for place, value in iter_records(path, extracted=extracted):
        records.places.append(place)
        records.values.append(value)
    return records


def iter_records(path: PathOrDash, *, extracted: bool = False) -> Iterator[tuple[Place, Any]]:
    """The records of a file with their places, in order.

    Args:
        path: `.jsonl` or `.ndjson`, perhaps with `.gz` after it: one object a line, one held at a
            time. `.json`, `.yaml`, `.yml`: a list of objects, or one. `-`, or a name without
            suffix: JSON or JSON lines.
        extracted: Whether they are what a model wrote: null stands for a missing record, and
            anything but an object is read as text that may contain one; if not, it stays text. A
            file that is not in its format is one such text or, if some of its lines are objects,
            one on each line.

    Raises:
        InputError: Not readable, not in its format, a gold record that is not an object, or no
            records.
    """
    name = name_of(path)
    is_empty = True
    for place, value in read_entries(path, as_text=extracted):
        is_empty = False
        if isinstance(value, dict) or (extracted and value is None):
            yield place, value
        elif extracted:
            yield from _replies(place, value if isinstance(value, str) else json_text(value))
        else:
            raise InputError(f"{place}: expected an object, got {json_type(value)}")
        del value  # so that the next record is parsed without this one in memory
    if is_empty:
        raise InputError(f"{name} holds no records")


def _replies(place: Place, text: str) -> Iterator[tuple[Place, Any]]:
    lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    try:
        yield place, object_in(text)
    except InputError:
        if place.number or not any(line.strip().startswith('{"') for _, line in lines):
            yield place, text
            return
        for number, line in lines:
            yield from _replies(Place(place.name, "line", number), line)


def read_schema(path: PathOrDash) -> dict[str, Any]:
    """An evaluation schema, resolved, with default comparators for leaves that have none."""
    data = _schema_in(path)
    with schema_errors(name_of(path)):
        schema: dict[str, Any] = annotate(resolved(data))
    return schema


def _schema_in(path: PathOrDash) -> dict[str, Any]:
    data = read_document(path, expected="a schema comes from").value
    if not isinstance(data, dict):
        raise InputError(f"{name_of(path)}: a schema is an object, this is {json_type(data)}")
    return data


def infer_schema_of(records: Records) -> dict[str, Any]:
    """An evaluation schema for these records, with default comparators."""
    with schema_errors(records.name):
        schema: dict[str, Any] = annotate(infer_schema(records.values))
    return schema


def suggest_schema_of(
    records: Records, schema: PathOrDash | None = None, *, texts_by_meaning: bool = False
) -> dict[str, Any]:
    """An evaluation schema for these records, with suggested comparators."""
    given = None if schema is None else _schema_in(schema)
    with schema_errors(records.name if schema is None else name_of(schema)):
        made: dict[str, Any] = suggest_schema(
            records.values, given, texts_by_meaning=texts_by_meaning
        )
    return made


@contextmanager
def schema_errors(name: str) -> Iterator[None]:
    try:
        yield
    except SchemaError as error:
        raise InputError(f"{name}: {error}") from error


def read_run(path: PathOrDash) -> RunResult:
    """A run that was saved as JSON."""
    name = name_of(path)
    data = read_document(path, expected="a run comes from").value
    if not isinstance(data, dict):
        raise InputError(f"{name}: a run is an object, this is {json_type(data)}")
    try:
        return RunResult.from_dict(data)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def id_problems(records: Records, id_field: str, *, unique: bool) -> Iterator[tuple[int, str]]:
    """Positions of records without a valid id, and what is wrong."""
    first: dict[str | int, Place] = {}
    for position, (place, record) in enumerate(zip(records.places, records.values, strict=True)):
        if isinstance(record, str):
            continue  # a parse failure
        if record is None:
            hint = "a gold record without partner counts as missing"
            yield position, f"null has no id to join by; leave it out: {hint}"
        elif id_field not in record:
            yield position, f"no {id_field!r}, the id field"
        elif isinstance(found := record[id_field], bool) or not isinstance(found, (str, int)):
            kind = json_type(found)
            yield position, f"{id_field!r} is {kind}; an id must be a string or an integer"
        elif unique and (before := first.setdefault(found, place)) is not place:
            where = f"{before.unit} {before.number}"
            yield position, f"duplicate id {found!r:.80}, first in {where}; ids must be unique"
