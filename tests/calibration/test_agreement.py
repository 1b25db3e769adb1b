"""Judges are compared with human labels: read, checked, matched and counted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from factcheck import AtomicFact, CheckFailure, Verdict
from factcheck.calibration import LabelledPair, agreement, read_pairs
from factcheck.calibration.agreement import (
    Decisions,
    measure_agreement,
    share_right,
)
from factcheck.errors import InputError
from factcheck.facts import EntailmentLabel
from factcheck.stats.intervals import wilson
from factcheck.testing import ScriptedChecker

FACT = AtomicFact("f", "scripted")
YES, NO = Verdict(FACT, "entailed"), Verdict(FACT, "neutral")


def oracle(probabilities: Mapping[str, float] | None = None) -> ScriptedChecker:
    """Says of a fact what its first word is."""

    def said(fact: str, text: str) -> Verdict | CheckFailure:
        word = fact.split(maxsplit=1)[0]
        if word == "lost":
            return CheckFailure(FACT, "unavailable", "the line is dead")
        label: EntailmentLabel = "entailed" if word == "yes" else "neutral"
        return Verdict(FACT, label, (probabilities or {}).get(word))

    return ScriptedChecker(said)


def pairs(*rows: tuple[str, str, bool]) -> list[LabelledPair]:
    return [LabelledPair(doc, "", f"text of {doc}", fact, label) for doc, fact, label in rows]


FOUR = pairs(
    ("a", "yes 1", True), ("a", "no 2", False), ("b", "yes 3", False), ("b", "no 4", False)
)


def test_a_judge_checks_each_text_once() -> None:
    judge = oracle({"yes": 0.9, "no": 0.2})
    report = agreement(FOUR, {"oracle": judge})
    assert len(judge.calls) == 2
    first, baseline = report.judges
    assert (first.judge, baseline.judge) == ("oracle", "containment")
    assert first.metrics["sensitivity"].value == 1.0
    assert first.metrics["specificity"].value == pytest.approx(2 / 3)
    assert report.share_entailed == 0.25
    data = json.loads(report.to_json())
    assert data["judges"][0]["metrics"]["balanced_accuracy"]["interval"] is not None


def test_undecided_facts_are_outside_every_metric_and_counted() -> None:
    rows = [*FOUR, *pairs(("b", "lost five", True))]
    first = agreement(rows, {"oracle": oracle()}).judges[0]
    assert (first.n_undecided, first.n_pairs) == (1, 4)
    assert first.failure == "the line is dead"
    assert first.metrics["sensitivity"].value == 1.0


def test_undefined_metrics_have_no_value() -> None:
    alike = pairs(("a", "yes one", True), ("b", "no two", True))
    metrics = agreement(alike, {"oracle": oracle()}).judges[0].metrics
    assert metrics["balanced_accuracy"] == (None, None, "")
    nothing = measure_agreement("x", alike, [CheckFailure(FACT, "unsure", "")] * 2)
    assert nothing.metrics["sensitivity"].value is None
    with pytest.raises(InputError, match="no labelled pairs"):
        agreement([], [])


def written(folder: Path, *rows: Any) -> Path:
    path = folder / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_the_formats(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"doc_id": "d", "system": "s", "text": "t", "fact": "f", "label": 1},
        {"document": "d", "system": "s", "text": "t", "fact": "g", "label": None},
        {"doc_id": "d", "system": "u", "text": "t2", "fact": "f", "label": 0.5},
        {"id": "e", "text": "t3", "fact": "f", "label": True},
    )
    assert read_pairs(path) == [
        LabelledPair("d", "s", "t", "f", label=True),
        LabelledPair("d", "u", "t2", "f", label=False),
        LabelledPair("t3", "", "t3", "f", label=True),
    ]


ROW = {"fact": "f", "text": "t", "label": 1}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{**ROW, "label": 2}], "line 1: label 2"),
        ([{**ROW, "label": "perhaps"}], "line 1: label 'perhaps'"),
        ([{**ROW, "fact": " "}], "line 1: the fact is blank"),
        ([{"facts": ["f"], "labels": [1], "text": "t"}], "line 1: row: 'fact' is missing"),
        ([ROW, {**ROW, "label": 0}], "line 2: the label of f contradicts an earlier one"),
        ([{**ROW, "label": None}], "no labelled pair"),
    ],
)
def test_unreadable_rows_are_refused(tmp_path: Path, rows: list[Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_pairs(written(tmp_path, *rows))


def test_a_share_without_spread_has_the_interval_of_its_trials() -> None:
    """5 of 5 facts are no proof of 100 %; with spread, the interval is that of the documents."""
    rows = [LabelledPair(f"d{n}", "", "t", f"{n}", label=n < 5) for n in range(10)]
    right, mixed = (
        measure_agreement("m", rows, [*[YES] * found, *[NO] * (10 - found)]).metrics
        for found in (5, 4)
    )
    for name in ("sensitivity", "specificity", "balanced_accuracy"):
        assert right[name].interval == wilson(1.0, 5)
    low, high = mixed["balanced_accuracy"].interval or (0, 0)
    assert 0.5 < low < high == 1.0


def test_labels_may_be_the_words_of_the_page(tmp_path: Path) -> None:
    labels = {"stated": True, "Not stated": False, "yes": True, "no": False}
    words = (*labels, "cannot tell")
    path = written(tmp_path, *({**ROW, "fact": word, "label": word} for word in words))
    assert {pair.fact: pair.label for pair in read_pairs(path)} == labels


def decisions(labels: Sequence[bool], entailed: Sequence[bool]) -> Decisions:
    said = np.array(labels, dtype=bool), np.array(entailed, dtype=bool)
    return Decisions(*said, np.zeros(len(labels), dtype=int))


def test_by_hand() -> None:
    pairs = decisions([True, True, True, False, False], [True, True, False, True, False])
    assert share_right(pairs, [True]) == pytest.approx(2 / 3)
    assert share_right(pairs, [False]) == 0.5
    assert share_right(pairs) == pytest.approx((2 / 3 + 1 / 2) / 2)
    for label in (True, False):
        assert share_right(decisions([label] * 3, [True, True, False])) is None
