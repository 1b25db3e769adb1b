"""Tables as rows by column name: comma or tab separated text with a header line, and Parquet."""

from __future__ import annotations

import csv
import reprlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from factcheck.documents.files import (
    MAX_TEXT_BYTES,
    Entry,
    PathOrDash,
    Place,
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
    # The limit of the module holds for the whole process; it is only ever raised.
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
