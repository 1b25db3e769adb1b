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
    Line,
    PathInValue,
    PathOrDash,
    Unparsed,
    name_of,
    read_lines,
    read_text,
)
from factcheck.documents.json_documents import parse_json
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
        values: list[Any] = []
        numbers: dict[PathInValue, int] = {}
        for line in read_lines(path):
            if line.text.strip() or line.error is not None:
                numbers[(len(values),)] = line.number
                values.append(_value_of(line, name))
        return Document(name, values, numbers)
    if format_ == "yaml":
        return parse_yaml(read_text(path), name)
    return parse_json(read_text(path, max_bytes=max_bytes), name)


def read_entries(path: PathOrDash, required: Sequence[str] = (), hint: str = "") -> Iterator[Entry]:
    """Return the entries of a list with their places, in order.

    JSON lines and tables are streamed: lines, and rows as mappings from column to value (strings in
    CSV and TSV, where the place is the first line of the row). The entries of `.json` and YAML
    files are those of their list; any other value except null is a single entry. `-`, or a name
    without suffix, is JSON lines if its first line is an object, else JSON. The value of a line
    that is not JSON is its error.

    Args:
        path: `.jsonl`, `.ndjson`, `.csv`, `.tsv`, `.json`, `.yaml`, `.yml`, or `-`.
        required: Columns that a table must have; the names of columns must be unique, unless blank.
        hint: End of the message about a missing column.

    Raises:
        InputError: The path is missing or of another format. While reading: the file is
            unreadable, or a table is damaged or lacks a column.
    """
    format_ = _format_of(path, "records come from", tables=True)
    if path != "-" and not Path(path).exists():
        raise InputError(f"{path} does not exist; check the path")
    if format_ == "table":
        return _table_entries(path, required, hint)
    if format_ == "lines":
        return _parsed(name_of(path), read_lines(path))
    return _list_entries(path, format_)


def _list_entries(path: PathOrDash, format_: str) -> Iterator[Entry]:
    name = name_of(path)
    if format_:
        text = read_text(path, max_bytes=MAX_DOCUMENT_BYTES)
    else:
        lines = read_lines(path)
        head = []
        for line in lines:
            head.append(line)
            if line.text.strip():
                break
        if head and _is_object(head[-1].text):
            yield from _parsed(name, chain(head, lines))
            return
        text = "".join(_texts(chain(head, lines)))
    parse = parse_yaml if format_ == "yaml" else parse_json
    value = parse(text, name).value
    if isinstance(value, list):
        for number, item in enumerate(value, 1):
            yield Entry(f"{name}, record {number}", item)
    elif value is not None:
        yield Entry(name, value)


def _is_object(line: str) -> bool:
    with suppress(InputError):
        return isinstance(parse_json(line, "line").value, dict)
    return False


def _parsed(name: str, lines: Iterable[Line]) -> Iterator[Entry]:
    for line in lines:
        if not line.text.strip() and line.error is None:
            continue
        try:
            value = _value_of(line, name)
        except InputError as error:
            value = line.error or Unparsed(str(error), line.text)
        yield Entry(f"{name}, line {line.number}", value)


def _value_of(line: Line, name: str) -> Any:
    if line.error is not None:
        raise line.error
    return parse_json(line.text.rstrip(), name, line.number).value


def _texts(lines: Iterable[Line]) -> Iterator[str]:
    for line in lines:
        if line.error is not None:
            raise line.error
        yield line.text


def _table_entries(path: PathOrDash, required: Sequence[str], hint: str) -> Iterator[Entry]:
    delimiter = "\t" if str(path).lower().endswith(".tsv") else ","
    # The limit is global to the process, so it is only ever raised.
    csv.field_size_limit(max(MAX_TEXT_BYTES, csv.field_size_limit()))
    rows = csv.reader(_texts(read_lines(path)), delimiter=delimiter, strict=True)
    columns: Sequence[str] = ()
    while True:
        place = f"{path}, line {rows.line_num + 1}"
        try:
            row = next(rows, None)
        except csv.Error as error:
            quoted = 'a field that holds a quote is written "like ""this"""'
            problem = f"misplaced quotes ({error}, line {rows.line_num}); {quoted}"
            raise InputError(f"{place}: {problem}") from error
        if row is None:
            return
        if not row:
            continue
        if not columns:
            header = f"{place} (the header, fields separated by {delimiter!r})"
            _check_header(row, required, header, hint)
            columns = row
        elif len(row) == len(columns):
            yield Entry(place, dict(zip(columns, row, strict=True)))
        else:
            problem = f"the row has {len(row)} fields, the header {len(columns)}"
            raise InputError(f"{place}: {problem}")


def _check_header(columns: Sequence[str], required: Sequence[str], place: str, hint: str) -> None:
    for name in required:
        if name not in columns:
            found = reprlib.repr(columns)
            raise InputError(f"{place}: no column {name!r}; found {found}{hint}")
    for name in filter(str.strip, columns):
        if columns.count(name) > 1:
            raise InputError(f"{place}: duplicate column {name!r:.80}")
