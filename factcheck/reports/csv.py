"""Render the rows of a page as CSV that is safe to open in a spreadsheet."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
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

    A string that a spreadsheet would read as a formula gets a leading apostrophe, lists and objects
    become JSON, and `None` is an empty cell.
    """
    sink = StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    columns = columns_of(page)
    writer.writerow(columns)
    writer.writerows([_cell(row.get(name)) for name in columns] for row in rows_of(page))
    return sink.getvalue()


def columns_of(page: Page) -> Sequence[str]:
    return page.columns if page.rows is not None else _CASE_COLUMNS


def rows_of(page: Page) -> Iterable[Mapping[str, Any]]:
    """The rows of a page; without rows of its own, one for each test case."""
    if page.rows is not None:
        yield from page.rows()
        return
    for metric in (page, *page.also):
        for case in metric.cases:
            cells = (metric.suite, case.name, case.status, case.kind, case.message)
            yield dict(zip(_CASE_COLUMNS, cells, strict=True))


def _cell(value: Any) -> Any:
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return value
    if not isinstance(value, str):
        return value_text(value)[:_LONGEST_CELL]
    text = "\n".join(map(visible, value.splitlines()))[:_LONGEST_CELL]
    return f"'{text}" if text.startswith(_FORMULA) else text
