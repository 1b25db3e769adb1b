"""Judges, raters and embedders that answer from a script."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from factcheck.errors import Failure, InputError, JudgeUnavailable
from factcheck.facts import AtomicFact, CheckFailure, FactSet, Usage, Verdict, digest
from factcheck.judges.ports import (
    Checker,
    Embedder,
    Extractor,
    Ledger,
    PairJudge,
    PairVerdict,
    Rater,
    ValuePair,
)
from factcheck.testing import (
    ScriptedChecker,
    ScriptedEmbedder,
    ScriptedExtractor,
    ScriptedPairJudge,
    ScriptedRater,
)
from factcheck.testing.scripted import Call

MOSS = AtomicFact("a", "Moss has no roots.", weight=2.0)
FERN = AtomicFact("b", "Ferns make seeds.")
OAK = ValuePair("oak", "oak tree")


Ask = Callable[[Any, Ledger], Any]
JUDGES: list[tuple[Any, Any, str, Ask, Any, Any]] = [
    (
        ScriptedChecker, Checker, "judge",
        lambda judge, ledger: judge.check([AtomicFact("x", "known")], "On moss.", ledger),
        "known", Call(facts=("known",), text="On moss."),
    ),
    (
        ScriptedExtractor, Extractor, "extractor",
        lambda judge, ledger: judge.extract("known", ledger), "known", Call(source="known"),
    ),
    (
        ScriptedPairJudge, PairJudge, "judge",
        lambda judge, ledger: judge.compare([OAK], ledger),
        ("oak", "oak tree"), Call(pairs=(OAK,)),
    ),
    (
        ScriptedRater, Rater, "judge",
        lambda judge, ledger: judge.rate("It rained.", "known", ledger),
        "known", Call(source="It rained.", summary="known"),
    ),
    (
        ScriptedEmbedder, Embedder, "embedder",
        lambda judge, ledger: judge.embed(["known"], ledger), "known", Call(texts=("known",)),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "port", "role", "ask", "key", "call"), JUDGES)
def test_a_scripted_judge_fulfils_its_port_and_fails_as_its_script_says(
    kind: Any, port: Any, role: str, ask: Ask, key: Any, call: Any
) -> None:
    ledger = Ledger()
    failing = kind({key: JudgeUnavailable("down")}, name="x", usage=Usage(calls=1, cost_usd=0.5))
    assert isinstance(failing, port)
    assert failing.identity == {role: "x"}
    with pytest.raises(JudgeUnavailable, match="down"):
        asyncio.run(ask(failing, ledger))
    assert failing.calls == (call,)
    assert ledger.usage == Usage(calls=1, cost_usd=0.5)
    with pytest.raises(JudgeUnavailable, match="up"):
        asyncio.run(ask(kind(lambda *_: JudgeUnavailable("up")), ledger))
    with pytest.raises(InputError, match=r"the script of 'scripted' has no .*(known|oak)"):
        asyncio.run(ask(kind({}), ledger))


def test_verdicts_are_of_the_fact_that_was_asked_and_facts_know_source_and_maker() -> None:
    other = AtomicFact("other", MOSS.text)
    whole = Verdict(other, "entailed", probability=0.75, judge="j")
    facts = (MOSS, FERN, AtomicFact("c", "Both are green."))
    checker = ScriptedChecker(
        {
            FERN.text: CheckFailure(other, "missing", "no reply"),
            MOSS.text: whole,
            facts[2].text: "neutral",
        }
    )

    assert asyncio.run(checker.check(facts, "", Ledger())) == (
        Verdict(MOSS, "entailed", probability=0.75, judge="j"),
        CheckFailure(FERN, "missing", "no reply"),
        Verdict(facts[2], "neutral", judge="scripted"),
    )
    extractor = ScriptedExtractor({"On moss.": ["Moss is green.", MOSS]})
    assert asyncio.run(extractor.extract("On moss.", Ledger())) == FactSet(
        (AtomicFact("f1", "Moss is green."), MOSS),
        source_digest=digest("On moss."),
        made_by=(("extractor", "scripted"),),
    )


def test_pairs_have_a_decision_a_probability_or_a_whole_result() -> None:
    whole = PairVerdict(True, 0.25, "because", "j")
    failure = Failure(None, "missing", "no reply")
    script: dict[tuple[str, str], bool | float | PairVerdict | Failure[None] | Exception] = {
        ("a", "x"): True, ("b", "x"): False, ("c", "x"): 0.5, ("d", "x"): 0.25, ("e", "x"): whole,
        ("f", "x"): failure,
    }  # fmt: skip
    judge = ScriptedPairJudge(script)
    results = asyncio.run(judge.compare([ValuePair(*key) for key in script], Ledger()))
    assert results == (
        PairVerdict(True, None, "scripted", "scripted"),
        PairVerdict(False, None, "scripted", "scripted"),
        PairVerdict(True, 0.5, "scripted", "scripted"),
        PairVerdict(False, 0.25, "scripted", "scripted"),
        whole,
        failure,
    )
    mirrored = ScriptedPairJudge({("oak tree", "oak"): 1.0})
    (result,) = asyncio.run(mirrored.compare([OAK], Ledger()))
    assert result == PairVerdict(True, 1.0, "scripted", "scripted")
    ordered = ValuePair("oak", "oak tree", specificity="allow_more_specific")
    with pytest.raises(InputError, match=r"no result for the pair \('oak', 'oak tree'\)"):
        asyncio.run(mirrored.compare([ordered], Ledger()))
