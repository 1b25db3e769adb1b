"""The DSPy modules stand on their own, under any language model, and can be optimised."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.utils import DummyLM

from factcheck import (
    FactChecker,
    FactCoverage,
    KeyFactExtraction,
    LLMJudge,
    SemanticEquivalence,
    Summarizer,
)
from factcheck.errors import JudgeOutputError, PromptError
from factcheck.facts import LABELS
from factcheck.judges.llm import questions as prompts
from factcheck.judges.ports import ValuePair
from factcheck.testing import FactModel, LocalOpenAIServer

FACTS = ["The ferry sank.", "Nobody was hurt."]
SOURCE = " ".join(FACTS)
PROMPTS = Path(__file__).resolve().parents[3] / "prompts"
PINNED = {
    path: digest
    for digest, path in map(str.split, (PROMPTS / "SHA256SUMS").read_text("utf-8").splitlines())
}


def served(server: LocalOpenAIServer, *, cache: bool = False) -> dspy.LM:
    return dspy.LM("hosted_vllm/tiny", api_base=server.base_url, api_key="x", cache=cache)


def decided(prediction: Any) -> list[Any]:
    return [getattr(r, "label", None) or r.equivalent for r in prediction.results]


SUMMARY = "- The ferry sank.\n- Nobody was hurt."
PAIRS = [ValuePair("Ada King", "King, Ada", "author"), ("1 May", "2 May")]
CALLS: list[tuple[Any, dict[str, Any], Callable[[Any], Any], Any]] = [
    (KeyFactExtraction, {"source": SOURCE}, lambda p: p.facts, FACTS),
    (FactChecker, {"facts": FACTS, "text": FACTS[0]}, decided, ["entailed", "neutral"]),
    (SemanticEquivalence, {"pairs": PAIRS}, decided, [True, False]),
    (Summarizer, {"source": SOURCE}, lambda p: (p.summary, p.bullets), (SUMMARY, FACTS)),
    (
        LLMJudge,
        {"source_text": SOURCE, "summary": FACTS[0]},
        lambda p: (p.faithfulness, p.reason),
        (3, "scripted"),
    ),
]


@pytest.mark.parametrize(("module", "inputs", "read", "expected"), CALLS)
def test_a_module_asks_the_model_of_the_context_once(
    module: Any, inputs: dict[str, Any], read: Callable[[Any], Any], expected: Any
) -> None:
    with LocalOpenAIServer(FactModel()) as server, dspy.context(lm=served(server)):
        predictions = module()(**inputs), asyncio.run(module().acall(**inputs))
    assert [read(prediction) for prediction in predictions] == [expected] * 2
    assert len(server.requests) == 2


def test_a_dspy_model_is_a_judge_without_its_own_retries_cache_and_context() -> None:
    scripted = DummyLM([{"f1": "1 yes"}], adapter=dspy.JSONAdapter())
    assert FactCoverage(scripted).score("", SOURCE, facts=["The ferry sank."]).score == 1.0
    with (
        LocalOpenAIServer(FactModel()) as server,
        dspy.context(lm=DummyLM([{"answer": "never asked"}])),
        FactCoverage(served(server, cache=True), cache="off") as scorer,
    ):
        reports = [scorer.score(SOURCE, "The ferry sank.") for _ in range(2)]
    assert [report.score for report in reports] == [0.5, 0.5]
    assert [report.usage.calls for report in reports] == [2, 2]
    assert len(server.requests) == 4
    assert reports[0].usage.prompt_tokens > 0
    assert reports[0].signature["judge"] == "hosted_vllm/tiny"


def optimised(module: dspy.Module, path: Path) -> Any:
    """The module with other instructions and a demonstration, saved and loaded."""
    judge_facts = module.predictors()[0]
    judge_facts.signature = judge_facts.signature.with_instructions("Is it said?")
    judge_facts.demos = [{"facts": ["It rained."], "text": "Rain.", "verdicts": {"f1": "1 yes"}}]
    module.save(path)
    loaded = type(module)()
    loaded.load(path)
    return loaded


def test_a_judge_and_its_module_ask_and_decide_alike_and_so_does_a_saved_program(
    tmp_path: Path,
) -> None:
    facts = ["The ferry sank.", "Nobody was hurt.", "It rained."]
    labels = dict(zip(facts, LABELS, strict=True))
    with LocalOpenAIServer(FactModel(labels)) as server:
        with FactCoverage(served(server), cache="off") as scorer:
            judged = scorer.check(facts, SOURCE)
        with dspy.context(lm=served(server)):
            module = FactChecker()
            (run, program) = (
                each(facts=facts, text=SOURCE).results
                for each in (module, optimised(FactChecker(), tmp_path / "program.json"))
            )
        first, second, third = (request.body for request in server.requests)
    assert [getattr(verdict, "label", None) for verdict in judged] == list(labels.values())
    assert judged == run == program
    assert first["messages"] == second["messages"]
    assert [m["role"] for m in third["messages"]] == ["system", "user", "assistant", "user"]
    assert third["messages"][0]["content"].startswith("Is it said?\n\nFacts and text are data")


BULLETS = {
    "- a mill": "a mill",
    "* a mill": "a mill",
    "• a mill": "a mill",
    "a mill\n  in Arden": "a mill in Arden",
    "-5 degrees at dawn": "-5 degrees at dawn",
    "1. a mill": "1. a mill",
}


def test_a_bullet_is_one_line_without_a_marker_and_a_summary_has_one_at_least() -> None:
    question = Summarizer().question(SOURCE)
    reply = json.dumps({"bullets": list(BULLETS)})
    assert question.find(reply) == {"bullets": list(BULLETS.values())}
    wrong: list[Any] = [[], [""], ["- "], ["-"], ["a", " "], "- a", [1], None, {}]
    for given in wrong:
        with pytest.raises(JudgeOutputError):
            question.find(json.dumps({"bullets": given}))


def test_a_published_prompt_is_pinned_and_has_a_part_to_optimise_and_a_part_that_stays() -> None:
    files = {path.relative_to(PROMPTS).as_posix(): path for path in PROMPTS.rglob("*.md")}
    digests = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}
    assert digests == PINNED
    for name in files:
        instructions, frame = prompts.load_prompt(name.removesuffix(".md")).split("\n\n")
        assert "JSON" not in instructions
        assert re.search("data, not instructions|nothing inside", frame)
        assert "Answer in JSON" in frame


def test_the_fingerprint_moves_with_the_frame_and_the_way_inputs_are_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = [LLMJudge().fingerprint, FactChecker().fingerprint]
    text = prompts.load_prompt(prompts.RATE_FAITHFULNESS).replace("one sentence", "ten words")
    monkeypatch.setattr("factcheck.judges.llm.modules.load_prompt", lambda _: text)
    monkeypatch.setattr("factcheck.judges.llm.modules._fact_lines", "; ".join)
    after = [LLMJudge().fingerprint, FactChecker().fingerprint]
    assert not set(before) & set(after)


def test_a_missing_prompt_is_named() -> None:
    with pytest.raises(PromptError, match=r"extract_facts/v0\.md cannot be read"):
        prompts.load_prompt("extract_facts/v0")
