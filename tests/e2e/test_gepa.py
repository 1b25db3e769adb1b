"""GEPA improves the summarizer by our metric, because its feedback names what was dropped."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import dspy

from factcheck import FactCoverage, Summarizer
from factcheck.testing import ChatRequest, FactModel, LocalOpenAIServer, Reply
from factcheck.testing.fakes import sentences

ASKS_FOR_NUMBERS = "Write bullets. Copy every number with its unit."
ASKS_FOR_NOTHING = "Write nicer bullets."
TOWNS = ["Arden", "Bexhill", "Corley", "Dunmore", "Elstow", "Farnham"]


def source(town: str, place: int) -> str:
    """Two facts without a number, and two with one."""
    return (
        f"The mill of {town} burned down. It was rebuilt with {place + 12} windows. "
        f"Nobody was hurt at {town}. The roof cost {place + 70} pounds."
    )


def keeps_numbers_if_told(source: str, instructions: str) -> Sequence[str]:
    """All sentences that have no number; the others only if the instructions ask for numbers."""
    told = "every number" in instructions
    return [each for each in sentences(source) if told or not re.search(r"\d", each)]


def answer(request: ChatRequest) -> str | Reply:
    """Summarizes, or proposes to keep numbers if the feedback names a fact with one."""
    if request.body["model"] != "reflector":
        return FactModel(summarize=keeps_numbers_if_told)(request)
    named = re.search(r"- The roof cost \d+ pounds", str(request.messages[-1]["content"]))
    return json.dumps({"new_instruction": ASKS_FOR_NUMBERS if named else ASKS_FOR_NOTHING})


def examples(towns: Sequence[str]) -> list[dspy.Example]:
    texts = [source(town, TOWNS.index(town)) for town in towns]
    return [
        dspy.Example(source=text, facts=sentences(text)).with_inputs("source") for text in texts
    ]


def test_the_score_rises_because_the_feedback_names_what_was_dropped() -> None:
    with LocalOpenAIServer(answer) as server:
        tiny, reflector = (
            dspy.LM(f"hosted_vllm/{name}", api_base=server.base_url, api_key="none", cache=False)
            for name in ("tiny", "reflector")
        )
        with FactCoverage("local") as scorer, dspy.context(lm=tiny):
            metric = scorer.as_dspy_metric()
            optimizer = dspy.GEPA(
                metric,
                max_metric_calls=20,
                reflection_lm=reflector,
                reflection_minibatch_size=2,
                use_merge=False,
            )
            train, val, test = (examples(TOWNS[place : place + 2]) for place in (0, 2, 4))
            better = optimizer.compile(Summarizer(), trainset=train, valset=val)
            evaluate = dspy.Evaluate(devset=test, metric=metric)
            before, after = evaluate(Summarizer()).score, evaluate(better).score

    assert better.summarize.signature.instructions == ASKS_FOR_NUMBERS
    assert (before, after) == (50.0, 100.0)
    assert not metric.failures
