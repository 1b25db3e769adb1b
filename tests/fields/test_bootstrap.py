"""Bootstrap intervals hold what they promise, and are made of records."""

from __future__ import annotations

import itertools

import pytest
from pytest import approx  # noqa: PT013 - it reads like a word

from factcheck.errors import InputError
from factcheck.fields import (
    FieldEvaluator,
    FieldResult,
    RunResult,
    annotate_xeval,
    evaluate,
)
from factcheck.fields.runs.records import MEASURES
from tests.fields.builders import TEXT, record
from tests.fields.runs import drawn_run, figure, run_of, summed_up

UNEVEN = [{"a": "+", "b": "+-"}, {"a": "-h"}, {"a": "/", "c": "o"}, {"a": "++", "b": "h", "d": "s"}]

ROUNDING = 1e-9


class TestDistribution:
    """The intervals are those of the resamples of the records."""

    @pytest.mark.parametrize("measure", MEASURES)
    def test_the_interval_holds_the_middle_of_all_resamples(self, measure: str) -> None:
        """Of four records there are 256 resamples, which can be listed."""
        run = run_of(UNEVEN)
        all_scores = [
            figure(resample, measure) for resample in itertools.product(run.records, repeat=4)
        ]

        low, high = run.intervals(n_resamples=20_000)[measure]

        tails = (
            (sum(score < low - ROUNDING for score in all_scores), low),
            (sum(score > high + ROUNDING for score in all_scores), high),
        )
        for n_outside, end in tails:
            n_at_end = sum(score == approx(end, abs=ROUNDING) for score in all_scores)
            assert n_outside / 256 < 0.03
            assert (n_outside + n_at_end) / 256 > 0.02

    def test_a_run_is_inside_its_intervals(self) -> None:
        run = drawn_run(60, 1, lambda position, _: 0.3 + 0.4 * (position % 2))
        for measure, interval in run.intervals().items():
            assert interval.low < figure(run.records, measure) < interval.high


class TestRecords:
    """Records are the unit; what is in one of them goes together."""

    def test_more_of_the_same_in_each_record_tells_nothing_new(self) -> None:
        once = drawn_run(40, 3, lambda *_: 0.6)
        often = run_of(
            {
                f"{r.path}{k}": "+" if r.score else "-"
                for r in record.field_results
                for k in range(5)
            }
            for record in once.records
        )

        assert often.intervals() == {
            name: approx(interval) for name, interval in once.intervals().items()
        }

    def test_weights_count(self) -> None:
        schema = annotate_xeval(record(a={**TEXT, "x-eval-weight": 1000}, b=TEXT))
        gold = [{"a": "x", "b": "x"}] * 30
        found = [{"a": "x", "b": "xy"[k % 2]} for k in range(30)]
        interval = evaluate(gold, found, schema).intervals()["micro_f1"]
        assert 0.999 < interval.low < interval.high <= 1

    def test_records_count_as_post_processing_left_them(self) -> None:
        def forgive(results: list[FieldResult]) -> list[FieldResult]:
            return [result for result in results if result.status == "match"]

        gold, found = [{"a": "x", "b": "x"}] * 9, [{"a": "x", "b": "y"}] * 9
        run = evaluate(gold, found, annotate_xeval(record(a=TEXT, b=TEXT)), post_process=forgive)

        assert run.intervals()["micro_f1"] == (1.0, 1.0)


class TestEdges:
    """Where there is nothing to resample."""

    @pytest.mark.parametrize("n", [0, 1])
    def test_without_two_records_nothing_is_known(self, n: int) -> None:
        run = run_of([{"a": "-"}] * n)
        assert run.intervals() == dict.fromkeys(MEASURES, (0.0, 1.0))

    def test_equal_records_leave_no_width(self) -> None:
        assert set(run_of([{"a": "+-"}] * 5).intervals().values()) == {(0.5, 0.5)}

    def test_records_in_which_nothing_counts(self) -> None:
        run = run_of([{"a": "s"}, {}, {"b": "s"}])
        assert set(run.intervals().values()) == {(1.0, 1.0)}

    def test_a_run_without_its_records_has_none(self) -> None:
        evaluator = FieldEvaluator(annotate_xeval(record(a=TEXT)))
        run = evaluator.tally([({"a": "x"}, {"a": "x"})] * 3).result()
        with pytest.raises(InputError, match="kept 0 of 3"):
            run.intervals()


def test_a_run_of_records_that_were_kept_in_part_is_refused() -> None:
    whole = run_of(UNEVEN)
    part = RunResult(**{**vars(whole), "records": whole.records[:2]})
    with pytest.raises(InputError, match="kept 2 of 4"):
        part.intervals()
    assert summed_up(whole.records[:2]).intervals()
