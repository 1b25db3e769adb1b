"""Read records of every format, one at a time, with unique ids and errors that name the place."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from factcheck.documents import (
    Entry,
    PathOrDash,
    Place,
    name_of,
    parse_json,
    plain_document,
    shown,
)
from factcheck.documents.reading import read_entries
from factcheck.errors import InputError
from factcheck.facts import AtomicFact, FactSet, Source, SourceDocument, as_source
from factcheck.records.facts import facts_from_lines, facts_of

_REQUIRED = ("source", "summary")
_OPTIONAL = ("id", "facts")
_HINT = "; name other columns with --source-field and --summary-field (of factcheck run)"
_NO_NAMES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Record:
    """A source and one summary of it."""

    id: str
    """Unique within its dataset."""
    source: str | tuple[SourceDocument, ...]
    """A text, or several documents."""
    summary: str
    facts: FactSet | tuple[str | AtomicFact, ...] | None = None
    """Facts of the source; `None`: extract them."""
    where: str = ""
    """Location for messages, such as `pairs.jsonl, line 7`."""


RecordLike: TypeAlias = "Record | Mapping[str, Any] | tuple[Source, str]"
"""A record, a mapping with its fields, or a source and a summary."""


def as_record(item: RecordLike, number: int) -> Record:
    """Convert a mapping with `source`, `summary` and optional `id` and `facts` to a record.

    A pair is a source and a summary. Other keys are ignored; a `Record` is validated in the same
    way. `number`, the 1-based position, is the id of a record without one.

    Raises:
        InputError: The record is invalid; names the place.
    """
    where = f"record {number}"
    if isinstance(item, Record):
        fields = {key: getattr(item, key) for key in ("id", "source", "summary", "facts")}
        return _record(fields, number, item.where or where)
    if isinstance(item, tuple) and len(item) == len(_REQUIRED):
        item = dict(zip(_REQUIRED, item, strict=True))
    return _record(item, number, where, hint="; rename its fields")


def _record(
    data: Any, number: int, where: str, fields: Mapping[str, str] = _NO_NAMES, hint: str = ""
) -> Record:
    if not isinstance(data, Mapping):
        raise InputError(f"{where}: expected an object with source and summary, got {shown(data)}")
    source, summary, id_, facts = names = [fields.get(key, key) for key in _REQUIRED + _OPTIONAL]
    for name in names[: len(_REQUIRED)]:
        if name not in data:
            found = reprlib.repr(list(data))
            raise InputError(f"{where}: {name!r} is missing; found {found}{hint}")
    if not isinstance(data[summary], str):
        raise InputError(f"{where}: {summary!r}: expected a string, got {shown(data[summary])}")
    return Record(
        id=_id(data.get(id_), number, where),
        source=as_source(data[source], f"{where}: {source!r}"),
        summary=data[summary],
        facts=_facts(data.get(facts), where),
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
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = parse_json(value, "cell").value
        except InputError as error:
            raise InputError(
                f"{where}: 'facts' starts like a JSON list but is not valid ({error}); "
                "write a JSON list, or one fact per line"
            ) from error
    elif isinstance(value, str):
        value = facts_from_lines(value) if value.strip() else None
    elif isinstance(value, list):  # in Parquet, a struct has every field in every row
        value = [_without_nulls(fact) for fact in value]
    if value is None:
        return None
    facts = value if isinstance(value, FactSet) else facts_of(plain_document(value, where))
    if not facts:
        raise InputError(f"{where}: 'facts' is empty; leave it out to have the facts extracted")
    return facts


def _without_nulls(fact: Any) -> Any:
    if not isinstance(fact, dict):
        return fact
    return {key: value for key, value in fact.items() if value is not None}


def read_records(
    *paths: PathOrDash,
    skip_bad: Callable[[InputError], None] | None = None,
    fields: Mapping[str, str] | None = None,
) -> Iterator[Record]:
    """Read the records of one or more files lazily, in order.

    Args:
        paths: `.jsonl` or `.ndjson` (one object per line), `.csv` or `.tsv` (with a header; `facts`
            may be a JSON list), `.parquet`, `.json` or `.yaml` (a list, loaded as a whole). `-`:
            JSON lines or JSON on standard input. Every record has `source` and `summary`; `id`
            (default: 1-based position) and `facts` (a list, or one per line) are optional; other
            keys are ignored. Except in CSV and TSV, `source` may be a list of documents: strings,
            or objects with `text` and optional `id`.
        skip_bad: Called with the error of each invalid record, which is then skipped. `None`: raise
            the first such error.
        fields: Names of `source`, `summary`, `id` or `facts` in the dataset, such as
            `{"source": "article"}`.

    Returns:
        The records. Memory holds one record, all ids and, for Parquet, one page of each column.

    Raises:
        InputError: Immediately if a path is missing or of another format. While reading: the file
            is unreadable or empty, a column is missing, or a record is invalid (see `skip_bad`).
        ConfigError: pyarrow is required and not installed.
    """
    names = fields or _NO_NAMES
    required = [names.get(key, key) for key in _REQUIRED]
    optional = [names.get(key, key) for key in _OPTIONAL]
    sources = [(name_of(path), read_entries(path, required, optional, _HINT)) for path in paths]
    return _records(sources, skip_bad, names)


def _records(
    sources: Iterable[tuple[str, Iterable[Entry]]],
    skip_bad: Callable[[InputError], None] | None,
    fields: Mapping[str, str],
) -> Iterator[Record]:
    first_use: dict[str, Place] = {}
    for name, entries in sources:
        number = 0
        for number, (place, data) in enumerate(entries, 1):
            try:
                if isinstance(data, InputError):
                    raise data
                record = _record(data, number, str(place), fields, _HINT)
                _refuse_duplicate(record.id, place, first_use)
            except InputError as error:  # noqa: PERF203 - it concerns one record
                if skip_bad is None:
                    raise
                skip_bad(error)
            else:
                yield record
        if number == 0:
            raise InputError(f"{name} holds no records")


def _refuse_duplicate(id_: str, place: Place, first_use: dict[str, Place]) -> None:
    first = first_use.setdefault(id_, place)
    if first is not place:
        where = f"{first.unit} {first.number}" if first.name == place.name else first
        raise InputError(
            f"{place}: the id {id_!r:.80} was used before, in {where}; ids must be unique"
        )
