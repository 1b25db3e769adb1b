"""Rows of a file of labels, JSON lines or a table, each with the place where it stands."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from factcheck.datasets.lines import jsonl_entries
from factcheck.errors import InputError
from factcheck.files import PathOrDash, read_text

Row = Mapping[str, Any]


def rows(path: PathOrDash) -> Iterator[tuple[Row, str]]:
    """The rows of `*.csv` and `*.tsv` (with a header line), else of JSON lines; no blank ones.

    Raises:
        InputError: The file cannot be read, or a row is none; names the line.
    """
    name = str(path).lower()
    if name.endswith((".csv", ".tsv")):
        yield from _of_table(path, "\t" if name.endswith(".tsv") else ",")
        return
    for entry in jsonl_entries(path):
        if isinstance(entry.data, InputError):
            raise entry.data
        yield entry.data, str(entry.place)


def _of_table(path: PathOrDash, delimiter: str) -> Iterator[tuple[Row, str]]:
    table = csv.reader(io.StringIO(read_text(path)), delimiter=delimiter, strict=True)
    header: list[str] = []
    while True:
        where = f"{path}, line {table.line_num + 1}"
        try:
            cells = next(table, None)
        except csv.Error as error:
            raise InputError(f"{where}: the quotes of this row do not fit ({error})") from error
        if cells is None:
            return
        if not cells:
            continue
        if not header:
            header = _header(cells, where)
        elif len(cells) != len(header):
            raise InputError(f"{where}: the row has {len(cells)} fields, the header {len(header)}")
        else:
            yield dict(zip(header, cells, strict=True)), where


def _header(cells: list[str], where: str) -> list[str]:
    if len(set(cells)) < len(cells):
        raise InputError(f"{where}: a column is there twice")
    return cells
