"""Intervals of a run, comparison of two, and bounds where values have no verdict."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx  # noqa: PT013 - it reads like a word

from factcheck.errors import InputError
from factcheck.fields import (
    FieldEvaluator,
    FieldResult,
    RecordResult,
    RunResult,
    annotate_xeval,
    compare_runs,
    evaluate,
)
from factcheck.fields.records import MEASURES, count
from factcheck.fields.types import UNDECIDED
from factcheck.reports.comparison import RunComparison
from tests.fields.builders import TEXT, drawn_run, figure, record, run_of, summed_up

A = [{"a": "+-", "b": "-"}, {"a": "o", "c": "h"}, {"a": "/"}, {"a": "+", "b": "+"}, {"a": "-"}]
B = [{"a": "++", "b": "-"}, {"a": "-"}, {"a": "+"}, {"a": "/", "b": "h+"}, {"a": "-"}]
ROUNDING = 1e-9


def fields(found: RunComparison) -> dict[str, Any]:
    return {one.name: one.test for one in found.changes}


def names(found: RunComparison, group: str) -> tuple[str, ...]:
    return tuple(one.name for one in found.changes_in(group))


def totals_only() -> RunResult:
    evaluator = FieldEvaluator(annotate_xeval(record(a=TEXT)))
    return evaluator.tally([({"a": "x"}, {"a": "x"})] * 3).result()


class TestIntervals:
    """Bootstrap intervals over records."""

    @pytest.mark.parametrize(
        ("records", "interval"),
        [
            ([], (0, 1)), ([{"a": "-"}], (0, 1)), ([{"a": "+-"}] * 5, (0.5, 0.5)),
            ([{"a": "s"}, {}, {"b": "s"}], (1, 1)),
        ],
    )  # fmt: skip
    def test_where_there_is_nothing_to_resample(self, records: Any, interval: Any) -> None:
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

    @given(
        st.lists(
            st.lists(
                st.sampled_from(
                    [
                        *("match", "mismatch", "omission", "hallucination"),
                        *("skipped", "error", "batch_error", "pending"),
                    ]
                ),
                max_size=4,
            ),
            min_size=1,
            max_size=5,
        )
    )
    def test_bounds_are_those_if_all_were_wrong_or_right(self, statuses: Any) -> None:
        run = dataclasses.replace(
            summed_up(self._records(statuses)), weights={"f0": 3.0, "f2": 0.5}
        )
        for bound, verdict in zip(run.f1_bounds(), ("mismatch", "match"), strict=True):
            decided = [[verdict if s in UNDECIDED else s for s in own] for own in statuses]
            assert bound == approx(summed_up(self._records(decided)).mean_f1)

    def test_a_comparison_gives_no_verdict(self) -> None:
        found = compare_runs(
            run_of([{"a": "+", "b": "+-"}] * 40), run_of([{"a": "+", "b": "?+"}] * 40)
        )

        assert [(one.group, one.name) for one in found.changes] == [
            ("Undecided", "b"),
            ("Unchanged", "a"),
        ]
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
        a = drawn_run(40, 1, lambda _, field: {"a": 0.2, "b": 0.9, "c": 0.5}[field])
        b = drawn_run(40, 2, lambda _, field: {"a": 0.9, "b": 0.2, "c": 0.5}[field])
        there, back = compare_runs(a, b), compare_runs(b, a)

        assert there.main.difference == -back.main.difference
        assert names(there, "Won") == names(back, "Lost") == ("a",)
        assert names(there, "Lost") == names(back, "Won") == ("b",)
        assert names(there, "Unchanged") == names(back, "Unchanged") == ("c",)

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

        comparison = compare_runs(a, b, n_resamples=31)

        kind, name = measure.split("_")
        title = f"{'F1' if name == 'f1' else name} ({'macro' if kind == 'mean' else kind})"
        found = comparison.scores[title]
        assert (found.a, found.b) == approx(
            (figure(a.records, measure), figure(b.records, measure))
        )
        assert found.difference == approx(found.b - found.a)
        assert found.p_value == approx(sum(size >= sizes[0] - ROUNDING for size in sizes) / 32)
        tests = fields(comparison)
        assert sorted(tests) == ["a", "b", "c"]
        for name in ("a", "b"):
            assert tests[name].a == approx(a.by_field[name].f1)
            assert tests[name].b == approx(b.by_field[name].f1)
        assert (tests["c"].a, tests["c"].b) == (0, 1)


class TestManyFields:
    """p-values of fields are adjusted for the number of fields."""

    def test_keys_that_came_up_once_take_nothing_away(self) -> None:
        def noisy(letter: str, good: str) -> RunResult:
            return run_of({"a": good, f"{letter}{k}": "h"} for k in range(9))

        comparison = compare_runs(noisy("x", "-"), noisy("y", "+"))

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

    @pytest.mark.parametrize(
        ("a", "b", "message"),
        [
            (run_of(A[:2]), run_of(B[:1], ids="x"), r"runs a \(0, 1\) and b \(x\) have no"),
            (
                run_of(A[:3], ids="xyz"), run_of(B[:3], ids="xyx"),
                r"run b has duplicate record ids \(x\)",
            ),
            (
                run_of(A, golds=range(5)), run_of(B, golds=[0, 1, 2, "?", "?"]),
                r"gold differs .* 2 of 5 records \(3, 4\)",
            ),
            (run_of(A), totals_only(), "run b kept 0 of 3"),
        ],
    )  # fmt: skip
    def test_runs_that_cannot_be_compared(self, a: Any, b: Any, message: str) -> None:
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
    assert "absent → 0.000 (-1.000)" in found.page().cases[0].message
