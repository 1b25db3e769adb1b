"""The rows of a page as CSV, for a spreadsheet: no cell is taken for a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import Any

from factcheck.reports.page import Page
from factcheck.reports.text import value_text, visible

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_LONGEST_CELL = 32_000
"""Spreadsheets cut cells of more than 32,767 characters."""
_CASE_COLUMNS = ("suite", "case", "status", "kind", "message")


def render(page: Page) -> str:
    """The rows of the page as CSV, with a header line.

    A string stands as it is, but one that begins like a formula gets an apostrophe before it; lists
    and objects are JSON, and the cell of `None` is empty.
    """
    sink = StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    columns = columns_of(page)
    writer.writerow(columns)
    writer.writerows([_cell(row.get(name)) for name in columns] for row in rows_of(page))
    return sink.getvalue()


def columns_of(page: Page) -> Sequence[str]:
    """The names of the columns."""
    return page.columns if page.rows is not None else _CASE_COLUMNS


def rows_of(page: Page) -> Iterable[Mapping[str, Any]]:
    """The rows of a page; one for each test case, where it has no rows of its own."""
    return page.rows() if page.rows is not None else _cases(page)


def _cases(page: Page) -> Iterator[Mapping[str, Any]]:
    for figure in (page, *page.also):
        for case in figure.cases:
            cells = (figure.suite, case.name, case.status, case.kind, case.message)
            yield dict(zip(_CASE_COLUMNS, cells, strict=True))


def _cell(value: Any) -> Any:
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return value
    if not isinstance(value, str):
        return value_text(value)[:_LONGEST_CELL]
    text = "\n".join(map(visible, value.splitlines()))[:_LONGEST_CELL]
    return f"'{text}" if text.startswith(_FORMULA) else text
