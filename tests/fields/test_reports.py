"""Reports of runs, comparisons of two, and bounds where values have no verdict."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.errors import InputError
from factcheck.fields import (
    BatchItem,
    ComparatorResult,
    FieldEvaluator,
    FieldResult,
    FieldStatus,
    RecordResult,
    Registry,
    RunResult,
    annotate_xeval,
    compare_runs,
    evaluate,
)
from factcheck.fields.records import MEASURES, count
from factcheck.fields.types import UNDECIDED
from factcheck.reports import render
from factcheck.reports.comparison import RunComparison
from factcheck.reports.page import Page
from factcheck.reports.table import render as table
from factcheck.stats.intervals import wilson
from tests.fields.builders import (
    TEXT,
    Recorder,
    compared,
    record,
    registry_of,
    run,
    run_of,
    summed_up,
)

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


def test_fields_are_sorted_by_losses() -> None:
    rows = rows_of(mixed().page())

    assert [*rows] == ["a", "c", "b"]
    assert rows["a"] == ("0.286", "0.333", "0.250", "4", "2", "1", "0")


def test_doubtful_mismatches_come_first_and_are_saved() -> None:
    def answer(item: BatchItem) -> ComparatorResult:
        is_doubtful = item.gold_raw == "lorry"
        return ComparatorResult(0.0, "silent", "other words", doubtful=is_doubtful)

    pairs = [({"a": gold}, {"a": "truck"}) for gold in ("lorry", "car")]
    found = pairs_of(pairs, registry_of(silent=Recorder(answer)), a=SILENT)
    page = found.page()

    assert page.sections[0].title == "Look at these: mismatches in doubt 1"
    assert [one.text for one in page.sections[0].items] == ['a "lorry" → "truck"']
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


def test_undecided_values_give_bounds() -> None:
    """A record without any verdict is not in the mean."""
    pairs = [({"a": "x", "b": "y"}, {"a": "x", "b": "y"}), ({"a": "g"}, {"a": "z"})]
    text = table(pairs_of(pairs, silent("x"), a=SILENT, b=TEXT).page())
    assert text.startswith("F1 0.500   mean over 2 records (macro)")
    assert "If every undecided value were wrong / right, F1 would be 0.250 / 0.500" in text


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


A = [{"a": "+-", "b": "-"}, {"a": "o", "c": "h"}, {"a": "/"}, {"a": "+", "b": "+"}, {"a": "-"}]
B = [{"a": "++", "b": "-"}, {"a": "-"}, {"a": "+"}, {"a": "/", "b": "h+"}, {"a": "-"}]


def fields(found: RunComparison) -> dict[str, Any]:
    return {one.name: one.test for one in found.changes}


def names(found: RunComparison, group: str) -> tuple[str, ...]:
    return tuple(one.name for one in found.changes_in(group))


def test_intervals_where_there_is_nothing_to_resample() -> None:
    cases: list[tuple[Any, Any]] = [
        ([], (0, 1)), ([{"a": "-"}], (0, 1)), ([{"a": "+-"}] * 5, wilson(0.5, 5)),
        ([{"a": "s"}, {}, {"b": "s"}], wilson(1, 3)), ([{"a": "?"}] * 3, (0, 1)),
    ]  # fmt: skip
    for records, interval in cases:
        assert run_of(records).intervals() == dict.fromkeys(MEASURES, interval)


def test_a_comparison_warns_of_another_judge() -> None:
    one = run_of([{"a": "+"}] * 2)
    found = compare_runs(one, replace(one, judge="judge:x"))
    assert "different judges (unknown in A, judge:x in B)" in str(found)


class TestUndecided:
    """Values without a verdict give bounds; where runs differ in them, there is no verdict."""

    @staticmethod
    def _records(statuses: Any) -> list[RecordResult]:
        made = []
        for position, own in enumerate(statuses):
            results = [
                FieldResult(f"f{n}", float(s == "match"), "c", None, None, s, f"why {n % 2}")
                for n, s in enumerate(own)
            ]
            sums = count(results, {"f0": 3.0, "f2": 0.5})
            made.append(RecordResult(position, results, None, None, *sums.scores(), sums))
        return made

    @given(st.lists(st.lists(st.sampled_from(get_args(FieldStatus)[:-1]), max_size=4), min_size=1))
    def test_bounds_are_those_if_all_were_wrong_or_right(self, statuses: Any) -> None:
        run = replace(summed_up(self._records(statuses)), weights={"f0": 3.0, "f2": 0.5})
        for bound, verdict in zip(run.f1_bounds(), ("mismatch", "match"), strict=True):
            decided = [[verdict if s in UNDECIDED else s for s in own] for own in statuses]
            assert bound == pytest.approx(summed_up(self._records(decided)).mean_f1)

    def test_a_comparison_gives_no_verdict(self) -> None:
        found = compare_runs(
            run_of([{"a": "+", "b": "+-"}] * 40), run_of([{"a": "+", "b": "?+"}] * 40)
        )

        assert (names(found, "Undecided"), names(found, "Unchanged")) == (("b",), ("a",))
        said = "0 values without a verdict in A and 40 in B"
        assert found.changes[0].reason == said
        assert found.no_verdict == said
        assert all(
            (test.interval, test.p_value) == (None, None)
            for test in (found.main, *found.scores.values(), found.changes[0].test)
            if test
        )
        assert found.page().answer.startswith("No verdict: F1 ")
        assert "fields: 1 unchanged, 1 undecided" in str(found)

    def test_the_same_ones_leave_the_verdict_and_equally_many_others_do_not(self) -> None:
        a, b = run_of([{"a": "+", "b": "?-"}] * 40), run_of([{"a": "+", "b": "?+"}] * 40)
        found = compare_runs(a, b)
        assert (names(found, "Undecided"), names(found, "Won")) == ((), ("b",))

        open_, right, wrong = {"a": "?"}, {"a": "+"}, {"a": "-"}
        moved = compare_runs(
            run_of([open_] * 25 + [right] * 15), run_of([wrong] * 15 + [open_] * 25)
        )
        assert moved.no_verdict.startswith("25 values without a verdict in A and 25 in B")
        assert moved.lost == ()


class TestDifferences:
    """`b` is the run in question: its gains are positive."""

    def test_a_difference_is_that_of_the_runs(self) -> None:
        a, b = run_of(A), run_of(B)

        comparison = compare_runs(a, b)

        means = [(one.mean_precision, one.mean_recall, one.mean_f1) for one in (a, b)]
        for scope, sides in (("macro", means), ("micro", [a.micro, b.micro])):
            for name, *scores in zip(("precision", "recall", "F1"), *sides, strict=True):
                found = comparison.scores[f"{name} ({scope})"]
                assert [found.a, found.b] == pytest.approx(scores)
                assert found.difference == pytest.approx(found.b - found.a)
        tests = fields(comparison)
        assert sorted(tests) == ["a", "b", "c"]
        for name in ("a", "b"):
            assert tests[name].a == pytest.approx(a.by_field[name].f1)
            assert tests[name].b == pytest.approx(b.by_field[name].f1)
        assert (tests["c"].a, tests["c"].b) == (0, 1)


class TestRecords:
    """Records are paired by their id."""

    def test_runs_that_cannot_be_compared(self) -> None:
        evaluator = FieldEvaluator(annotate_xeval(record(a=TEXT)))
        totals = evaluator.tally([({"a": "x"}, {"a": "x"})] * 3).result()
        a = run_of(A, golds=range(5))
        for b, message in (
            (run_of(B[:1], ids="x"), r"runs a \(0, 1, 2, .* and b \(x\) have no"),
            (run_of(B[:3], ids="xyx"), r"run b has duplicate record ids \(x\)"),
            (run_of(B, golds=[0, 1, 2, "?", "?"]), r"gold differs .* 2 of 5 records \(3, 4\)"),
            (totals, "run b kept 0 of 3"),
        ):
            with pytest.raises(InputError, match=message):
                compare_runs(a, b)


def test_records_without_a_usable_extraction_are_counted_for_both_runs() -> None:
    gold, schema = [{"a": "x"}, {"a": "y"}], annotate_xeval(record(a=TEXT))
    a, b = (evaluate(gold, found, schema) for found in ([gold[0], "no"], ["none", "no"]))

    found = compare_runs(a, b)

    assert found.to_dict()["counts"]["unusable"] == [1, 2]
    assert "Unusable extractions: 1 in A, 2 in B, of 2 each" in str(found)
    assert "Unusable" not in str(compare_runs(run_of(A), run_of(B)))


def test_a_field_that_a_run_does_not_have_is_shown_as_absent() -> None:
    found = compare_runs(run_of([{"a": "+"}] * 9), run_of([{"a": "+", "new": "h"}] * 9))

    assert names(found, "Lost") == ("new",)
    [row] = [line.split() for line in str(found).splitlines() if line.startswith("new")]
    assert row[1:4] == ["absent", "0.000", "-1.000"]
    assert "absent: no value in gold or the extraction, which counts as F1 1" in str(found)
