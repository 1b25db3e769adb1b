"""Reports on keywords and references as one HTML page that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from factcheck.reports.content import Entry
from factcheck.reports.html import page
from factcheck.reports.pages.model import Item, Page, Part, Section, Table, Tone

_CLASSES: dict[Tone, str] = {
    "good": "kept",
    "warn": "dropped",
    "bad": "distorted",
    "unknown": "undecided",
    "plain": "plain",
}


def render_html(report: Page) -> str:
    """The report as a self-contained page, light or dark as the reader's system is."""
    body = [_headline(report), *map(_section, report.sections), *_footer(report.footer)]
    return page(report.title, "\n".join(body), style="pages.css")


def _headline(report: Page) -> str:
    words = " words" if " " in report.value or not report.value[-1:].isdigit() else ""
    lines = [
        '<section class="headline">',
        f"<h1>{escape(report.name)}</h1>",
        f'<p class="value{words}">{escape(report.value)}</p>',
        f'<p class="counts">{escape(report.counts)}</p>',
        *(
            f'<p class="soft">{escape(line)}</p>'
            for line in (report.interval, *report.lines)
            if line
        ),
    ]
    if report.parts:
        lines.append(_bar(report.parts))
    return "\n".join([*lines, "</section>"])


def _bar(parts: Sequence[Part]) -> str:
    pieces = "".join(
        f'<i class="{_CLASSES[part.tone]}" style="flex:{part.size}"></i>' for part in parts
    )
    legend = "\n".join(
        f'<span class="{_CLASSES[part.tone]}"><span class="mark">■</span> '
        f"{part.size:,} {escape(part.name)}</span>"
        for part in parts
    )
    return f'<div class="bar" aria-hidden="true">{pieces}</div>\n<p class="legend">\n{legend}\n</p>'


def _section(section: Section) -> str:
    body = "\n".join(_body(section))
    return (
        f'<details class="group {_CLASSES[section.tone]}" open>\n'
        f"<summary><h2>{escape(section.title)}</h2>"
        f'<span class="soft">{escape(section.meaning)}</span></summary>\n'
        f"{body}\n</details>"
    )


def _body(section: Section) -> Iterator[str]:
    if section.table is not None:
        yield _table(section.table)
    if section.items:
        items = "\n".join(map(_item, section.items))
        yield f'<ol class="items">\n{items}\n</ol>'
    if section.more:
        yield f'<p class="more soft">{escape(section.more)}</p>'


def _table(table: Table) -> str:
    head = "".join(_cells(table, table.columns, "th"))
    rows = "\n".join(f"<tr>{''.join(_cells(table, row, 'td'))}</tr>" for row in table.rows)
    return f'<div class="numbers"><table>\n<tr>{head}</tr>\n{rows}\n</table></div>'


def _cells(table: Table, row: Sequence[str], tag: str) -> Iterator[str]:
    for place, cell in enumerate(row):
        kind = ' class="name"' if place < table.n_names else ""
        yield f"<{tag}{kind}>{escape(cell)}</{tag}>"


def _item(item: Item) -> str:
    name = f'<p class="id">{escape(item.name)}</p>' if item.name.strip() else ""
    notes = "".join(f'<p class="reason">{escape(note)}</p>' for note in item.notes)
    return f"<li>{name}<p>{escape(item.text)}</p>{notes}</li>"


def _footer(entries: Sequence[Entry]) -> Iterator[str]:
    if entries:
        named = "\n".join(
            f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in entries
        )
        yield f"<footer><dl>\n{named}\n</dl></footer>"
