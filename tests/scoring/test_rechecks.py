"""A judge that flips one answer in twenty neither fails an unchanged run nor hides a lost fact."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from factcheck import AtomicFact, CheckFailure, CoverageReport, FactCoverage, FactSet, Verdict
from factcheck.facts import LABELS, CheckResult, EntailmentLabel, ScoreSignature, Texts, Usage
from factcheck.scoring.gates import Limits, coverage_gate
from factcheck.scoring.rechecks import settle, settled
from factcheck.testing import ScriptedChecker

FACTS = tuple(AtomicFact(f"f{n}", f"Fact {n}.", must=n < 4) for n in range(60))
Truth = dict[AtomicFact, EntailmentLabel]
TRUTH: Truth = {fact: "entailed" if n < 30 else "neutral" for n, fact in enumerate(FACTS)}
"""About the texts that say the same."""


class Flipping:
    """A judge that knows the truth about each text and gives another label in 5 % of answers."""

    def __init__(self, seed: int, truth: Mapping[str, Truth]) -> None:
        self.random = random.Random(seed)
        self.truth = truth
        self.n_answers = 0

    async def ask(self, facts: Sequence[AtomicFact], text: str) -> Sequence[CheckResult]:
        self.n_answers += len(facts)
        return [Verdict(fact, self.label(self.truth[text][fact])) for fact in facts]

    def label(self, truth: EntailmentLabel) -> EntailmentLabel:
        if self.random.random() >= 0.05:
            return truth
        return self.random.choice([label for label in LABELS if label != truth])

    def report(self, text: str) -> CoverageReport:
        results = tuple(asyncio.run(self.ask(FACTS, text)))
        made = ScoreSignature.of({"judge": "some/model"})
        texts = Texts.of("", text)
        return CoverageReport(FactSet(FACTS), results, Usage(), made, texts=texts)


def failures(
    old: str, new: str, n_runs: int, lost: Sequence[AtomicFact] = ()
) -> tuple[float, float]:
    """Share of runs that fail the gate, and the mean number of passes over the facts."""
    dropped: Truth = dict.fromkeys(lost, "neutral")
    after = {**TRUTH, **dropped}
    n_failed = n_answers = 0
    for seed in range(n_runs):
        judge = Flipping(seed, {old: TRUTH, new: after})
        baseline = judge.report(old)
        judge.n_answers = 0
        limits = Limits(max_distorted=0, baseline=baseline)
        report, settled_baseline = asyncio.run(settle(judge.report(new), limits, judge.ask))
        n_answers += judge.n_answers
        failure = coverage_gate(report, replace(limits, baseline=settled_baseline))
        n_failed += failure is not None and "gate failed" in failure.message
    return n_failed / n_runs, n_answers / n_runs / len(FACTS)


@pytest.mark.parametrize(("new", "n_runs"), [("reworded", 1000), ("old", 200)])
def test_unchanged_runs_pass_in_little_more_than_one_pass(new: str, n_runs: int) -> None:
    """Baseline and run are by the flipping judge; a reworded text says the same."""
    false_alarms, passes = failures("old", new, n_runs)
    assert false_alarms <= 0.01
    assert passes <= 1.2


def test_a_dropped_must_fact_is_caught() -> None:
    caught, passes = failures("old", "new", 400, lost=FACTS[2:3])
    assert caught >= 0.95
    assert passes <= 1.2


def test_a_judge_that_is_gone_leaves_the_first_answers() -> None:
    judge = Flipping(0, {"old": TRUTH, "new": dict.fromkeys(FACTS, LABELS[2])})
    limits, report = Limits(baseline=judge.report("old")), judge.report("new")

    async def gone(facts: Sequence[AtomicFact], _text: str) -> Sequence[CheckResult]:
        return [CheckFailure(fact, "budget", "the budget is spent") for fact in facts]

    assert asyncio.run(settle(report, limits, gone))[0].results == report.results


def test_the_scorer_asks_past_its_cache_and_shares_its_ledger_but_not_the_embedded_judge() -> None:
    fact = AtomicFact("f1", "The lake is deep.", must=True)
    answers = iter(["neutral", *["entailed"] * 3])
    usage = Usage(calls=1)
    judge = ScriptedChecker(lambda *_: next(answers), usage=usage)  # type: ignore[arg-type]
    with FactCoverage(judge) as scorer:
        report, _ = settled(scorer, scorer.score("", "A deep lake.", facts=[fact]), Limits())
        assert scorer.ledger.usage.calls == report.usage.calls == 4
    assert report.kept[0].flags == ("flipped",)
    judge = ScriptedChecker({fact.text: "neutral"}, name="local/9")
    with FactCoverage(judge) as scorer:
        settled(scorer, scorer.score("", "A red boat.", facts=[fact]), Limits())
    assert len(judge.calls) == 1
