"""What the other tests do not ask of judges that answer from a script."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from factcheck.errors import InputError, JudgeUnavailable
from factcheck.facts import AtomicFact, FactSet, Usage, digest
from factcheck.judges.ports import Ledger, PairVerdict, ValuePair
from factcheck.testing import (
    ScriptedChecker,
    ScriptedEmbedder,
    ScriptedExtractor,
    ScriptedPairJudge,
    ScriptedRater,
)
from factcheck.testing.scripted import Call

MOSS = AtomicFact("a", "Moss has no roots.", weight=2.0)
OAK = ValuePair("oak", "oak tree")
Ask = Callable[[Any, Ledger], Any]
ASK: dict[Any, tuple[Ask, Call]] = {
    ScriptedChecker: (
        lambda judge, ledger: judge.check([MOSS], "On moss.", ledger),
        Call(facts=(MOSS.text,), text="On moss."),
    ),
    ScriptedExtractor: (lambda judge, ledger: judge.extract("S", ledger), Call(source="S")),
    ScriptedPairJudge: (lambda judge, ledger: judge.compare([OAK], ledger), Call(pairs=(OAK,))),
    ScriptedRater: (
        lambda judge, ledger: judge.rate("S", "good", ledger),
        Call(source="S", summary="good"),
    ),
    ScriptedEmbedder: (lambda judge, ledger: judge.embed(["S"], ledger), Call(texts=("S",))),
}


@pytest.mark.parametrize("kind", ASK)
def test_a_call_is_recorded_and_paid_for_even_if_the_script_raises_or_has_no_entry(
    kind: Any,
) -> None:
    ask, call = ASK[kind]
    ledger = Ledger()
    down = kind(lambda *_: JudgeUnavailable("down"), usage=Usage(calls=1, cost_usd=0.5))
    with pytest.raises(JudgeUnavailable, match="down"):
        asyncio.run(ask(down, ledger))
    assert (down.calls, ledger.usage) == ((call,), Usage(calls=1, cost_usd=0.5))
    with pytest.raises(InputError, match="the script of 'scripted' has no "):
        asyncio.run(ask(kind({}), ledger))


def test_scripted_facts_know_source_and_maker() -> None:
    extractor = ScriptedExtractor({"On moss.": ["Moss is green.", MOSS]})
    assert asyncio.run(extractor.extract("On moss.", Ledger())) == FactSet(
        (AtomicFact("f1", "Moss is green."), MOSS),
        source_digest=digest("On moss."),
        made_by=(("extractor", "scripted"),),
    )


def test_a_decision_has_no_probability() -> None:
    (result,) = asyncio.run(ScriptedPairJudge(lambda _: True).compare([OAK], Ledger()))
    assert result == PairVerdict(True, None, "scripted", "scripted")


def test_a_pair_is_found_under_its_mirror_image_unless_its_order_counts() -> None:
    mirrored = ScriptedPairJudge({("oak tree", "oak"): 0.5})
    (result,) = asyncio.run(mirrored.compare([OAK], Ledger()))
    assert result == PairVerdict(True, 0.5, "scripted", "scripted")
    ordered = ValuePair("oak", "oak tree", specificity="allow_more_specific")
    with pytest.raises(InputError, match=r"no result for the pair \('oak', 'oak tree'\)"):
        asyncio.run(mirrored.compare([ordered], Ledger()))
