"""The reports of calibration for a terminal; the same words where there is no colour."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from factcheck.reports.calibration_bullets import BulletReport


def render_bullets(report: BulletReport) -> RenderableType:
    """The report of a bullet removal, at any width."""
    return Group(
        Text(report.headline, "bold"),
        *(Text(f"! {note}", "magenta") for note in report.notes),
        Text(),
        _table(("", *report.columns), report.rows),
        Text(),
        Text("Mean score by the share of bullets left", "bold"),
        _table(("left", *report.columns), report.chart, justify="left"),
    )


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], justify: str = "left") -> Table:
    table = Table(box=None, padding=(0, 3, 0, 0), pad_edge=False, header_style="dim")
    table.add_column(columns[0], no_wrap=True)
    for column in columns[1:]:
        table.add_column(column, justify=justify)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*map(Text, row))
    return table
