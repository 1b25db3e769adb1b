"""The one model of a report: a headline, sections of tables and items, a footer.

Each evaluator describes its result as a `Page`; the renderers turn a page into a terminal table,
Markdown, HTML, JUnit XML or CSV. The result inherits its methods from `Report`:

    class PairResult(Report):
        def page(self) -> Page:
            return Page("F1", share(self.f1), plural(self.n_cases, "case"), sections=filled(...))

    render(result.page(), "junit")

Strings may hold anything: renderers escape markup and make hidden characters visible. Each string
is one line; fold texts with `one_line`, `quote_text` or `name_text`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from factcheck.reports.text import more_of, one_line, visible

Tone = Literal["good", "warn", "bad", "unknown", "plain"]
"""How good or bad something is; renderers have a colour for each."""
Status = Literal["passed", "failed", "skipped", "error"]
MOST_ROWS = 40
"""Maximum number of rows or items in a section; `more_of` counts the others."""
_T = TypeVar("_T")


class Svg(str):
    """SVG markup made by this package: the only string that is not escaped. HTML only."""

    __slots__ = ()


class RawText(str):
    """A text with its line breaks and nothing made visible yet: the renderer does that."""

    __slots__ = ()


class Mark(NamedTuple):
    """A marked range of a text: `text[start:end]`."""

    start: int
    end: int
    key: str
    """Key of the item that it belongs to."""
    tone: Tone


class MarkedText(NamedTuple):
    """A text beside the report. HTML only."""

    side: str
    """`Source` or `Summary`: texts of one side stand in one pane."""
    name: str
    text: RawText
    marks: tuple[Mark, ...] = ()
    """They may overlap."""


class Table(NamedTuple):
    """Columns of names, left-aligned, then columns of numbers, right-aligned."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_names: int = 1
    """Number of leading columns that hold names or texts; all of them for a table of texts."""
    dispensable: tuple[str | tuple[str, ...], ...] = ()
    """Columns, or groups of them, dropped on a narrow terminal, in this order."""
    details: Callable[[int], Page] | None = None
    """The page that a row opens, by its place, in HTML, where such a table can be sorted. It is
    sorted by its first column of numbers, and formats other than HTML show `MOST_ROWS` of it."""


class Badge(NamedTuple):
    """A short label of an item."""

    text: str
    tone: Tone = "plain"


class Item(NamedTuple):
    """A text with its name, evidence and notes."""

    name: str
    """May be empty."""
    text: str = ""
    notes: tuple[str, ...] = ()
    """Lines below the text."""
    mark: str = ""
    """One character that shows the kind without colour."""
    badges: tuple[Badge, ...] = ()
    """Shown before the text."""
    quote: str = ""
    """Evidence, without quotation marks; shown below the text."""
    change: tuple[str, str] | None = None
    """Expected and actual value, shown as `expected → actual` after the text."""
    aside: str = ""
    """A remark at the end of the same line."""
    key: str = ""
    """Of its marks in the texts of the page: letters and digits; may be empty."""


class Section(NamedTuple):
    """Items of one kind, or a table, under a title."""

    title: str
    tone: Tone = "plain"
    meaning: str = ""
    """A few words beside the title."""
    table: Table | None = None
    items: tuple[Item, ...] = ()
    more: str = ""
    """How many rows or items are not shown; empty if none."""
    legend: tuple[str, ...] = ()
    """Lines below the title that explain the columns."""
    mark: str = ""
    """One character before the title in Markdown, which has no colour."""
    anchor: str = ""
    """Link target of a `Part`: letters and dashes, unique on the page."""
    pictures: tuple[Svg, ...] = ()
    """Shown above the table."""


class Line(NamedTuple):
    """An expected value beside the actual one."""

    name: str
    kind: str
    """Such as the field, to filter by."""
    status: str
    """To filter by, too."""
    tone: Tone
    expected: str
    actual: str
    reason: str = ""


class Sheet(NamedTuple):
    """Expected beside actual values, one block of lines for each record; HTML only."""

    title: str
    columns: tuple[str, str]
    """What the expected and the actual values are called."""
    blocks: tuple[tuple[str, tuple[Line, ...]], ...]
    """Titles and lines."""
    more: str = ""
    """How many blocks are not shown; empty if none."""


class Part(NamedTuple):
    """A segment of the bar at the top of the HTML page."""

    tone: Tone
    size: int
    name: str
    mark: str = "■"
    anchor: str = ""
    """Of the section to link to; may be empty."""


class Alert(NamedTuple):
    """A highlighted line below the main metric."""

    text: str
    tone: Tone = "bad"


class Case(NamedTuple):
    """A test of a JUnit suite; see `gated`."""

    name: str
    status: Status = "passed"
    message: str = ""
    kind: str = ""
    """Stable code of the failure; may be empty."""
    details: tuple[str, ...] = ()
    """Further lines."""


class Page(NamedTuple):
    """A report."""

    name: str
    """Name of the main metric, or of the report."""
    value: str = ""
    """The main metric as text; may be empty."""
    counts: str = ""
    """What the main metric rests on."""
    interval: str = ""
    """Confidence interval of the main metric; may be empty."""
    lines: tuple[str, ...] = ()
    """Lines below the main metric."""
    parts: tuple[Part, ...] = ()
    """Breakdown of the counts, best first; see `parts_of`."""
    sections: tuple[Section, ...] = ()
    """Most severe first; see `filled`."""
    footer: tuple[tuple[str, str], ...] = ()
    """Names and values. Never wrapped, so that it can be copied."""
    alerts: tuple[Alert, ...] = ()
    notes: tuple[str, ...] = ()
    """Lines with paths, never wrapped."""
    also: tuple[Page, ...] = ()
    """Further metrics of the same report, each with its own sections; without a footer."""
    suite: str = ""
    """Name of the JUnit suite, such as `keywords.cards`."""
    cases: tuple[Case, ...] = ()
    """Tests of the suite."""
    columns: tuple[str, ...] = ()
    """Names of the columns of `rows`."""
    rows: Callable[[], Iterable[Mapping[str, Any]]] | None = None
    """Rows for CSV and data frames; `None`: one row per case."""
    sheet: Callable[[], Sheet] | None = None
    """Values side by side, which the HTML page can filter."""
    texts: tuple[MarkedText, ...] = ()
    """What was compared, beside the sections."""

    @property
    def problems(self) -> Page:
        """The report without the sections on what is right."""
        return self._replace(sections=tuple(s for s in self.sections if s.tone != "good"))

    @property
    def title(self) -> str:
        return f"{self.name} {self.value}".rstrip()

    @property
    def first_line(self) -> str:
        """The report in one line."""
        return f"{self.title}   {self.counts}".rstrip()


def filled(*sections: Section | None) -> tuple[Section, ...]:
    """The sections that hold something."""
    return tuple(
        one
        for one in sections
        if one and ((one.table and one.table.rows) or one.items or one.more or one.pictures)
    )


def listed(
    title: str,
    tone: Tone,
    meaning: str,
    things: Sequence[_T],
    item: Callable[[_T], Item],
    noun: str,
    limit: int = MOST_ROWS,
) -> Section:
    """A section with an item for each of the first things; the title has their number."""
    return Section(
        f"{title} {len(things):,}",
        tone,
        meaning,
        items=tuple(map(item, things[:limit])),
        more=more_of(len(things) - limit, noun),
    )


def brief(page: Page) -> Page:
    """The page with the first rows of each table whose rows open."""

    def shortened(section: Section) -> Section:
        if section.table is None or section.table.details is None:
            return section
        table, noun = section.table, section.table.columns[0]
        more = more_of(len(table.rows) - MOST_ROWS, noun)
        table = table._replace(rows=table.rows[:MOST_ROWS], details=None)
        return section._replace(table=table, more=more)

    return page._replace(sections=tuple(map(shortened, page.sections)))


def parts_of(*parts: tuple[Tone, int, str]) -> tuple[Part, ...]:
    """The parts whose size is not 0."""
    return tuple(Part(*part) for part in parts if part[1])


def entries(*pairs: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    """The pairs of name and value whose value is not empty."""
    return tuple(pair for pair in pairs if pair[1])


def warnings_section(warnings: Iterable[str]) -> Section:
    """A section of warnings, the first `MOST_ROWS` of them."""
    lines = tuple(warnings)
    return listed(
        "Warnings", "unknown", "", lines, lambda line: Item("", one_line(line)), "warning"
    )


def gated(page: Page, failure: str) -> Page:
    """Align the test cases of a page with its gate, so that JUnit and the exit code agree.

    Args:
        page: The report.
        failure: Message of the failed gate, which becomes a case. Empty if the gate passed: failed
            cases and errors are then skipped, with their message.
    """
    if failure:
        return page._replace(cases=(*page.cases, Case("gate", "failed", failure)))
    excused = (
        case._replace(status="skipped") if case.status in {"failed", "error"} else case
        for case in page.cases
    )
    return page._replace(
        cases=tuple(excused), also=tuple(gated(other, failure) for other in page.also)
    )


def cleaned(part: _T) -> _T:
    """A page, or part of one, with every string made `visible`; first step of every renderer."""
    if isinstance(part, (Svg, RawText)):
        return part
    if isinstance(part, str):
        return visible(part)  # type: ignore[return-value]
    if isinstance(part, tuple):
        made = map(cleaned, part)
        return type(part)(*made) if hasattr(part, "_fields") else tuple(made)  # type: ignore[return-value]
    return part
