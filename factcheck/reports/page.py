"""The one model of a report: a headline, sections of tables and items, a footer.

An evaluator describes its result as a `Page`, in its own room; the renderers of this room turn a
page into text for a terminal, Markdown, HTML, JUnit XML or CSV. The result gets its methods from
`Report`, which asks for nothing but `page()`:

    class PairResult(Report):
        def page(self) -> Page:
            return Page("F1", share(self.f1), plural(self.n_cases, "case"), sections=filled(...))

    render(result.page(), "junit")

Strings may hold anything: renderers escape what could act as markup and make hidden characters
visible. A string is one line; fold longer ones with `one_line`, `quote_text` or `name_text`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from factcheck.reports.text import more_of, one_line, visible

Tone = Literal["good", "warn", "bad", "unknown", "plain"]
"""How welcome something is; renderers have a colour for each."""
Status = Literal["passed", "failed", "skipped", "error"]
MOST_ROWS = 40
"""Rows and items that a section should show; `more_of` says how many others there are."""
_T = TypeVar("_T")


class Svg(str):
    """A picture as SVG made by this program: the one text that is not escaped. HTML only."""

    __slots__ = ()


class Table(NamedTuple):
    """Columns of names, left-aligned, then columns of numbers, right-aligned."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_names: int = 1
    """Number of leading columns that hold names or texts; all of them for a table of texts."""
    dispensable: tuple[str | tuple[str, ...], ...] = ()
    """Columns, or groups of them, that a narrow terminal leaves out, in this order."""
    slim: tuple[tuple[str, ...], ...] = ()
    """For a terminal too narrow for any row: the same as rows of names, a column and one number."""


class Badge(NamedTuple):
    """A word that sets an item apart."""

    text: str
    tone: Tone = "plain"


class Item(NamedTuple):
    """A named text with what is to be said about it."""

    name: str
    """May be empty."""
    text: str = ""
    notes: tuple[str, ...] = ()
    """Lines under the text."""
    mark: str = ""
    """One character that tells the kind without colour."""
    badges: tuple[Badge, ...] = ()
    """Stand before the text."""
    quote: str = ""
    """Evidence, without quotation marks; stands under the text."""
    change: tuple[str, str] | None = None
    """What was expected and what was found, shown as `expected → found` after the text."""
    aside: str = ""
    """A remark on the line of the text."""


class Section(NamedTuple):
    """Things of one kind."""

    title: str
    tone: Tone = "plain"
    meaning: str = ""
    """What it means to be listed here, in a few words; stands beside the title."""
    table: Table | None = None
    items: tuple[Item, ...] = ()
    more: str = ""
    """What was left out; empty if nothing was."""
    legend: tuple[str, ...] = ()
    """Lines under the title that explain the columns."""
    mark: str = ""
    """One character before the title in Markdown, which has no colour."""
    anchor: str = ""
    """Name by which a `Part` links here; letters and dashes, unique on the page."""
    collapsed: bool = False
    """Whether Markdown and HTML show it only after a click."""
    pictures: tuple[Svg, ...] = ()
    """Stand above the table."""


class Part(NamedTuple):
    """A part of the whole, for the bar and its legend in HTML."""

    tone: Tone
    size: int
    name: str
    mark: str = "■"
    anchor: str = ""
    """Of the section that lists it; may be empty."""


class Alert(NamedTuple):
    """A line that must not be overlooked."""

    text: str
    tone: Tone = "bad"


class Entry(NamedTuple):
    """A named line of the footer, or a property of a test suite."""

    name: str
    value: str


class Case(NamedTuple):
    """A test of a JUnit suite; see `gated`."""

    name: str
    status: Status = "passed"
    message: str = ""
    kind: str = ""
    """Stable word for what is wrong; may be empty."""
    details: tuple[str, ...] = ()
    """Further lines."""


class Page(NamedTuple):
    """A report."""

    name: str
    """Of the main figure, or of the report."""
    value: str = ""
    """The main figure in words."""
    counts: str = ""
    """What the main figure rests on."""
    interval: str = ""
    """Of the main figure; may be empty."""
    lines: tuple[str, ...] = ()
    """Lines under the main figure."""
    parts: tuple[Part, ...] = ()
    """What the whole consists of, best first; see `parts_of`."""
    sections: tuple[Section, ...] = ()
    """In the order of what hurts most; see `filled`."""
    footer: tuple[Entry, ...] = ()
    """Never wrapped on a terminal, so that it can be copied."""
    alerts: tuple[Alert, ...] = ()
    notes: tuple[str, ...] = ()
    """Lines that are never wrapped, because they hold paths."""
    also: tuple[Page, ...] = ()
    """Further figures of the same report, each with its own sections; without a footer."""
    suite: str = ""
    """Name of the JUnit suite, such as `keywords.cards`."""
    cases: tuple[Case, ...] = ()
    """Tests of the suite."""
    properties: tuple[Entry, ...] = ()
    """Of the suite; none: the main figure and the footer."""
    columns: tuple[str, ...] = ()
    """Of the rows."""
    rows: Callable[[], Iterable[Mapping[str, Any]]] | None = None
    """The result as rows for CSV and data frames; none: the cases."""

    @property
    def title(self) -> str:
        """The main figure with its name."""
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


def parts_of(*parts: tuple[Tone, int, str]) -> tuple[Part, ...]:
    """The parts whose size is not 0."""
    return tuple(Part(*part) for part in parts if part[1])


def entries(*pairs: tuple[str, str]) -> tuple[Entry, ...]:
    """The pairs of name and value whose value is not empty."""
    return tuple(Entry(*pair) for pair in pairs if pair[1])


def warnings_section(warnings: Iterable[str]) -> Section:
    """A section of warnings, the first `MOST_ROWS` of them."""
    lines = tuple(warnings)
    return listed(
        "Warnings", "unknown", "", lines, lambda line: Item("", one_line(line)), "warning"
    )


def gated(page: Page, failure: str) -> Page:
    """The page with test cases that fail exactly if the gate does, as the exit code.

    Args:
        page: The report.
        failure: Why the gate failed: a case of its own. Empty if it passed: cases that failed or
            have an error are skipped with their message.
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
    """A page, or a part of one, with every string made `visible`. Renderers begin with this."""
    if isinstance(part, Svg):
        return part
    if isinstance(part, str):
        return visible(part)  # type: ignore[return-value]
    if isinstance(part, tuple):
        made = map(cleaned, part)
        return type(part)(*made) if hasattr(part, "_fields") else tuple(made)  # type: ignore[return-value]
    return part
