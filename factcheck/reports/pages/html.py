"""Old name of `reports.html`."""

from factcheck.reports.html import render as render_html

__all__ = ["render_html"]
