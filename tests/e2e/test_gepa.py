"""GEPA improves the summarizer by our metric: the example of benchmarks/gepa, in small."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.gepa import run
from factcheck import Summarizer
from factcheck.testing import ChatRequest, FactModel, LocalOpenAIServer, Reply
from factcheck.testing.fakes import sentences
from tests.faults import bad_request

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


class Reflector:
    """Proposes to keep numbers if the feedback it gets names a fact with a number."""

    def __init__(self) -> None:
        self.feedback: list[str] = []

    def __call__(self, request: ChatRequest) -> str:
        prompt = str(request.messages[-1]["content"])
        feedback = re.findall(r'"Feedback": ("[^"]+")', prompt)
        self.feedback += map(json.loads, feedback)
        named = re.search(r"- The roof cost \d+ pounds", "".join(self.feedback))
        return json.dumps({"new_instruction": ASKS_FOR_NUMBERS if named else ASKS_FOR_NOTHING})


class Models:
    """One server for both: who summarizes, and who reflects."""

    def __init__(self) -> None:
        self.summarizer = FactModel(summarize=keeps_numbers_if_told)
        self.reflector = Reflector()

    def __call__(self, request: ChatRequest) -> str | Reply:
        if request.body["model"] == "reflector":
            return self.reflector(request)
        return self.summarizer(request)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Six texts; half of them come with their facts, of the others they are extracted."""
    records = []
    for place, town in enumerate(TOWNS):
        text = source(town, place)
        facts = {"facts": sentences(text)} if place % 2 else {}
        records.append({"id": town, "source": text, "summary": "", **facts})
    path = tmp_path / "texts.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records), "utf-8")
    return path


def arguments(data: Path, *more: str) -> list[str]:
    models = ["--model", "openai/tiny", "--reflection-model", "openai/reflector"]
    return [*models, "--data", str(data), "--calls", "20", *more]


def test_the_score_rises_because_the_feedback_names_what_was_dropped(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    models = Models()
    saved = tmp_path / "summarizer.json"
    with LocalOpenAIServer(models) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code = run.main(arguments(data, "--out", str(saved)))

    printed = capsys.readouterr().out
    assert code == 0
    assert re.search(r"mean of 2 +\|  0\.400 \| 1\.000 \|", printed)
    assert ASKS_FOR_NUMBERS in printed
    assert models.reflector.feedback[0].splitlines() == [
        "Coverage 0.50   2 of 4 facts kept",
        "Dropped 2: not in the text",
        "- It was rebuilt with 15 windows. not found: rebuilt with 15 windows",
        "- The roof cost 73 pounds. not found: roof cost 73 pounds",
    ]
    improved = Summarizer()
    improved.load(saved)
    assert improved.summarize.signature.instructions == ASKS_FOR_NUMBERS


def test_a_run_whose_judge_fails_says_so_and_does_not_pass_for_a_result(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    models = Models()

    def without_judge(request: ChatRequest) -> str | Reply:
        return bad_request("no") if request.body["model"] == "judge" else models(request)

    with LocalOpenAIServer(without_judge) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        code = run.main(arguments(data, "--judge", "openai/judge", "--extractor", "local"))

    assert code == 4
    assert "no score, counted as 0 by DSPy: openai/judge: " in capsys.readouterr().err
