"""The DSPy modules stand on their own, under any language model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import dspy
import pytest
from dspy.utils import DummyLM

from factcheck import FactChecker, FactCoverage, KeyFactExtraction, SemanticEquivalence, Verdict
from factcheck.errors import Failure
from factcheck.judges.llm.adapter import StrictJSONAdapter
from factcheck.judges.llm.fences import without_numbers
from factcheck.judges.llm.modules import fingerprint
from factcheck.judges.ports import ValuePair
from factcheck.testing import FactModel, LocalOpenAIServer, leave_out
from tests.processes import printed_by_python

SOURCE = "The ferry sank. Nobody was hurt."


def served(server: LocalOpenAIServer, *, cache: bool = False) -> dspy.LM:
    return dspy.LM("hosted_vllm/tiny", api_base=server.base_url, api_key="x", cache=cache)


def test_modules_run_with_the_model_of_the_context() -> None:
    with LocalOpenAIServer(FactModel()) as server, dspy.context(lm=served(server)):
        facts = KeyFactExtraction()(source=SOURCE).facts
        results = FactChecker()(facts=facts, text="The ferry sank.").results
    assert facts == ["The ferry sank.", "Nobody was hurt."]
    assert [result.label for result in results] == ["entailed", "neutral"]
    assert len(server.requests) == 2


def test_modules_have_an_asynchronous_form() -> None:
    async def both() -> list[str]:
        with LocalOpenAIServer(FactModel()) as server, dspy.context(lm=served(server)):
            listed = await KeyFactExtraction().acall(source=SOURCE)
            checked = await FactChecker().acall(facts=listed.facts, text=SOURCE)
            return [result.label for result in checked.results]

    assert asyncio.run(both()) == ["entailed", "entailed"]


def test_values_are_compared_with_the_model_of_the_context() -> None:
    pairs = [ValuePair("Ada King", "King, Ada", "author"), ("1 May", "2 May")]

    async def awaited() -> list[bool]:
        with LocalOpenAIServer(FactModel()) as server, dspy.context(lm=served(server)):
            compared = await SemanticEquivalence().acall(pairs=pairs)
            return [result.equivalent for result in compared.results]

    with LocalOpenAIServer(FactModel()) as server, dspy.context(lm=served(server)):
        results = SemanticEquivalence()(pairs=pairs).results

    assert [result.equivalent for result in results] == [True, False]
    assert asyncio.run(awaited()) == [True, False]


def test_a_pair_without_a_verdict_is_a_failure() -> None:
    silent = FactModel(mangles=[leave_out()])
    with LocalOpenAIServer(silent) as server, dspy.context(lm=served(server)):
        results = SemanticEquivalence()(pairs=[("a", "b")]).results
    message = "hosted_vllm/tiny gave no verdict for this pair"
    assert results == (Failure(ValuePair("a", "b"), "missing", message),)


def test_a_dspy_model_is_a_judge_without_its_own_retries_and_cache() -> None:
    with (
        LocalOpenAIServer(FactModel()) as server,
        FactCoverage(served(server, cache=True), cache="off") as scorer,
    ):
        reports = [scorer.score(SOURCE, "The ferry sank.") for _ in range(2)]

    assert [report.score for report in reports] == [0.5, 0.5]
    assert [report.usage.calls for report in reports] == [2, 2]
    assert len(server.requests) == 4
    assert reports[0].usage.prompt_tokens > 0
    assert reports[0].signature["judge"] == "hosted_vllm/tiny"


def test_a_scripted_dspy_model_is_a_judge() -> None:
    verdicts = [{"id": "1", "quote": "", "reason": "", "label": "neutral"}]
    lm = DummyLM([{"verdicts": json.dumps(verdicts)}] * 2)
    report = FactCoverage(lm).score("", SOURCE, facts=["The ferry sank."])
    assert len(report.undecided) == 1
    assert report.usage.calls == 2


def test_the_judge_may_be_called_where_dspy_is_configured_otherwise() -> None:
    with LocalOpenAIServer(FactModel()) as server:
        other = DummyLM([{"answer": "never asked"}])
        with dspy.context(lm=other), FactCoverage(served(server)) as scorer:
            (result,) = scorer.check(["The ferry sank."], SOURCE)
    assert isinstance(result, Verdict)
    assert result.judge == "hosted_vllm/tiny"


@pytest.mark.parametrize(
    ("module", "prompt"),
    [
        (FactChecker, "check_facts/v1"),
        (KeyFactExtraction, "extract_facts/v1"),
        (SemanticEquivalence, "compare_values/v1"),
    ],
)
def test_the_fingerprint_is_the_same_in_every_process(
    module: Callable[[str], dspy.Module], prompt: str
) -> None:
    code = (
        "from factcheck.judges.llm import modules as m;"
        f"print(m.fingerprint(m.{module.__name__}, {prompt!r}))"
    )

    assert printed_by_python(code) == fingerprint(module, prompt)


def test_the_fingerprint_moves_with_the_way_pairs_are_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = fingerprint(SemanticEquivalence, "compare_values/v1")
    shown = SemanticEquivalence.stand_ins["pairs"].replace("instructions", "rules")
    monkeypatch.setattr(SemanticEquivalence, "stand_ins", {"pairs": shown})
    fingerprint.cache_clear()
    assert fingerprint(SemanticEquivalence, "compare_values/v1") != before
    fingerprint.cache_clear()


def test_demonstrations_are_sent_as_turns() -> None:
    signature = KeyFactExtraction().list_facts.signature
    demos = [{"source": "It rained.", "facts": ["It rained."]}]
    messages = StrictJSONAdapter().format(signature, demos, {"source": SOURCE})
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert json.loads(messages[2]["content"]) == {"facts": ["It rained."]}


def test_the_prompt_that_is_sent_is_the_prompt_file_and_the_fenced_inputs() -> None:
    with LocalOpenAIServer(FactModel()) as server, dspy.context(lm=served(server)):
        KeyFactExtraction()(source=SOURCE)
    system, user = server.requests[0].body["messages"]
    assert system["content"].startswith("List the atomic facts")
    assert without_numbers(user["content"]) == f"<source>\n{SOURCE}\n</source>"
