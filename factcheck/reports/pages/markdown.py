"""Reports on keywords and references as Markdown, for a pull request or a wiki."""

from __future__ import annotations

from collections.abc import Iterator

from factcheck.reports.markdown import escape
from factcheck.reports.pages.model import Item, Page, Section, Table


def render_markdown(page: Page) -> str:
    """The report as GitHub-flavoured Markdown; no text or name can act as markup."""
    numbers = " · ".join(escape(words) for words in (page.counts, page.interval) if words)
    blocks = [f"## {escape(page.title)}", "  \n".join([numbers, *map(escape, page.lines)])]
    for section in page.sections:
        blocks += _section(section)
    if page.footer:
        blocks.append("---")
        blocks.append("  \n".join(f"{name}: {escape(value)}" for name, value in page.footer))
    return "\n\n".join(blocks) + "\n"


def _section(section: Section) -> Iterator[str]:
    yield f"### {escape(section.title)}"
    if section.meaning:
        yield escape(section.meaning)
    if section.table is not None:
        yield _table(section.table)
    if section.items:
        yield "\n".join(map(_item, section.items))
    if section.more:
        yield escape(section.more)


def _table(table: Table) -> str:
    n_numbers = len(table.columns) - table.n_names
    lines = [map(escape, table.columns), ["---"] * table.n_names + ["--:"] * n_numbers]
    for row in table.rows:
        numbers = (cell.replace("<", "&lt;").replace(">", "&gt;") for cell in row[table.n_names :])
        lines.append([*map(escape, row[: table.n_names]), *numbers])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _item(item: Item) -> str:
    name = f"**{escape(item.name)}** " if item.name else ""
    return "  \n  ".join([f"- {name}{escape(item.text)}", *map(escape, item.notes)])
