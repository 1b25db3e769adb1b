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

PAIRS = [ValuePair(p, "x") for p in ("0", "0.1", "0.1000001", "0.5", "0.8999999", "0.9", "1")]
FIRST = ScriptedPairJudge(lambda pair: float(pair.gold), name="first")
MISSING = Failure(None, "missing", "no verdict")
WIDE = (0.1, 0.9)


def says(result: object, name: str = "second") -> ScriptedPairJudge:
    return ScriptedPairJudge(lambda _: result, name=name)  # type: ignore[arg-type, return-value]


def compare(
    judge: CascadePairJudge, pairs: Sequence[ValuePair] = PAIRS, ledger: Ledger | None = None
) -> Sequence[PairResult]:
    return asyncio.run(judge.compare(pairs, ledger or Ledger()))


def speakers(results: Sequence[PairResult]) -> list[str]:
    return [r.judge if isinstance(r, PairVerdict) else r.code for r in results]


@pytest.mark.parametrize(
    ("first", "second", "thresholds", "expected"),
    [
        (FIRST, says(True), WIDE, "first first second second second first first"),
        (FIRST, says(True), (0.5, 0.5), "first " * 7),
        (FIRST, says(True), (0.0, 1.0), "first second second second second second first"),
        (says(True, "first"), says(None), (), "first " * 7),
        (says(PairVerdict(True, float("nan"), "", "first")), says(True), (), "second " * 7),
        (
            ScriptedPairJudge(lambda pair: MISSING if pair.gold == "0" else 1.0, name="first"),
            says(True),
            (),
            "second first first first first first first",
        ),
        (says(JudgeRejected("no key")), says(True), (), "second " * 7),
        (says(JudgeUnavailable("down")), says(True), (), "second " * 7),
        (FIRST, says(MISSING), WIDE, "first first missing missing missing first first"),
        (
            FIRST,
            says(JudgeRejected("no key")),
            WIDE,
            "first first rejected rejected rejected first first",
        ),
    ],
    ids=[
        *("strictly between the thresholds", "one threshold", "all but the certain"),
        *("no probability stands", "NaN is not sure", "no verdict of the first"),
        *("first rejected", "first down", "no verdict of the second", "second rejected"),
    ],
)
def test_the_second_judge_decides_where_the_first_is_not_sure(
    first: ScriptedPairJudge,
    second: ScriptedPairJudge,
    thresholds: tuple[float, ...],
    expected: str,
) -> None:
    limits = dict(zip(("low", "high"), thresholds, strict=False))
    assert speakers(compare(CascadePairJudge(first, second, **limits))) == expected.split()


def test_the_second_judge_is_asked_once_and_only_about_the_rest() -> None:
    second, idle = says(JudgeRejected("no key")), says(True)
    results = compare(CascadePairJudge(FIRST, second, low=0.1, high=0.9))
    compare(CascadePairJudge(FIRST, idle, low=0.5, high=0.5))
    assert second.calls == (CompareCall(tuple(PAIRS[2:5])),)
    assert results[3] == Failure(PAIRS[3], "rejected", "no key")
    assert idle.calls == ()


def test_nothing_but_rejections_is_raised() -> None:
    with pytest.raises(JudgeRejected, match="no key"):
        compare(CascadePairJudge(FIRST, says(JudgeRejected("no key"))), PAIRS[2:5])


def test_results_that_cannot_be_told_apart_are_not_used() -> None:
    class Short(ScriptedPairJudge):
        async def compare(self, pairs: Sequence[ValuePair], ledger: Ledger) -> list[PairResult]:
            return list(await super().compare(pairs, ledger))[1:]

    short = Short(lambda _: 1.0)
    assert speakers(compare(CascadePairJudge(short, says(True)))) == ["second"] * 7
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
