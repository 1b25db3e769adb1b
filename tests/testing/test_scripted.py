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
OAK = ValuePair("oak", "oak tree", "tree")


def check(judge: ScriptedChecker, key: str, ledger: Ledger) -> Any:
    return asyncio.run(judge.check([AtomicFact("x", key)], "On moss.", ledger))[0]


def extract(judge: ScriptedExtractor, key: str, ledger: Ledger) -> Any:
    return asyncio.run(judge.extract(key, ledger))


def compare(judge: ScriptedPairJudge, key: tuple[str, str], ledger: Ledger) -> Any:
    return asyncio.run(judge.compare([ValuePair(*key)], ledger))[0]


def rate(judge: ScriptedRater, key: str, ledger: Ledger) -> Any:
    return asyncio.run(judge.rate("It rained in Oslo.", key, ledger))


def embed(judge: ScriptedEmbedder, key: str, ledger: Ledger) -> Any:
    return asyncio.run(judge.embed([key], ledger))[0]


JUDGES: list[tuple[Any, Any, str, Callable[..., Any], Any, Any]] = [
    (ScriptedChecker, Checker, "judge", check, "known", Call(facts=("known",), text="On moss.")),
    (ScriptedExtractor, Extractor, "extractor", extract, "known", Call(source="known")),
    (
        ScriptedPairJudge, PairJudge, "judge", compare, ("known", "other"),
        Call(pairs=(ValuePair("known", "other"),)),
    ),
    (
        ScriptedRater, Rater, "judge", rate, "known",
        Call(source="It rained in Oslo.", summary="known"),
    ),
    (ScriptedEmbedder, Embedder, "embedder", embed, "known", Call(texts=("known",))),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "port", "role", "ask", "key", "call"), JUDGES)
def test_a_scripted_judge_fulfils_its_port_and_fails_as_its_script_says(
    kind: Any, port: Any, role: str, ask: Callable[..., Any], key: Any, call: Any
) -> None:
    ledger = Ledger()
    failing = kind({key: JudgeUnavailable("down")}, name="x", usage=Usage(calls=1, cost_usd=0.5))
    assert isinstance(failing, port)
    assert failing.identity == {role: "x"}
    with pytest.raises(JudgeUnavailable, match="down"):
        ask(failing, key, ledger)
    assert failing.calls == (call,)
    assert ledger.usage == Usage(calls=1, cost_usd=0.5)
    with pytest.raises(JudgeUnavailable, match="up"):
        ask(kind(lambda *_: JudgeUnavailable("up")), key, ledger)
    with pytest.raises(InputError, match=r"the script of 'scripted' has no .*known"):
        ask(kind({}), key, ledger)


def test_verdicts_are_given_for_the_fact_that_was_asked() -> None:
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


def test_extracted_facts_know_their_source_and_their_maker() -> None:
    extractor = ScriptedExtractor({"On moss.": ["Moss is green.", MOSS]})
    assert extract(extractor, "On moss.", Ledger()) == FactSet(
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


def test_a_mapping_holds_for_the_mirror_image_of_a_pair() -> None:
    judge = ScriptedPairJudge({("oak tree", "oak"): 1.0})
    (result,) = asyncio.run(judge.compare([OAK], Ledger()))
    assert result == PairVerdict(True, 1.0, "scripted", "scripted")
    ordered = ValuePair("oak", "oak tree", specificity="allow_more_specific")
    with pytest.raises(InputError, match=r"no result for the pair \('oak', 'oak tree'\)"):
        asyncio.run(judge.compare([ordered], Ledger()))
