"""The reports of calibration for a terminal; the same words where there is no colour."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from factcheck.reports.calibration_agreement import AgreementWords
from factcheck.reports.calibration_audit import AuditWords
from factcheck.reports.calibration_bullets import BulletReport
from factcheck.reports.calibration_compare import ComparisonWords


def render_bullets(report: BulletReport) -> RenderableType:
    """The report of a bullet removal, at any width."""
    return Group(
        Text(report.headline, "bold"),
        *(Text(f"! {note}", "magenta") for note in report.notes),
        Text(),
        _table(("", *report.columns), report.rows),
        Text(),
        Text("Mean score by the share of bullets left", "bold"),
        _table(("left", *report.columns), report.chart),
    )


def render_agreement(report: AgreementWords) -> RenderableType:
    """The report of an agreement with people, at any width."""
    parts: list[RenderableType] = [Text(report.headline, "bold")]
    parts += [Text(f"! {note}", "magenta") for note in report.notes]
    for table in report.tables:
        if table.rows:
            title = Text(f"\n{table.title}", "bold")
            if table.legend:
                title.append(f"   {table.legend}", "not bold dim")
            parts += [title, _table(table.columns, table.rows)]
    return Group(*parts)


def render_comparison(report: ComparisonWords) -> RenderableType:
    """The comparison of two runs, at any width."""
    parts: list[RenderableType] = [Text(report.headline, "bold"), *map(Text, report.lines)]
    for title, style, rows in (("Won", "green", report.won), ("Lost", "yellow", report.lost)):
        if rows:
            parts += [Text(f"\n{title}", f"bold {style}"), _table(("", ""), rows)]
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


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    has_header = any(columns)
    table = Table(
        box=None, padding=(0, 3, 0, 0), pad_edge=False, header_style="dim", show_header=has_header
    )
    table.add_column(columns[0], no_wrap=True)
    for column in columns[1:]:
        table.add_column(column)
    for row in rows:
        table.add_row(*map(Text, row))
    return table
