"""The report of a field evaluation for a terminal; the same words where there is no colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import StringIO

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.table import Table
from rich.text import Text

from factcheck.reports import fields as content
from factcheck.reports import fields_compare
from factcheck.reports.fields_compare import ComparisonReport
from factcheck.reports.fields_examples import Example, FieldExamples, Unscored
from factcheck.reports.table import WIDTH

_GAP = 2
_WANTED_FOR_NAMES = 32
_DROPPED_FIRST = (("P", "R", "p"), ("support", "95 % interval"), ("weight",))
"""Columns that are left out, in this order, where names of fields would be cut to pieces."""


def plain(renderable: RenderableType, width: int = WIDTH) -> str:
    """What Rich would print, as plain text without colour and without a final newline."""
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
    console.print(renderable, crop=False)
    return "\n".join(line.rstrip() for line in sink.getvalue().splitlines()).rstrip()


def render(report: content.FieldsReport) -> RenderableType:
    """The report as something that Rich can print, at any width."""
    headline = report.headline
    title = Text(headline.score, "bold")
    for words in (headline.counts, headline.interval):
        if words:
            title.append(f"   {words}", "not bold")
    parts: list[RenderableType] = [title, *map(Text, report.lines), *map(_whole_line, report.notes)]
    if report.rows:
        parts += [Text(), _title("Fields, costliest first"), *map(_dim, content.LEGEND)]
        parts.append(NumbersTable([row.cells() for row in report.rows], report.columns))
        if report.more:
            parts.append(_dim(report.more))
    if report.unscored:
        parts += [Text(), _title("Without a score", "magenta"), *map(_unscored, report.unscored)]
    if report.examples:
        parts += [Text(), _title("Examples"), _dim(content.EXAMPLES_LEGEND)]
        for found in report.examples:
            parts += [Text(), _examples_title(found), _examples(found.examples)]
    return Group(*parts)


def render_comparison(report: ComparisonReport) -> RenderableType:
    """A comparison as something that Rich can print, at any width."""
    parts: list[RenderableType] = [_title(report.headline), *map(Text, report.lines)]
    parts.append(_dim(fields_compare.LEGEND))
    names = [Text(row[0]).cell_len for section in report.sections for row in section.rows]
    for section in report.sections:
        parts += [Text(), _title(section.title, section.style)]
        if section.rows:
            columns = ("", *fields_compare.COLUMNS)[: len(section.rows[0])]
            least = min(_WANTED_FOR_NAMES, max(names))
            parts.append(NumbersTable(section.rows, columns, least))
        if section.more:
            parts.append(_dim(section.more))
    return Group(*parts)


class NumbersTable:
    """Names with numbers beside them; where it is narrow, the names get room first.

    Args:
        rows: The cells, one for each column.
        header: Names of the columns; the first is for names, the others for numbers.
        least: Characters for names at least, where there is room.
    """

    def __init__(
        self,
        rows: Sequence[Sequence[str]],
        header: Sequence[str],
        least: int = 0,
    ) -> None:
        self._rows = rows
        self._header = header
        self._least = least

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """The table with as many columns as there is room for."""
        columns = self._columns(options.max_width)
        room = options.max_width - self._numbers_width(columns)
        least = min(self._least, room) if room > 0 else None
        table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="dim")
        for place in columns:
            if place:
                table.add_column(self._header[place], justify="right", no_wrap=True)
            else:
                table.add_column(self._header[0], overflow="fold", min_width=least)
        for row in self._rows:
            table.add_row(*(Text(row[place]) for place in columns))
        yield table

    def _columns(self, width: int) -> list[int]:
        longest = max((Text(row[0]).cell_len for row in self._rows), default=0)
        wanted = min(max(longest, self._least), _WANTED_FOR_NAMES)
        places = list(range(len(self._header)))
        for group in _DROPPED_FIRST:
            if width - self._numbers_width(places) >= wanted:
                break
            places = [place for place in places if self._header[place] not in group]
        return places

    def _numbers_width(self, places: Sequence[int]) -> int:
        return sum(
            _GAP + max(len(text) for text in (self._header[k], *(row[k] for row in self._rows)))
            for k in places
            if k
        )


def _title(words: str, style: str = "") -> Text:
    return Text(words, f"bold {style}".strip())


def _whole_line(words: str) -> Text:
    """A line that is never wrapped: it may hold the path of a file."""
    return Text(words, no_wrap=True, overflow="ignore")


def _dim(words: str) -> Text:
    return Text(words, "dim")


def _examples_title(found: FieldExamples) -> Text:
    title = _title(content.shown_path(found.field), "yellow")
    if found.n_more:
        title.append(f"   and {found.n_more:,} more", "not bold dim")
    return title


def _examples(examples: Sequence[Example]) -> Table:
    grid = Table.grid(padding=(0, _GAP, 0, 0))
    grid.add_column(style="dim", overflow="fold")
    grid.add_column(overflow="fold")
    for example in examples:
        grid.add_row(Text(example.record), _example(example))
    return grid


def _example(example: Example) -> Text:
    body = Text()
    if example.path:
        body.append(f"{example.path}  ", "dim")
    body.append(example.gold, "green").append(" → ").append(example.extracted, "red")
    if example.times > 1:
        body.append(f"  {example.times:,} times", "bold")
    if example.reason:
        body.append(f"  {example.reason}", "dim")
    return body


def _unscored(found: Unscored) -> Text:
    line = Text(content.shown_path(found.field), "magenta")
    return line.append(f"  {found.words}", "default").append(f" {found.reason}", "dim")
