"""Reports on keywords and references for a terminal; the same words where there is no colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from factcheck.reports.content import Entry
from factcheck.reports.fields_values import shortened
from factcheck.reports.pages.model import Item, Page, Section, Table, Tone

_GAP = 2
_WIDEST_NAME = 24
_STYLES: dict[Tone, str] = {
    "good": "green",
    "warn": "yellow",
    "bad": "red",
    "unknown": "magenta",
    "plain": "",
}


def render(page: Page) -> RenderableType:
    """The report as something that Rich can print, at any width."""
    title = Text.assemble((page.title, "bold"), f"   {page.counts}")
    parts: list[RenderableType] = [_Line(title, page.interval), *map(Text, page.lines)]
    for section in page.sections:
        title = Text(section.title, f"bold {_STYLES[section.tone]}".strip())
        parts += [Text(), _Line(title, section.meaning), *_body(section)]
    if page.footer:
        parts += [Text(), _footer(page.footer)]
    return Group(*parts)


class _Line:
    """A title, and what belongs to it: beside it, or under it where there is no room."""

    def __init__(self, title: Text, words: str) -> None:
        self._title = title
        self._words = Text(words, "dim")

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """One line or two."""
        beside = Text.assemble(self._title, "   ", self._words)
        if not self._words:
            yield self._title
        elif beside.cell_len <= options.max_width:
            yield beside
        else:
            yield from (self._title, self._words)


class NamesTable:
    """Names with numbers beside them; where it is narrow, columns are left out, names shortened."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """The table with as many columns as there is room for."""
        if self._table.slim and self._least(range(len(self._table.columns))) > options.max_width:
            yield _slim(self._table)
            return
        table, places = self._table, self._places(options.max_width)
        room = options.max_width - sum(self._width(place) + _GAP for place in places if place)
        fits = room >= min(_WIDEST_NAME, self._width(0))
        shown = RichTable(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="dim")
        for place in places:
            if place < table.n_names:
                shown.add_column(table.columns[place], overflow="fold")
            else:
                header = table.columns[place]
                shown.add_column(header, justify="right", no_wrap=fits, overflow="fold")
        for row in table.rows:
            cells = [row[place] for place in places]
            if fits:
                cells[0] = shortened(cells[0], room)
            shown.add_row(*map(Text, cells))
        yield shown

    def _places(self, width: int) -> list[int]:
        places = list(range(len(self._table.columns)))
        for name in self._table.dispensable:
            if self._least(places) <= width:
                break
            places = [place for place in places if self._table.columns[place] != name]
        return places

    def _least(self, places: Iterable[int]) -> int:
        """What some columns take, with names of a sensible width."""
        widths = (
            min(self._width(place), _WIDEST_NAME)
            if place < self._table.n_names
            else self._width(place)
            for place in places
        )
        return sum(width + _GAP for width in widths) - _GAP

    def _width(self, place: int) -> int:
        cells = (self._table.columns[place], *(row[place] for row in self._table.rows))
        return max(Text(cell).cell_len for cell in cells)


def _slim(table: Table) -> RichTable:
    """Rows of names and one number."""
    shown = RichTable(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="dim")
    for name in (*table.columns[: table.n_names], "shown"):
        shown.add_column(name, overflow="fold")
    shown.add_column("", justify="right", no_wrap=True)
    for row in table.slim:
        shown.add_row(*map(Text, row))
    return shown


def _body(section: Section) -> Iterator[RenderableType]:
    if section.table is not None:
        yield NamesTable(section.table)
    if section.items:
        yield _items(section.items, _STYLES[section.tone])
    if section.more:
        yield Text(section.more, "dim")


def _items(items: Sequence[Item], style: str) -> RenderableType:
    longest = max(Text(item.name).cell_len for item in items)
    if not longest:
        return Group(*map(_words, items))
    if longest > _WIDEST_NAME:
        return Group(*(part for item in items for part in _named(item, style)))
    grid = RichTable.grid(padding=(0, _GAP, 0, 0))
    grid.add_column(width=longest, style=style, overflow="fold")
    grid.add_column(overflow="fold")
    for item in items:
        grid.add_row(Text(item.name), _words(item))
    return grid


def _named(item: Item, style: str) -> tuple[RenderableType, RenderableType]:
    """A long name on a line of its own, and what is said under it."""
    return Text(item.name, style), Padding(_words(item), (0, 0, 0, _GAP))


def _words(item: Item) -> Text:
    words = Text(item.text)
    for note in item.notes:
        words.append(f"\n{note}", "dim")
    return words


def _footer(entries: Sequence[Entry]) -> Text:
    """Lines that are never wrapped: what they say can be copied."""
    width = max(len(entry.name) for entry in entries)
    lines = (f"{name:<{width}}  {value}" for name, value in entries)
    return Text("\n".join(lines), "dim", no_wrap=True, overflow="ignore")
