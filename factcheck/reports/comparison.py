"""The report of a comparison of run B with run A, the baseline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from factcheck.reports.page import MOST_ROWS, Case, Item, Page, Section, Status, Table, Tone, filled
from factcheck.reports.text import (
    DASH,
    more_of,
    name_text,
    one_line,
    p_text,
    plural,
    quote_text,
    share,
    signed,
)
from factcheck.stats.comparison import NEGLIGIBLE, Comparison

COLUMNS = ("change", "a", "b", "difference", "low", "high", "p_value", "p_adjusted")
"""Columns of the rows of `scored_unit`, after its name."""
_HEADER = ("", "A", "B", "B - A", "95 % interval", "p")
_MAX_ITEMS = 20


class Group(NamedTuple):
    """Wording for units that changed alike."""

    title: str
    tone: Tone = "plain"
    meaning: str = ""
    status: Status = "passed"
    """Status of their test cases."""
    head: int = 5
    """Number of items that a terminal shows."""


class Unit(NamedTuple):
    """A fact, field or case of the compared runs."""

    name: str
    change: str
    """Message of its test case."""
    shown: Item | tuple[str, ...]
    """An item or a table row."""
    data: Mapping[str, Any] | None = None
    """Its row in CSV, if it has one."""
    details: tuple[str, ...] = ()
    """More lines of its test case."""


def scored_unit(noun: str, name: str, one: Comparison, a: str = "", b: str = "") -> Unit:
    """Describe a unit by its scores; `a` and `b` are shown in place of them."""
    scores = (a or share(one.a), b or share(one.b))
    p_value = DASH if one.p is None else p_text(one.p)
    change = _change(one, *scores) + ("" if one.p is None else f", p {p_value}")
    low, high = one.interval or (None, None)
    values = (one.a, one.b, one.difference, low, high, one.p_value, one.p_adjusted)
    data = {noun: name, **dict(zip(COLUMNS[1:], values, strict=True))}
    row = (one_line(name), *scores, signed(one.difference), _interval(one) or DASH, p_value)
    return Unit(name, change, row, data)


def _change(one: Comparison, a: str, b: str) -> str:
    return f"{a} → {b} ({signed(one.difference)})"


def _interval(one: Comparison) -> str:
    return " to ".join(map(signed, one.interval or ()))


def comparison_page(
    name: str,
    noun: str,
    main: Comparison,
    groups: Mapping[Group, Sequence[Unit]],
    by: str,
    lines: Iterable[str],
    *,
    names: tuple[str, str],
    left_out: Mapping[str, Sequence[str | int]],
) -> Page:
    """Build the report of a comparison.

    Args:
        name: Name of the main metric.
        noun: What a unit is.
        main: The main metric.
        groups: Units by kind of change, most severe first.
        by: What its p-value rests on, such as `by source (3 sources)`.
        lines: More lines.
        names: Names of A and B; may be empty.
        left_out: What was not compared, by the reason, such as `Only in A`.
    """
    head = []
    if any(names):
        head.append(f"A is {quote_text(names[0])}, B is {quote_text(names[1])}")
    if main.interval and main.p is not None:
        interval = f"95 % interval of the difference {_interval(main)}"
        head.append(f"{interval}, p {p_text(main.p)} {by}")
    counts = [f"{len(units):,} {group.title.lower()}" for group, units in groups.items() if units]
    every = dict(groups)
    for why, ids in left_out.items():
        group = Group(why, "unknown", "left out", "skipped")
        every[group] = [Unit(one, "left out", Item(name_text(one))) for one in map(str, ids)]
    return Page(
        name,
        _change(main, share(main.a), share(main.b)),
        verdict_text(main),
        lines=(*head, *lines, f"{noun}s: {', '.join(counts) or 'no change'}"),
        sections=filled(*(_section(noun, *entry) for entry in every.items())),
        cases=tuple(_case(group, unit) for group, units in every.items() for unit in units),
        columns=(noun, *COLUMNS),
        rows=lambda: [
            {**unit.data, "change": group.title.lower()}
            for group, units in every.items()
            for unit in units
            if unit.data
        ],
    )


def verdict_text(main: Comparison) -> str:
    """Say whether B is higher or lower, and whether that may be chance."""
    if main.p_value is None:
        return "no verdict"
    if abs(main.difference) <= NEGLIGIBLE:
        return "equal"
    way = "higher" if main.difference > 0 else "lower"
    return f"{way}, {'unlikely to be chance' if main.is_significant else 'but that may be chance'}"


def unit_table(units: Iterable[Unit]) -> Table:
    """Build a table of the units that are shown as rows, without empty columns at the end."""
    rows = [unit.shown for unit in units if not isinstance(unit.shown, Item)]
    width = next((n for n in (6, 5, 4) if any(row[n - 1] != DASH for row in rows)), 0)
    shown = tuple(row[:width] for row in rows[:MOST_ROWS])
    return Table(_HEADER[:width], shown, dispensable=("p", ("95 % interval",)))


def _section(noun: str, group: Group, units: Sequence[Unit]) -> Section:
    items = tuple(unit.shown for unit in units if isinstance(unit.shown, Item))[:_MAX_ITEMS]
    scored = [unit for unit in units if not isinstance(unit.shown, Item)]
    differing = [unit for unit in scored if unit.data and unit.data["difference"]]
    table, n_equal = unit_table(differing), len(scored) - len(differing)
    n_more = len(units) - n_equal - len(table.rows) - len(items)
    equal = f"{plural(n_equal, noun)} with equal scores" if n_equal else ""
    more = ", ".join(filter(None, (more_of(n_more, noun), equal)))
    title = f"{group.title} {len(units):,}"
    return Section(title, group.tone, group.meaning, table, items, more, head=group.head)


def _case(group: Group, unit: Unit) -> Case:
    if group.status == "passed":
        return Case(unit.name, message=unit.change)
    return Case(unit.name, group.status, unit.change, group.title.lower(), unit.details)
