"""What `str` says of runs and comparisons."""

from __future__ import annotations

from typing import Any

import pytest

from factcheck.errors import InputError
from factcheck.fields import FieldEvaluator, compare_runs, evaluate
from tests.fields.runs import drawn_run

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "a": {"type": "string", "x-eval-compare": "exact"},
        "n": {"type": "string", "x-eval-transform": ["parse_number"], "x-eval-compare": "numeric"},
    },
}


def test_a_run_is_told_in_a_few_lines() -> None:
    gold = [{"a": "x", "n": "5"}, {"a": "y", "n": "6"}]
    found = [{"a": "x", "n": "unknown"}, {"a": "z", "b": 1}]

    assert str(evaluate(gold, found, SCHEMA)).splitlines() == [
        "F1 0.500, precision 0.500, recall 0.500, as means over 2 records",
        "F1 0.333, precision 0.333, recall 0.333, over all fields",
        "4 fields, 1 of them missing and 1 invented",
        "Outside the score: 1 error",
    ]


def test_a_run_without_a_verdict_has_no_score() -> None:
    text = str(evaluate([{"n": "5"}], [{"n": "unknown"}], SCHEMA))

    assert text == "Nothing was scored in 1 record\nOutside the score: 1 error"


def test_a_comparison_is_told_in_a_few_lines() -> None:
    before, after = {"a": 0.1, "b": 0.9, "c": 0.5}, {"a": 0.9, "b": 0.1, "c": 0.5}
    a = drawn_run(60, 1, lambda _, field: before[field])
    b = drawn_run(60, 1, lambda _, field: after[field])
    lines = str(compare_runs(a, b)).splitlines()

    assert lines[0].startswith("F1 0.")
    assert lines[0].endswith(", as means over 60 records")
    assert lines[1:] == ["Won: a", "Lost: b", "Without a clear difference: 1 field"]


def test_totals_have_no_rows_and_say_so() -> None:
    """An empty list would look like a run without fields."""
    totals = FieldEvaluator(SCHEMA).tally([({"a": "x"}, {"a": "x"})]).result()

    with pytest.raises(InputError, match="of these 1 only the totals were kept"):
        totals.to_rows()
    with pytest.raises(InputError, match="only the totals were kept"):
        totals.to_pandas()
    assert FieldEvaluator(SCHEMA).tally([]).result().to_rows() == []
