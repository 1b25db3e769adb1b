"""What the commands on keywords and references do: files in, output and exit code out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from tests.cli.conftest import INPUTS, Folder, Outcome, Run, refused
from tests.embeddings import EmbeddingServer

DATASET: dict[str, Any] = yaml.safe_load((INPUTS / "cards.yaml").read_text("utf-8"))
DATASET["cases"] = DATASET["cases"][:2]
OUTPUTS, RESPONSES = (
    json.loads((INPUTS / f"{name}.json").read_text("utf-8")) for name in ("outputs", "responses")
)
del OUTPUTS["root"]


class Files(Folder):
    """Two cases of cards, of which all match but one extra; three of behaviors, one ambiguous."""

    def __init__(self, folder: Path, run: Run) -> None:
        super().__init__(folder)
        self.run = run

    def cards(self, *options: str, dataset: Any = DATASET, outputs: Any = OUTPUTS) -> Outcome:
        paths = self.put("d.json", dataset), self.put("o.json", outputs)
        return self.run("keywords", "run", *paths, *options)

    def behaviors(self, *options: str, responses: Any = RESPONSES) -> Outcome:
        path = self.put("r.json", responses)
        return self.run("keywords", "behaviors", str(INPUTS / "suite.json"), path, *options)

    def compare(self, a: str, b: str, *options: str) -> Outcome:
        return self.run("keywords", "compare", self.path(a), self.path(b), *options)

    def save(self, name: str, n_right: int, n_errored: int = 0) -> None:
        """Save a run over eight cases: the first ones right, the last ones errored."""
        cases = [{"id": f"c{k}", "expected_cards": [{"text_keywords": ["x"]}]} for k in range(8)]
        right = {f"c{k}": [{"text": "x" if k < n_right else "-"}] for k in range(8 - n_errored)}
        self.cards("--out", self.path(name), dataset={"cases": cases}, outputs=right)


@pytest.fixture
def files(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Files:
    monkeypatch.chdir(tmp_path)
    return Files(Path(), run)


def test_a_missing_response_is_errored_and_fails_the_gate(files: Files) -> None:
    """In JUnit, too, which has a test for each case."""
    responses = {**RESPONSES, "strict": ["cannot", "cannot", None]}
    shown = files.behaviors(responses=responses)
    gated = files.behaviors("--format", "junit", "--fail-under", "0.5", responses=responses)

    assert (shown.code, gated.code) == (0, 1)
    assert shown.out.startswith("Pass rate 0.500   1 of 2 cases passed, 1 more errored")
    assert "1 case could not be scored (cid: strict: there is no response)" in gated.err
    root = ET.fromstring(gated.out)  # noqa: S314 - our own
    cases = [[case.attrib["name"], *(one.tag for one in case)] for case in root.iter("testcase")]
    assert cases == [["ann"], ["bob", "failure"], ["cid", "error"], ["gate", "failure"]]


def test_the_gate_fails_if_b_is_worse_or_lacks_a_score(files: Files) -> None:
    """Or a run would pass by failing where it is bad."""
    for name, *n_cases in (("a", 8), ("b", 2), ("c", 7, 1)):
        files.save(f"{name}.json", *n_cases)
    worse = files.compare("a.json", "b.json", "--fail-if-worse")
    lost = files.compare("a.json", "c.json", "--fail-if-worse")
    assert worse.code == 1
    assert worse.err == "factcheck: gate failed: B is worse (F1 -0.750, p 0.031)\n"
    assert files.compare("b.json", "a.json", "--fail-if-worse").code == 0
    assert "Only A has a score 1   left out\nc7" in lost.out
    assert lost.code == 1
    assert "1 case without score in B (c7)" in lost.err


@pytest.fixture
def texts(tmp_path: Path) -> tuple[str, str, str]:
    """A text, one that is like it, and one that is not."""
    put = Folder(tmp_path).put
    return (
        put("a.txt", "The train to Oslo leaves at nine.\n"),
        put("b.txt", "Cats sleep all day."),
        put("c.txt", "At nine the train leaves for Oslo."),
    )


def test_only_fail_under_is_a_gate(texts: tuple[str, ...], run: Run) -> None:
    """Without it, 0.7 says what 'passed' means, and changes no exit code."""
    far = ("references", *texts[:2])

    shown = run(*far)
    assert (shown.code, "not passed (< 0.7)" in shown.out) == (0, True)
    failed = run(*far, "--fail-under", "0.4")
    assert failed.code == 1
    assert "not passed (< 0.4)" in failed.out
    assert failed.err.startswith("factcheck: gate failed: mean score ")
    assert run("references", *texts, "--fail-under", "0.4").code == 0
    assert run("references", texts[0], texts[0], "--fail-under", "1").code == 0


def test_the_final_line_feed_is_no_part_of_a_text_and_one_request_does(
    texts: tuple[str, ...], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with EmbeddingServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("FACTCHECK_CACHE", "off")

        outcome = run("references", *texts, "--embedder", "openai")

    first, *others = server.asked
    assert (first[0], len(first), others) == ("The train to Oslo leaves at nine.", 3, [])
    assert outcome.code == 0
    assert "1 call" in outcome.out


def test_saved_runs_are_shown_again_and_compared_with_their_own_kind_only(files: Files) -> None:
    for name in "ab":
        files.save(f"{name}.json", 2)
    gold, saved = files.put("gold.json", '[{"n": 1}]'), files.path("fields.json")
    assert files.run("fields", "evaluate", gold, gold, "--out", saved).code == 0

    assert files.run("report", "a.json").out.startswith("F1 0.250   ")
    assert files.run("compare", "a.json", "b.json").out == files.compare("a.json", "b.json").out
    refused(files.run("compare", "a.json", saved), "results of different commands")
    files.behaviors("--out", "b.json")
    refused(files.compare("a.json", "b.json"), "both runs must be of one kind, not CardRun and")
