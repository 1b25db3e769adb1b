"""Records, schemas and runs from files, with errors that name file and line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from factcheck.documents import PathOrDash, Place, name_of
from factcheck.documents.reading import read_document, read_entries
from factcheck.errors import InputError, SchemaError
from factcheck.fields.runs.results import RunResult
from factcheck.fields.schemas.inference import annotate, infer_schema, json_type
from factcheck.fields.schemas.references import resolved


class Records(NamedTuple):
    """The records of a file."""

    name: str
    """File name as shown in messages."""
    values: list[Any]
    """Objects, or `None` if null was allowed."""
    places: list[Place]


def read_records(path: PathOrDash, *, nullable: bool = False) -> Records:
    """All records of a file; see `iter_records`."""
    records = Records(name_of(path), [], [])
    for place, value in iter_records(path, nullable=nullable):
        records.places.append(place)
        records.values.append(value)
    return records


def iter_records(path: PathOrDash, *, nullable: bool = False) -> Iterator[tuple[Place, Any]]:
    """The records of a file with their places, in order.

    Args:
        path: `.jsonl` or `.ndjson`, perhaps with `.gz` after it: one object a line, one held at a
            time. `.json`, `.yaml`, `.yml`: a list of objects, or one. `-`, or a name without
            suffix: JSON or JSON lines.
        nullable: Whether null may stand for a missing record.

    Raises:
        InputError: Not readable, not in its format, a record that is not an object, or no records.
    """
    name = name_of(path)
    is_empty = True
    for place, value in read_entries(path):
        is_empty = False
        if not isinstance(value, dict) and not (nullable and value is None):
            hint = "; write null where nothing was extracted" if nullable else ""
            raise InputError(f"{place}: expected an object, got {json_type(value)}{hint}")
        yield place, value
        del value  # so that the next record is parsed without this one in memory
    if is_empty:
        raise InputError(f"{name} holds no records")


def read_schema(path: PathOrDash) -> dict[str, Any]:
    """An evaluation schema, resolved, with default comparators for leaves that have none.

    Args:
        path: `.json`, `.yaml` or `.yml`; `-` or a name without suffix: JSON.

    Raises:
        InputError: Not readable, or not a valid schema.
    """
    data = read_document(path, expected="a schema comes from").value
    if not isinstance(data, dict):
        raise InputError(f"{name_of(path)}: a schema is an object, this is {json_type(data)}")
    with schema_errors(name_of(path)):
        schema: dict[str, Any] = annotate(resolved(data))
    return schema


def infer_schema_of(records: Records) -> dict[str, Any]:
    """An evaluation schema for these records, with default comparators.

    Raises:
        InputError: Values are nested too deeply.
    """
    with schema_errors(records.name):
        schema: dict[str, Any] = annotate(infer_schema(records.values))
    return schema


@contextmanager
def schema_errors(name: str) -> Iterator[None]:
    """Name the file in errors about a schema."""
    try:
        yield
    except SchemaError as error:
        raise InputError(f"{name}: {error}") from error


def read_run(path: PathOrDash) -> RunResult:
    """A run that was saved as JSON.

    Raises:
        InputError: Not readable, or not a run.
    """
    name = name_of(path)
    data = read_document(path, expected="a run comes from").value
    if not isinstance(data, dict):
        raise InputError(f"{name}: a run is an object, this is {json_type(data)}")
    try:
        return RunResult.from_dict(data)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def id_problems(records: Records, id_field: str, *, unique: bool) -> Iterator[tuple[int, str]]:
    """Positions of records without a valid id, and what is wrong.

    Args:
        records: The records.
        id_field: The key that holds the id.
        unique: Whether a duplicate id is a problem.
    """
    first: dict[str | int, Place] = {}
    for position, (place, record) in enumerate(zip(records.places, records.values, strict=True)):
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
