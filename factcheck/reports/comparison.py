"""The report of a comparison of run B with run A, the baseline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from factcheck.reports.page import Case, Item, Page, Section, Status, Table, filled
from factcheck.reports.text import (
    DASH,
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
_HEADER = ("A", "B", "B - A", "95 % interval", "p")
_NARROW = ("p", ("95 % interval",))
_MAX_ITEMS = 20
_HEAD = 5
_STATUSES: Mapping[str, Status] = {"bad": "failed", "warn": "failed", "unknown": "skipped"}
"""Status of the test cases of a group, by its tone."""


class Unit(NamedTuple):
    """A fact, field or case of the compared runs."""

    name: str
    change: str
    """Message of its test case."""
    item: Item | None = None
    row: tuple[str, ...] = ()
    """A table row, in place of the item."""
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
    return Unit(name, change, row=row, data=data)


def _change(one: Comparison, a: str, b: str) -> str:
    return f"{a} → {b} ({signed(one.difference)})"


def _interval(one: Comparison) -> str:
    return " to ".join(map(signed, one.interval or ()))


def comparison_page(
    name: str,
    noun: str,
    main: Comparison,
    groups: Mapping[Section, Sequence[Unit]],
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
        groups: Units by kind of change, most severe first. Test cases fail if the tone is `bad` or
            `warn`, and are skipped if it is `unknown`.
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
        section = Section(why, "unknown", "left out", head=_HEAD)
        every[section] = [Unit(one, "left out", Item(name_text(one))) for one in map(str, ids)]
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


def unit_table(section: Section, noun: str, units: Iterable[Unit]) -> Section:
    """Add a table of the units to a section, without empty columns at the end."""
    rows = [unit.row for unit in units]
    width = next((n for n in (6, 5, 4) if any(row[n - 1] != DASH for row in rows)), 1)
    columns, cells = (noun, *_HEADER)[:width], tuple(row[:width] for row in rows)
    return section.tabled(Table(columns, cells, dispensable=_NARROW))


def _section(noun: str, section: Section, units: Sequence[Unit]) -> Section:
    items = [unit.item for unit in units if unit.item]
    if items:
        return section.listing(items, lambda item: item, noun, _MAX_ITEMS)
    differing = [unit for unit in units if unit.data and unit.data["difference"]]
    table, n_equal = unit_table(section, noun, differing), len(units) - len(differing)
    equal = f"{plural(n_equal, noun)} with equal scores" if n_equal else ""
    more = ", ".join(filter(None, (table.more, equal)))
    return table._replace(title=f"{section.title} {len(units):,}", more=more)


def _case(section: Section, unit: Unit) -> Case:
    status = _STATUSES.get(section.tone)
    if status is None:
        return Case(unit.name, message=unit.change)
    return Case(unit.name, status, unit.change, section.title.lower(), unit.details)
