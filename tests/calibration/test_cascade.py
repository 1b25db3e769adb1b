"""The thresholds of a cascade: the best ones there are, measured on documents they never saw."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck import AtomicFact, CheckFailure, CoverageReport, FactCoverage, Verdict
from factcheck.calibration.cascade import (
    JudgedFact,
    Thresholds,
    fit_cascade,
    fit_judged,
    fit_thresholds,
    sent_held_out,
)
from factcheck.errors import InputError
from factcheck.testing import ScriptedChecker

PROBABILITIES = st.sampled_from([0.0, 0.1, 0.2, 0.35, 0.5, 0.65, 0.9, 1.0])
JUDGED = st.builds(
    JudgedFact,
    st.sampled_from("abcd"),
    st.sampled_from([True, False, None]),
    st.one_of(st.none(), PROBABILITIES),
    st.booleans(),
)


def outcome(facts: list[JudgedFact], thresholds: Thresholds) -> tuple[int, int]:
    """How many facts stay, and how many of them are not what the second judge says."""
    low, high = thresholds
    stay = [f for f in facts if f.first is not None and not low < (f.probability or -1) < high]
    return len(stay), sum(fact.first != fact.second for fact in stay)


@given(st.lists(JUDGED, min_size=1, max_size=12), st.sampled_from([0.5, 0.8, 0.9, 1.0]))
def test_no_thresholds_keep_more_facts_at_the_target(
    facts: list[JudgedFact], target: float
) -> None:
    limits = [0.0, 0.05, 0.15, 0.3, 0.4, 0.6, 0.8, 0.95, 1.0]
    all_ways = [Thresholds(*both) for both in product(limits, limits) if both[0] <= both[1]]
    outcomes = [outcome(facts, way) for way in all_ways]
    reached = [stay for stay, wrong in outcomes if wrong <= (1 - target) * len(facts) + 1e-9]
    fitted = fit_thresholds(facts, target)
    stay, wrong = outcome(facts, fitted)
    if reached:
        assert stay == max(reached)
        assert wrong <= (1 - target) * len(facts) + 1e-9
    else:
        assert (stay, wrong) == outcomes[all_ways.index(Thresholds(0.0, 1.0))]


def test_thresholds_are_the_shortest_decimals_that_do() -> None:
    probabilities = [0.1234, 0.1239, 0.5, 0.8765, 0.88]
    facts = [JudgedFact("a", p > 0.3, p, p > 0.6) for p in probabilities]
    assert fit_thresholds(facts, 1.0) == (0.2, 0.6)
    facts[1:2] = [JudgedFact("a", False, 0.1239, True)]
    assert fit_thresholds(facts, 1.0) == (0.1235, 0.6)
    alike = [JudgedFact("a", p > 0.5, p, p > 0.5) for p in (0.0, 0.2, 0.7, 1.0)]
    assert fit_thresholds(alike, 1.0) == (0.3, 0.3)


def test_a_fact_is_sent_by_thresholds_of_other_documents_only() -> None:
    """What the second judge says about a document changes nothing about what it is asked there."""
    facts = [
        JudgedFact(document, p > 0.5, p, (p > 0.5) != (p in {0.4, 0.6}))
        for document in "abcdefgh"
        for p in (0.1, 0.4, 0.6, 0.9)
    ]
    before = sent_held_out(facts, 1.0)
    turned = [f._replace(second=not f.second) if f.document == "c" else f for f in facts]
    own = [place for place, fact in enumerate(facts) if fact.document == "c"]
    assert [sent_held_out(turned, 1.0)[place] for place in own] == [before[place] for place in own]
    assert before == [0.1 < fact.probability < 0.9 for fact in facts if fact.probability]


def test_full_agreement_sends_what_the_first_judge_gets_wrong() -> None:
    facts = [
        JudgedFact(f"d{n % 10}", n % 7 < 4, n % 7 / 7 + 0.01, (n % 7 < 4) != (n % 7 in {3, 4}))
        for n in range(70)
    ]
    fit = fit_judged(facts, "local", "openai/x", target=1.0)
    assert fit.alone.value == pytest.approx(5 / 7)
    assert fit.agreement.value == 1.0
    assert fit.sent.value == pytest.approx(2 / 7)
    assert fit.name == "cascade(local, openai/x, low=0.3, high=0.6)"
    assert fit.name in str(fit)
    assert fit.to_rows()[0]["sent"] == fit.sent.value


def test_a_target_that_other_documents_miss_is_said() -> None:
    facts = [JudgedFact(f"d{n}", True, 0.5 + n / 100, n != 5) for n in range(10)]
    fit = fit_judged(facts, target=0.95)
    assert (fit.agreement.value or 0) < 0.95
    assert "below the target of .950" in str(fit)


@pytest.mark.parametrize(
    ("facts", "target", "says"),
    [
        ([JudgedFact("a", True, 0.5, True)], 0.9, "all of one document"),
        ([JudgedFact("a", True, None, True)] * 2, 0.9, "gives no probabilities"),
        ([], 0.9, "gives no probabilities"),
        ([JudgedFact("a", True, 0.5, True)], 0.0, "target agreement must be in"),
        ([JudgedFact("a", True, 0.5, True)], float("nan"), "target agreement must be in"),
    ],
)
def test_what_cannot_be_fitted_is_refused(
    facts: list[JudgedFact], target: float, says: str
) -> None:
    with pytest.raises(InputError, match=says):
        fit_judged(facts, target=target)


RECORDS: list[dict[str, Any]] = [
    {"id": str(n), "source": "", "summary": f"Text {n}.", "facts": [f"A{n}.", f"B{n}.", "C."]}
    for n in range(4)
]


def run(name: str, undecided: str, probability: Mapping[str, float]) -> dict[str, CoverageReport]:
    """The reports of a judge that says what the first letter of a fact is worth."""

    def judge(fact: str, _text: str) -> Verdict | CheckFailure:
        if fact == undecided:
            return CheckFailure(AtomicFact("f", fact), "missing", "")
        share = probability[fact[0]]
        return Verdict(AtomicFact("f", fact), "entailed" if share > 0.4 else "neutral", share)

    with FactCoverage(ScriptedChecker(judge, name=name)) as scorer:
        reports = scorer.score_many(RECORDS)
    return {str(n): one for n, one in enumerate(reports) if isinstance(one, CoverageReport)}


def test_two_runs_are_paired_by_record_and_fact() -> None:
    first = run("cheap", "B3.", {"A": 0.9, "B": 0.5, "C": 0.1})
    second = run("dear", "A0.", {"A": 1.0, "B": 0.0, "C": 0.0})

    fit = fit_cascade(first, second, target=1.0)

    assert (fit.first, fit.second) == ("cheap", "dear")
    assert (fit.n_facts, fit.n_documents, fit.n_undecided) == (11, 4, 1)
    assert fit.alone.value == pytest.approx(7 / 10)
    assert fit.agreement.value == 1.0
    assert fit.sent.value == pytest.approx(4 / 11)
    del first["1"]
    assert fit_cascade(first, second, target=1.0).n_undecided == 4
    with pytest.raises(InputError, match="share no fact that the second judge decided"):
        fit_cascade(first, {})
