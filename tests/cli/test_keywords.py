"""What the commands on keywords and references do: files in, output and exit code out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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
def files(folder: Folder, run: Run) -> Files:
    return Files(folder.folder, run)


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
