"""Reports of calibration say what was measured."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from factcheck.calibration import (
    BulletRemoval,
    LabelledPair,
    WordContainment,
    audit_judge,
    bullet_removal,
    trust,
)
from factcheck.calibration.bullets_metrics import VariantRow
from factcheck.facts import Usage
from factcheck.reports import render
from factcheck.reports.text import short, short_range

FACTS = ("The ferry carried 240 cars.", "The bridge was opened in 1987.", "The tunnel was flooded.")
TEXT: dict[str, Any] = {
    "id": "harbour",
    "source": " ".join(FACTS),
    "summary": "# Harbour\n- The ferry carried 240 cars.\n- A bridge opened in 1987.",
    "facts": list(FACTS),
}


@pytest.fixture(scope="module")
def removal() -> BulletRemoval:
    return bullet_removal([TEXT], n_random=0)


def test_broken_rules_are_failed_tests() -> None:
    audit = audit_judge({"words": WordContainment()}, [TEXT])
    cases = {case.name: case for case in audit.page().cases}
    assert cases["asked again"].status == "passed"
    assert cases["changed number"].status == "failed"
    assert cases["changed number"].details == ("harbour: The ferry carried 240 cars.",)


def test_a_report_of_trust_names_the_judge() -> None:
    for judge, named in ((None, "local"), ("local-fast", "local-fast"), (WordContainment(), None)):
        assert trust(judge, [TEXT]).card.judge == (named or "WordContainment")
    assert trust("local-fast", [TEXT], name="mine").page().name == "Trust in mine"


def test_trust_shows_how_far_it_is_and_measures_the_first_text_first() -> None:
    texts = [{**TEXT, "id": str(n), "summary": f"{TEXT['summary']} {n}"} for n in range(3)]
    pairs = [LabelledPair("d", "", "A text.", fact, label=True) for fact in FACTS]
    seen: list[tuple[int, int, int]] = []

    report = trust("local-fast", texts, pairs, show=lambda *state: seen.append(state[:3]))

    done, n_all, n_texts = zip(*seen, strict=True)
    assert list(done) == sorted(done)
    assert (done[-1], {*n_all}, n_texts[-1]) == (n_all[0], {n_all[0]}, 3)
    assert 1 / 3 < done[n_texts.index(1)] / n_all[0] < 1 / 2
    rows = [row for row in report.bullets.rows if row.judge == "local-fast"]
    n_asked = sum(len(row.verdicts) for row in rows) + report.audit.n_answers + len(FACTS)
    assert n_all[0] == n_asked


def test_the_page_has_the_curve(removal: BulletRemoval) -> None:
    page = render(removal.page(), "html")
    assert page.count("<svg") == 1
    assert page.count("<polyline") == 2


def test_a_conclusion_counts_the_texts_that_were_decided_in_full(removal: BulletRemoval) -> None:
    assert "(1 text, 3 variants; at least" in str(removal.conclusion("local"))
    lost = replace(removal, rows=tuple(with_labels(row, "?timeout") for row in removal.rows))
    assert "of which 0 and 0 have all answers" in str(lost.conclusion("local"))
    assert "3 of 3 variants lack an answer" in next(iter(lost.notes()))


def test_unsure_facts_are_outside_the_scores_and_said(removal: BulletRemoval) -> None:
    rows = tuple(with_labels(row, "?unsure") for row in removal.rows)
    unsure = replace(removal, rows=rows)
    assert "(1 text, 3 variants; 33 % of the facts left open as unsure" in str(
        unsure.conclusion("local")
    )
    assert "unsure about 33 % of the facts" in next(iter(unsure.notes()))
    assert unsure.metrics("local")["full_score"].value is not None


def with_labels(row: VariantRow, label: str) -> VariantRow:
    """The row with this label for its first fact."""
    first, *_ = row.verdicts
    return replace(row, verdicts={**row.verdicts, first: label})


def test_costs_are_shown_where_there_are_any(removal: BulletRemoval) -> None:
    assert "tokens" not in str(removal)
    usage = Usage(calls=1200, prompt_tokens=30, completion_tokens=3, cost_usd=0.25)
    first, *others = removal.rows
    table = replace(removal, rows=(replace(first, usage=usage), *others)).page()
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
