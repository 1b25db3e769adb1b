"""Renderer for terminals of any width, with or without colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from factcheck.errors import shorten_middle
from factcheck.reports.page import TRUST, Item, Page, Table, cleaned, in_words

WIDTH = 100
"""Width of a report outside a terminal, in columns."""
WIDEST = 120
"""Maximum width of a report in a terminal, in columns."""
_GAP = 2
_WIDEST_NAME = 24
_WIDEST_ID = 12
"""Maximum width of the name of an item with a mark, in columns."""
_NARROWEST_NAME = 8
"""Minimum width of the names of a table, in columns."""
_STYLES = {"good": "green", "warn": "yellow", "bad": "red", "unknown": "magenta", "plain": ""}


def render(page: Page, width: int = WIDTH) -> str:
    """Render a page as plain text, without trailing white space and final newline."""
    sink = StringIO()
    console = Console(
        file=sink,
        width=width,
        color_system=None,
        force_terminal=False,
        force_jupyter=False,
        force_interactive=False,
        legacy_windows=False,
    )
    console.print(_group(page, width), crop=False)
    return "\n".join(line.rstrip() for line in sink.getvalue().splitlines()).rstrip()


def for_stdout(page: Page) -> str:
    """Render a page for standard output, with a final newline.

    In a terminal, it is coloured and up to `WIDEST` columns wide; otherwise, it is plain.
    """
    console = Console()
    if not console.is_terminal:
        return f"{render(page)}\n"
    console.width = min(console.width, WIDEST)
    with console.capture() as capture:
        console.print(_group(page, console.width), crop=False)
    return capture.get()


def _group(page: Page, width: int) -> RenderableType:
    page = cleaned(in_words(page))
    parts = list(_metric(page, width))
    for other in page.also:
        parts += [Text(), *_metric(other, width)]
    if page.footer:
        longest = max(len(name) for name, _ in page.footer)
        lines = (f"{name:<{longest}}  {value}" for name, value in page.footer)
        parts += [Text(), Text("\n".join(lines), "dim", no_wrap=True, overflow="ignore")]
    return Group(*parts)


def _metric(page: Page, width: int) -> Iterator[RenderableType]:
    title = Text(page.title, "bold")
    if page.answer:
        yield Text(page.answer, "bold")
        title = Text(page.title)
    elif page.counts:
        title.append(f"   {page.counts}", "not bold")
    yield _titled(title, page.interval, width)
    yield from (Text(alert.text, f"bold {_STYLES[alert.tone]}".strip()) for alert in page.alerts)
    yield from map(Text, page.lines)
    yield from (Text(f"{TRUST}: {line}", "dim") for line in page.trust[:1])
    marked = [item.name for section in page.sections for item in section.items if item.mark]
    id_width = min(_WIDEST_ID, max((Text(name).cell_len for name in marked), default=1))
    for section in page.sections:
        yield Text()
        title = Text(section.title, f"bold {_STYLES[section.tone]}".strip())
        yield _titled(title, section.meaning, width)
        if section.table is not None and section.table.rows:
            yield _columns(section.table, width)
        if section.items:
            yield _items(section.items[: section.head], _STYLES[section.tone], id_width)
        n_hidden = 0 if section.head is None else len(section.items) - section.head
        hidden = n_hidden > 0 and f"and {n_hidden:,} more lines in HTML, Markdown and JSON"
        yield from (Text(line, "dim") for line in (hidden, section.more) if line)


def _titled(title: Text, words: str, width: int) -> Text:
    """Put words beside a title, or below it if the line is full."""
    if not words:
        return title
    beside = Text.assemble(title, "   ", (words, "dim"))
    if beside.cell_len <= width:
        return beside
    return Text.assemble(title, "\n", (words, "dim"))


def _columns(table: Table, width: int) -> RichTable:
    """Render a table; names that stand alone are shortened to the width."""
    columns = zip(table.columns, *table.rows, strict=True)
    widths = [max(Text(cell).cell_len for cell in column) + _GAP for column in columns]
    room = width - sum(widths[1:])
    fits = room >= min(widths[0] - _GAP, _NARROWEST_NAME)
    grid = RichTable(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="dim")
    for place, name in enumerate(table.columns):
        if place < table.n_names:
            grid.add_column(name, overflow="fold")
        else:
            grid.add_column(name, justify="right", no_wrap=fits, overflow="fold")
    for row in table.rows:
        cells = list(row)
        if fits and table.n_names == 1:
            cells[0] = shorten_middle(cells[0], room)
        grid.add_row(*map(Text, cells))
    return grid


def _items(items: Sequence[Item], style: str, id_width: int) -> RenderableType:
    has_marks = any(item.mark for item in items)
    longest = max(Text(item.name).cell_len for item in items)
    width = id_width if has_marks else min(longest, _WIDEST_NAME)
    grid = RichTable.grid(padding=(0, _GAP, 0, 0))
    if has_marks:
        grid.add_column(width=1, style=style)
    if width:
        grid.add_column(width=width, style="dim" if has_marks else style, overflow="fold")
    grid.add_column(overflow="fold")
    for item in items:
        cells: list[RenderableType] = [_body(item)]
        if width:
            cells.insert(0, Text(item.name))
        if has_marks:
            cells.insert(0, item.mark)
        grid.add_row(*cells)
    return grid


def _body(item: Item) -> Text:
    pieces: list[Text] = []
    if item.badges:
        pieces.append(Text(f"[{', '.join(item.badges)}]", "bold"))
    if item.text:
        pieces.append(Text(item.text))
    if item.aside:
        pieces.append(Text(item.aside, "dim"))
    body = Text(" ").join(pieces)
    if item.quote:
        body.append(f"\n“{item.quote}”", "dim italic")
    for note in item.notes:
        body.append(f"\n{note}", "dim")
    return body
