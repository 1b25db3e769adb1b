"""`factcheck run`: many pairs, rows as they are final, and runs that end early."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from factcheck.documents.results import read_results
from factcheck.facts import AtomicFact
from factcheck.scoring.run_report import RunReport
from factcheck.testing import FactModel, LocalOpenAIServer, Reply, Request, parse_prompt
from tests.cli.conftest import LOST, Desk, Folder, Outcome, Run, refused
from tests.reports.examples import report_of, verdict
from tests.rows import comparable

MODEL = "openai/tiny"
FACTS = ("The lake is deep.", "The pier is old.")


def as_lines(records: Iterable[Any]) -> str:
    """JSON lines; what is a text already stays as it is."""
    return "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in records)


def record(number: int, **others: Any) -> dict[str, Any]:
    """A record with its facts; no two are alike."""
    facts = [*FACTS, f"The boat has number {number}."]
    summary = f"{FACTS[0]} The boat has number {number}."
    return {"id": f"r{number}", "source": "", "summary": summary, "facts": facts, **others}


def ids(path: Path) -> list[str]:
    return [row["id"] for row in read_results(path)]


class Job:
    """A run over records with scripted judges; its rows go to `rows`."""

    def __init__(self, desk: Desk, run: Run) -> None:
        self.desk = desk
        self.run = run
        self.rows = desk.folder / "rows.jsonl"

    def __call__(self, records: Iterable[Any], *options: str, out: bool = True) -> Outcome:
        path = self.desk.put("records.jsonl", as_lines(records))
        return self.run("run", path, *(("--out", str(self.rows)) if out else ()), *options)


@pytest.fixture
def job(desk: Desk, run: Run) -> Job:
    return Job(desk, run)


def test_an_invalid_record_ends_the_run(job: Job) -> None:
    bad = [record(1), "{'id': 3}"]
    refused(job(bad, out=False), "records.jsonl, line 2: not valid JSON")
    refused(job(bad[1:]), "records.jsonl, line 1: not valid JSON")
    for command in (["report"], ["compare", str(job.rows)]):
        refused(job.run(*command, str(job.rows)), "rows.jsonl has no rows: its run ended early")


def test_rows_of_another_run_are_never_touched(desk: Desk, job: Job) -> None:
    assert job([record(1)]).code == 0
    before = job.rows.read_bytes()
    changed = record(1, summary="Another text.")

    refused(job([record(1)]), "continue with --resume, or name another file")
    other = job([record(1)], "--resume", "--direction", "both")
    refused(other, "rows of a run with direction:coverage, not direction:both")
    done = job([changed], "--resume")
    assert (done.code, done.out) == (2, "")
    assert "record 'r1' has changed since its row was written" in done.err
    assert job.rows.read_bytes() == before
    assert len(desk.checker.calls) == 1


def test_a_failure_that_may_pass_has_no_row_and_is_tried_again(desk: Desk, job: Job) -> None:
    """One fact the judge could not be reached for: exit 4, and the next run decides it."""
    records = [record(n) for n in range(3)]
    desk.verdicts["The boat has number 1."] = LOST

    first, after_first = job(records), ids(job.rows)
    reports = [str(RunReport.read(job.rows))]
    del desk.verdicts["The boat has number 1."]
    second = job(records, "--resume")
    reports.append(str(RunReport.read(job.rows)))

    assert (first.code, second.code) == (4, 0)
    assert "1 record not finished (r1: no reply)" in first.err
    assert "continue with --resume" in first.err
    assert after_first == ["r0", "r2"]
    assert "2 of 2 records scored so far" in reports[0]
    assert "3 of 3 records scored" in reports[1]
    assert ids(job.rows) == ["r0", "r2", "r1"]
    assert len(desk.checker.calls) == 4


@pytest.mark.parametrize("code", ["unsure", "language"])
def test_what_the_embedded_judge_leaves_undecided_is_final(desk: Desk, job: Job, code: str) -> None:
    """The row is written, as it would answer the same; a record without score passes no gate."""
    lost = replace(LOST, code=code)
    desk.verdicts.update(dict.fromkeys((*FACTS, "The boat has number 1."), lost))

    done = job([record(0), record(1)])
    gated = job([record(0), record(1)], "--fail-under", "0.1", out=False)

    assert done.code == 0, done.err
    assert ids(job.rows) == ["r0", "r1"]
    assert "1 of 2 records scored" in done.out
    assert "1 without a score, as no fact was decided" in done.out
    assert gated.code == 4
    assert "1 record without score, as no fact was decided (r1)" in gated.err


def test_a_budget_ends_the_run_and_the_next_one_goes_on(
    server: LocalOpenAIServer, run: Run, tmp_path: Path
) -> None:
    out, whole = tmp_path / "rows.jsonl", tmp_path / "whole.jsonl"
    score = by_model(tmp_path, (record(n) for n in range(8)))

    first = run(*score, "--out", str(out), "--max-calls", "3")
    n_first, rows_first = len(server.requests), ids(out)
    second = run(*score, "--out", str(out), "--resume")
    n_both = len(server.requests)
    run(*score, "--out", str(whole))

    assert (first.code, second.code) == (4, 0)
    assert "the budget is exhausted; this is a partial result; continue with --resume" in first.err
    assert "Mean coverage" in first.out
    assert (n_first, n_both) == (3, 8)
    assert len(rows_first) == 3
    assert sorted(comparable(out), key=lambda row: row["id"]) == comparable(whole)
    assert len(server.requests) == 8


def by_model(folder: Path, records: Iterable[Any]) -> tuple[str, ...]:
    path = Folder(folder).put("records.jsonl", as_lines(records))
    return ("run", path, "--judge", MODEL)


PIER = {"id": "pier", "text": "The pier is old."}
BOATS = [{"id": str(n), "text": f"The boat {n} is blue."} for n in range(2)]
LINES = [{"source": [PIER, boat], "summary": f"The boat {boat['id']} sails."} for boat in BOATS]
TWICE = [record(1), record(2), record(1, id="again"), record(3, facts=[*"abcdefghijklmnopq"])]


@pytest.mark.parametrize(
    ("records", "direction", "n_expected"),
    [(TWICE, "coverage", 3), (LINES, "coverage", 3 + 2), (LINES, "both", 3 + 2 + 2 + 4)],
)
def test_a_dry_run_counts_what_the_real_run_then_sends(
    server: LocalOpenAIServer,
    run: Run,
    tmp_path: Path,
    records: Any,
    direction: str,
    n_expected: int,
) -> None:
    """Every document, fact list and text once, also where a summary is there twice."""
    score = [*by_model(tmp_path, records), "--direction", direction]
    dry = run(*score, "--dry-run")
    assert len(server.requests) == 0
    run(*score)

    assert dry.out.startswith(f"{len(records)} records need about {n_expected} requests and ")
    assert len(server.requests) == n_expected
    free = f"{len(records)} records need no requests: the judge is local, or replies are cached"
    assert run(*score, "--dry-run").out == f"{free}\n"


def test_a_dry_run_needs_no_key_and_says_what_thought_may_add(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    command = (*by_model(tmp_path, [record(1)])[:2], "--judge", "openai/gpt-5-nano", "--dry-run")
    assert re.search(
        r"; without thought, completion tokens: at most [\d,]+, cost: at most \$[\d.]+; "
        "openai/gpt-5-nano thinks: hardly more with reasoning_effort=minimal, .* 3 to 10 times",
        run(*command).out,
    )


def slow(request: Request) -> Reply:
    """Answers about the boats 0 to 4 come at once, the others never in the time of a test."""
    boat = int(parse_prompt(request.body).text.split()[-1].rstrip("."))
    return Reply(FactModel()(request), delay_s=0.0 if boat < 5 else 300.0)


@pytest.fixture
def process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterable[subprocess.Popen[str]]:
    """A run of 20 records, with 5 rows in `rows.jsonl` and no more to come.

    Fewer records than slots, so that the slow ones do not keep the quick ones from theirs.
    """
    out = tmp_path / "rows.jsonl"
    command = ("factcheck", *by_model(tmp_path, (record(n) for n in range(20))), "--out", str(out))
    with LocalOpenAIServer(slow) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        with subprocess.Popen(  # noqa: S603 - our own command line
            [sys.executable, "-m", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        ) as process:
            while not (out.exists() and len(ids(out)) == 5):
                assert process.poll() is None, process.communicate()
                time.sleep(0.01)
            yield process


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_an_interrupt_ends_the_run_with_what_is_there(
    process: subprocess.Popen[str], tmp_path: Path
) -> None:
    """Exit 130, the partial summary on standard output, whole rows in the file."""
    out = tmp_path / "rows.jsonl"
    process.send_signal(signal.SIGINT)
    printed, complaints = process.communicate(timeout=60)

    assert process.returncode == 130
    assert "5 of 5 records scored so far" in printed
    assert "partial result: " in printed
    assert f"Interrupted after 5 records; continue with --out {out} --resume." in complaints
    assert complaints.count("interrupted") == 1
    assert "Traceback" not in complaints
    assert ids(out) == [f"r{n}" for n in range(5)]
    assert "5 of 5 records scored so far" in str(RunReport.read(out))


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("kill", [signal.SIGTERM, signal.SIGKILL])
def test_rows_of_a_killed_run_are_reported_as_partial_until_it_is_resumed(
    process: subprocess.Popen[str], run: Run, tmp_path: Path, kill: signal.Signals
) -> None:
    out = str(tmp_path / "rows.jsonl")
    process.send_signal(kill)
    process.communicate(timeout=60)
    assert process.returncode == -kill

    partial = "partial result: records are without a row; continue with --resume"
    shown = run("report", out)
    assert (shown.code, "5 of 5 records scored so far" in shown.out) == (0, True)
    assert partial in " ".join(shown.out.split())
    assert partial in run("report", out, "--format", "csv").err
    compared = run("compare", out, out)
    assert (compared.code, f"B: {partial}" in " ".join(compared.out.split())) == (0, True)
    gated = run("compare", out, out, "--fail-if-worse")
    assert (gated.code, f"the gate cannot pass: A: {partial}" in gated.err) == (4, True)

    quick = [*(record(n) for n in range(5)), record(3, id="last")]
    assert run(*by_model(tmp_path, quick), "--out", out, "--resume").code == 0
    whole = run("report", out).out
    assert "6 of 6 records scored: " in whole
    assert "partial" not in whole


WITH_LITTLE_ROOM = """
import resource, signal, sys
sys.dont_write_bytecode = True  # it would be cut off and be read by every later process
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
from factcheck.cli import main
main(sys.argv[2:])
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX limits")
def test_a_full_disk_keeps_whole_rows_and_the_run_is_resumed(tmp_path: Path, run: Run) -> None:
    """What was scored is summed up, and the file holds no torn row."""
    records, out = tmp_path / "records.jsonl", tmp_path / "rows.jsonl"
    records.write_text(as_lines(record(n) for n in range(6)), encoding="utf-8")
    score = ("run", str(records), "--judge", "local-fast", "--out", str(out))

    full = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", WITH_LITTLE_ROOM, "4000", *score],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    kept = ids(out)
    done = run(*score, "--resume")

    assert full.returncode == 2
    assert "make room, then continue with --resume" in full.stderr
    assert "Mean coverage" in full.stdout
    assert 0 < len(kept) < 6
    assert kept == [f"r{n}" for n in range(len(kept))]
    assert done.code == 0
    assert ids(out) == [f"r{n}" for n in range(6)]


LAKE = AtomicFact("f1", "The lake is deep.")


@pytest.mark.parametrize("opens", [True, False])
def test_a_saved_report_is_shown_again_or_opened_in_the_browser(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, opens: bool
) -> None:
    opened: list[str] = []

    def browse(url: str) -> bool:
        opened.append(url)
        return opens

    monkeypatch.setattr("webbrowser.open", browse)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    path = tmp_path / "report.json"
    path.write_text(report_of(verdict(LAKE, "entailed")).to_json(), "utf-8")
    assert "Kept 1" in run("report", str(path)).out
    text = Folder(tmp_path).put("text.txt", LAKE.text)
    assert "1 of 1 fact kept" in run("score", text, text, "--facts", str(path)).out
    code, out, err = run("view", str(path))
    (page,) = tmp_path.glob("factcheck-*.html")

    assert (code, out, opened) == (0, "", [page.as_uri()])
    assert err == (f"{page}\n" if opens else f"{page}: no browser was found; open it in one\n")
    assert LAKE.text in page.read_text("utf-8")
    assert not page.stat().st_mode & 0o077
    path.write_text("{}", "utf-8")
    for command in ("report", "view"):
        refused(run(command, str(path)), "not a factcheck report")
