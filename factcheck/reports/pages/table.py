"""Old names of `reports.table`."""

from factcheck.reports.table import _Columns as NamesTable
from factcheck.reports.table import renderable as render

__all__ = ["NamesTable", "render"]
