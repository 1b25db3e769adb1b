"""`factcheck report`: rows and reports that were saved, in another format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from factcheck.facts import AtomicFact
from tests.cli.conftest import Outcome, refused
from tests.reports.examples import report_of, verdict
from tests.scoring.test_run_report import opened

FACT = AtomicFact("f1", "The lake is deep.")


def test_rows_of_a_run_are_reported_under_the_names_of_their_columns(
    run: Callable[..., Outcome], tmp_path: Path
) -> None:
    pairs = (
        'key,article,answer\na,"The lake is deep. It froze.","It froze."\nb,"The pier is old.",\n'
    )
    (tmp_path / "pairs.csv").write_text(pairs, "utf-8")
    fields = ("--source-field", "article", "--summary-field", "answer", "--id-field", "key")
    rows = str(tmp_path / "rows.jsonl")
    command = ("run", str(tmp_path / "pairs.csv"), *fields, "--judge", "local-fast")
    assert run(*command, "--lead", "--out", rows).code == 0
    out = tmp_path / "run.html"
    outcome = run("report", rows, "--out", str(out))
    assert outcome.code == 0
    assert outcome.out.startswith("Mean coverage")
    assert '<mark class="good" data-k="f2">It froze.</mark>' in "".join(
        opened(out.read_text("utf-8"))
    )
    assert run("report", rows, "--format", "junit", "--fail-under", "0.9").code == 1
    refused(run("run", str(tmp_path / "pairs.csv"), "--source-field", "text"), "'text'")


def test_a_saved_report_is_shown_again(run: Callable[..., Outcome], tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(report_of(verdict(FACT, "entailed")).to_json(), "utf-8")
    assert "Kept 1" in run("report", str(path)).out
    path.write_text("{}", "utf-8")
    refused(run("report", str(path)), "not a factcheck report")
