"""Many records: in order, as they are needed, each with its own outcome; a second look at flips."""

from __future__ import annotations

import asyncio
import os
import random
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from factcheck import CheckFailure, FactCoverage, FactSet
from factcheck.errors import BudgetExceeded, JudgeUnavailable
from factcheck.facts import (
    LABELS,
    AtomicFact,
    CheckResult,
    CoverageReport,
    EntailmentLabel,
    ScoreSignature,
    Texts,
    Usage,
    Verdict,
)
from factcheck.judges.ports import Ledger
from factcheck.records import Record
from factcheck.scoring import RecordFailure
from factcheck.scoring.gates import Limits, coverage_gate, settle, settled
from factcheck.scoring.runs import score_run
from factcheck.testing import ScriptedChecker, ScriptedExtractor

FACT = "The mill stands."


class Paced:
    """A checker that lets records finish in another order."""

    identity = {"judge": "paced"}  # noqa: RUF012 - a constant

    def __init__(self) -> None:
        self.finished: list[str] = []

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> Sequence[CheckResult]:
        for _ in range(30 - 10 * (int(text) % 3)):
            await asyncio.sleep(0)
        self.finished.append(text)
        return [Verdict(fact, "entailed") for fact in facts]


def endless(read: list[int]) -> Iterator[dict[str, Any]]:
    """Records without end; the numbers of those that were read."""
    while True:
        read.append(len(read))
        yield record(read[-1])


def record(number: int) -> dict[str, Any]:
    return {"id": f"r{number}", "source": "", "summary": str(number), "facts": [FACT]}


def test_records_may_be_pairs_or_a_data_frame() -> None:
    pandas = pytest.importorskip("pandas")
    source, summaries = "The lake is deep.", ["The lake is deep.", "Boats cross it."]
    frame = pandas.DataFrame({"source": [source] * 3, "summary": [*summaries, float("nan")]})
    with FactCoverage("local-fast") as scorer:
        *rows, missing = scorer.score_many(frame)
        pairs = [*scorer.score_many((source, summary) for summary in summaries)]
    assert [one.score for one in pairs] == [one.score for one in rows] == [1.0, 0.0]  # type: ignore[union-attr]
    assert "record 3: 'summary': expected a string, got nan" in str(missing)


def test_reports_come_in_the_order_of_the_records_whichever_is_done_first() -> None:
    checker = Paced()
    scorer = FactCoverage(checker, concurrency=6)
    scored = list(scorer.score_records(record(n) for n in range(24)))
    assert [one.record.id for one in scored if one.record] == [f"r{n}" for n in range(24)]
    assert all(isinstance(one.outcome, CoverageReport) for one in scored)
    assert checker.finished != sorted(checker.finished, key=int)


def test_records_are_read_only_as_far_as_they_are_needed() -> None:
    read: list[int] = []
    scored = FactCoverage(Paced(), concurrency=3).score_records(endless(read))
    for n_asked in range(1, 11):
        next(scored)
        assert len(read) < n_asked + 3 * 3
    scored.close()


def test_an_embedded_judge_has_as_many_records_under_way_as_there_are_cores() -> None:
    read: list[int] = []
    scored = FactCoverage("local-fast").score_records(endless(read))
    next(scored)
    assert len(read) <= (os.cpu_count() or 1)
    scored.close()


def test_leaving_early_cancels_what_is_under_way() -> None:
    """The first record is answered once others wait, which they do for ever."""
    waiting: list[str] = []
    cancelled: list[str] = []

    async def check(facts: Sequence[AtomicFact], text: str, _: Ledger) -> list[CheckResult]:
        if text != "0":
            waiting.append(text)
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.append(text)
        while not waiting:  # noqa: ASYNC110 - one turn of the loop, no polling
            await asyncio.sleep(0)
        return [Verdict(fact, "entailed") for fact in facts]

    checker: Any = SimpleNamespace(identity={"judge": "endless"}, check=check)
    scored = FactCoverage(checker, concurrency=4).score_records(endless([]))
    next(scored)
    scored.close()

    async def settle() -> None:
        while len(waiting) > len(cancelled):  # noqa: ASYNC110 - in the scorer's loop
            await asyncio.sleep(0.001)

    asyncio.run(asyncio.wait_for(settle(), 30))
    assert sorted(cancelled) == sorted(waiting) != []


def test_an_error_ends_only_its_own_record() -> None:
    lost = JudgeUnavailable("cannot reach the judge")
    extractor = ScriptedExtractor(lambda text: lost if text == "bad" else [text])
    scorer = FactCoverage(ScriptedChecker(lambda *_: "entailed"), extractor)
    records: list[Any] = [
        {"id": "a", "source": "One.", "summary": "One."},
        {"id": "b", "source": "bad", "summary": "One."},
        {"id": "c", "source": " ", "summary": "One."},
        {"id": "d", "source": "One."},
        "no record",
        Record("f", "One.", "One."),
    ]

    outcomes = list(scorer.score_many(records))

    codes = [one.code if isinstance(one, RecordFailure) else "scored" for one in outcomes]
    assert codes == ["scored", "unavailable", "input", "input", "input", "scored"]
    failures = [one for one in outcomes if isinstance(one, RecordFailure)]
    assert [failure.id for failure in failures] == ["b", "c", "4", "5"]
    assert failures[0].message == "cannot reach the judge"
    assert "'summary'" in failures[2].message


def test_a_spent_budget_ends_the_run_before_all_records_are_read() -> None:
    records = (Record(str(n), "", "x", (FACT,)) for n in range(1000))
    with FactCoverage(ScriptedChecker(lambda *_: BudgetExceeded("spent"))) as scorer:
        run = score_run(scorer, records)
    assert run.failures["budget"] < 100
    assert not run.complete


def peak_bytes(n_records: int) -> int:
    scorer = FactCoverage("local-fast")
    records = (
        {"source": f"{n}" * 2_000, "summary": f"{n}" * 500, "facts": [f"Fact {n}.", FACT]}
        for n in range(10_000, 10_000 + n_records)
    )
    tracemalloc.start()
    try:
        for _ in scorer.score_many(records):
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_number_of_records() -> None:
    """300 records, 4 MB of text, hold about as much at any moment as 50 do."""
    peak_bytes(30)
    few, many = peak_bytes(50), peak_bytes(300)
    assert many < 2 * few + 1_000_000


FACTS = tuple(AtomicFact(f"f{n}", f"Fact {n}.", must=n < 4) for n in range(60))
Truth = dict[AtomicFact, EntailmentLabel]
TRUTH: Truth = {fact: "entailed" if n < 30 else "neutral" for n, fact in enumerate(FACTS)}


class Flipping:
    """A judge that knows the truth and gives another label in 5 % of its answers."""

    def __init__(self, seed: int, truth: Truth) -> None:
        self.random = random.Random(seed)
        self.truth = truth
        self.n_answers = 0

    async def ask(self, facts: Sequence[AtomicFact], _text: str) -> Sequence[CheckResult]:
        self.n_answers += len(facts)
        return [Verdict(fact, self.label(self.truth[fact])) for fact in facts]

    def label(self, truth: EntailmentLabel) -> EntailmentLabel:
        if self.random.random() >= 0.05:
            return truth
        return self.random.choice([label for label in LABELS if label != truth])

    async def report(self, text: str) -> CoverageReport:
        results = tuple(await self.ask(FACTS, text))
        made = ScoreSignature.of({"judge": "some/model"})
        texts = Texts.of("", text)
        return CoverageReport(FactSet(FACTS), results, Usage(), made, texts=texts)


async def failures(n_runs: int, lost: Sequence[AtomicFact] = ()) -> tuple[float, float]:
    """Share of runs that fail the gate, and the mean number of passes over the facts."""
    truth = {**TRUTH, **dict.fromkeys(lost, LABELS[2])}
    n_failed = n_answers = 0
    for seed in range(n_runs):
        judge = Flipping(seed, truth)
        limits = Limits(max_distorted=0)
        report = await settle(await judge.report("text"), limits, judge.ask)
        n_answers += judge.n_answers
        failure = coverage_gate(report, limits)
        n_failed += failure is not None and "gate failed" in failure.message
    return n_failed / n_runs, n_answers / n_runs / len(FACTS)


def test_sound_runs_pass_in_little_more_than_one_pass() -> None:
    false_alarms, passes = asyncio.run(failures(1000))
    assert false_alarms <= 0.01
    assert passes <= 1.2


def test_a_dropped_must_fact_is_caught() -> None:
    caught, passes = asyncio.run(failures(200, lost=FACTS[2:3]))
    assert caught >= 0.95
    assert passes <= 1.2


def test_a_judge_that_is_gone_leaves_the_first_answers() -> None:
    report = asyncio.run(Flipping(0, dict.fromkeys(FACTS, LABELS[2])).report("text"))
    lost = CheckFailure(FACTS[0], "output", "no label")
    report = replace(report, results=(lost, *report.results[1:]))

    async def gone(facts: Sequence[AtomicFact], _text: str) -> Sequence[CheckResult]:
        assert all(fact.must for fact in facts)  # no more are distorted than may be
        return [CheckFailure(fact, "budget", "the budget is spent") for fact in facts]

    limits = Limits(max_distorted=len(report.distorted))
    assert asyncio.run(settle(report, limits, gone)).results == report.results


def test_the_scorer_asks_past_its_cache_and_shares_its_ledger_but_not_the_embedded_judge() -> None:
    fact = AtomicFact("f1", "The lake is deep.", must=True)
    answers = iter(["neutral", *["entailed"] * 3])
    usage = Usage(calls=1)
    judge = ScriptedChecker(lambda *_: next(answers), usage=usage)  # type: ignore[arg-type]
    with FactCoverage(judge) as scorer:
        report = settled(scorer, scorer.score("", "A deep lake.", facts=[fact]), Limits())
        assert scorer.ledger.usage.calls == report.usage.calls == 4
    assert report.kept[0].flags == ("flipped",)
    judge = ScriptedChecker({fact.text: "neutral"}, name="local/9")
    with FactCoverage(judge) as scorer:
        settled(scorer, scorer.score("", "A red boat.", facts=[fact]), Limits())
    assert len(judge.calls) == 1
