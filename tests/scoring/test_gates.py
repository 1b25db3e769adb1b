"""When a build should stop."""

from __future__ import annotations

from dataclasses import replace

import pytest

from factcheck.facts import (
    AtomicFact,
    CheckFailure,
    CheckResult,
    EntailmentLabel,
    ScoreSignature,
)
from factcheck.scoring.gates import Limits, coverage_gate
from tests.reports.examples import report_of, verdict


def result(
    number: int, label: EntailmentLabel | None, *, weight: float = 1.0, must: bool = False
) -> CheckResult:
    fact = AtomicFact(f"f{number}", f"Fact {number}.", weight=weight, must=must)
    return verdict(fact, label) if label else CheckFailure(fact, "missing", "")


TWO_OF_THREE = (result(0, "entailed"), result(1, "entailed"), result(2, "neutral"))
LOST_MUST = result(0, "neutral", must=True)
LOST_TAGGED = verdict(AtomicFact("f0", "The lake is deep.", tags=("must",)), "neutral")
LOST = "1 must fact not kept: f0"


@pytest.mark.parametrize(
    ("results", "threshold", "exit_code", "message"),
    [
        (TWO_OF_THREE, 0.7, 1, "gate failed: score 0.67 is under 0.7"),
        (TWO_OF_THREE, 0.667, 1, "gate failed: score 0.6667 is under 0.667"),
        (
            (result(0, None, must=True), result(1, "entailed")),
            None,
            1,
            f"gate failed: {LOST} (undecided)",
        ),
        ((LOST_MUST,), 0.5, 1, f"gate failed: {LOST}; score 0.00 is under 0.5"),
        ((LOST_TAGGED,), None, 1, f"gate failed: {LOST}"),
        (
            (result(0, "neutral", weight=0.0),),
            0.0,
            4,
            "no score to compare with 0: no fact with a weight",
        ),
        ((result(0, "neutral", weight=0.0),), None, 0, ""),
        ((result(0, "neutral"),), None, 0, ""),
    ],
)
def test_a_gate_fails_with_all_its_reasons(
    results: tuple[CheckResult, ...], threshold: float | None, exit_code: int, message: str
) -> None:
    code, said = coverage_gate(report_of(*results), Limits(threshold)) or (0, "")
    assert code == exit_code
    assert said.startswith(message)


@pytest.mark.parametrize("threshold", [0.5, 0.5 + 1e-12])
def test_a_score_within_rounding_of_the_threshold_passes(threshold: float) -> None:
    kept = (result(0, "entailed", weight=0.1), result(1, "entailed", weight=0.1))
    assert (
        coverage_gate(report_of(*kept, result(2, "neutral", weight=0.2)), Limits(threshold)) is None
    )


BASELINE = report_of(result(0, "entailed"), result(1, "neutral"))


@pytest.mark.parametrize(
    ("labels", "exit_code", "message"),
    [
        (("entailed", "neutral"), 0, ""),
        (("neutral", "neutral"), 1, "1 fact came out worse than in the baseline: f0"),
        (("entailed", "contradicted"), 1, "1 fact came out worse than in the baseline: f1"),
        ((None, "entailed"), 4, "1 fact kept in the baseline and undecided now: f0"),
        (("entailed", None), 0, ""),
        (("entailed", "neutral", "entailed"), 2, "1 fact missing in the baseline, such as 'Fact 2"),
        (("entailed",), 2, "1 fact only in the baseline, such as 'Fact 1.'; create the baseline"),
    ],
)
def test_no_fact_may_come_out_worse_than_in_the_baseline(
    labels: tuple[EntailmentLabel | None, ...], exit_code: int, message: str
) -> None:
    report = report_of(*(result(n, label) for n, label in enumerate(labels)))
    code, said = coverage_gate(report, Limits(baseline=BASELINE)) or (0, "")
    assert code == exit_code
    assert message in said


def test_a_baseline_by_another_judge_or_of_another_source_is_refused() -> None:
    other = replace(BASELINE, signature=ScoreSignature.of({"judge": "b", "version": "9"}))
    one, two = (
        replace(BASELINE, facts=replace(BASELINE.facts, source_digest=name)) for name in "xy"
    )
    for report, baseline, why in (
        (BASELINE, other, "scored with other settings (judge b, now scripted)"),
        (one, two, "for another source"),
    ):
        code, said = coverage_gate(report, Limits(baseline=baseline)) or (0, "")
        assert code == 2
        assert why in said


def test_tags_and_distorted_facts_have_limits_of_their_own() -> None:
    tagged = replace(result(0, "neutral").fact, tags=("price",))
    report = report_of(verdict(tagged, "neutral"), result(1, "contradicted"), result(2, "entailed"))
    limits = Limits(max_distorted=0, tags={"price": 0.5})
    assert coverage_gate(report, limits) == (
        1,
        "gate failed: score of #price 0.00 is under 0.5; 1 fact distorted, more than 0: f1",
    )
    failure = coverage_gate(report, Limits(tags={"prize": 0.5}))
    assert failure == (2, "no fact has the tag 'prize', which has a threshold")


@pytest.mark.parametrize(("code", "again"), [("unsure", ""), ("unavailable", "; run it again")])
def test_only_what_may_change_is_to_be_run_again(code: str, again: str) -> None:
    failure = coverage_gate(report_of(CheckFailure(result(0, None).fact, code, "why")))

    assert failure is not None
    assert failure.message.endswith(f"no verdict on any fact ({code}: why){again}")
