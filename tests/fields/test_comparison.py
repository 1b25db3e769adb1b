"""Two runs are compared over the records both have, and chance is told from change."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
from collections.abc import Sequence
from typing import Any

import pytest
from pytest import approx  # noqa: PT013 - it reads like a word

from factcheck.errors import InputError
from factcheck.fields import (
    FieldEvaluator,
    RunComparison,
    RunResult,
    annotate_xeval,
    compare_runs,
    evaluate,
)
from factcheck.fields.runs.records import MEASURES
from tests.fields.builders import NUMBER, TEXT, array, record
from tests.fields.runs import drawn_run, figure, run_of, summed_up

A = [{"a": "+-", "b": "-"}, {"a": "o", "c": "h"}, {"a": "/"}, {"a": "+", "b": "+"}, {"a": "-"}]
B = [{"a": "++", "b": "-"}, {"a": "-"}, {"a": "+"}, {"a": "/", "b": "h+"}, {"a": "-"}]


def with_golds(run: RunResult, golds: Sequence[Any]) -> RunResult:
    return summed_up(
        [
            dataclasses.replace(record, gold=gold)
            for record, gold in zip(run.records, golds, strict=True)
        ]
    )


def numbers(comparison: RunComparison) -> dict[str, Any]:
    return {**comparison.overall, **comparison.fields}


class TestUnsettledRuns:
    """Where one run has more values without a verdict, anything between the bounds is possible."""

    def test_it_gives_bounds_and_no_verdict(self) -> None:
        a = run_of([{"a": "+", "b": "+-"}] * 40)
        b = run_of([{"a": "+", "b": "?+"}] * 40)

        found = compare_runs(a, b)

        assert (found.unsettled or ()) == approx((0, 40, 0, 1 / 3))
        assert list(found.unsettled_fields) == ["b"]
        assert found.unsettled_fields["b"] == approx((0, 40, 0, 0.5))
        assert (found.won, found.lost, found.unchanged) == ((), (), ("a",))
        assert all(
            (difference.interval, difference.p_value) == (None, None)
            for difference in (*found.overall.values(), found.fields["b"])
        )
        assert str(found.page().counts) == "no verdict"
        assert "0 values without a verdict in A and 40 in B" in str(found)
        assert "1 without significant difference, 1 without a verdict" in str(found)
        assert json.loads(json.dumps(found.to_dict()))["unsettled"]["n_b"] == 40

    def test_bounds_take_weights_into_account(self) -> None:
        a, b = run_of([{"a": "+", "b": "-"}] * 3), run_of([{"a": "+", "b": "?"}] * 3)
        a = dataclasses.replace(a, weights={"a": 1.0, "b": 3.0})

        assert (compare_runs(a, b).unsettled or ()) == approx((0, 3, -0.25, 0.5))

    def test_equally_many_leave_the_verdict(self) -> None:
        a, b = run_of([{"a": "+", "b": "?-"}] * 40), run_of([{"a": "+", "b": "?+"}] * 40)

        found = compare_runs(a, b)

        assert (found.unsettled, found.unsettled_fields, found.won) == (None, {}, ("b",))


class TestEqualRuns:
    """Where there is no difference, none is found."""

    @pytest.mark.parametrize("n", [1, 2, 30])
    def test_a_run_does_not_differ_from_itself(self, n: int) -> None:
        run = drawn_run(n, 1, lambda *_: 0.6)

        comparison = compare_runs(run, run)

        for difference in numbers(comparison).values():
            assert difference.difference == 0
            assert difference.p_value == difference.p_adjusted == 1
            assert difference.interval == ((0, 0) if n > 1 else (-1, 1))
        assert (comparison.won, comparison.lost) == ((), ())
        assert comparison.unchanged == ("a", "b", "c")
        changes = comparison.records
        assert (len(changes.better), len(changes.worse), len(changes.unchanged)) == (0, 0, n)
        assert changes.p_value == 1
        assert changes.better == changes.worse == ()

    def test_a_run_does_not_differ_from_what_was_saved_of_it(self) -> None:
        schema = annotate_xeval(record(a=TEXT, b=NUMBER, c=array(TEXT)))
        gold = [{"a": "x", "b": float("nan"), "c": ("x", "y")}, {"a": "y", "b": 1, "c": {"x"}}]
        run = evaluate(gold, [{"a": "x"}, {"b": 1}], schema)
        comparison = compare_runs(run, RunResult.from_json(run.to_json()))
        assert all(difference.p_value == 1 for difference in numbers(comparison).values())


class TestDirection:
    """`b` is the run in question: its gains are positive."""

    def test_swapping_the_runs_turns_every_sign(self) -> None:
        a = drawn_run(40, 1, lambda _, field: {"a": 0.2, "b": 0.9, "c": 0.5}[field])
        b = drawn_run(40, 2, lambda _, field: {"a": 0.9, "b": 0.2, "c": 0.5}[field])

        there, back = compare_runs(a, b), compare_runs(b, a)

        for name, difference in numbers(there).items():
            other = numbers(back)[name]
            assert other.difference == -difference.difference
            assert (other.a, other.b) == (difference.b, difference.a)
            assert other.interval == approx((-difference.interval.high, -difference.interval.low))
            assert (other.p_value, other.p_adjusted) == (difference.p_value, difference.p_adjusted)
        assert (there.won, there.lost) == (back.lost, back.won) == (("a",), ("b",))
        assert there.unchanged == back.unchanged == ("c",)
        assert len(there.records.better) == len(back.records.worse)
        assert there.records.better == tuple((name, b, a) for name, a, b in back.records.worse)

    def test_a_difference_is_that_of_the_runs(self) -> None:
        a, b = run_of(A), run_of(B)

        comparison = compare_runs(a, b)

        for name in MEASURES:
            found = comparison.overall[name]
            assert found.a == approx(figure(a.records, name))
            assert found.b == approx(figure(b.records, name))
            assert found.difference == approx(found.b - found.a)
        assert list(comparison.fields) == ["a", "b", "c"]
        for name in ("a", "b"):
            assert comparison.fields[name].a == approx(a.by_field[name].f1)
            assert comparison.fields[name].b == approx(b.by_field[name].f1)
        assert (comparison.fields["c"].a, comparison.fields["c"].b) == (0, 1)

    def test_won_fields_stand_with_the_largest_gain_first(self) -> None:
        worse = drawn_run(60, 1, lambda *_: 0.0)
        better = drawn_run(60, 1, lambda _, field: {"a": 0.3, "b": 0.9, "c": 0.6}[field])
        assert compare_runs(worse, better).won == ("b", "c", "a")
        assert compare_runs(better, worse).lost == ("b", "c", "a")


class TestNumbers:
    """p-values and intervals are those of all cases, as far as these can be listed."""

    @pytest.mark.parametrize("measure", MEASURES)
    def test_the_p_value_is_the_share_of_the_swaps(self, measure: str) -> None:
        """Five records have 32 ways to give their two results to two runs."""
        a, b = run_of(A), run_of(B)
        pairs = list(zip(a.records, b.records, strict=True))
        sizes = []
        for coins in itertools.product((0, 1), repeat=5):
            as_a = [pair[coin] for pair, coin in zip(pairs, coins, strict=True)]
            as_b = [pair[1 - coin] for pair, coin in zip(pairs, coins, strict=True)]
            sizes.append(abs(figure(as_b, measure) - figure(as_a, measure)))

        n_as_large = sum(size >= sizes[0] - 1e-9 for size in sizes)
        found = compare_runs(a, b, n_resamples=31).overall[measure]
        assert found.p_value == approx(n_as_large / 32)

    def test_what_the_runs_have_in_common_does_not_widen_the_interval(self) -> None:
        hard = random.Random(0).choices([0, 1], k=200)
        a = run_of({"a": "-" * 9 + "+" if h else "+" * 10} for h in hard)
        b = run_of({"a": "-" * 8 + "++" if h else "+" * 10} for h in hard)

        difference = numbers(compare_runs(a, b))["micro_f1"]
        alone = b.intervals()["micro_f1"]

        width = difference.interval.high - difference.interval.low
        assert width < (alone.high - alone.low) / 5
        assert difference.interval.low > 0

    def test_few_records_prove_nothing(self) -> None:
        """The intervals of five equal gains have no width, but 1 in 16 such runs are chance."""
        comparison = compare_runs(run_of([{"a": "-"}] * 5), run_of([{"a": "+"}] * 5))
        found = comparison.fields["a"]
        assert found.interval == (1, 1)
        assert found.p_value == approx(1 / 16)
        assert comparison.won == ()

    def test_records_that_do_not_differ_take_nothing_away(self) -> None:
        few = compare_runs(run_of([{"a": "-"}] * 7), run_of([{"a": "+"}] * 7))
        many = compare_runs(
            run_of([{"a": "-"}] * 7 + [{"a": "+"}] * 300), run_of([{"a": "+"}] * 307)
        )

        assert few.won == many.won == ("a",)
        assert few.fields["a"].p_value == approx(1 / 64)
        assert many.fields["a"].p_value == approx(1 / 64, abs=0.01)

    def test_weights_count_overall(self) -> None:
        schema = annotate_xeval(record(a={**TEXT, "x-eval-weight": 9}, b=TEXT))
        gold = [{"a": "x", "b": "x"}] * 20
        a = evaluate(gold, [{"a": "x", "b": "y"}] * 20, schema)
        b = evaluate(gold, [{"a": "y", "b": "x"}] * 20, schema)

        comparison = compare_runs(a, b)

        assert comparison.overall["micro_f1"].difference == approx(-0.8)
        assert (comparison.won, comparison.lost) == (("b",), ("a",))


class TestManyFields:
    """p-values of fields are adjusted for the number of fields."""

    def test_one_field_needs_no_adjustment(self) -> None:
        a, b = (drawn_run(30, seed, lambda *_: 0.5, ["a"]) for seed in (1, 2))
        found = numbers(compare_runs(a, b))["a"]
        assert found.p_adjusted == found.p_value < 1

    def test_a_clear_gain_is_clear_among_hundreds(self) -> None:
        fields = [f"f{k}" for k in range(300)]
        a = drawn_run(60, 1, lambda _, field: 0.1 if field == "f7" else 0.5, fields)
        b = drawn_run(60, 2, lambda _, field: 0.9 if field == "f7" else 0.5, fields)
        assert compare_runs(a, b, n_resamples=400).won == ("f7",)

    def test_keys_that_came_up_once_take_nothing_away(self) -> None:
        def noisy(letter: str, good: str) -> RunResult:
            return run_of({"a": good, f"{letter}{k}": "h"} for k in range(9))

        comparison = compare_runs(noisy("x", "-"), noisy("y", "+"))

        assert len(comparison.fields) == 19
        assert comparison.won == ("a",)
        assert comparison.fields["a"].p_adjusted == comparison.fields["a"].p_value
        assert {comparison.fields[f"x{k}"].p_adjusted for k in range(9)} == {1.0}

    def test_a_key_that_is_no_longer_made_up_is_won(self) -> None:
        rows = [{"a": "+-"[k % 2], "b": "-+"[k % 2]} for k in range(10)]
        comparison = compare_runs(run_of([{**row, "zz": "h"} for row in rows]), run_of(rows))
        assert (comparison.won, comparison.lost) == (("zz",), ())
        assert comparison.fields["zz"].p_value == approx(1 / 512)

    def test_runs_in_which_nothing_counts(self) -> None:
        comparison = compare_runs(run_of([{"a": "s"}, {}]), run_of([{"a": "s"}, {}]))
        assert comparison.fields == {}
        assert comparison.won == comparison.lost == comparison.unchanged == ()


class TestRecords:
    """Records are paired by their id."""

    def test_their_order_means_nothing(self) -> None:
        a = run_of(A, ids="vwxyz")
        b, b_reversed = run_of(B, ids="vwxyz"), run_of(B[::-1], ids="zyxwv")
        assert compare_runs(a, b) == compare_runs(a, b_reversed)

    def test_those_in_one_run_only_are_listed_and_left_out(self) -> None:
        a, b = run_of(A, ids=[1, 2, 3, "4", 5]), run_of(B, ids=[1, 2, 4, 3, 6])

        comparison = compare_runs(a, b)

        assert comparison.n_records == 3
        assert (comparison.only_in_a, comparison.only_in_b) == (("4", 5), (4, 6))
        both = compare_runs(run_of(A[:3], ids=[1, 2, 3]), run_of([*B[:2], B[3]], ids=[1, 2, 3]))
        assert comparison.overall == both.overall
        assert comparison.fields == both.fields

    def test_better_and_worse_ones_are_counted_and_the_largest_changes_named(self) -> None:
        a = run_of([{"a": "-" * k + "+" * (20 - k)} for k in range(12)] + [{"a": "+"}] * 5)
        b = run_of([{"a": "+"}] * 12 + [{"a": "+"}, {"a": "-"}, {"a": "/"}, {"a": "+"}, {"a": "o"}])

        changes = compare_runs(a, b).records

        assert (len(changes.better), len(changes.worse), len(changes.unchanged)) == (11, 3, 3)
        assert [change.name for change in changes.better] == list(range(11, 0, -1))
        assert [tuple(change) for change in changes.worse] == [
            (13, 1.0, 0.0),
            (16, 1.0, 0.0),
            (14, 1.0, 0.5),
        ]
        assert changes.p_value == approx(2 * (1 + 14 + 91 + 364) / 2**14)

    def test_without_a_common_record_there_is_no_comparison(self) -> None:
        with pytest.raises(InputError, match=r"runs a \(0, 1\) and b \('x'\) have no"):
            compare_runs(run_of(A[:2]), run_of(B[:1], ids="x"))

    def test_ids_that_come_twice_cannot_be_paired(self) -> None:
        with pytest.raises(InputError, match=r"run b has duplicate record ids \('x'\)"):
            compare_runs(run_of(A[:3], ids="xyz"), run_of(B[:3], ids="xyx"))

    def test_other_gold_records_cannot_be_compared(self) -> None:
        a = with_golds(run_of(A), [{"a": k} for k in range(5)])
        b = with_golds(run_of(B), [{"a": k if k < 3 else "?"} for k in range(5)])
        with pytest.raises(InputError, match=r"gold differs .* 2 of 5 records \(3, 4\)"):
            compare_runs(a, b)

    def test_runs_without_their_records_cannot_be_compared(self) -> None:
        evaluator = FieldEvaluator(annotate_xeval(record(a=TEXT)))
        tallied = evaluator.tally([({"a": "x"}, {"a": "x"})] * 3).result()
        with pytest.raises(InputError, match="run b kept 0 of 3"):
            compare_runs(run_of(A), tallied)


class TestSettings:
    """Equal settings give equal numbers."""

    def test_the_seed_decides(self) -> None:
        a, b = (drawn_run(20, seed, lambda *_: 0.5) for seed in (1, 2))
        first = compare_runs(a, b, n_resamples=150, seed=3)
        assert compare_runs(a, b, n_resamples=150, seed=3) == first
        assert compare_runs(a, b, n_resamples=150, seed=4) != first
        with pytest.raises(InputError, match="seed must be an integer"):
            compare_runs(a, b, seed=-1)

    def test_the_comparison_is_json(self) -> None:
        comparison = compare_runs(run_of(A), run_of(B), n_resamples=100)

        data = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))

        assert data["format"] == "factcheck-fields-comparison/1"
        assert data["overall"]["mean_f1"] == {
            "a": comparison.overall["mean_f1"].a,
            "b": comparison.overall["mean_f1"].b,
            "difference": comparison.overall["mean_f1"].difference,
            "interval": list(numbers(comparison)["mean_f1"].interval),
            "p_value": comparison.overall["mean_f1"].p_value,
            "p_adjusted": comparison.overall["mean_f1"].p_adjusted,
        }
        assert set(data["fields"]) == set(data["won"] + data["lost"] + data["unchanged"])
        assert len(data["better"]) == len(comparison.records.better)
        assert data["better"][0] == {"name": 2, "a": 0.5, "b": 1.0}
