"""`factcheck calibrate`: bullets and audit."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.cli.conftest import Desk, Outcome

Run = Callable[..., Outcome]
Calibrate = Callable[..., Outcome]


@pytest.fixture
def bullets(run: Run, desk: Desk) -> Calibrate:
    """`calibrate bullets` on a text of one's own."""
    summary = desk.put(
        "harbour.md", "# The harbour\n- A deep lake.\n- An old pier.\n- A red boat.\n"
    )
    own = ("--source", desk.source, "--summary", summary, "--out", desk.path("out"))
    return lambda *options: run("calibrate", "bullets", *own, *options)


@pytest.fixture
def audit(run: Run, desk: Desk) -> Calibrate:
    """`calibrate audit` on a text of one's own."""
    summary = desk.put("bullets.md", "- The lake is deep.\n- The pier is old.\n")
    own = ("--source", desk.source, "--summary", summary)
    return lambda *options: run("calibrate", "audit", *own, *options)


@pytest.fixture
def agreement(run: Run, desk: Desk) -> Calibrate:
    """`calibrate agreement` with four labels."""
    rows = [
        {"document": "a", "text": "A deep lake.", "fact": "The lake is deep.", "label": True},
        {"document": "a", "text": "A deep lake.", "fact": "The mole is long.", "label": False},
        {"document": "b", "text": "A red boat.", "fact": "The pier is old.", "label": True},
        {"document": "b", "text": "A red boat.", "fact": "The boat is blue.", "label": False},
    ]
    data = desk.lines("labels.jsonl", rows)
    return lambda *options: run("calibrate", "agreement", data, *options)


@pytest.mark.parametrize(
    ("command", "said"),
    [("bullets", "lack an answer"), ("audit", "without an answer"), ("agreement", "undecided")],
)
def test_a_judge_without_verdicts_ends_with_4(
    request: pytest.FixtureRequest, desk: Desk, command: str, said: str
) -> None:
    """The report is printed all the same."""
    calibrate = request.getfixturevalue(command)
    desk.unplug()

    code, out, err = calibrate()

    assert code == 4, err
    assert said in out
    assert "local returned no verdicts" in err


def test_labels_of_some_facts_give_the_human_level(run: Run, desk: Desk) -> None:
    rows = [
        {"document": str(n), "text": f"A deep lake {n}.", "fact": "The lake is deep."}
        for n in range(4)
    ]
    data, page = desk.lines("data.jsonl", rows), desk.path("review.html")
    labels = desk.lines("labels.jsonl", [row | {"label": 1} for row in rows[:3]])
    stranger = desk.lines("other.jsonl", [{"text": "t", "fact": "f", "label": 1}])

    made = run("calibrate", "agreement", data, "--review", page)
    measured = run("calibrate", "agreement", data, "--labels", labels)
    refused = run("calibrate", "agreement", data, "--labels", stranger)
    unlabelled = run("calibrate", "agreement", data)

    assert (made.code, made.out) == (0, "")
    assert "then: factcheck calibrate agreement" in made.err
    assert (desk.folder / "review.html").read_text("utf-8").count("<script") == 2
    assert "3 of 4 facts labelled, 3 of 4 documents labelled" in measured.out
    assert "human level 1.000 (.439–1.000), from the labels and local" in measured.out
    assert refused.code == unlabelled.code == 2
    assert "1 label of facts or texts that the data do not have" in refused.err
    assert "no labelled pair" in unlabelled.err


# --- bullets ------------------------------------------------------------------------------------


def test_rows_figures_and_a_page_are_written(bullets: Calibrate, desk: Desk) -> None:
    bullets()

    folder = desk.folder / "out"
    names = {path.name for path in folder.iterdir()}
    assert names == {"rows.jsonl", "bullets.html", "curves.svg"}
    page = (folder / "bullets.html").read_text("utf-8")
    assert page.count("<svg") == 1
    assert "<script" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")


# --- audit --------------------------------------------------------------------------------------


def test_a_judge_that_ignores_the_text_is_exposed(audit: Calibrate, desk: Desk) -> None:
    """JSON holds every error."""
    desk.verdicts = dict.fromkeys(desk.verdicts, "entailed")

    code, out, _ = audit()
    (report,) = json.loads(audit("--format", "json").out)
    strict = audit("--strict")

    assert (code, strict.code) == (0, 1)
    assert strict.err == "factcheck: gate failed: 1 fault (--strict)\n"
    assert out.startswith("Audit of local   ")
    assert "it says yes to 100 % of its questions" in out
    assert "although the text says: The pier is not old." in out
    by_rule = {rule["rule"]: rule for rule in report["rules"]}
    assert by_rule["added negation"]["broken"] == len(by_rule["added negation"]["errors"]) == 4


def test_several_judges_are_audited_one_after_the_other(audit: Calibrate) -> None:
    out = audit("--judge", "local", "--judge", "openai/x").out

    assert "Audit of local" in out
    assert "Audit of openai/x" in out
