"""Old name of `reports.markdown`."""

from factcheck.reports.markdown import render as render_markdown

__all__ = ["render_markdown"]
