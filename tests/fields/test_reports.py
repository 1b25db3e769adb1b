"""Reports of runs, comparisons of two, and bounds where values have no verdict."""

from __future__ import annotations

import csv
import io
import itertools
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
from tests.fields.builders import (
    TEXT,
    Recorder,
    compared,
    figure,
    record,
    registry_of,
    run,
    run_of,
    summed_up,
)

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

    assert [item.text[-3:] for item in section.items] == ['"q"', '"p"', '"x"']
    assert section.more == "and 1 more"


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
    """In the mean, a record without any verdict counts as 1."""
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
    text = render(found.page(), to)

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


A = [{"a": "+-", "b": "-"}, {"a": "o", "c": "h"}, {"a": "/"}, {"a": "+", "b": "+"}, {"a": "-"}]
B = [{"a": "++", "b": "-"}, {"a": "-"}, {"a": "+"}, {"a": "/", "b": "h+"}, {"a": "-"}]
ROUNDING = 1e-9


def fields(found: RunComparison) -> dict[str, Any]:
    return {one.name: one.test for one in found.changes}


def names(found: RunComparison, group: str) -> tuple[str, ...]:
    return tuple(one.name for one in found.changes_in(group))


def test_intervals_where_there_is_nothing_to_resample() -> None:
    cases: list[tuple[Any, Any]] = [
        ([], (0, 1)), ([{"a": "-"}], (0, 1)), ([{"a": "+-"}] * 5, (0.5, 0.5)),
        ([{"a": "s"}, {}, {"b": "s"}], (1, 1)),
    ]  # fmt: skip
    for records, interval in cases:
        assert run_of(records).intervals() == dict.fromkeys(MEASURES, interval)


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

    def test_swapping_the_runs_turns_every_sign(self) -> None:
        tail = [{"a": "+", "b": "+", "c": "-"}] * 3
        a = run_of([{"a": "-", "b": "+", "c": "+"}] * 20 + tail + tail)
        b = run_of([{"a": "+", "b": "-", "c": "+"}] * 23 + tail)
        there, back = compare_runs(a, b), compare_runs(b, a)

        assert there.main.difference == -back.main.difference
        assert (there.worse, back.worse) == ("lost b", "lost a")
        assert names(there, "Won") == names(back, "Lost") == ("a",)
        assert names(there, "Lost") == names(back, "Won") == ("b",)
        assert names(there, "Unchanged") == names(back, "Unchanged") == ("c",)

    def test_of_ten_records_six_that_lose_a_field_are_no_chance(self) -> None:
        whole = [{"a": "+", "b": "+"}] * 10
        for n_wrong, worse in ((6, "F1 -0.300, lost b"), (5, "")):
            found = run_of([{"a": "+", "b": "-"}] * n_wrong + whole[n_wrong:])
            assert compare_runs(run_of(whole), found).worse == worse

    @pytest.mark.parametrize("measure", MEASURES)
    def test_a_difference_is_that_of_the_runs_and_its_p_value_the_share_of_swaps(
        self, measure: str
    ) -> None:
        """Five records have 32 ways to give their two results to two runs."""
        a, b = run_of(A), run_of(B)
        pairs = list(zip(a.records, b.records, strict=True))
        sizes = []
        for coins in itertools.product((0, 1), repeat=5):
            as_a = [pair[coin] for pair, coin in zip(pairs, coins, strict=True)]
            as_b = [pair[1 - coin] for pair, coin in zip(pairs, coins, strict=True)]
            sizes.append(abs(figure(as_b, measure) - figure(as_a, measure)))

        comparison = compare_runs(a, b)

        kind, name = measure.split("_")
        title = f"{'F1' if name == 'f1' else name} ({'macro' if kind == 'mean' else kind})"
        found = comparison.scores[title]
        assert (found.a, found.b) == pytest.approx(
            (figure(a.records, measure), figure(b.records, measure))
        )
        assert found.difference == pytest.approx(found.b - found.a)
        assert found.p_value == pytest.approx(
            sum(size >= sizes[0] - ROUNDING for size in sizes) / 32
        )
        tests = fields(comparison)
        assert sorted(tests) == ["a", "b", "c"]
        for name in ("a", "b"):
            assert tests[name].a == pytest.approx(a.by_field[name].f1)
            assert tests[name].b == pytest.approx(b.by_field[name].f1)
        assert (tests["c"].a, tests["c"].b) == (0, 1)


def test_keys_that_came_up_once_take_nothing_away_from_the_other_fields() -> None:
    """Though p-values of fields are adjusted for their number."""
    x, y = ([{"a": good, f"{one}{k}": "h"} for k in range(9)] for good, one in ("-x", "+y"))
    comparison = compare_runs(run_of(x), run_of(y))

    tests = fields(comparison)
    assert len(tests) == 19
    assert names(comparison, "Won") == ("a",)
    assert tests["a"].p_adjusted == tests["a"].p_value
    assert {tests[f"x{k}"].p_adjusted for k in range(9)} == {1.0}


class TestRecords:
    """Records are paired by their id."""

    def test_better_and_worse_ones_are_counted_with_the_largest_changes_first(self) -> None:
        a = run_of([{"a": "-" * k + "+" * (20 - k)} for k in range(12)] + [{"a": "+"}] * 5)
        b = run_of([{"a": "+"}] * 12 + [{"a": "+"}, {"a": "-"}, {"a": "/"}, {"a": "+"}, {"a": "o"}])

        found = compare_runs(a, b)

        assert found.counts["better"] == list(range(11, 0, -1))
        assert found.counts["worse"] == [13, 16, 14]
        assert found.counts["equal"] == 3
        p_value = 2 * (1 + 14 + 91 + 364) / 2**14
        assert f"11 better, 3 worse, 3 equal (sign test: p {p_value:.3f})" in str(found)

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
