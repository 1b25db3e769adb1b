"""Old names of what lives in `text`, `page` and `facts.page`."""

from __future__ import annotations

from factcheck.facts import CoverageReport, Usage
from factcheck.facts import page as facts_page
from factcheck.reports.page import Entry
from factcheck.reports.text import one_line, shorten

__all__ = ["Entry", "lost_musts", "one_line", "shorten", "usage_in_words"]


def lost_musts(report: CoverageReport) -> str:
    """Old name."""
    return facts_page.lost_musts(report.results)


def usage_in_words(usage: Usage) -> str:
    """Old name."""
    return facts_page.usage_text(usage)
