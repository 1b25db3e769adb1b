"""`factcheck calibrate agreement` and `compare`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.conftest import Desk, Outcome

    Run = Callable[..., Outcome]


def labelled(desk: Desk) -> str:
    rows = [
        {"document": "a", "text": "A deep lake.", "fact": "The lake is deep.", "label": True},
        {"document": "a", "text": "A deep lake.", "fact": "The mole is long.", "label": False},
        {"document": "b", "text": "A red boat.", "fact": "The pier is old.", "label": True},
        {"document": "b", "text": "A red boat.", "fact": "The boat is blue.", "label": False},
    ]
    return desk.put("labels.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def test_tables_name_the_judge_and_the_baseline(run: Run, desk: Desk) -> None:
    code, out, err = run("calibrate", "agreement", labelled(desk))
    assert (code, err) == (0, "")
    assert out.startswith("Agreement with human labels   4 facts, 2 documents, 50% entailed")
    assert "local" in out
    assert "containment" in out


def test_json_is_the_report(run: Run, desk: Desk) -> None:
    data = json.loads(run("calibrate", "agreement", labelled(desk), "--format", "json").out)
    assert data["judges"][0]["metrics"]["balanced_accuracy"]["value"] == 1.0


def test_out_is_a_table_or_json_by_its_name(run: Run, desk: Desk) -> None:
    data = labelled(desk)
    for name in ("a.txt", "a.json"):
        code, out, err = run("calibrate", "agreement", data, "--out", str(desk.folder / name))
        assert (code, err) == (0, "")
        assert out.startswith("Agreement with human labels   4 facts, 2 documents, 50% entailed")
        assert name in out
    assert "Compared with word containment" in (desk.folder / "a.txt").read_text("utf-8")
    assert json.loads((desk.folder / "a.json").read_text("utf-8"))["pairs"] == 4
    code, out, err = run("calibrate", "agreement", data, "--out", str(desk.folder / "no" / "x"))
    assert (code, out) == (2, "")
    assert "there is no folder" in err


def test_partly_covered_facts_can_be_left_out(run: Run, desk: Desk) -> None:
    row = {"doc_id": "d", "text": "A deep lake.", "facts": ["a", "b"], "labels": [0.5, 1]}
    path = desk.put("half.jsonl", json.dumps(row) + "\n")
    assert "   2 facts, 1 document," in run("calibrate", "agreement", path).out
    out = run("calibrate", "agreement", path, "--partly", "left_out").out
    assert "   1 fact, 1 document," in out


def test_undefined_figures_have_their_reason(run: Run, desk: Desk) -> None:
    path = desk.put("one.csv", "text,fact,label\nA deep lake.,The lake is deep.,1\n")
    code, out, _ = run("calibrate", "agreement", path)
    assert code == 0
    told = " ".join(out.split())
    assert "undefined, all labels are equal" in told
    assert "documents needed of local, containment: undefined, no system has 5 documents" in told


def test_a_judge_that_answers_nothing_ends_with_4(run: Run, desk: Desk) -> None:
    path = labelled(desk)
    desk.unplug()
    code, out, err = run("calibrate", "agreement", path)
    assert code == 4
    assert "undecided" in out
    assert "local returned no verdicts" in err


@pytest.mark.parametrize("text", ["", "{}\n", "[1]\n", "not json\n"])
def test_data_that_cannot_be_read_is_one_line(run: Run, desk: Desk, text: str) -> None:
    code, out, err = run("calibrate", "agreement", desk.put("bad.jsonl", text))
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1


def test_two_runs_are_compared(run: Run, desk: Desk) -> None:
    record = {"id": "r", "source": "s", "summary": "t", "facts": ["The lake is deep.", "The pier."]}
    records = desk.put("records.jsonl", json.dumps(record) + "\n")
    before, after = (str(desk.folder / name) for name in ("before.jsonl", "after.jsonl"))
    run("run", records, "--out", before)
    desk.verdicts["The pier."] = "entailed"
    run("run", records, "--out", after)
    code, out, _ = run("calibrate", "compare", before, after)
    assert code == 0
    assert "1 \u2192 2 of 2 facts kept: more, but that may be chance" in out
    assert "The pier." in out
    data = json.loads(run("calibrate", "compare", before, after, "--format", "json").out)
    assert data["p_facts"] == 1.0
    code, _, err = run("calibrate", "compare", before, "nowhere.jsonl")
    assert code == 2
    assert "nowhere.jsonl" in err
