"""When a build should stop."""

from __future__ import annotations

import pytest

from factcheck.facts import AtomicFact, CheckFailure, CheckResult, EntailmentLabel
from factcheck.scoring.gates import coverage_gate
from tests.reports.examples import report_of, verdict


def result(
    number: int, label: EntailmentLabel | None, *, weight: float = 1.0, must: bool = False
) -> CheckResult:
    fact = AtomicFact(f"f{number}", f"Fact {number}.", weight=weight, must=must)
    return verdict(fact, label) if label else CheckFailure(fact, "missing", "")


TWO_OF_THREE = (result(0, "entailed"), result(1, "entailed"), result(2, "neutral"))
LOST_MUST = result(0, "neutral", must=True)


@pytest.mark.parametrize(
    ("results", "threshold", "exit_code", "message"),
    [
        (TWO_OF_THREE, 0.7, 1, "gate failed: score 0.67 is under 0.7"),
        (TWO_OF_THREE, 0.667, 1, "gate failed: score 0.6667 is under 0.667"),
        (
            (result(0, None, must=True), result(1, "entailed")),
            None,
            1,
            "gate failed: 1 must fact not kept: f0",
        ),
        (
            (LOST_MUST,),
            0.5,
            1,
            "gate failed: 1 must fact not kept: f0; score 0.00 is under 0.5",
        ),
        (
            (result(0, "neutral", weight=0.0),),
            0.0,
            4,
            "no score to compare with --fail-under: every decided fact weighs 0",
        ),
    ],
)
def test_a_gate_fails_with_all_its_reasons(
    results: tuple[CheckResult, ...], threshold: float | None, exit_code: int, message: str
) -> None:
    assert coverage_gate(report_of(*results), threshold) == (exit_code, message)


@pytest.mark.parametrize("threshold", [0.5, 0.5 + 1e-12])
def test_a_score_within_rounding_of_the_threshold_passes(threshold: float) -> None:
    kept = (result(0, "entailed", weight=0.1), result(1, "entailed", weight=0.1))
    assert coverage_gate(report_of(*kept, result(2, "neutral", weight=0.2)), threshold) is None


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_without_a_threshold_a_poor_score_is_fine(weight: float) -> None:
    assert coverage_gate(report_of(result(0, "neutral", weight=weight))) is None
