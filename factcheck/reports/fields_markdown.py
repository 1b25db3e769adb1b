"""The report of a field evaluation as Markdown, for a pull request or a wiki."""

from __future__ import annotations

from collections.abc import Sequence

from factcheck.reports import fields as content
from factcheck.reports import fields_compare
from factcheck.reports.fields_compare import ComparisonReport
from factcheck.reports.fields_examples import Example, FieldExamples
from factcheck.reports.markdown import escape


def render_markdown(report: content.FieldsReport) -> str:
    """The report as GitHub-flavoured Markdown; no value or name can act as markup."""
    headline = report.headline
    numbers = " · ".join(words for words in (headline.counts, headline.interval) if words)
    blocks = [
        f"## {escape(headline.score)}",
        "  \n".join([numbers, *map(escape, (*report.lines, *report.notes))]),
    ]
    if report.rows:
        blocks += ["### Fields, costliest first", "  \n".join(content.LEGEND)]
        blocks.append(markdown_table(report.columns, [row.cells() for row in report.rows]))
        if report.more:
            blocks.append(escape(report.more))
    if report.unscored:
        blocks += [
            "### Without a score",
            "\n".join(
                f"- **{escape(content.shown_path(found.field))}** {found.words} "
                f"{escape(found.reason)}".rstrip()
                for found in report.unscored
            ),
        ]
    if report.examples:
        blocks += ["### Examples", content.EXAMPLES_LEGEND]
        blocks += [_examples(found) for found in report.examples]
    return "\n\n".join(blocks) + "\n"


def render_comparison(report: ComparisonReport) -> str:
    """A comparison as GitHub-flavoured Markdown."""
    lines = [*map(escape, report.lines), fields_compare.LEGEND]
    blocks = [f"## {escape(report.headline)}", "  \n".join(lines)]
    for section in report.sections:
        blocks.append(f"### {section.title}")
        if section.rows:
            columns = ("", *fields_compare.COLUMNS)[: len(section.rows[0])]
            blocks.append(markdown_table(columns, section.rows))
        if section.more:
            blocks.append(section.more)
    return "\n\n".join(blocks) + "\n"


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose first column holds names, and whose others hold numbers."""
    lines = [[*header], ["---", *["--:"] * (len(header) - 1)]]
    for name, *numbers in rows:
        lines.append([escape(name), *(number.replace("<", "&lt;") for number in numbers)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _examples(found: FieldExamples) -> str:
    more = f" and {found.n_more:,} more" if found.n_more else ""
    entries = "\n".join(f"- {_example(example)}" for example in found.examples)
    return f"**{escape(content.shown_path(found.field))}**{more}\n\n{entries}"


def _example(example: Example) -> str:
    parts = [
        f"{escape(example.record)}:",
        escape(example.path),
        f"{escape(example.gold)} → {escape(example.extracted)}",
        f"({example.times:,} times)" if example.times > 1 else "",
        f"*{escape(example.reason)}*" if example.reason else "",
    ]
    return " ".join(part for part in parts if part)
