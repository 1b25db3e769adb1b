"""Read documents and tables; the file suffix determines the format.

Tables are CSV or TSV with a header line, or Parquet; their rows are mappings.
"""

from __future__ import annotations

import csv
import reprlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
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
    decode_text,
    file_errors,
    lines,
    name_of,
    open_binary,
    read_text,
)
from factcheck.documents.json_documents import json_lines, parse_json, parse_json_line
from factcheck.documents.yaml_documents import parse_yaml
from factcheck.errors import ConfigError, InputError

_JSON_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_YAML = (".yaml", ".yml")
_PARQUET_BATCH_ROWS = 64
_PARQUET_BUFFER_BYTES = 1 << 20
_CheckColumns = Callable[[Sequence[str], str], object]


def read_document(
    path: PathOrDash, *, expected: str = "expected", max_bytes: int = MAX_DOCUMENT_BYTES
) -> Document:
    """Read the value of a `.yaml`, `.yml` or `.json` file, or the list of values of JSON lines.

    Args:
        path: `-`, or a name without suffix, is JSON.
        expected: Start of the error message for other suffixes, such as `a schema comes from`.
        max_bytes: Maximum size of a JSON text.
    """
    name = name_of(path)
    suffix = "" if path == "-" else Path(path).suffix.lower()
    if name.lower().endswith(_JSON_LINES):
        entries = list(json_lines(path))

        def line_of(part: PathInValue) -> int:
            return entries[part[0]][0].number if part and isinstance(part[0], int) else 0

        return Document(name, [value for _, value in entries], line_of)
    if suffix in _YAML:
        return parse_yaml(read_text(path), name)
    if suffix in {"", ".json"}:
        return parse_json(read_text(path, max_bytes=max_bytes), name)
    raise InputError(f"{name}: {expected} a .yaml, .yml, .json or .jsonl file")


def read_entries(path: PathOrDash, *, as_text: bool = False) -> Iterator[tuple[Place, Any]]:
    """Yield the entries of a list with their places, in order.

    JSON lines have one entry per line and are streamed. The entries of `.json` and YAML files are
    those of their list; any other value except null is a single entry. `-`, or a name without
    suffix, is JSON or JSON lines. With `as_text`, a line that is not JSON is a text entry, and so
    is a whole file that is neither JSON nor starts like a list.
    """
    if name_of(path).lower().endswith(_JSON_LINES):
        return _parsed(lines(path), as_text=as_text)
    if path != "-" and Path(path).suffix:
        try:
            return _members(read_document(path, expected="records come from"))
        except InputError:
            is_known = Path(path).suffix.lower() in {".json", *_YAML}
            text = read_text(path) if as_text and is_known else ""
            if not _is_reply(text):
                raise
            return iter([(Place(name_of(path)), text)])
    return _detected(path, as_text=as_text)


def _parsed(source: Iterable[tuple[Place, bytes]], *, as_text: bool) -> Iterator[tuple[Place, Any]]:
    for place, raw in source:
        if raw.strip():
            try:
                value = parse_json_line(raw, place)
            except InputError:
                if not as_text:
                    raise
                value = raw.decode("utf-8", "replace")
            yield place, value


def _is_reply(text: str) -> bool:
    return bool(text.strip()) and not text.lstrip().startswith("[")


def _members(document: Document) -> Iterator[tuple[Place, Any]]:
    if isinstance(document.value, list):
        for number, value in enumerate(document.value, 1):
            yield Place(document.name, "record", number), value
    elif document.value is not None:
        yield Place(document.name), document.value


def _detected(path: PathOrDash, *, as_text: bool) -> Iterator[tuple[Place, Any]]:
    """Parse JSON lines if the first line is an object, else one JSON text."""
    name = name_of(path)
    source = lines(path)
    whole = bytearray()
    for place, raw in source:
        if raw.rstrip().endswith(b"}") and not whole.strip():
            with suppress(InputError):
                first = parse_json_line(raw, place)
                break
        whole += raw
        if len(whole) > MAX_DOCUMENT_BYTES:
            raise InputError(f"{name} is larger than the limit of {MAX_DOCUMENT_BYTES:,} bytes")
    else:
        if whole.strip():
            try:
                members = list(_members(parse_json(whole, name)))
            except InputError:
                text = whole.decode("utf-8", "replace")
                if not (as_text and _is_reply(text)):
                    raise
                members = [(Place(name), text)]
            yield from members
        return
    yield place, first
    yield from _parsed(source, as_text=as_text)


def table_entries(
    path: PathOrDash,
    required: Sequence[str] = (),
    optional: Sequence[str] | None = None,
    hint: str = "",
) -> Iterator[Entry]:
    """Stream the rows of a table as mappings from column to value.

    Args:
        path: `.csv` or `.tsv`, optionally with `.gz`, or `.parquet`.
        required: Columns that the table must have.
        optional: Other columns to read; `None`: all. The columns read must be unique.
        hint: End of the message about a missing column.

    Returns:
        The entries. In CSV and TSV the place is the first line of the row and values are strings;
        the value of a malformed row is its error.

    Raises:
        InputError: The file is unreadable, or a column is missing or duplicate.
        ConfigError: pyarrow is required and not installed.
    """

    def check(columns: Sequence[str], where: str) -> None:
        for name in required:
            if name not in columns:
                raise InputError(
                    f"{where}: no column {name!r}; found {reprlib.repr(list(columns))}{hint}"
                )
        for name in columns if optional is None else (*required, *optional):
            if columns.count(name) > 1:
                raise InputError(f"{where}: duplicate column {name!r:.80}")

    name = str(path).lower().removesuffix(".gz")
    if name.endswith(".parquet"):
        try:
            import pyarrow.parquet
        except ImportError as error:
            raise ConfigError(
                f"reading {path} needs pyarrow; install it: pip install 'factcheck[parquet]'"
            ) from error
        selected = None if optional is None else {*required, *optional}
        return _parquet_entries(str(path), check, selected, pyarrow)
    return _text_entries(path, check, "\t" if name.endswith(".tsv") else ",")


def _text_entries(path: PathOrDash, check: _CheckColumns, delimiter: str) -> Iterator[Entry]:
    columns: Sequence[str] = ()
    for place, row in _text_rows(path, delimiter):
        if isinstance(row, InputError):
            if not columns:
                raise row
            yield Entry(place, row)
        elif not columns:
            check(row, f"{place} (the header, fields separated by {delimiter!r})")
            columns = row
        elif len(row) == len(columns):
            yield Entry(place, dict(zip(columns, row, strict=True)))
        else:
            problem = f"the row has {len(row)} fields, the header {len(columns)}"
            yield Entry(place, InputError(f"{place}: {problem}"))


def _text_rows(path: PathOrDash, delimiter: str) -> Iterator[tuple[Place, list[str] | InputError]]:
    # The limit is global to the process, so it is only ever raised.
    csv.field_size_limit(max(MAX_TEXT_BYTES, csv.field_size_limit()))
    here = Place(str(path), "line", 0)
    problems: list[InputError] = []

    def texts() -> Iterator[str]:
        nonlocal here
        for here, raw in lines(path):
            try:
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


def _parquet_entries(
    name: str, check: _CheckColumns, selected: set[str] | None, pyarrow: Any
) -> Iterator[Entry]:
    number = 0
    try:
        with (
            open_binary(name) as stream,
            file_errors(name, "read"),
            # Stream pages instead of loading whole row groups.
            pyarrow.parquet.ParquetFile(
                stream, buffer_size=_PARQUET_BUFFER_BYTES, pre_buffer=False
            ) as table,
        ):
            columns = table.schema_arrow.names
            check(columns, name)
            chosen = [column for column in columns if selected is None or column in selected]
            for batch in table.iter_batches(_PARQUET_BATCH_ROWS, columns=chosen):
                for position in range(batch.num_rows):
                    number += 1
                    place = Place(name, "row", number)
                    yield Entry(place, _parquet_row(batch, position, place))
    except pyarrow.ArrowException as error:
        raise InputError(f"cannot read {name}: {str(error).splitlines()[0]:.200}") from error


def _parquet_row(batch: Any, position: int, place: Place) -> Any:
    row = {}
    for column in batch.schema.names:
        try:
            row[column] = batch.column(column)[position].as_py()
        except UnicodeDecodeError as error:  # noqa: PERF203 - it names the column
            problem = f"{column!r:.80} is not UTF-8 (byte {error.start})"
            return InputError(f"{place}: {problem}")
    return row
