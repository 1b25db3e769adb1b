"""Old names of what lives in `reports.page` and `reports.text`."""

from __future__ import annotations

from factcheck.reports.page import (
    MOST_ROWS,
    Item,
    Page,
    Part,
    Section,
    Table,
    Tone,
    filled,
    parts_of,
    warnings_section,
)
from factcheck.reports.text import DASH, more_of, name_text
from factcheck.reports.text import quote_text as shown_text
from factcheck.stats import Interval

__all__ = [
    "DASH",
    "MOST_ROWS",
    "Item",
    "Page",
    "Part",
    "Section",
    "Table",
    "Tone",
    "filled",
    "more_of",
    "name_text",
    "parts_of",
    "range_text",
    "shown_text",
    "warnings_section",
]


def range_text(interval: Interval | None) -> str:
    """Old name."""
    return "" if interval is None else f"{interval.low:.3f} {DASH} {interval.high:.3f}"
