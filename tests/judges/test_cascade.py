"""The second judge is asked where the first is not sure, and nowhere else."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from factcheck import Cascade, FactCoverage
from factcheck.errors import (
    ConfigError,
    Failure,
    InputError,
    JudgeRejected,
    JudgeUnavailable,
)
from factcheck.facts import AtomicFact, CheckFailure, CheckResult, Usage, Verdict
from factcheck.judges.cascade import CascadeJudge, parse_cascade
from factcheck.judges.ports import Ledger, PairResult, PairVerdict, ValuePair
from factcheck.testing import ScriptedChecker, ScriptedPairJudge

PAIRS = [ValuePair(p, "x") for p in ("0", "0.1", "0.1000001", "0.5", "0.8999999", "0.9", "1")]
FIRST = ScriptedPairJudge(lambda pair: float(pair.gold), name="first")
MISSING = Failure(None, "missing", "no verdict")
WIDE = (0.1, 0.9)


def says(result: object, name: str = "second") -> ScriptedPairJudge:
    return ScriptedPairJudge(lambda _: result, name=name)  # type: ignore[arg-type, return-value]


def compare(
    judge: CascadeJudge, pairs: Sequence[ValuePair] = PAIRS, ledger: Ledger | None = None
) -> Sequence[PairResult]:
    return asyncio.run(judge.compare(pairs, ledger or Ledger()))


def speakers(results: Sequence[PairResult]) -> list[str]:
    return [r.judge if isinstance(r, PairVerdict) else r.code for r in results]


NAN = PairVerdict(True, float("nan"), "", "first")
FAILING = ScriptedPairJudge(lambda pair: MISSING if pair.gold == "0" else 1.0, name="first")
CASES: dict[str, tuple[ScriptedPairJudge, ScriptedPairJudge, tuple[float, ...], str]] = {
    "strictly between the thresholds": (FIRST, says(True), WIDE, "1 1 2 2 2 1 1"),
    "one threshold": (FIRST, says(True), (0.5, 0.5), "1 1 1 1 1 1 1"),
    "no probability stands": (says(True, "first"), says(None), (), "1 1 1 1 1 1 1"),
    "NaN is not sure": (says(NAN), says(True), (), "2 2 2 2 2 2 2"),
    "no verdict of the first": (FAILING, says(True), (), "2 1 1 1 1 1 1"),
    "first rejected": (says(JudgeRejected("no key")), says(True), (), "2 2 2 2 2 2 2"),
    "first down": (says(JudgeUnavailable("down")), says(True), (), "2 2 2 2 2 2 2"),
    "no verdict of the second": (FIRST, says(MISSING), WIDE, "1 1 - - - 1 1"),
    "second rejected": (FIRST, says(JudgeRejected("no key")), WIDE, "1 1 - - - 1 1"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_second_judge_decides_where_the_first_is_not_sure(case: str) -> None:
    first, second, thresholds, expected = CASES[case]
    limits: dict[str, Any] = dict(zip(("low", "high"), thresholds, strict=False))
    found = speakers(compare(CascadeJudge(first, second, **limits)))
    short = {"first": "1", "second": "2", "missing": "-", "rejected": "-"}
    assert [short[speaker] for speaker in found] == expected.split()


def test_the_second_judge_is_asked_once_and_only_about_the_rest() -> None:
    second, idle = says(JudgeRejected("no key")), says(True)
    results = compare(CascadeJudge(FIRST, second, low=0.1, high=0.9))
    compare(CascadeJudge(FIRST, idle, low=0.5, high=0.5))
    assert [call.pairs for call in second.calls] == [tuple(PAIRS[2:5])]
    assert results[3] == Failure(PAIRS[3], "rejected", "no key")
    assert idle.calls == ()
    with pytest.raises(JudgeRejected, match="no key"):  # nothing but rejections
        compare(CascadeJudge(FIRST, second), PAIRS[2:5])
    for batch_size, saved in [(0, 0), (1, 4), (2, 2), (4, 1), (7, 0)]:  # three of seven go on
        ledger = Ledger()
        limits: dict[str, Any] = {"low": 0.1, "high": 0.9, "batch_size": batch_size}
        compare(CascadeJudge(FIRST, idle, **limits), PAIRS, ledger)
        assert ledger.usage == Usage(kept_in_front=4, calls_saved=saved)


def test_results_that_cannot_be_told_apart_are_not_used() -> None:
    class Short(ScriptedPairJudge):
        async def compare(self, pairs: Sequence[ValuePair], ledger: Ledger) -> list[PairResult]:
            return list(await super().compare(pairs, ledger))[1:]

    short = Short(lambda _: 1.0)
    assert speakers(compare(CascadeJudge(short, says(True)))) == ["second"] * 7
    assert speakers(compare(CascadeJudge(FIRST, short)))[2:5] == ["output"] * 3


def test_thresholds_are_probabilities_in_order() -> None:
    nan = float("nan")
    for low, high in [(-0.1, 0.9), (0.1, 1.1), (0.9, 0.1), (nan, 0.9), (0.1, nan)]:
        with pytest.raises(InputError, match="0 <= low <= high <= 1"):
            CascadeJudge(FIRST, FIRST, low=low, high=high)


TEXT = "The lake is deep."
FACTS = [AtomicFact(f"f{n}", f"Fact {n}.") for n in range(5)]


def gives(*results: CheckResult | str | Exception) -> ScriptedChecker:
    """A first judge with these results for the facts, in order."""
    return ScriptedChecker(
        {fact.text: one for fact, one in zip(FACTS, results, strict=True)},  # type: ignore[misc]
        name="first",
    )


def sure(probability: float | None) -> Verdict:
    return Verdict(FACTS[0], "entailed", probability, judge="first")


def check(judge: CascadeJudge, ledger: Ledger | None = None) -> list[str]:
    results = asyncio.run(judge.check(FACTS, TEXT, ledger or Ledger()))
    assert [result.fact for result in results] == FACTS
    return [r.judge if isinstance(r, Verdict) else r.code for r in results]


UNSURE = gives(sure(0.01), sure(0.5), sure(None), CheckFailure(FACTS[0], "missing", ""), sure(1.0))


def test_facts_that_the_first_judge_is_sure_of_stay() -> None:
    second, ledger = ScriptedChecker(lambda *_: "neutral", name="second"), Ledger()
    judge = CascadeJudge(UNSURE, second, batch_size=2)
    assert check(judge, ledger) == ["first", "second", "first", "second", "first"]
    assert [call.facts for call in second.calls] == [("Fact 1.", "Fact 3.")]
    assert ledger.usage == Usage(kept_in_front=3, calls_saved=2)
    failing = CascadeJudge(UNSURE, ScriptedChecker(lambda *_: JudgeRejected("no key")))
    assert check(failing) == ["first", "rejected", "first", "rejected", "first"]


def test_verdicts_that_come_twice_or_not_at_all_go_on() -> None:
    class Disorderly(ScriptedChecker):
        async def check(
            self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
        ) -> list[CheckResult]:
            results = list(await super().check(facts, text, ledger))
            return [results[4], results[0], results[0], results[2], results[1]]

    first = Disorderly(lambda *_: sure(1.0))
    judge = CascadeJudge(first, ScriptedChecker(lambda *_: "neutral", name="second"))
    assert check(judge) == ["second", "first", "first", "second", "first"]


def test_a_scorer_takes_a_cascade_of_objects_and_names_its_judges() -> None:
    class Broken(ScriptedChecker):
        async def check(self, *_: object) -> list[CheckResult]:
            raise ValueError("no such table")

    second = ScriptedChecker(lambda *_: "entailed", name="second")
    cascade = Cascade(Broken({}), Cascade(UNSURE, second, low=0.2), high=0.8)
    with FactCoverage(cascade, "local") as scorer:
        report = scorer.score("", TEXT, facts=FACTS)
    assert [v.judge for v in report.kept] == ["first", "second", "first", "second", "first"]
    assert report.usage.kept_in_front == 3
    assert report.page().footer[0][1] == "first (3 verdicts), second (2 verdicts)"
    assert report.page().sections[0].items[1].notes == ("[second]",)
    assert str(report.signature).endswith(
        "judge:cascade(0.05, 0.8)|first.judge:scripted|second.judge:cascade(0.2, 0.9)"
        f"|second.first.judge:first|second.second.judge:second|{str(report.signature).split('|')[-1]}"
    )


@pytest.mark.parametrize(
    ("name", "cascade"),
    [
        ("local", None),
        ("cascade", None),
        ("cascade(local, openai/a)", Cascade("local", "openai/a")),
        (" cascade( a ,b, high=.8 , low=0) ", Cascade("a", "b", 0.0, 0.8)),
        ("cascade(a, cascade(b, c, low=0.1))", Cascade("a", "cascade(b, c, low=0.1)")),
        ("cascade(cascade(a, b), c)", Cascade("cascade(a, b)", "c")),
        ("cascade(replay:x=1.jsonl, b)", Cascade("replay:x=1.jsonl", "b")),
    ],
)
def test_a_name_says_judges_and_thresholds(name: str, cascade: Cascade | None) -> None:
    assert parse_cascade(name) == cascade


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("cascade(a)", "needs two judges, .*got 1"),
        ("cascade(a,)", "needs two judges"),
        ("cascade(a, b, c)", "needs two judges, .*got 3"),
        ("cascade(a, b", r"does not end with '\)'"),
        ("cascade(a, b, low=much)", "low=much is not a number"),
    ],
)
def test_a_name_that_is_no_cascade_says_why(name: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        parse_cascade(name)
    with pytest.raises(ConfigError, match="unknown judge 'x'"):
        FactCoverage("cascade(local, x)")


def test_the_judge_with_the_last_word_extracts() -> None:
    with FactCoverage("cascade(hosted_vllm/a, cascade(local, hosted_vllm/b))") as scorer:
        assert scorer.signature["extractor"] == "hosted_vllm/b"
        assert scorer.signature["second.first.judge"].startswith("local")
    with FactCoverage(Cascade(ScriptedChecker({}), "local")) as scorer:
        assert scorer.signature["extractor"].startswith("local")
