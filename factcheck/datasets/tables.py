"""Tables of text: comma or tab separated, with a header line."""

from __future__ import annotations

import csv
import json
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from factcheck.datasets.lines import lines, text_problem
from factcheck.datasets.record import REQUIRED, Entry, Place
from factcheck.errors import InputError
from factcheck.files import PathOrDash, facts_from_lines

_LONGEST_FIELD = 2**31 - 1


def table_entries(path: PathOrDash, delimiter: str) -> Iterator[Entry]:
    """One entry a row; its place is the line on which the row begins.

    Raises:
        InputError: The header lacks a column, or names one twice.
    """
    # The module's limit, for the whole process; 131,072 characters if nobody raised it.
    csv.field_size_limit(max(_LONGEST_FIELD, csv.field_size_limit()))
    decoded = _DecodedLines(path)
    rows = csv.reader(decoded, delimiter=delimiter, strict=True)
    columns: Sequence[str] | None = None
    while True:
        start = Place(str(path), "line", decoded.place.number + 1)
        data: Mapping[str, Any] | InputError
        try:
            row = _next_row(rows, decoded, start)
            if row is None:
                return
            if not row:
                continue  # a blank line
            if columns is None:
                columns = _header(row, start, delimiter)
                continue
            data = _named(row, columns, start)
        except InputError as error:
            if columns is None or not decoded.readable:
                raise
            data = error
        yield Entry(start, data)


class _DecodedLines:
    """The lines of a file as text; remembers what could not be decoded and hands on the rest."""

    def __init__(self, path: PathOrDash) -> None:
        self._lines = lines(path)
        self.place = Place(str(path), "line", 0)
        """The line that was read last."""
        self.readable = True
        """Whether the file itself could be read up to here."""
        self._problem: InputError | None = None

    def __iter__(self) -> _DecodedLines:
        return self

    def __next__(self) -> str:
        try:
            self.place, raw = next(self._lines)
        except InputError:
            self.readable = False
            raise
        self._problem = self._problem or text_problem(raw, self.place)
        return raw.decode("utf-8", "replace").replace("\0", "")

    def take_problem(self) -> InputError | None:
        """What was wrong since the last call, and forget it."""
        problem, self._problem = self._problem, None
        return problem


def _next_row(rows: Iterator[list[str]], decoded: _DecodedLines, start: Place) -> list[str] | None:
    try:
        row = next(rows, None)
    except csv.Error as error:
        problem = decoded.take_problem()
        raise problem or InputError(
            f"{start}: the quotes of this row do not fit ({error}, line {decoded.place.number}); "
            'a field with a quote in it is written "like ""this"""'
        ) from error
    if problem := decoded.take_problem():
        raise problem
    return row


def _header(row: Sequence[str], place: Place, delimiter: str) -> Sequence[str]:
    require_columns(row, f"{place} (the header, fields separated by {delimiter!r})")
    return row


def require_columns(columns: Sequence[str], where: str) -> None:
    """The columns of a table suffice for a record.

    Raises:
        InputError: One is missing, or there twice.
    """
    for name in REQUIRED:
        if name not in columns:
            raise InputError(f"{where}: no column {name!r}; found {reprlib.repr(list(columns))}")
    for name in (*REQUIRED, "id", "facts"):
        if columns.count(name) > 1:
            raise InputError(f"{where}: the column {name!r} is there twice")


def _named(row: Sequence[str], columns: Sequence[str], place: Place) -> Mapping[str, Any]:
    if len(row) != len(columns):
        raise InputError(f"{place}: the row has {len(row)} fields, the header {len(columns)}")
    data: dict[str, Any] = dict(zip(columns, row, strict=True))
    return {**data, "facts": facts_of_cell(data.get("facts"), place)}


def facts_of_cell(cell: str | None, place: Place) -> Any:
    """Facts as one text: a JSON list, or one fact a line; `None` for a blank cell."""
    if cell is None or not cell.strip():
        return None
    if not cell.lstrip().startswith("["):
        return facts_from_lines(cell)
    try:
        return json.loads(cell)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{place}: 'facts' begins like a JSON list but is none ({error}); "
            "write such a list, or one fact a line"
        ) from error
