"""The command line with scripted judges, run inside the test's process."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from factcheck.cli import main
from factcheck.errors import JudgeUnavailable
from factcheck.facts import AtomicFact, CheckFailure, EntailmentLabel
from factcheck.fields import annotate_xeval, evaluate, infer_schema
from factcheck.judges.factory import Judges
from factcheck.testing import FactModel, LocalOpenAIServer, ScriptedChecker, ScriptedExtractor
from tests.batch_server import BatchPlan, BatchServer
from tests.server.conftest import start

__all__ = ["start"]

INPUTS = Path(__file__).resolve().parents[1] / "goldens" / "inputs"
SOURCE = "The lake is deep.\nThe pier is old.\nThe boat is blue.\nThe mole is long.\n"
LOST = CheckFailure(AtomicFact("any", "any"), "unavailable", "no reply")


class Outcome(NamedTuple):
    """What a run of the program left."""

    code: Any
    out: str
    err: str


Run = Callable[..., Outcome]


def refused(outcome: Outcome, message: str, code: int = 2) -> None:
    """Nothing was printed but one line that says what is wrong."""
    assert outcome.code == code
    assert not outcome.out
    assert outcome.err.count("\n") == 1
    assert message in outcome.err


class Folder:
    """A folder for the files of a test; `Path()`, as messages cut names that are very long."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> str:
        """The path of a file that need not exist."""
        return str(self.folder / name)

    def put(self, name: str, content: Any) -> str:
        """The path of a new file with this text, or with this value as JSON."""
        if not isinstance(content, (bytes, str)):
            content = json.dumps(content)
        data = content if isinstance(content, bytes) else content.encode()
        (self.folder / name).write_bytes(data)
        return self.path(name)

    def lines(self, name: str, records: Sequence[Any]) -> str:
        """The path of a new file with one record per line."""
        return self.put(name, "".join(f"{json.dumps(record)}\n" for record in records))


class Desk(Folder):
    """Judges and files that the commands of a test meet."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.source = self.put("source.txt", SOURCE)
        self.summary = self.put("summary.txt", "A deep lake, an old pier, a red boat.\n")
        self.verdicts: dict[str, EntailmentLabel | CheckFailure | Exception] = {
            "The lake is deep.": "entailed",
            "The pier is old.": "entailed",
            "The boat is blue.": "contradicted",
            "The mole is long.": "neutral",
        }
        self.checker = ScriptedChecker(lambda fact, _text: self.verdicts.get(fact, "neutral"))
        self.extractor = ScriptedExtractor(lambda text: text.strip().splitlines())
        self.asked_for: list[tuple[Any, Any]] = []

    def judges(self, judge: Any, extractor: Any, *_: Any, **__: Any) -> Judges:
        """Stands for `build_judges`."""
        self.asked_for.append((judge, extractor))
        return Judges(self.extractor, self.checker)

    def unplug(self) -> None:
        self.checker = ScriptedChecker(
            lambda _fact, _text: JudgeUnavailable("cannot reach the judge; check the address")
        )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """An empty folder, in which the commands run."""
    monkeypatch.chdir(tmp_path)
    return Folder(Path())


@pytest.fixture
def desk(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Files in a folder of their own, and scripted judges behind every judge name."""
    desk = Desk(folder.folder)
    monkeypatch.setattr("factcheck.scoring.scorer.build_judges", desk.judges)
    return desk


@pytest.fixture(scope="session")
def goldens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The inputs of the goldens, two saved runs of fields and a blank text."""
    folder = tmp_path_factory.mktemp("inputs")
    shutil.copytree(INPUTS, folder, dirs_exist_ok=True)
    gold, extracted = (
        [json.loads(line) for line in (INPUTS / f"{name}.jsonl").read_text("utf-8").splitlines()]
        for name in ("gold", "extracted")
    )
    for name, found in (("gold", gold), ("extracted", extracted)):
        result = evaluate(gold, found, annotate_xeval(infer_schema(gold)))
        (folder / f"{name}.json").write_text(result.to_json(), encoding="utf-8")
    (folder / "blank.txt").write_text(" \n", encoding="utf-8")
    return folder


@pytest.fixture
def inputs(monkeypatch: pytest.MonkeyPatch, goldens: Path) -> Path:
    monkeypatch.chdir(goldens)
    return goldens


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:

    def run_main(*arguments: str) -> Outcome:
        with pytest.raises(SystemExit) as left:
            main(arguments)
        captured = capfdbinary.readouterr()
        return Outcome(left.value.code, captured.out.decode(), captured.err.decode())

    return run_main


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalOpenAIServer]:
    """A scripted model that the real judge talks to."""
    with BatchServer(FactModel(), BatchPlan()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield server
