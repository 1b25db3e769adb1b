"""The second judge is asked where the first is not sure, and nowhere else."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from factcheck.errors import Failure, InputError, JudgeRejected, JudgeUnavailable
from factcheck.facts import Usage
from factcheck.judges.cascade import CascadePairJudge
from factcheck.judges.ports import Ledger, PairResult, PairVerdict, ValuePair
from factcheck.testing import CompareCall, ScriptedPairJudge

LIKELIHOODS = [0.0, 0.1, 0.1000001, 0.5, 0.8999999, 0.9, 1.0]
PAIRS = [ValuePair(str(p), "x") for p in LIKELIHOODS]
FIRST = ScriptedPairJudge(lambda pair: float(pair.gold), name="first")


def compare(
    judge: CascadePairJudge, pairs: Sequence[ValuePair] = PAIRS, ledger: Ledger | None = None
) -> Sequence[PairResult]:
    return asyncio.run(judge.compare(pairs, ledger or Ledger()))


def speakers(results: Sequence[PairResult]) -> list[str]:
    return [r.judge if isinstance(r, PairVerdict) else r.code for r in results]


def test_the_second_judge_decides_strictly_between_the_thresholds() -> None:
    second = ScriptedPairJudge(lambda _: True, name="second")
    results = compare(CascadePairJudge(FIRST, second, low=0.1, high=0.9))
    assert speakers(results) == ["first"] * 2 + ["second"] * 3 + ["first"] * 2
    assert second.calls == (CompareCall(tuple(PAIRS[2:5])),)


def test_other_thresholds_send_others_on() -> None:
    second = ScriptedPairJudge(lambda _: True, name="second")
    assert "second" not in speakers(compare(CascadePairJudge(FIRST, second, low=0.5, high=0.5)))
    assert second.calls == ()
    everyone = speakers(compare(CascadePairJudge(FIRST, second, low=0.0, high=1.0)))
    assert everyone == ["first", *["second"] * 5, "first"]


def test_a_verdict_without_a_probability_stands() -> None:
    second = ScriptedPairJudge({})
    results = compare(CascadePairJudge(ScriptedPairJudge(lambda _: True, name="first"), second))
    assert speakers(results) == ["first"] * 7


def test_a_probability_that_is_none_is_not_sure() -> None:
    first = ScriptedPairJudge(lambda _: PairVerdict(True, float("nan"), "", "first"))
    second = ScriptedPairJudge(lambda _: True, name="second")
    assert speakers(compare(CascadePairJudge(first, second))) == ["second"] * 7


def test_what_the_first_judge_has_no_verdict_on_goes_to_the_second() -> None:
    failure = Failure(None, "missing", "no verdict")
    first = ScriptedPairJudge(lambda pair: failure if pair.gold == "0.0" else 1.0, name="first")
    second = ScriptedPairJudge(lambda _: True, name="second")
    assert speakers(compare(CascadePairJudge(first, second))) == ["second", *["first"] * 6]


@pytest.mark.parametrize("error", [JudgeRejected("no key"), JudgeUnavailable("down")])
def test_a_first_judge_that_cannot_be_asked_leaves_everything_to_the_second(
    error: Exception,
) -> None:
    first = ScriptedPairJudge(lambda _: error)
    second = ScriptedPairJudge(lambda _: True, name="second")
    assert speakers(compare(CascadePairJudge(first, second))) == ["second"] * 7


def test_a_failure_of_the_second_judge_is_a_failure() -> None:
    second = ScriptedPairJudge(lambda _: Failure(None, "missing", "no verdict"))
    results = compare(CascadePairJudge(FIRST, second, low=0.1, high=0.9))
    assert speakers(results) == ["first"] * 2 + ["missing"] * 3 + ["first"] * 2


def test_a_second_judge_that_cannot_be_asked_costs_only_the_pairs_it_was_asked() -> None:
    second = ScriptedPairJudge(lambda _: JudgeRejected("no key"))
    results = compare(CascadePairJudge(FIRST, second, low=0.1, high=0.9))
    assert speakers(results) == ["first"] * 2 + ["rejected"] * 3 + ["first"] * 2
    assert results[3] == Failure(PAIRS[3], "rejected", "no key")


def test_nothing_but_rejections_is_raised() -> None:
    second = ScriptedPairJudge(lambda _: JudgeRejected("no key"))
    with pytest.raises(JudgeRejected, match="no key"):
        compare(CascadePairJudge(FIRST, second), PAIRS[2:5])


def test_results_that_cannot_be_told_apart_are_not_used() -> None:
    class Short(ScriptedPairJudge):
        async def compare(self, pairs: Sequence[ValuePair], ledger: Ledger) -> list[PairResult]:
            return list(await super().compare(pairs, ledger))[1:]

    short = Short(lambda _: 1.0)
    second = ScriptedPairJudge(lambda _: True, name="second")

    assert speakers(compare(CascadePairJudge(short, second))) == ["second"] * 7
    assert speakers(compare(CascadePairJudge(FIRST, short)))[2:5] == ["output"] * 3


def test_what_both_judges_cost_is_booked() -> None:
    usage = Usage(calls=1)
    first = ScriptedPairJudge(lambda _: 0.5, usage=usage)
    ledger = Ledger()
    compare(CascadePairJudge(first, ScriptedPairJudge(lambda _: True, usage=usage)), PAIRS, ledger)
    assert ledger.usage.calls == 2


def test_the_identity_names_both_judges_and_the_thresholds() -> None:
    judge = CascadePairJudge(FIRST, ScriptedPairJudge({}, name="second"), low=0.25, high=0.75)
    assert judge.identity == {
        "judge": "cascade(0.25, 0.75)",
        "first.judge": "first",
        "second.judge": "second",
    }


@pytest.mark.parametrize(
    ("low", "high"), [(-0.1, 0.9), (0.1, 1.1), (0.9, 0.1), (float("nan"), 0.9), (0.1, float("nan"))]
)
def test_thresholds_are_probabilities_in_order(low: float, high: float) -> None:
    with pytest.raises(InputError, match="0 <= low <= high <= 1"):
        CascadePairJudge(FIRST, FIRST, low=low, high=high)
