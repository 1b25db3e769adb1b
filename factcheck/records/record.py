"""One record, a source and a summary of it, from a mapping, with errors that name its place."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from factcheck.documents import shown
from factcheck.errors import InputError
from factcheck.facts import AtomicFact, FactSet
from factcheck.records.facts import facts_from_data

REQUIRED = ("source", "summary")
"""Keys that every record must have."""


@dataclass(frozen=True, slots=True)
class Record:
    """A source and one summary of it."""

    id: str
    """Unique within its dataset."""
    source: str
    summary: str
    facts: FactSet | tuple[str | AtomicFact, ...] | None = None
    """Facts of the source; `None`: they are still to be extracted."""
    where: str = ""
    """Place of the record, such as `pairs.jsonl, line 7`, for messages."""


def as_record(item: Mapping[str, Any] | Record, number: int) -> Record:
    """A record from a mapping with `source`, `summary` and, where known, `id` and `facts`.

    Args:
        item: The mapping; other keys are ignored. A `Record` is checked in the same way.
        number: Position of the record, counted from 1: its id if it has none.

    Returns:
        The record; its facts, if it has any, are a `FactSet`.

    Raises:
        InputError: Another type, a missing key, or a value that cannot be used; names the place.
    """
    where = f"record {number}"
    if isinstance(item, Record):
        fields = {key: getattr(item, key) for key in ("id", "source", "summary", "facts")}
        return record_from(fields, number, item.where or where)
    return record_from(item, number, where)


def record_from(data: Any, number: int, where: str) -> Record:
    """`as_record` for data that stands at `where`."""
    if not isinstance(data, Mapping):
        raise InputError(f"{where}: expected an object with source and summary, got {shown(data)}")
    for key in REQUIRED:
        if key not in data:
            raise InputError(f"{where}: {key!r} is missing; found {reprlib.repr(list(data))}")
        if not isinstance(data[key], str):
            raise InputError(f"{where}: {key!r}: expected a string, got {shown(data[key])}")
    return Record(
        id=_id(data.get("id"), number, where),
        source=data["source"],
        summary=data["summary"],
        facts=_facts(data.get("facts"), where),
        where=where,
    )


def _id(value: Any, number: int, where: str) -> str:
    if value is None:
        return str(number)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise InputError(f"{where}: 'id': expected a string or whole number, got {shown(value)}")
    if not value.strip():
        raise InputError(f"{where}: 'id' is blank; fill it in, or leave it out of every record")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{where}: 'id' is not valid Unicode: {value!a:.80}") from error
    return value


def _facts(value: Any, where: str) -> FactSet | None:
    if value is None:
        return None
    facts = value if isinstance(value, FactSet) else facts_from_data(value, where)
    if not facts:
        raise InputError(f"{where}: 'facts' is empty; leave it out to have the facts extracted")
    return facts
