"""Renderer for terminals of any width, with or without colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import StringIO
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from factcheck.reports.page import TRUST, Item, Page, Table, cleaned, in_words
from factcheck.reports.text import shorten_middle

WIDTH = 100
"""Width of a report outside a terminal, in columns."""
WIDEST = 120
"""Maximum width of a report in a terminal, in columns."""
_GAP = 2
_WIDEST_NAME = 24
_WIDEST_ID = 12
"""Maximum width of the name of an item with a mark, in columns."""
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
    console.print(renderable(page), crop=False)
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
        console.print(renderable(page), crop=False)
    return capture.get()


def renderable(page: Page) -> RenderableType:
    page = cleaned(in_words(page))
    parts = list(_metric(page))
    for other in page.also:
        parts += [Text(), *_metric(other)]
    if page.footer:
        width = max(len(name) for name, _ in page.footer)
        lines = (f"{name:<{width}}  {value}" for name, value in page.footer)
        parts += [Text(), Text("\n".join(lines), "dim", no_wrap=True, overflow="ignore")]
    return Group(*parts)


def _metric(page: Page) -> Iterator[RenderableType]:
    title = Text(page.title, "bold")
    if page.answer:
        yield Text(page.answer, "bold")
        title = Text(page.title)
    elif page.counts:
        title.append(f"   {page.counts}", "not bold")
    yield _Line(title, page.interval)
    yield from (Text(alert.text, f"bold {_STYLES[alert.tone]}".strip()) for alert in page.alerts)
    yield from map(Text, page.lines)
    yield from (Text(note, no_wrap=True, overflow="ignore") for note in page.notes)
    yield from (Text(f"{TRUST}: {line}", "dim") for line in page.trust[:1])
    marked = [item.name for section in page.sections for item in section.items if item.mark]
    id_width = min(_WIDEST_ID, max((Text(name).cell_len for name in marked), default=1))
    for section in page.sections:
        yield Text()
        title = Text(section.title, f"bold {_STYLES[section.tone]}".strip())
        yield _Line(title, section.meaning)
        yield from (Text(line, "dim") for line in section.legend)
        if section.table is not None and section.table.rows:
            yield _Columns(section.table)
        if section.items:
            yield _items(section.items[: section.head], _STYLES[section.tone], id_width)
        n_hidden = 0 if section.head is None else len(section.items) - section.head
        hidden = n_hidden > 0 and f"and {n_hidden:,} more lines in HTML, Markdown and JSON"
        yield from (Text(line, "dim") for line in (hidden, section.more) if line)


class _Line(NamedTuple):
    """A title with a note beside it, or below it if the line is full."""

    title: Text
    words: str

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        words = Text(self.words, "dim")
        beside = Text.assemble(self.title, "   ", words) if self.words else self.title
        if not self.words or beside.cell_len <= options.max_width:
            yield beside
        else:
            yield from (self.title, words)


class _Columns(NamedTuple):
    """A table that drops columns and shortens names to fit the width."""

    table: Table

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        table, n_names = self.table, self.table.n_names
        columns = zip(table.columns, *table.rows, strict=True)
        widths = [_width(column) for column in columns]
        least = [min(width, _WIDEST_NAME + _GAP) for width in widths[:n_names]] + widths[n_names:]
        places = list(range(len(widths)))
        for names in table.dispensable:
            if sum(least[place] for place in places) - _GAP <= options.max_width:
                break
            group = (names,) if isinstance(names, str) else names
            places = [place for place in places if table.columns[place] not in group]
        room = options.max_width - sum(widths[place] for place in places if place)
        fits = room >= least[0] - _GAP
        grid = RichTable(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="dim")
        for place in places:
            if place < n_names:
                grid.add_column(table.columns[place], overflow="fold")
            else:
                header = table.columns[place]
                grid.add_column(header, justify="right", no_wrap=fits, overflow="fold")
        for row in table.rows:
            cells = [row[place] for place in places]
            if fits and n_names == 1:
                cells[0] = shorten_middle(cells[0], room)
            grid.add_row(*map(Text, cells))
        yield grid


def _width(column: Sequence[str]) -> int:
    return max(Text(cell).cell_len for cell in column) + _GAP


def _items(items: Sequence[Item], style: str, id_width: int) -> RenderableType:
    grid = RichTable.grid(padding=(0, _GAP, 0, 0))
    if any(item.mark for item in items):
        grid.add_column(width=1, style=style)
        grid.add_column(width=id_width, style="dim", overflow="fold")
        grid.add_column(overflow="fold")
        for item in items:
            grid.add_row(item.mark, Text(item.name), _body(item))
        return grid
    longest = max(Text(item.name).cell_len for item in items)
    if not longest:
        return Group(*map(_body, items))
    if longest > _WIDEST_NAME:
        lines = ((Text(item.name, style), Padding(_body(item), (0, 0, 0, _GAP))) for item in items)
        return Group(*(part for pair in lines for part in pair))
    grid.add_column(width=longest, style=style, overflow="fold")
    grid.add_column(overflow="fold")
    for item in items:
        grid.add_row(Text(item.name), _body(item))
    return grid


def _body(item: Item) -> Text:
    pieces: list[Text] = []
    if item.badges:
        pieces.append(Text(f"[{', '.join(badge.text for badge in item.badges)}]", "bold"))
    if item.text:
        pieces.append(Text(item.text))
    if item.change:
        expected, found = item.change
        pieces.append(Text.assemble((expected, "green"), " → ", (found, "red")))
    if item.aside:
        pieces.append(Text(item.aside, "dim"))
    body = Text(" ").join(pieces)
    if item.quote:
        body.append(f"\n“{item.quote}”", "dim italic")
    for note in item.notes:
        body.append(f"\n{note}", "dim")
    return body
