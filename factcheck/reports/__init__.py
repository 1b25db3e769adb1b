"""The page model of a report and its renderers: terminal table, Markdown, HTML, JUnit XML, CSV."""

from factcheck.reports.page import (
    MOST_ROWS,
    Alert,
    Badge,
    Case,
    Entry,
    Item,
    Page,
    Part,
    Section,
    Svg,
    Table,
    Tone,
    entries,
    filled,
    parts_of,
    warnings_section,
)
from factcheck.reports.report import FORMATS, Report, render

__all__ = [
    "FORMATS",
    "MOST_ROWS",
    "Alert",
    "Badge",
    "Case",
    "Entry",
    "Item",
    "Page",
    "Part",
    "Report",
    "Section",
    "Svg",
    "Table",
    "Tone",
    "entries",
    "filled",
    "parts_of",
    "render",
    "warnings_section",
]
