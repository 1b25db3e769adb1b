"""Conclusions follow from figures by fixed rules."""

from __future__ import annotations

import pytest

from factcheck.calibration import conclusions
from factcheck.stats.intervals import Estimate, Interval

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


UNDEFINED = dict.fromkeys(
    ("balanced_accuracy", "sensitivity", "specificity"), Estimate(None, why="all labels are equal")
)
SOUND = conclusions.of_audit((), 100, 1, is_constant=False)
FAULTY = conclusions.of_audit(("it goes by the words",), 100, 40, is_constant=False)
CONSTANT = conclusions.of_audit(("it says yes",), 100, 40, is_constant=True)
ANSWERS = {"y": "yes", "n": "no", "o": "open"}
LITTLE = "Too little was measured to use this judge"


@pytest.mark.parametrize(
    ("found", "uses", "says"),
    [
        (bullets(), "yyy", "Use this judge to rank summaries, as a gate or to quote a level: "),
        (agreement(0.95, 0.96), "yyy", "Use this judge to rank"),
        (bullets(found=0.58), "yyn",
         ("Use this judge to rank summaries or as a gate, not to quote a level: it finds 58 % "
         "(56\u201360 %) of the facts that are there, and 3 % (1\u20135 %) of those that are not; "
         "rank correlation of the score with the facts left .950 (.930\u2013.970) (12 texts, 300 "
         "variants).")),
        (bullets(kendall=None, kendall_bullets=None, found=1.0, invented=1.0), "nnn",
         "Do not use this judge: it finds 100 %"),
        (agreement(1.0, 0.0), "nnn", "Do not use this judge: "),
        (bullets(rising_steps=0.3), "nyy", "rises at 30 % (28\u201332 %) of the removals"),
        (bullets(found=around(0.93, 0.06)), "yyo",
         "Use this judge to rank summaries or as a gate; too little was measured to use it to "),
        (bullets(kendall=around(0.8, 0.1), found=0.4), "onn",
         "or to quote a level; too little was measured to use it to rank summaries: it finds"),
        (bullets(n_texts=9), "ooo", "; at least 10 texts are needed)."),
        (agreement(1.0, 1.0, n_facts=49, half=0.0), "ooo", LITTLE),
        (agreement(0.2, 0.2, n_facts=10), "ooo",
         "(10 labelled facts of 20 documents; 50 facts of 10 documents are needed)."),
        (bullets(kendall=None, found=None, invented=None), "y", "with the bullets left .950"),
        (bullets(rising_steps=None), "o", f"{LITTLE} to rank summaries: no bullet could be"),
        (conclusions.of_agreement(UNDEFINED, 60, 20), "o", ": all labels are equal (60"),
        (conclusions.of_audit((), 0, 0, is_constant=False), "o", "it gave no answers"),
        (SOUND, "", "Nothing here speaks against this judge"),
        (FAULTY, "-n", "Do not use this judge as a gate: it goes by the words"),
        (CONSTANT, "nnn", "Do not use this judge: it says yes"),
        (conclusions.merged([bullets()], SOUND), "yyy", "1 proven error in 100 trials"),
        (conclusions.merged([bullets(), agreement(0.7, 0.95)], FAULTY), "ynn",
         "balanced accuracy .825 (.805\u2013.845); it goes by the words"),
    ],
)  # fmt: skip
def test_a_conclusion(found: conclusions.Conclusion, uses: str, says: str) -> None:
    """Of a good judge but for what is named; the worst answer counts of several measurements."""
    answers = zip(("rank", "gate", "level"), uses, strict=False)
    assert found.uses == {use: ANSWERS[one] for use, one in answers if one != "-"}
    assert says in str(found)
