"""The reports of runs and comparisons: what they say, and that nothing in a record acts."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from factcheck.fields import BatchItem, ComparatorResult, Registry, RunResult
from factcheck.reports import render
from factcheck.reports.page import Page
from factcheck.reports.table import render as table
from tests.fields.builders import TEXT, Recorder, compared, record, registry_of, run

NASTY = "[red]|`<b>*_x_* \x1b[31m\u202e\n# y"
SILENT = compared("silent")


def pairs_of(
    pairs: Sequence[tuple[Any, Any]], registry: Registry | None = None, **fields: Any
) -> RunResult:
    gold, extracted = zip(*pairs, strict=True)
    return run(record(**fields), gold, extracted, registry)


def silent(value: str) -> Registry:
    def answer(item: BatchItem) -> ComparatorResult:
        if item.gold_raw == value:
            raise RuntimeError("nobody is there")
        return ComparatorResult(float(item.gold_raw == item.extracted_raw), "silent")

    return registry_of(silent=Recorder(answer))


def mixed() -> RunResult:
    gold = {"a": "x", "b": "y"}
    extracted = [{"a": "z", "b": "y"}, {"a": "z", "b": "y"}, {"b": "y"}, {**gold, "c": "new"}]
    return pairs_of([(gold, found) for found in extracted], a=TEXT, b=TEXT)


def rows_of(page: Page) -> dict[str, tuple[str, ...]]:
    [found] = [section.table for section in page.sections if section.title == "Fields by losses"]
    assert found is not None
    return {row[0]: row[1:] for row in found.rows}


def line_of(text: str, start: str) -> list[str]:
    return next(line.split() for line in text.splitlines() if line.startswith(start))


def test_fields_are_sorted_by_losses() -> None:
    rows = rows_of(mixed().page())

    assert [*rows] == ["a", "c", "b"]
    assert rows["a"] == ("0.286", "0.333", "0.250", "4", "2", "1", "0")


def test_the_worst_examples_come_first_and_the_rest_is_counted() -> None:
    registry = registry_of(near=lambda g, e, _: ComparatorResult(0.9 if e in g else 0.1, "near"))
    found = pairs_of([({"a": "xy"}, {"a": one}) for one in "xqyp"], registry, a=compared("near"))

    [_, section] = found.page().sections

    assert [item.change and item.change[1] for item in section.items] == ['"q"', '"p"', '"x"']
    assert section.more == "and 1 more"


def test_doubtful_mismatches_come_first_and_are_saved() -> None:
    def answer(item: BatchItem) -> ComparatorResult:
        is_doubtful = item.gold_raw == "lorry"
        return ComparatorResult(0.0, "silent", "other words", doubtful=is_doubtful)

    pairs = [({"a": gold}, {"a": "truck"}) for gold in ("lorry", "car")]
    found = pairs_of(pairs, registry_of(silent=Recorder(answer)), a=SILENT)
    page = found.page()

    assert page.sections[0].title == "Look at these: mismatches in doubt"
    assert [one.change for one in page.sections[0].items] == [('"lorry"', '"truck"')]
    assert "Doubtful: 1 of the mismatches; they count as wrong" in page.lines
    assert [row.get("doubtful") for row in found.to_rows()] == [True, None]
    assert len(RunResult.from_json(found.to_json()).doubtful()) == 1
    assert found.mean_f1 == 0.0


def test_nothing_scored_is_no_score() -> None:
    """A run without a verdict shows no number that could be taken for one."""
    run = pairs_of([({"a": "x"}, {"a": "x"})] * 2, silent("x"), a=SILENT)
    page = run.page(intervals=run.intervals())

    for text in (table(page), render(page, "markdown")):
        assert "Nothing was scored" in text
        assert "2 values without a verdict: comparator" in text
        assert "nobody is there" in text
        assert "F1" not in text
        assert "1.0" not in text
    empty = replace(run, records=[], by_field={}, total_records=0, total_fields=0)
    assert table(empty.page()) == "Nothing was scored   0 records"


def test_undecided_values_give_bounds_and_undecided_records_another_mean() -> None:
    """In the mean they count as right, so the mean without them is given, too."""
    pairs = [({"a": "x"}, {"a": "x"}), ({"a": "g"}, {"a": "z"}), ({"a": "h"}, {"a": "h"})]
    text = table(pairs_of(pairs, silent("x"), a=SILENT).page())
    assert text.startswith("F1 0.667   mean over 3 records (macro), 1 of them undecided")
    assert "Mean F1 counts 1 record without any verdict as 1" in text
    assert "without such records it is 0.500" in text

    pairs = [({"a": "x", "b": "y"}, {"a": "x", "b": "y"}), ({"a": "g"}, {"a": "z"})]
    text = table(pairs_of(pairs, silent("x"), a=SILENT, b=TEXT).page())
    assert text.startswith("F1 0.500   mean over 2 records (macro)")
    assert "If every undecided value were wrong / right, F1 would be 0.250 / 0.500" in text


def test_a_share_of_nothing_is_no_number() -> None:
    """A hallucinated field has no recall, one never extracted no precision, a skipped one none."""
    pairs = [({"a": "x", "b": "y", "s": "z"}, {"a": "x", "c": "new", "s": "z"})]
    text = table(pairs_of(pairs, a=TEXT, b=TEXT, s={**TEXT, "x-eval-skip": True}).page())
    assert line_of(text, "c ")[:5] == ["c", "0.000", "0.000", "–", "0"]
    assert line_of(text, "b ")[:5] == ["b", "0.000", "–", "0.000", "1"]
    assert line_of(text, "s ")[:5] == ["s", "–", "–", "–", "0"]
    assert "Not counted: 1 skipped" in text
    assert "undecided" not in text


def test_why_there_is_no_score_is_said_to_the_end() -> None:
    amount = compared("numeric", **{"x-eval-transform": ["parse_number"]})
    found = [{"amount": text} for text in ("1,240", "1,240", "2,480", "7")]
    text = table(run(record(amount=amount), found, found).page(), 300)

    line = next(line for line in text.splitlines() if line.startswith("amount  3"))
    assert line.startswith("amount  3 values could not be compared, for example: transform of")
    assert "'1,240' is ambiguous" in line
    assert line.endswith("set 'decimal' to '.' or ','")


def test_many_fields_are_cut_to_the_costliest() -> None:
    fields: Any = {f"f{n}": TEXT for n in range(500)}
    gold = dict.fromkeys(fields, "x")
    page = pairs_of([(gold, gold | dict.fromkeys(list(fields)[:50], "z"))], **fields).page()

    assert len(rows_of(page)) == 40
    assert len(page.sections) == 1 + 10
    assert page.sections[0].more == "and 460 more fields"


@pytest.mark.parametrize("to", ["table", "markdown", "html", "junit", "csv"])
def test_nothing_in_a_record_acts(to: str) -> None:
    """Markup, control characters and line breaks in names, ids and values are shown as text."""
    gold, extracted = {NASTY: NASTY, "id": NASTY}, {"id": NASTY, NASTY: "z", NASTY * 2: 1}
    found = run(record(**{NASTY: TEXT}), [gold], [extracted], id_field="id")
    text = render(found.page(notes=[NASTY.replace("\n", " ")]), to)

    assert "\x1b" not in text
    assert "\u202e" not in text
    assert ("<b>" in text) == (to in {"table", "csv"})
    if to != "csv":
        assert not any(line.startswith("# y") for line in text.splitlines())


def test_a_run_has_a_row_for_each_result_and_a_case_for_each_field() -> None:
    """Cases that lost something fail; `gated` skips them where no gate fails."""
    rows = list(csv.DictReader(io.StringIO(render(mixed().page(), "csv"))))
    cases = {case.name: (case.status, case.message) for case in mixed().page().cases}

    assert (len(rows), rows[0]["gold"]) == (9, "x")
    assert [row["status"] for row in rows if row["field"] == "a"] == [
        *("mismatch", "mismatch", "omission", "match")
    ]
    assert {name: status for name, (status, _) in cases.items()} == {
        "a": "failed", "b": "passed", "c": "failed"
    }  # fmt: skip
    assert cases["a"][1].startswith("F1 0.286: ")
