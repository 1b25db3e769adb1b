"""`factcheck calibrate bullets`: a table, rows, figures and a page, and again from the rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from factcheck.calibration import plots

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.conftest import Desk, Outcome

    Run = Callable[..., Outcome]

SUMMARY = "# The harbour\n- A deep lake.\n- An old pier.\n- A red boat.\n"


@pytest.fixture
def arguments(desk: Desk, tmp_path: Path) -> list[str]:
    summary = desk.put("harbour.md", SUMMARY)
    folder = str(tmp_path / "out")
    return ["--source", desk.source, "--summary", summary, "--out", folder]


def test_the_table_names_every_judge_and_the_baseline(run: Run, arguments: list[str]) -> None:
    code, out, err = run("calibrate", "bullets", *arguments)
    assert code == 0
    assert out.startswith("Bullet removal   1 text, ")
    headers = [line.split() for line in out.splitlines()]
    assert ["local", "containment"] in headers
    assert "steps at which it rises" in out
    assert "rows.jsonl" in err


def test_rows_figures_and_a_page_are_written(
    run: Run, arguments: list[str], tmp_path: Path
) -> None:
    run("calibrate", "bullets", *arguments)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"rows.jsonl", "texts.jsonl", "bullets.html", "curves.png", "curves.svg"} <= names
    assert {"facts-harbour-local.png", "facts-harbour-local.svg"} <= names
    page = (tmp_path / "out" / "bullets.html").read_text("utf-8")
    assert page.count("<svg") == 2
    assert "A red boat." in page
    assert "<script" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_second_look_asks_nobody_and_says_the_same(
    run: Run, desk: Desk, arguments: list[str], tmp_path: Path
) -> None:
    first = run("calibrate", "bullets", *arguments)
    page = (tmp_path / "out" / "bullets.html").read_bytes()
    curves = (tmp_path / "out" / "curves.svg").read_bytes()
    asked = len(desk.checker.calls)
    again = run("calibrate", "bullets", "--from-rows", str(tmp_path / "out"))
    assert again.out == first.out
    assert len(desk.checker.calls) == asked
    assert (tmp_path / "out" / "bullets.html").read_bytes() == page
    assert (tmp_path / "out" / "curves.svg").read_bytes() == curves


def test_without_matplotlib_there_are_tables_and_a_word_about_it(
    run: Run, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plots, "find_spec", lambda _name: None)
    code, out, err = run("calibrate", "bullets", *arguments)
    assert code == 0
    assert "Mean score by the share of bullets left" in out
    assert "pip install 'factcheck[plots]'" in err
    page = (tmp_path / "out" / "bullets.html").read_text("utf-8")
    assert "<svg" not in page
    assert "<table" in page
    assert not list((tmp_path / "out").glob("*.png"))


def test_json_is_the_figures(run: Run, arguments: list[str]) -> None:
    found = json.loads(run("calibrate", "bullets", *arguments, "--format", "json").out)
    assert set(found["judges"]) == {"local", "containment"}
    assert found["judges"]["local"]["metrics"]["full_score"] == {"value": 0.5, "interval": None}


def test_a_judge_that_answers_nothing_is_told_apart(
    run: Run, desk: Desk, arguments: list[str], tmp_path: Path
) -> None:
    desk.unplug()
    code, out, err = run("calibrate", "bullets", *arguments)
    assert code == 4, err
    assert "lack an answer" in out
    assert "local returned no verdicts" in err
    assert (tmp_path / "out" / "rows.jsonl").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--source", "s.txt"], "--source and --summary belong together"),
        (["--facts", "f.txt"], "--facts needs --source and --summary"),
        (["--from-rows", "nowhere"], "nowhere"),
        (["--random-orders", "-1"], "random orders"),
    ],
)
def test_what_cannot_be_run_is_refused(
    run: Run, options: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run("calibrate", "bullets", *options)
    assert code == 2
    assert message in err
    assert not out


def test_a_blank_summary_is_refused(run: Run, desk: Desk) -> None:
    blank = desk.put("blank.md", " \n")
    code, _, err = run("calibrate", "bullets", "--source", desk.source, "--summary", blank)
    assert code == 2
    assert "blank" in err
