"""The frame of every comparison: verdict, changed units by group, and what was left out."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from factcheck.reports import render
from factcheck.reports.comparison import (
    Unit,
    comparison_page,
    scored_unit,
    unit_table,
    verdict_text,
)
from factcheck.reports.page import Item, Page, Section, Tone
from factcheck.stats.comparison import Comparison
from factcheck.stats.intervals import Interval

LOST = Section("Lost", "bad", "by much")
SAME = Section("Unchanged")
LESS = Comparison(0.9, 0.5, -0.4, Interval(-0.5, -0.3), 0.004, 0.02)
EQUAL = Comparison(0.5, 0.5, 0.0)


def page(n_lost: int = 1, n_same: int = 1, **more: Any) -> Page:
    groups = {
        LOST: [scored_unit("field", f"l{n}", LESS) for n in range(n_lost)],
        SAME: [scored_unit("field", f"s{n}", EQUAL) for n in range(n_same)],
    }
    known = {"names": ("a.json", "b.json"), "left_out": {"Only in A": ["x", 7], "Only in B": []}}
    lines = ["two runs"]
    return comparison_page("F1", "field", LESS, groups, "by record", lines, **{**known, **more})


@pytest.mark.parametrize(
    ("difference", "p_value", "p_adjusted", "verdict"),
    [
        (0.2, 0.01, None, "higher, unlikely to be chance"),
        (-0.2, 0.01, 0.04, "lower, unlikely to be chance"),
        (-0.2, 0.01, 0.05, "lower, but that may be chance"),
        (1e-12, 0.01, None, "equal"),
        (0.2, None, None, "no verdict"),
    ],
)
def test_the_verdict_goes_by_the_adjusted_p(
    difference: float, p_value: float | None, p_adjusted: float | None, verdict: str
) -> None:
    one = Comparison(0.5, 0.5 + difference, difference, None, p_value, p_adjusted)
    assert verdict_text(one) == verdict


def test_it_says_what_was_compared_and_how_clear_it_is() -> None:
    assert render(page()).splitlines() == [
        "F1 0.900 → 0.500 (-0.400)   lower, unlikely to be chance",
        "A is a.json, B is b.json",
        "95 % interval of the difference -0.500 to -0.300, p 0.020 by record",
        "two runs",
        "fields: 1 lost, 1 unchanged",
        "",
        "Lost 1   by much",
        "field      A      B   B - A     95 % interval      p",
        "l0     0.900  0.500  -0.400  -0.500 to -0.300  0.020",
        "",
        "Unchanged 1",
        "1 field with equal scores",
        "",
        "Only in A 2   left out",
        "x",
        "7",
    ]
    assert "A is" not in render(page(names=("", "")))
    assert page(0, 0).lines[-1] == "fields: no change"


def test_only_the_first_units_are_shown_and_the_rest_is_counted() -> None:
    section = page(50, 2).sections[0]
    assert section.table is not None
    assert (len(section.table.rows), section.more) == (40, "and 10 more fields")
    facts = [Unit(f"f{n}", "kept → dropped", Item(f"f{n}")) for n in range(25)]
    [listed] = comparison_page(
        "Coverage", "fact", EQUAL, {LOST: facts}, "", (), names=("", ""), left_out={}
    ).sections
    assert (len(listed.items), listed.more) == (20, "and 5 more facts")


def test_columns_without_any_number_are_left_out() -> None:
    table = unit_table(SAME, "case", [scored_unit("case", "c", EQUAL)]).table
    assert table is not None
    assert table.columns == ("case", "A", "B", "B - A")


def test_every_unit_is_a_test_case_and_every_compared_one_a_row() -> None:
    cases = [(case.name, case.status, case.kind, case.message) for case in page().cases]
    assert cases == [
        ("l0", "failed", "lost", "0.900 → 0.500 (-0.400), p 0.020"),
        ("s0", "passed", "", "0.500 → 0.500 (+0.000)"),
        ("x", "skipped", "only in a", "left out"),
        ("7", "skipped", "only in a", "left out"),
    ]
    lost, same = csv.DictReader(io.StringIO(render(page(), "csv")))
    assert [*lost.values()] == ["l0", "lost", "0.9", "0.5", "-0.4", "-0.5", "-0.3", "0.004", "0.02"]
    assert [*same.values()][:4] == ["s0", "unchanged", "0.5", "0.5"]


@pytest.mark.parametrize(
    ("tone", "status"),
    [
        ("bad", "failed"),
        ("warn", "failed"),
        ("unknown", "skipped"),
        ("plain", "passed"),
        ("good", "passed"),
    ],
)
def test_the_tone_of_a_group_says_how_its_test_cases_end(tone: Tone, status: str) -> None:
    unit = Unit("f1", "kept → dropped", Item("f1"), details=("quote",))
    found = comparison_page(
        "Coverage", "fact", EQUAL, {Section("X", tone): [unit]}, "", (), names=("", ""), left_out={}
    )
    assert [case.status for case in found.cases] == [status]
    assert found.cases[0].details == (() if status == "passed" else ("quote",))
