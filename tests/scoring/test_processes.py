"""Several processes give what one gives; a process or a run that is killed loses nothing."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest

from factcheck import FactCoverage, FactSet
from factcheck.cli import main
from factcheck.errors import ConfigError, InputError, JudgeError
from factcheck.facts import CoverageReport
from factcheck.records import Record
from factcheck.scoring.many import RecordFailure, Scored, score_in_processes

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
MODEL: Any = "openai/tiny"
QUICK = ("--judge", "local-fast", "--jobs", "2", "--out")


def record(number: int) -> dict[str, Any]:
    source = (
        f"The mill of Varn has {number} sails. It was built in {1800 + number} by two brothers."
    )
    kept = (f"The mill has {number} sails.", f"Two brothers built it in {1900 + number}.")
    return {"id": f"r{number}", "source": source, "summary": kept[number % 2]}


def mixed(size: int) -> list[Any]:
    """Records of every form, and invalid ones."""
    records: list[Any] = [record(number) for number in range(size)]
    records[3] = {"id": "no summary", "source": "It rained."}
    records[9] = {**record(9), "facts": ["The mill has sails.", {"text": "It burns.", "weight": 2}]}
    records[17] = {**record(17), "source": [{"id": "a", "text": "It rained."}, "The mill stands."]}
    records[25] = {"id": "no facts", "source": "?", "summary": "It rained."}
    records[26] = 26
    return records


def run(*arguments: object) -> None:
    with pytest.raises(SystemExit) as left:
        main(["run", *map(str, arguments)])
    assert left.value.code == 0


def endless(read: list[int]) -> Iterator[dict[str, Any]]:
    while True:
        read.append(len(read))
        yield record(len(read))


def test_outcomes_of_mappings_come_in_order() -> None:
    """Invalid records stand where they were."""
    found = []
    for processes in (1, 2):
        with FactCoverage("local-fast", processes=processes) as scorer:
            found.append(list(scorer.score_many(mixed(30))))

    assert found[0] == found[1]
    assert [one.code for one in found[1] if not isinstance(one, CoverageReport)] == ["input"] * 3


def test_records_are_read_lazily_and_closing_ends_the_processes() -> None:
    read: list[int] = []
    scorer = FactCoverage("local-fast", processes=2)
    with contextlib.closing(scorer.score_many(endless(read))) as outcomes:
        assert all(isinstance(next(outcomes), CoverageReport) for _ in range(9))
        assert len(active_children()) == 2

    assert len(read) <= 9 + 3 + 2 * 16
    assert active_children() == []


def stuck_from_fifth() -> Any:
    """A judge that never answers for the records of the second chunk and later ones."""

    def score(records: Sequence[Record]) -> list[Scored]:
        while int(records[0].id[1:]) > 4:
            time.sleep(1)
        return [Scored(records[0], RecordFailure(records[0].id, "judge", "done"))]

    return score


def test_closing_ends_processes_in_the_middle_of_a_record() -> None:
    with contextlib.closing(score_in_processes(stuck_from_fifth, endless([]), 2)) as outcomes:
        found = [next(outcomes).record for _ in range(4)]
        assert [one.id for one in found if one] == ["r1", "r2", "r3", "r4"]
    assert active_children() == []


def test_a_killed_process_is_an_error_that_says_so() -> None:
    with FactCoverage("local-fast", processes=2) as scorer:
        outcomes = scorer.score_many(endless([]))
        next(outcomes)
        for child in active_children():
            child.kill()
        with pytest.raises(JudgeError, match=r"a process of the judge ended: killed.*--resume"):
            list(outcomes)

    assert active_children() == []


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """A file of 100 records, and the rows of a run over them in one process."""
    folder = tmp_path_factory.mktemp("undisturbed")
    path, rows = folder / "records.jsonl", folder / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(record(n))}\n" for n in range(100)), encoding="utf-8")
    run(path, "--judge", "local-fast", "--out", rows)
    return path, rows.read_bytes()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_run_leaves_no_process_and_no_gap(
    undisturbed: tuple[Path, bytes], tmp_path: Path, how: signal.Signals
) -> None:
    """Ctrl-C reaches the whole process group; a kill only the command."""
    (path, whole), part = undisturbed, tmp_path / "part.jsonl"
    process = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "factcheck", "run", path, *QUICK, part],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    while process.poll() is None and (not part.exists() or part.read_bytes().count(b"\n") < 5):
        time.sleep(0.01)
    kill = os.killpg if how == signal.SIGINT else os.kill
    kill(process.pid, how)
    _, errors = process.communicate(timeout=60)  # ends when no process holds standard error

    assert process.returncode == (130 if how == signal.SIGINT else -9)
    assert b"Traceback" not in errors
    run(path, *QUICK, part, "--resume")
    assert part.read_bytes() == whole


def test_only_embedded_judges_run_in_several_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    for options in (
        {"judge": MODEL},
        {"extractor": MODEL},
        {"judge": "cascade(local-fast, local)"},
    ):
        with pytest.raises(ConfigError, match=r"processes=2 is for the judges.*concurrency"):
            FactCoverage(**options, processes=2)
    for number in (0, 1.5, True):
        with pytest.raises(InputError, match="processes must be an integer"):
            FactCoverage("local", processes=number)  # type: ignore[arg-type]
    FactCoverage("local", processes=2).close()
    assert FactCoverage("local-fast", processes=2).check(FactSet.of(["It rained."]), "It rained.")
