"""The reports of calibration for a terminal; the same words where there is no colour."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from factcheck.reports.calibration_agreement import AgreementWords
from factcheck.reports.calibration_audit import AuditWords
from factcheck.reports.calibration_bullets import BulletReport
from factcheck.reports.calibration_compare import ComparisonWords
from factcheck.reports.pages.model import Table
from factcheck.reports.pages.table import NamesTable


def render_bullets(report: BulletReport) -> RenderableType:
    """The report of a bullet removal, at any width."""
    return Group(
        Text(report.headline, "bold"),
        *(Text(f"! {note}", "magenta") for note in report.notes),
        Text(),
        _table(("", *report.columns), report.rows),
        Text(),
        Text("Mean score by the share of bullets left", "bold"),
        _plain_rows((("left", *report.columns), *report.chart)),
    )


def render_agreement(report: AgreementWords) -> RenderableType:
    """The report of an agreement with people, at any width."""
    parts: list[RenderableType] = [Text(report.headline, "bold")]
    parts += [Text(f"! {note}", "magenta") for note in report.notes]
    for table in report.tables:
        if table.table.rows:
            parts.append(Text(f"\n{table.title}", "bold"))
            if table.legend:
                parts.append(Text(table.legend, "dim"))
            parts.append(NamesTable(table.table))
    return Group(*parts)


def render_comparison(report: ComparisonWords) -> RenderableType:
    """The comparison of two runs, at any width."""
    parts: list[RenderableType] = [Text(report.headline, "bold"), *map(Text, report.lines)]
    for title, style, rows in (("Won", "green", report.won), ("Lost", "yellow", report.lost)):
        if rows:
            parts += [Text(f"\n{title}", f"bold {style}"), _plain_rows(rows)]
    return Group(*parts, *([Text(report.more, "dim")] if report.more else []))


def render_audit(report: AuditWords) -> RenderableType:
    """The report of an audit, at any width."""
    parts: list[RenderableType] = [Text(report.headline, "bold")]
    parts += [Text(f"! {fault}", "red") for fault in report.faults]
    parts += [Text(f"! {note}", "magenta") for note in report.notes]
    parts += [Text(), _table(("rule", "tried", "broken", "rate", "95 %"), report.rows)]
    if report.examples:
        parts.append(Text("\nProven errors   in each, at least one answer is wrong", "bold"))
    for rule, lines in report.examples:
        parts += [Text(rule, "dim"), *(Text(f"  {line}") for line in lines)]
    return Group(*parts)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> RenderableType:
    return NamesTable(Table(tuple(columns), tuple(map(tuple, rows))))


def _plain_rows(rows: Sequence[Sequence[str]]) -> RenderableType:
    grid = RichTable.grid(padding=(0, 2, 0, 0))
    for row in rows:
        grid.add_row(*map(Text, row))
    return grid
