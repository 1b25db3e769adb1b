"""When a build should stop."""

from __future__ import annotations

import pytest

from factcheck.facts import AtomicFact, CheckFailure
from factcheck.scoring.gates import coverage_gate
from tests.reports.examples import report_of, verdict


def facts(count: int, *, must: bool = False, weight: float = 1.0) -> list[AtomicFact]:
    """Facts to judge."""
    return [AtomicFact(f"f{n}", f"Fact {n}.", must=must, weight=weight) for n in range(count)]


def test_a_score_within_rounding_of_the_threshold_passes() -> None:
    """Weights that do not add up exactly in binary do not fail a gate."""
    kept, lost = facts(2, weight=0.1), facts(1, weight=0.2)
    report = report_of(
        *(verdict(fact, "entailed") for fact in kept),
        verdict(AtomicFact("x", "Lost.", weight=lost[0].weight), "neutral"),
    )

    assert coverage_gate(report, 0.5) is None
    assert coverage_gate(report, 0.5 + 1e-12) is None


@pytest.mark.parametrize(
    ("threshold", "said"),
    [(0.7, "score 0.67 is under 0.7"), (0.667, "score 0.6667 is under 0.667")],
)
def test_a_failing_score_is_shown_below_its_threshold(threshold: float, said: str) -> None:
    """No rounding makes the message contradict itself."""
    one, two, three = facts(3)
    report = report_of(
        verdict(one, "entailed"), verdict(two, "entailed"), verdict(three, "neutral")
    )

    found = coverage_gate(report, threshold)

    assert found is not None
    assert found.exit_code == 1
    assert found.message == f"gate failed: {said}"


def test_an_undecided_must_fact_fails() -> None:
    """A `must` fact has to be known to be kept."""
    must, other = facts(1, must=True)[0], AtomicFact("x", "Kept.")
    report = report_of(CheckFailure(must, "missing", ""), verdict(other, "entailed"))

    found = coverage_gate(report)

    assert found is not None
    assert (found.exit_code, found.message) == (1, "gate failed: 1 must fact not kept: f0")


def test_all_reasons_are_given() -> None:
    """A gate that fails twice says so in one line."""
    must = facts(1, must=True)[0]

    found = coverage_gate(report_of(verdict(must, "neutral")), 0.5)

    assert found is not None
    assert found.message == ("gate failed: 1 must fact not kept: f0; score 0.00 is under 0.5")


def test_a_score_that_is_not_there_fails_only_a_threshold() -> None:
    """Facts without weight give no score: 4 with a threshold, fine without."""
    report = report_of(verdict(facts(1, weight=0.0)[0], "neutral"))

    found = coverage_gate(report, 0.0)

    assert found is not None
    assert found.exit_code == 4
    assert coverage_gate(report) is None


def test_without_a_gate_a_poor_score_is_fine() -> None:
    """Nothing fails that was not asked for."""
    assert coverage_gate(report_of(verdict(facts(1)[0], "neutral"))) is None
