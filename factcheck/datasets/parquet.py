"""Parquet files, read a few rows at a time. Needs pyarrow, the extra `parquet`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from factcheck.datasets.record import Entry, Place
from factcheck.datasets.tables import facts_of_cell, require_columns
from factcheck.errors import ConfigError, InputError
from factcheck.files import PathOrDash, file_errors

_ROWS_AT_A_TIME = 64
_BUFFER_BYTES = 1 << 20
_COLUMNS = ("id", "source", "summary", "facts")


def parquet_entries(path: PathOrDash) -> Iterator[Entry]:
    """One entry a row.

    Raises:
        InputError: Unreadable or damaged, or a column is missing.
        ConfigError: pyarrow is not installed.
    """
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ConfigError(
            f"reading {path} needs pyarrow; install it: pip install 'factcheck[parquet]'"
        ) from error
    return _entries(str(path), pyarrow)


def _entries(name: str, pyarrow: Any) -> Iterator[Entry]:
    number = 0
    for batch in _batches(name, pyarrow):
        for position in range(batch.num_rows):
            number += 1
            place = Place(name, "row", number)
            data: Mapping[str, Any] | InputError
            try:
                data = _row(batch, position, place)
            except InputError as error:
                data = error
            yield Entry(place, data)


def _batches(name: str, pyarrow: Any) -> Iterator[Any]:
    try:
        with (
            file_errors(name, "read"),
            Path(name).open("rb") as stream,
            # So the reader walks through a row group, page by page, instead of loading it.
            pyarrow.parquet.ParquetFile(
                stream, buffer_size=_BUFFER_BYTES, pre_buffer=False
            ) as table,
        ):
            columns = table.schema_arrow.names
            require_columns(columns, name)
            yield from table.iter_batches(
                _ROWS_AT_A_TIME, columns=[column for column in columns if column in _COLUMNS]
            )
    except pyarrow.ArrowException as error:
        raise InputError(f"cannot read {name}: {str(error).splitlines()[0]}") from error


def _row(batch: Any, position: int, place: Place) -> Mapping[str, Any]:
    data = {name: _cell(batch, name, position, place) for name in batch.schema.names}
    facts = data.get("facts")
    if isinstance(facts, str):
        data["facts"] = facts_of_cell(facts, place)
    elif isinstance(facts, list):
        data["facts"] = [_without_nulls(fact) for fact in facts]
    return data


def _cell(batch: Any, column: str, position: int, place: Place) -> Any:
    try:
        return batch.column(column)[position].as_py()
    except UnicodeDecodeError as error:
        raise InputError(f"{place}: {column!r} is not UTF-8 (byte {error.start})") from error


def _without_nulls(fact: Any) -> Any:
    """A struct has every field in every row; those that are null were not given."""
    if not isinstance(fact, dict):
        return fact
    return {key: value for key, value in fact.items() if value is not None}
