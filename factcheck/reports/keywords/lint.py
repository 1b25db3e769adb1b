"""What the linter of guides has found, as a report."""

from __future__ import annotations

from collections.abc import Sequence

from factcheck.keywords import LintFinding
from factcheck.keywords.lint import KINDS
from factcheck.reports.fields import many
from factcheck.reports.pages.model import (
    MOST_ROWS,
    Item,
    Page,
    Section,
    filled,
    more_of,
    name_text,
    shown_text,
)

_MOST_IDS = 5
_TITLES = {
    "shared": "Shared",
    "inside": "Inside another",
    "short": "Short",
    "in_prompt": "In the prompt",
    "doubled": "Doubled",
    "empty": "Empty",
    "never_fires": "Never fires",
}


def lint_report(findings: Sequence[LintFinding], n_cases: int) -> Page:
    """The report of the linter on a suite of so many cases."""
    sections = []
    for kind in KINDS:
        own = [finding for finding in findings if finding.kind == kind]
        sections.append(
            Section(
                f"{_TITLES[kind]} {len(own):,}",
                "warn",
                items=tuple(map(_item, own[:MOST_ROWS])),
                more=more_of(len(own) - MOST_ROWS, "finding"),
            )
        )
    n_found = f"{len(findings):,}" if findings else "none"
    return Page(
        "Findings", n_found, f"in the guides of {many(n_cases, 'case')}", sections=filled(*sections)
    )


def cases_in_words(ids: Sequence[str]) -> str:
    """Which cases have a fault: how many, and the first of them."""
    shown = ", ".join(map(name_text, ids[:_MOST_IDS]))
    dots = ", …" if len(ids) > _MOST_IDS else ""
    return f"{many(len(ids), 'case')}: {shown}{dots}"


def _item(finding: LintFinding) -> Item:
    return Item("", shown_text(finding.message, 240), (cases_in_words(finding.case_ids),))
