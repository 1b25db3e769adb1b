"""What the README and the pages tell a reader to type works, with judges that cost nothing."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import dspy
import pytest

import factcheck
from factcheck import FactCoverage, Summarizer
from factcheck.cli import main
from factcheck.testing import FactModel, LocalOpenAIServer, Reply, Request
from factcheck.testing.fakes import sentences
from tests.e2e.conftest import ROOT, blocks
from tests.goldens.running import INPUTS

PAGES = ("README", "docs/ci", "docs/metrics", "docs/models", "docs/reports", "docs/trust")
SOURCE = "The ferry carried 240 cars.\nThe bridge was opened in 1987.\nThe tunnel was flooded.\n"
SUMMARY = "- The ferry carried 240 cars.\n- The tunnel was dry.\n"
ELSEWHERE = ("--engine ray", "--batch", "serve ", "score SOURCE")
"""Parts of commands that need more than this machine, or that show the syntax only."""


def commands(page: str) -> list[list[str]]:
    """The arguments of each command of a page, in order."""
    found = []
    for block in blocks(page, "", "bash"):
        lines_of = re.findall(r"^factcheck (.*)", block.replace("\\\n", " "), re.MULTILINE)
        found += [shlex.split(line, comments=True) for line in lines_of]
    return [words for words in found if not any(part in shlex.join(words) for part in ELSEWHERE)]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the files that the pages name, and a model server at hand."""
    shutil.copytree(INPUTS, tmp_path, dirs_exist_ok=True)
    for name, given in {
        "report.txt": "source.txt",
        "yours.jsonl": "records.jsonl",
        "labelled.jsonl": "labels.jsonl",
        "facts.jsonl": "labels.jsonl",
        "dataset.yaml": "cards.yaml",
        "cases.json": "suite.json",
    }.items():
        shutil.copy(INPUTS / given, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FACTCHECK_JUDGE", "local-fast")
    monkeypatch.setenv("FACTCHECK_EXTRACTOR", "local")
    with LocalOpenAIServer(FactModel()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield tmp_path


def typed(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    return int(end.value.code or 0)


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_run_one_after_the_other(
    page: str, desk: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    if page == "docs/metrics":
        for name in ("before.json", "after.json"):
            typed("keywords", "run", "dataset.yaml", "outputs.json", "--out", name)
    for arguments in commands(page):
        code = typed(*arguments)
        said = capfd.readouterr().err
        assert code in {0, 1}, f"{shlex.join(arguments)}: {said}"  # a gate may fail
        if code:
            assert "gate failed" in said
    shutil.rmtree(desk / "bullet-removal", ignore_errors=True)


@pytest.mark.parametrize("page", ["README", "docs/metrics", "docs/reports"])
@pytest.mark.usefixtures("desk")
def test_the_snippets_of_a_page_run(page: str) -> None:
    scope: dict[str, Any] = {
        "__name__": "snippet",
        "factcheck": factcheck,
        "source": SOURCE,
        "document": SOURCE,
        "first": SOURCE,
        "second": "The pier is old.",
        "summary": SUMMARY,
        "other_summary": SUMMARY,
        "text": SUMMARY,
        "answer": SUMMARY,
        "good_answer": SUMMARY,
        "pairs": [(SOURCE, SUMMARY)],
        "old_report": factcheck.score(SOURCE, SUMMARY),
    }
    found = blocks(page, "python")
    assert found
    for block in found:
        exec(compile(block, page, "exec"), scope)  # noqa: S102 - our own examples


@pytest.mark.parametrize(("page", "kind"), [("README", "text"), ("docs/reports", "")])
def test_the_report_of_a_page_is_what_the_first_command_prints(
    page: str, kind: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """All but the lines left out; make it again with the first command of the README."""
    monkeypatch.chdir(ROOT)
    samples = (f"factcheck/samples/harbour{part}.txt" for part in ("", "_summary"))
    assert typed("score", *samples) == 0
    printed = capfd.readouterr().out.splitlines()
    shown = blocks(page, kind)[0].splitlines()
    assert [line for line in shown if line not in {*printed, "..."}] == []


def learner(request: Request) -> str:
    """Entails whatever it is asked, until it is shown how to judge, as a weak model might."""
    is_shown = any(message["role"] == "assistant" for message in request.messages)
    return FactModel()(request) if is_shown else FactModel(lambda *_: "entailed")(request)


def test_the_page_on_dspy_extracts_evaluates_optimises_saves_loads_and_judges(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    with LocalOpenAIServer(learner) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        try:
            for block in blocks("docs/dspy", "python"):
                exec(block, scope)  # noqa: S102 - the page is ours
        finally:
            dspy.configure(lm=None)
    labels, before, _, after, *reports = capsys.readouterr().out.splitlines()
    assert labels == "['entailed', 'entailed', 'entailed']"
    assert [before, after] == ["50.0", "100.0"]
    prompts = re.findall(r"check_facts/v2-line@\w+", "\n".join(reports))
    assert len(prompts) == 2
    assert set(prompts) == {prompts[0]} != {factcheck.FactChecker().fingerprint}
    assert re.match(r"1 of \d facts kept\.", reports[0])


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


def answer(request: Request) -> str | Reply:
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
