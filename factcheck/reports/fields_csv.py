"""Rows of a field evaluation as CSV, for a spreadsheet: no cell is taken for a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Any

from factcheck.fields.runs.comparison import RunComparison
from factcheck.fields.runs.rows import COLUMNS
from factcheck.reports.fields_values import value_text, visible

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_LONGEST_CELL = 32_000
"""Spreadsheets cut cells of more than 32,767 characters."""


def render_rows(rows: Iterable[Mapping[str, Any]]) -> str:
    """The results of a run, one row for each field of each record.

    Texts stand as they are, but one that begins like a formula gets an apostrophe before it; lists
    and objects are JSON, and the cell of null is empty.

    Args:
        rows: What `RunResult.to_rows` gives.
    """
    return _csv(COLUMNS, ([row.get(name) for name in COLUMNS] for row in rows))


def render_comparison(comparison: RunComparison) -> str:
    """The differences of two runs, one row for each field."""
    verdicts = {
        name: verdict
        for verdict in ("won", "lost", "unchanged")
        for name in getattr(comparison, verdict)
    }
    return _csv(
        ("field", "verdict", "a", "b", "difference", "low", "high", "p_value", "p_adjusted"),
        [
            [name, verdicts.get(name), d.a, d.b, d.difference, *d.interval, d.p_value, d.p_adjusted]
            for name, d in comparison.fields.items()
        ]
        + [
            [name, "not compared", found.a, found.b, *[None] * 5]
            for name, found in comparison.not_compared.items()
        ],
    )


def _csv(header: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    sink = StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(map(_cell, row) for row in rows)
    return sink.getvalue()


def _cell(value: Any) -> Any:
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return value
    if not isinstance(value, str):
        return value_text(value)[:_LONGEST_CELL]
    text = "\n".join(map(visible, value.splitlines()))[:_LONGEST_CELL]
    return f"'{text}" if text.startswith(_FORMULA) else text
