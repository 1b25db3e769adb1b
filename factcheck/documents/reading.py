"""Read documents and tables; the file suffix determines the format.

Tables are CSV or TSV with a header line; their rows are mappings.
"""

from __future__ import annotations

import csv
import reprlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

from factcheck.documents.files import (
    MAX_DOCUMENT_BYTES,
    MAX_TEXT_BYTES,
    Document,
    Entry,
    PathInValue,
    PathOrDash,
    Place,
    Unparsed,
    check_line,
    decode_text,
    lines,
    name_of,
    read_text,
)
from factcheck.documents.json_documents import parse_json, parse_json_line
from factcheck.documents.yaml_documents import parse_yaml
from factcheck.errors import InputError

_SUFFIXES = {
    **dict.fromkeys((".jsonl", ".ndjson"), "lines"),
    **dict.fromkeys((".csv", ".tsv"), "table"),
    **dict.fromkeys((".yaml", ".yml"), "yaml"),
    ".json": "json",
}


def _format_of(path: PathOrDash, expected: str, *, tables: bool = False) -> str:
    """Return `lines`, `table`, `yaml` or `json`; empty for `-` or a name without suffix."""
    name = name_of(path)
    for suffix, format_ in _SUFFIXES.items():
        if name.lower().endswith(suffix) and (tables or format_ != "table"):
            return format_
    if path != "-" and Path(path).suffix:
        kinds = ".yaml, .yml, .json, .jsonl, .csv or .tsv"
        raise InputError(
            f"{name}: {expected} a {kinds if tables else '.yaml, .yml, .json or .jsonl'} file"
        )
    return ""


def read_document(
    path: PathOrDash, *, expected: str = "expected", max_bytes: int = MAX_DOCUMENT_BYTES
) -> Document:
    """Read the value of a `.yaml`, `.yml` or `.json` file, or the list of values of JSON lines.

    Args:
        path: `-`, or a name without suffix, is JSON.
        expected: Start of the error message for other suffixes, such as `a schema comes from`.
        max_bytes: Maximum size of a JSON text.
    """
    name, format_ = name_of(path), _format_of(path, expected)
    if format_ == "lines":
        entries = list(read_entries(path))
        for entry in entries:
            if isinstance(entry.value, InputError):
                raise entry.value

        def line_of(part: PathInValue) -> int:
            if part and isinstance(part[0], int):
                return entries[part[0]].place.number
            return 0

        return Document(name, [entry.value for entry in entries], line_of)
    if format_ == "yaml":
        return parse_yaml(read_text(path), name)
    return parse_json(read_text(path, max_bytes=max_bytes), name)


def read_entries(
    path: PathOrDash,
    required: Sequence[str] = (),
    optional: Sequence[str] | None = None,
    hint: str = "",
) -> Iterator[Entry]:
    """Return the entries of a list with their places, in order.

    JSON lines and tables are streamed: lines, and rows as mappings from column to value (strings in
    CSV and TSV, where the place is the first line of the row). The entries of `.json` and YAML
    files are those of their list; any other value except null is a single entry. `-`, or a name
    without suffix, is JSON lines if its first line is an object, else JSON. The value of a line or
    row that cannot be parsed is its error: `Unparsed` for a line.

    Args:
        path: `.jsonl`, `.ndjson`, `.csv`, `.tsv`, `.json`, `.yaml`, `.yml`, or `-`.
        required: Columns that a table must have.
        optional: Other columns to read of a table; `None`: all. The columns read must be unique.
        hint: End of the message about a missing column.

    Raises:
        InputError: The path is missing or of another format. While reading: the file is
            unreadable, or a column is missing or duplicate.
    """
    format_ = _format_of(path, "records come from", tables=True)
    if path != "-" and not Path(path).exists():
        raise InputError(f"{path} does not exist; check the path")
    if format_ == "table":
        return _table_entries(path, required, optional, hint)
    if format_ == "lines":
        return _parsed(lines(path))
    return _list_entries(path, format_)


def _list_entries(path: PathOrDash, format_: str) -> Iterator[Entry]:
    name = name_of(path)
    if not format_:
        source = lines(path)
        head = []
        for line in source:
            head.append(line)
            if line[1].strip():
                break
        if head and _is_object(head[-1][1]):
            yield from _parsed(chain(head, source))
            return
        whole = []
        for place, raw in chain(head, source):
            check_line(raw, place)
            whole.append(raw)
        text = decode_text(b"".join(whole), name)
    else:
        text = read_text(path, max_bytes=MAX_DOCUMENT_BYTES)
    parse = parse_yaml if format_ == "yaml" else parse_json
    yield from _entries_of(parse(text, name).value, name)


def _entries_of(value: Any, name: str) -> Iterator[Entry]:
    if isinstance(value, list):
        for number, item in enumerate(value, 1):
            yield Entry(Place(name, "record", number), item)
    elif value is not None:
        yield Entry(Place(name), value)


def _is_object(line: bytes) -> bool:
    with suppress(InputError):
        return isinstance(parse_json(line, "line").value, dict)
    return False


def _parsed(source: Iterable[tuple[Place, bytes]]) -> Iterator[Entry]:
    for place, raw in source:
        if raw.strip():
            yield _parsed_entry(place, raw)


def _parsed_entry(place: Place, raw: bytes) -> Entry:
    try:
        return Entry(place, parse_json_line(raw, place))
    except InputError as error:
        text = raw.decode("utf-8", "replace") if len(raw) <= MAX_TEXT_BYTES else ""
        return Entry(place, Unparsed(str(error), text))


def _table_entries(
    path: PathOrDash, required: Sequence[str], optional: Sequence[str] | None, hint: str
) -> Iterator[Entry]:
    delimiter = "\t" if str(path).lower().endswith(".tsv") else ","
    columns: Sequence[str] = ()
    for place, row in _text_rows(path, delimiter):
        if isinstance(row, InputError):
            if not columns:
                raise row
            yield Entry(place, row)
        elif not columns:
            where = f"{place} (the header, fields separated by {delimiter!r})"
            for name in required:
                if name not in row:
                    found = reprlib.repr(row)
                    raise InputError(f"{where}: no column {name!r}; found {found}{hint}")
            _refuse_duplicates(row if optional is None else [*required, *optional], row, where)
            columns = row
        elif len(row) == len(columns):
            yield Entry(place, dict(zip(columns, row, strict=True)))
        else:
            problem = f"the row has {len(row)} fields, the header {len(columns)}"
            yield Entry(place, InputError(f"{place}: {problem}"))


def _refuse_duplicates(names: Sequence[str], columns: Sequence[str], where: str) -> None:
    for name in names:
        if columns.count(name) > 1:
            raise InputError(f"{where}: duplicate column {name!r:.80}")


def _text_rows(path: PathOrDash, delimiter: str) -> Iterator[tuple[Place, list[str] | InputError]]:
    # The limit is global to the process, so it is only ever raised.
    csv.field_size_limit(max(MAX_TEXT_BYTES, csv.field_size_limit()))
    here = Place(str(path), "line", 0)
    problems: list[InputError] = []

    def texts() -> Iterator[str]:
        nonlocal here
        for here, raw in lines(path):
            try:
                check_line(raw, here)
                text = decode_text(raw, here.name, here.number)
            except InputError as error:
                problems.append(error)
                text = raw.decode("utf-8", "replace").replace("\0", "")
            yield text

    rows = csv.reader(texts(), delimiter=delimiter, strict=True)
    while True:
        start = here._replace(number=here.number + 1)
        row: list[str] | None = []
        try:
            row = next(rows, None)
        except csv.Error as error:
            problem = f"misplaced quotes ({error}, line {here.number})"
            quoted = 'a field that holds a quote is written "like ""this"""'
            problems.append(InputError(f"{start}: {problem}; {quoted}"))
        if problems:
            yield start, problems[0]
            problems.clear()
        elif row is None:
            return
        elif row:
            yield start, row
