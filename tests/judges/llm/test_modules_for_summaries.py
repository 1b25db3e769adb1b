"""The modules about whole summaries stand on their own, and can be optimised."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import dspy
import pytest

from factcheck import LLMJudge, Summarizer
from factcheck.judges.llm import prompts
from factcheck.judges.llm.modules import fingerprint
from factcheck.testing import FactModel, LocalOpenAIServer
from tests.processes import printed_by_python

SOURCE = "The ferry sank. Nobody was hurt."


def served(server: LocalOpenAIServer) -> dspy.LM:
    return dspy.LM("hosted_vllm/tiny", api_base=server.base_url, api_key="x", cache=False)


def summarized(bullets: Any) -> dspy.Prediction:
    reply = json.dumps({"bullets": bullets})
    with LocalOpenAIServer(lambda _: reply) as server, dspy.context(lm=served(server)):
        return Summarizer()(source=SOURCE)


def test_a_summary_is_rated_with_the_model_of_the_context() -> None:
    with LocalOpenAIServer(FactModel()) as server, dspy.context(lm=served(server)):
        whole = LLMJudge()(source_text=SOURCE, summary=SOURCE)
        part = LLMJudge()(source_text=SOURCE, summary="The ferry sank.")
    assert (whole.faithfulness, whole.reason) == (5, "scripted")
    assert part.faithfulness == 3
    assert len(server.requests) == 2


def test_a_source_is_summarized_in_bullets() -> None:
    with LocalOpenAIServer(FactModel()) as server, dspy.context(lm=served(server)):
        prediction = Summarizer()(source=SOURCE)
    assert prediction.summary == "- The ferry sank.\n- Nobody was hurt."
    assert prediction.bullets == ["The ferry sank.", "Nobody was hurt."]


def test_both_have_an_asynchronous_form() -> None:
    async def both() -> tuple[str, int]:
        with LocalOpenAIServer(FactModel()) as server, dspy.context(lm=served(server)):
            summary = (await Summarizer().acall(source=SOURCE)).summary
            rated = await LLMJudge().acall(source_text=SOURCE, summary=summary)
            return summary, rated.faithfulness

    assert asyncio.run(both()) == ("- The ferry sank.\n- Nobody was hurt.", 5)


@pytest.mark.parametrize("value", [0, 6, 4.5, "four", None, True])
def test_a_rating_off_the_scale_is_an_error_of_the_reply(value: Any) -> None:
    bad = FactModel(rate=lambda *_: value)
    with (
        LocalOpenAIServer(bad) as server,
        dspy.context(lm=served(server)),
        pytest.raises(dspy.AdapterParseError),
    ):
        LLMJudge()(source_text=SOURCE, summary=SOURCE)
    assert len(server.requests) == 1


@pytest.mark.parametrize("bullets", [[], [""], ["- "], ["-"], ["a", " "], "- a", [1], None, {}])
def test_a_summary_without_a_bullet_or_with_a_blank_one_is_an_error_of_the_reply(
    bullets: Any,
) -> None:
    with pytest.raises(dspy.AdapterParseError):
        summarized(bullets)


@pytest.mark.parametrize(
    ("bullet", "line"),
    [
        ("- a mill", "- a mill"),
        ("* a mill", "- a mill"),
        ("• a mill", "- a mill"),
        ("a mill\n  in Arden", "- a mill in Arden"),
        ("-5 degrees at dawn", "- -5 degrees at dawn"),
        ("1. a mill", "- 1. a mill"),
    ],
)
def test_a_bullet_is_one_line_with_one_marker(bullet: str, line: str) -> None:
    assert summarized([bullet]).summary == line


@pytest.mark.parametrize("name", [prompts.RATE_FAITHFULNESS, prompts.SUMMARIZE])
def test_a_prompt_has_a_part_to_optimise_and_a_part_that_stays(name: str) -> None:
    instructions, frame = prompts.load_prompt(name).split("\n\n")
    assert "JSON" not in instructions
    assert "nothing inside" in frame
    assert "Answer in JSON" in frame


def test_what_an_optimizer_writes_keeps_the_form_of_the_reply_and_the_fences() -> None:
    """GEPA replaces the whole instructions, and no model it proposes by knows of our JSON."""
    improved = Summarizer()
    improved.summarize.signature = improved.summarize.signature.with_instructions("Be brief.")
    with LocalOpenAIServer(FactModel()) as server, dspy.context(lm=served(server)):
        improved(source=SOURCE)
    _, frame = prompts.load_prompt(prompts.SUMMARIZE).split("\n\n")
    system = server.requests[0].body["messages"][0]["content"]
    assert system == f"Be brief.\n\n{frame}"


def test_improved_instructions_are_saved_and_loaded(tmp_path: Path) -> None:
    improved, loaded = Summarizer(), Summarizer()
    improved.summarize.signature = improved.summarize.signature.with_instructions("Be brief.")
    improved.save(tmp_path / "p.json")
    loaded.load(tmp_path / "p.json")
    assert loaded.summarize.signature.instructions == "Be brief."


@pytest.mark.parametrize("module", [Summarizer(), LLMJudge()], ids=["summarizer", "judge"])
def test_a_run_is_traced_for_optimizers(module: dspy.Module) -> None:
    inputs = {"source": SOURCE}
    if isinstance(module, LLMJudge):
        inputs = {"source_text": SOURCE, "summary": SOURCE}
    with LocalOpenAIServer(FactModel()) as server, dspy.context(lm=served(server), trace=[]):
        module(**inputs)

        ((predictor, given, _),) = dspy.settings.trace
    assert predictor is module.predictors()[0]
    assert given["source_text"] == SOURCE


@pytest.mark.parametrize(
    ("name", "prompt"), [("LLMJudge", prompts.RATE_FAITHFULNESS), ("Summarizer", prompts.SUMMARIZE)]
)
def test_the_fingerprint_is_the_same_in_every_process(name: str, prompt: str) -> None:
    code = (
        "from factcheck.judges.llm.modules import fingerprint;"
        f"import factcheck; print(fingerprint(factcheck.{name}, {prompt!r}))"
    )
    module = {"LLMJudge": LLMJudge, "Summarizer": Summarizer}[name]

    assert printed_by_python(code) == fingerprint(module, prompt)


def test_the_fingerprint_moves_with_the_part_that_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint(LLMJudge, prompts.RATE_FAITHFULNESS)
    text = prompts.load_prompt(prompts.RATE_FAITHFULNESS).replace("one sentence", "ten words")
    monkeypatch.setattr("factcheck.judges.llm.modules.load_prompt", lambda _: text)
    fingerprint.cache_clear()
    assert fingerprint(LLMJudge, prompts.RATE_FAITHFULNESS) != before
    fingerprint.cache_clear()
