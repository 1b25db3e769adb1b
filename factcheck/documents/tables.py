"""Tables as rows by column name: comma or tab separated text with a header line, and Parquet."""

from __future__ import annotations

import csv
import reprlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from factcheck.documents.document import Entry, Place
from factcheck.documents.files import (
    MAX_TEXT_BYTES,
    PathOrDash,
    decode_text,
    file_errors,
    lines,
    open_binary,
)
from factcheck.errors import ConfigError, InputError

_PARQUET_ROWS_AT_ONCE = 64
_PARQUET_BUFFER_BYTES = 1 << 20
_CheckColumns = Callable[[Sequence[str], str], object]


def table_entries(
    path: PathOrDash, required: Sequence[str] = (), optional: Sequence[str] | None = None
) -> Iterator[Entry]:
    """Rows of a table as mappings from column to value, one held at a time.

    Args:
        path: `.csv`, `.tsv`, either of them with `.gz` after it, or `.parquet`.
        required: Columns the table must have.
        optional: Columns read besides those; `None`: all. The columns read must be unique.

    Returns:
        The entries. In text tables their place is the line on which the row begins and their
        values are strings; a row that cannot be read holds its error.

    Raises:
        InputError: While reading: the file is unreadable or damaged, or a column is missing or
            duplicated.
        ConfigError: At once: pyarrow is needed and not installed.
    """

    def check(columns: Sequence[str], where: str) -> None:
        for name in required:
            if name not in columns:
                raise InputError(
                    f"{where}: no column {name!r}; found {reprlib.repr(list(columns))}"
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
        wanted = None if optional is None else {*required, *optional}
        return _parquet_entries(str(path), check, wanted, pyarrow)
    return _text_entries(path, check, "\t" if name.endswith(".tsv") else ",")


def _text_entries(path: PathOrDash, check: _CheckColumns, delimiter: str) -> Iterator[Entry]:
    # The limit of the module holds for the whole process; it is only ever raised.
    csv.field_size_limit(max(MAX_TEXT_BYTES, csv.field_size_limit()))
    decoded = _DecodedLines(path)
    rows = csv.reader(decoded, delimiter=delimiter, strict=True)
    columns: Sequence[str] = ()
    while True:
        start = Place(str(path), "line", decoded.place.number + 1)
        try:
            row = _next_row(rows, decoded, start)
            if row is None:
                return
            if not row:
                continue  # a blank line
            if not columns:
                check(row, f"{start} (the header, fields separated by {delimiter!r})")
                columns = row
                continue
            yield Entry(start, _named(row, columns, start))
        except InputError as error:
            if not columns or not decoded.is_readable:
                raise
            yield Entry(start, error)


def _named(row: Sequence[str], columns: Sequence[str], place: Place) -> Any:
    if len(row) == len(columns):
        return dict(zip(columns, row, strict=True))
    return InputError(f"{place}: the row has {len(row)} fields, the header {len(columns)}")


class _DecodedLines:
    """Lines of a file as text; a line that cannot be decoded is kept back as a problem."""

    def __init__(self, path: PathOrDash) -> None:
        self._lines = lines(path)
        self.place = Place(str(path), "line", 0)
        """Of the last line read."""
        self.is_readable = True
        """Whether the file itself has been readable so far."""
        self._problem: InputError | None = None

    def __iter__(self) -> _DecodedLines:
        return self

    def __next__(self) -> str:
        try:
            self.place, raw = next(self._lines)
        except InputError:
            self.is_readable = False
            raise
        try:
            return decode_text(raw, self.place.name, self.place.number)
        except InputError as error:
            self._problem = self._problem or error
            return raw.decode("utf-8", "replace").replace("\0", "")

    def take_problem(self) -> InputError | None:
        """The first problem since the last call."""
        problem, self._problem = self._problem, None
        return problem


def _next_row(rows: Iterator[list[str]], decoded: _DecodedLines, start: Place) -> list[str] | None:
    try:
        row = next(rows, None)
    except csv.Error as error:
        raise decoded.take_problem() or InputError(
            f"{start}: misplaced quotes ({error}, line {decoded.place.number}); "
            'a field that holds a quote is written "like ""this"""'
        ) from error
    if problem := decoded.take_problem():
        raise problem
    return row


def _parquet_entries(
    name: str, check: _CheckColumns, wanted: set[str] | None, pyarrow: Any
) -> Iterator[Entry]:
    number = 0
    try:
        with (
            open_binary(name) as stream,
            file_errors(name, "read"),
            # Read page by page, instead of loading a whole row group.
            pyarrow.parquet.ParquetFile(
                stream, buffer_size=_PARQUET_BUFFER_BYTES, pre_buffer=False
            ) as table,
        ):
            columns = table.schema_arrow.names
            check(columns, name)
            chosen = [column for column in columns if wanted is None or column in wanted]
            for batch in table.iter_batches(_PARQUET_ROWS_AT_ONCE, columns=chosen):
                for position in range(batch.num_rows):
                    number += 1
                    yield _parquet_row(batch, position, Place(name, "row", number))
    except pyarrow.ArrowException as error:
        raise InputError(f"cannot read {name}: {str(error).splitlines()[0]:.200}") from error


def _parquet_row(batch: Any, position: int, place: Place) -> Entry:
    column = ""
    row = {}
    try:
        for column in batch.schema.names:
            row[column] = batch.column(column)[position].as_py()
    except UnicodeDecodeError as error:
        problem = f"{place}: {column!r:.80} is not UTF-8 (byte {error.start})"
        return Entry(place, InputError(problem))
    return Entry(place, row)
