"""What the reports on keywords and references are made of: words and numbers, no layout."""

from __future__ import annotations

from typing import Literal, NamedTuple

from factcheck.reports.content import Entry, one_line
from factcheck.reports.fields_values import shortened, visible
from factcheck.stats import Interval

Tone = Literal["good", "warn", "bad", "unknown", "plain"]
"""How welcome something is; renderings have a colour for each."""
DASH = "\u2013"
MOST_ROWS = 40
LONGEST_TEXT = 160
_LONGEST_NAME = 40


class Table(NamedTuple):
    """Names with numbers beside them."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_names: int = 1
    """So many first columns hold names, the others numbers."""
    dispensable: tuple[str, ...] = ()
    """Columns that are left out, in this order, where there is no room for all."""
    slim: tuple[tuple[str, ...], ...] = ()
    """The same in rows of names and one number, for where the columns have no room at all."""


class Item(NamedTuple):
    """Something with a name, and what is to be said about it."""

    name: str
    text: str
    notes: tuple[str, ...] = ()
    """Lines that stand under it."""


class Section(NamedTuple):
    """Things of one kind."""

    title: str
    tone: Tone = "plain"
    meaning: str = ""
    """What it means to stand here; may be empty."""
    table: Table | None = None
    items: tuple[Item, ...] = ()
    more: str = ""
    """What was left out; empty if nothing was."""


class Part(NamedTuple):
    """A part of what was counted."""

    tone: Tone
    size: int
    name: str


class Page(NamedTuple):
    """A report."""

    name: str
    """Of the main figure."""
    value: str
    """The main figure, or that there is none."""
    counts: str
    interval: str = ""
    """Of the main figure; may be empty."""
    lines: tuple[str, ...] = ()
    """What stands under the main figure."""
    parts: tuple[Part, ...] = ()
    """What the whole consists of, best first; without what is not there."""
    sections: tuple[Section, ...] = ()
    footer: tuple[Entry, ...] = ()

    @property
    def first_line(self) -> str:
        """The report in one line."""
        return f"{self.title}   {self.counts}"

    @property
    def title(self) -> str:
        """The main figure with its name."""
        return f"{self.name} {self.value}"


def name_text(name: str) -> str:
    """A name on one line, in which nothing is hidden; a long one loses its middle."""
    return shortened(visible(" ".join(name.split())), _LONGEST_NAME)


def shown_text(text: str, limit: int = LONGEST_TEXT) -> str:
    """A text on one line, in which nothing is hidden; a long one loses its middle."""
    return shortened(visible(" ".join(text.split())), limit)


def range_text(interval: Interval | None) -> str:
    """An interval with three decimals; empty where there is none."""
    return "" if interval is None else f"{interval.low:.3f} {DASH} {interval.high:.3f}"


def warnings_section(warnings: tuple[str, ...]) -> Section:
    """What is allowed but hardly meant."""
    return Section(
        f"Warnings {len(warnings):,}",
        "unknown",
        items=tuple(Item("", visible(one_line(words))) for words in warnings[:MOST_ROWS]),
        more=more_of(len(warnings) - MOST_ROWS, "warning"),
    )


def more_of(count: int, noun: str) -> str:
    """How many things of a kind were left out; empty if none were."""
    if count <= 0:
        return ""
    return f"and {count:,} more {noun}" + ("" if count == 1 else "s")


def filled(*sections: Section) -> tuple[Section, ...]:
    """The sections that hold something."""
    return tuple(one for one in sections if (one.table and one.table.rows) or one.items or one.more)


def parts_of(*parts: tuple[Tone, int, str]) -> tuple[Part, ...]:
    """The parts that are there."""
    return tuple(Part(*part) for part in parts if part[1])
