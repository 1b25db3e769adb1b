"""Coverage as a DSPy metric: one number for evaluation, the reasons beside it for GEPA."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import dspy
import pytest

from factcheck import CheckFailure, Evidence, FactCoverage, Verdict
from factcheck.errors import InputError, JudgeError, JudgeUnavailable
from factcheck.facts import AtomicFact
from factcheck.testing import FactModel, LocalOpenAIServer, ScriptedChecker, ScriptedExtractor

FIRE, YEAR, STONE, OWNER = (
    "The mill burned down.",
    "It burned in 1904.",
    "It was rebuilt in stone.",
    "Ida owned the mill.",
)
SOURCE = f"{FIRE} {YEAR} {STONE} {OWNER}"
SUMMARY = "- The mill burned down\n- It burned in 1940"
ANY = AtomicFact("x", "x")
SCRIPT: dict[str, Any] = {
    FIRE: "entailed",
    YEAR: Verdict(ANY, "contradicted", evidence=Evidence("burned in 1940", 28, 42)),
    STONE: "neutral",
    OWNER: CheckFailure(ANY, "output", "gave no verdict"),
}


def scorer(script: Any = SCRIPT, facts: Mapping[str, Sequence[str]] | Any = None) -> FactCoverage:
    extractor = ScriptedExtractor(facts or {SOURCE: tuple(SCRIPT)})
    return FactCoverage(ScriptedChecker(script), extractor, cache="off")


def example(**fields: Any) -> dspy.Example:
    return dspy.Example(**{"source": SOURCE, **fields}).with_inputs("source")


def predicted(summary: Any = SUMMARY) -> dspy.Prediction:
    return dspy.Prediction(summary=summary)


def test_evaluation_gets_a_float_and_gepa_the_same_with_the_facts_that_are_not_kept() -> None:
    metric = scorer().as_dspy_metric()
    assert metric(example(facts=None), predicted()) == pytest.approx(1 / 3)
    assert type(metric(example(), predicted(), [])) is float

    answer = metric(example(), predicted(), [], "summarize", [])

    assert isinstance(answer, dspy.Prediction)
    assert answer.score == metric(example(), predicted())
    assert answer.feedback.splitlines() == [
        "Coverage 0.33   1 of 3 decided facts kept, 1 undecided",
        "Distorted 1: contradicted by the text",
        '- It burned in 1904. "burned in 1940"',
        "Dropped 1: not in the text",
        "- It was rebuilt in stone. [scripted]",
        "Undecided 1: no verdict",
        "- Ida owned the mill. output: gave no verdict",
    ]
    everything = scorer(lambda *_: "entailed").as_dspy_metric()(example(), predicted(), None, "s")
    assert everything.feedback == "Coverage 1.00   4 of 4 facts kept"


def test_facts_are_extracted_once_for_all_threads() -> None:
    """DSPy counts an exception as 0."""
    extractor = ScriptedExtractor({SOURCE: tuple(SCRIPT)})
    gone: Any = JudgeUnavailable("no answer")
    checker = ScriptedChecker(lambda _, text: gone if "39" in text else "entailed")
    metric = FactCoverage(checker, extractor).as_dspy_metric()
    summaries = iter(range(40))

    class Program(dspy.Module):  # type: ignore[misc] # DSPy has no types
        def forward(self, source: str) -> dspy.Prediction:
            return predicted(f"summary {next(summaries)} of {len(source)} characters")

    async def inside() -> Any:
        return dspy.Evaluate(devset=[example()] * 40, metric=metric, num_threads=8)(Program())

    result = asyncio.run(inside())  # it may be called inside a running loop, too

    assert result.score == 97.5
    assert len(extractor.calls) == 1
    assert [str(failure) for failure in metric.failures.values()] == ["no answer"]


def test_an_example_may_bring_its_facts_and_have_names_of_its_own() -> None:
    """Facts that are given are checked, and none are extracted."""
    metric = scorer(facts={"other": ()}).as_dspy_metric()
    assert metric(example(facts=[FIRE, STONE]), predicted()) == 0.5
    assert metric(example(facts=[FIRE]), predicted()) == 1.0
    by_default = dspy.Example(source_text=[SOURCE])
    named = dspy.Example(document=SOURCE, source="never read", key_facts=[FIRE])
    metric = scorer().as_dspy_metric(source="document", summary="answer", facts="key_facts")
    assert scorer().as_dspy_metric()(by_default, predicted()) == pytest.approx(1 / 3)
    assert metric(named, dspy.Prediction(answer=SUMMARY)) == 1.0


@pytest.mark.parametrize(
    ("one", "other", "says"),
    [
        (dspy.Example(text=SOURCE), predicted(), "the example has no 'source' or 'source_text'"),
        (dspy.Example(source=7), predicted(), "example's source: expected a string or a list"),
        (example(), dspy.Prediction(), "the prediction has no 'summary'"),
        (example(), predicted(["- a"]), "'summary' must be a string, not list"),
        (example(facts=[1]), predicted(), "fact"),
    ],
)
def test_what_cannot_be_scored_is_an_input_error(one: Any, other: Any, says: str) -> None:
    metric = scorer().as_dspy_metric()
    with pytest.raises(InputError, match=says):
        metric(one, other)


def test_a_summary_about_which_nothing_is_decided_has_no_score() -> None:
    undecided = CheckFailure(ANY, "refused", "the model declined")
    metric = scorer(lambda *_: undecided).as_dspy_metric()
    for pred_name in (None, "summarize"):
        with pytest.raises(JudgeError, match=r"no score: 4 undecided, .*the model declined"):
            metric(example(), predicted(), None, pred_name)


def test_judging_leaves_no_trace_in_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    with LocalOpenAIServer(FactModel()) as server, dspy.context(trace=[]):
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        with FactCoverage("openai/tiny", cache="off") as judging:
            score = judging.as_dspy_metric()(example(), predicted(SOURCE))
        assert score == 1.0
        assert len(server.requests) == 2
        assert dspy.settings.trace == []
