"""Reports of calibration say what was measured, and what to conclude."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from factcheck.calibration import (
    BulletRemoval,
    WordContainment,
    bullet_removal,
    conclusions,
    trust,
)
from factcheck.calibration.bullets_metrics import VariantRow
from factcheck.facts import Usage
from factcheck.stats.intervals import Estimate, Interval

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


def test_a_report_of_trust_names_the_judge() -> None:
    for judge, named in ((None, "local"), ("local-fast", "local-fast"), (WordContainment(), None)):
        assert trust(judge, [TEXT]).judge == (named or "WordContainment")
    assert trust("local-fast", [TEXT], name="mine").page().name == "Trust in mine"


def test_a_conclusion_counts_the_texts_that_were_decided_in_full(removal: BulletRemoval) -> None:
    assert "(1 text, 3 variants; at least" in str(removal.conclusion("local"))
    lost = replace(removal, rows=tuple(with_labels(row, "?timeout") for row in removal.rows))
    assert "3 of 3 variants lack an answer" in next(iter(lost.notes()))


def test_unsure_facts_are_outside_the_scores_and_said(removal: BulletRemoval) -> None:
    rows = tuple(with_labels(row, "?unsure") for row in removal.rows)
    unsure = replace(removal, rows=rows)
    assert "3 variants; 33 % of the facts left open as unsure" in str(unsure.conclusion("local"))
    assert list(unsure.notes()) == []
    assert unsure.metrics("local")["full_score"].value is not None


def with_labels(row: VariantRow, label: str) -> VariantRow:
    first, *_ = row.verdicts
    return replace(row, verdicts={**row.verdicts, first: label})


def test_costs_are_shown_where_there_are_any(removal: BulletRemoval) -> None:
    assert "tokens" not in str(removal)
    usage = Usage(calls=1200, prompt_tokens=30, completion_tokens=3, cost_usd=0.25)
    first, *others = removal.rows
    page = replace(removal, rows=(replace(first, usage=usage), *others)).page()
    (footer,) = page.footer
    assert footer == (
        "Usage",
        f"{first.judge}: 1,200 calls, 30 prompt + 3 completion tokens, $0.2500",
    )


SURE = 0.02


def around(value: float | None, half: float = SURE) -> Estimate:
    if value is None:
        return Estimate(None)
    return Estimate(value, Interval(max(0.0, value - half), min(1.0, value + half)))


def bullets(n_texts: int = 12, **changed: float | Estimate | None) -> conclusions.Conclusion:
    """Of a judge that is good at everything but for what is changed."""
    figures: dict[str, float | Estimate | None] = {
        "kendall": 0.95,
        "kendall_bullets": 0.95,
        "rising_steps": 0.01,
        "found": 0.95,
        "invented": 0.03,
        **changed,
    }
    metrics = {
        name: one if isinstance(one, Estimate) else around(one) for name, one in figures.items()
    }
    return conclusions.of_bullets(metrics, n_texts, "12 texts, 300 variants")


def agreement(
    found: float, specificity: float, n_facts: int = 400, half: float = SURE
) -> conclusions.Conclusion:
    metrics = {
        "balanced_accuracy": around((found + specificity) / 2, half),
        "sensitivity": around(found, half),
        "specificity": around(specificity, half),
    }
    return conclusions.of_agreement(metrics, n_facts, 20)


UNDEFINED = dict.fromkeys(("balanced_accuracy", "sensitivity", "specificity"), Estimate(None))
SOUND = conclusions.of_audit((), 100, "1 proven error in 100 trials", is_constant=False)
FOUND = "40 proven errors in 100 trials"
FAULTY = conclusions.of_audit(("it goes by the words",), 100, FOUND, is_constant=False)
CONSTANT = conclusions.of_audit(("it says yes",), 100, FOUND, is_constant=True)
ANSWERS = {"y": "yes", "n": "no", "o": "open"}
LITTLE = "Too little was measured for ranking, thresholds or absolute figures."


@pytest.mark.parametrize(
    ("found", "uses", "says"),
    [
        (bullets(), "yyy", "Good for ranking, thresholds and absolute figures. It credits 95 %"),
        (bullets(found=0.58), "yyn",
         ("Good for ranking and thresholds; not for absolute figures. It credits 58 % "
         "(56\u201360 %) of the facts present, and 3 % (1\u20135 %) of those absent; "
         "rank correlation of the score with the facts left 0.950 (0.930\u2013"
         "0.970) (12 texts, 300 "
         "variants).")),
        (bullets(kendall=None, kendall_bullets=None, found=1.0, invented=1.0), "nnn",
         "Do not use this judge. It credits 100 %"),
        (bullets(rising_steps=0.3), "nyy", "rises at 30 % (28\u201332 %) of the removals"),
        (bullets(found=around(0.93, 0.06)), "yyo",
         "Good for ranking and thresholds; too little was measured for absolute figures."),
        (bullets(kendall=around(0.8, 0.1), found=0.4), "onn",
         "Not for thresholds or absolute figures; too little was measured for ranking. It credits"),
        (bullets(n_texts=9), "ooo", "; at least 10 texts are needed)."),
        (agreement(1.0, 1.0, n_facts=49, half=0.0), "ooo", LITTLE),
        (bullets(kendall=None, found=None, invented=None), "y", "with the bullets left 0.950"),
        (conclusions.of_agreement(UNDEFINED, 60, 20), "o", ". No verdicts on one of"),
        (conclusions.of_audit((), 0, "", is_constant=False), "o", "It gave no answers"),
        (SOUND, "", "Nothing here speaks against this judge"),
        (FAULTY, "-n", "Not for thresholds. It goes by the words"),
        (CONSTANT, "nnn", "Do not use this judge. It says yes"),
        (conclusions.merged([bullets()], SOUND), "yyy", "1 proven error in 100 trials"),
        (conclusions.merged([bullets(), agreement(0.7, 0.95)], FAULTY), "ynn",
         "of 20 documents); it goes by the words (40 proven errors in 100 trials)."),
    ],
)  # fmt: skip
def test_a_conclusion(found: conclusions.Conclusion, uses: str, says: str) -> None:
    """Of a good judge but for what is named; the worst answer counts of several measurements."""
    answers = zip(("rank", "gate", "level"), uses, strict=False)
    assert found.uses == {use: ANSWERS[one] for use, one in answers if one != "-"}
    assert says in str(found)
