"""Reports of calibration say what was measured, in every format."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from factcheck.calibration import (
    AuditText,
    BulletRemoval,
    LabelledPair,
    WordContainment,
    agreement,
    audit_judge,
    bullet_removal,
    compare_coverage,
)
from factcheck.facts import Usage
from factcheck.reports.report import FORMATS, Report, render
from factcheck.reports.text import short, short_range
from tests.calibration.test_comparison import report

FACTS = ("The ferry carried 240 cars.", "The bridge was opened in 1987.", "The tunnel was flooded.")
TEXT: dict[str, Any] = {
    "id": "harbour",
    "source": " ".join(FACTS),
    "summary": "# Harbour\n- The ferry carried 240 cars.\n- A bridge opened in 1987.",
    "facts": list(FACTS),
}
PAIRS = [
    LabelledPair("a", "", "A deep lake.", "The lake is deep.", label=True),
    LabelledPair("a", "", "A deep lake.", "The mole is long.", label=False),
    LabelledPair("b", "", "A red boat.", "The boat is blue.", label=False),
]


@pytest.fixture(scope="module")
def removal() -> BulletRemoval:
    return bullet_removal([TEXT], n_random=0)


@pytest.fixture(scope="module")
def reports(removal: BulletRemoval) -> dict[str, Report]:
    return {
        "bullets": removal,
        "audit": audit_judge({"words": WordContainment()}, [AuditText("one", FACTS[:2], FACTS)]),
        "agreement": agreement(PAIRS, n_resamples=20),
        "comparison": compare_coverage({"x": report("kd")}, {"x": report("kk")}),
    }


@pytest.mark.parametrize(
    ("name", "first_line", "said"),
    [
        ("bullets", "Bullet removal   1 text, 3 variants, 2 removal orders", "steps at which it"),
        ("comparison", "Coverage .500 \u2192 1.000   1 \u2192 2 of 2 facts kept: more", "fact 1"),
    ],
)
def test_a_report_has_every_format(
    reports: dict[str, Report], name: str, first_line: str, said: str
) -> None:
    shown = reports[name]
    assert str(shown).startswith(first_line)
    assert repr(shown).startswith(f"<{type(shown).__name__}: {first_line}")
    for to in FORMATS:
        assert said in render(shown.page(), to) or to in {"csv", "junit"}


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("bullets", {"text": "harbour", "judge": "containment", "kept": "1", "score": 1 / 3}),
        ("audit", {"rule": "asked again", "tried": "3", "broken": "0", "rate": ".000"}),
        ("agreement", {"judge": "local", "metric": "balanced_accuracy", "value": 1.0}),
        ("comparison", {"change": "won", "document": "x", "fact": "fact 1"}),
    ],
)
def test_every_report_has_rows(reports: dict[str, Report], name: str, row: dict[str, Any]) -> None:
    page = reports[name].page()
    assert page.rows is not None
    rows = list(page.rows())
    assert any(row.items() <= found.items() for found in rows)
    assert all({*page.columns} <= found.keys() for found in rows)


def test_broken_rules_are_failed_tests(reports: dict[str, Report]) -> None:
    cases = {case.name: case for case in reports["audit"].page().cases}
    assert cases["asked again"].status == "passed"
    assert cases["changed number"].status == "failed"
    assert cases["changed number"].details == ("one: The ferry carried 240 cars.",)


def test_the_page_has_the_curve(removal: BulletRemoval) -> None:
    page = render(removal.page(), "html")
    assert page.count("<svg") == 1
    assert page.count("<polyline") == 2


def test_costs_are_shown_where_there_are_any(removal: BulletRemoval) -> None:
    assert "tokens" not in str(removal)
    usage = Usage(calls=1200, prompt_tokens=30, completion_tokens=3, cost_usd=0.25)
    first, *others = removal.rows
    table = removal.__class__(removal.subjects, (replace(first, usage=usage), *others)).page()
    assert table.sections[0].table is not None
    rows = {row[0]: row[1:] for row in table.sections[0].table.rows}
    assert rows["calls"] == ("1,200", "0")
    assert rows["tokens"] == ("33", "0")
    assert rows["cost"] == ("$0.2500", "$0.0000")


def test_numbers_have_three_decimals_and_no_leading_zero() -> None:
    values = (0.95, 1.0, -0.25, -1e-9, None)
    assert [*map(short, values)] == [".950", "1.000", "-.250", ".000", "\u2013"]
    signed = [short(value, with_sign=True) for value in values]
    assert signed == ["+.950", "+1.000", "-.250", ".000", "\u2013"]
    assert short_range((0.1, 0.25)) == ".100\u2013.250"
    assert short_range((-0.1, 0.25), with_sign=True) == "-.100 to +.250"
    assert short_range(None) == "\u2013"
