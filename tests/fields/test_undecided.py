"""What F1 could be if every value had a verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.fields import FieldResult, RecordResult
from factcheck.fields.runs.records import Undecided, count
from factcheck.fields.types import UNDECIDED
from tests.fields.runs import summed_up

STATUSES: Any = st.sampled_from(
    ["match", "mismatch", "omission", "hallucination", "skipped", "error", "batch_error", "pending"]
)
RECORDS = st.lists(st.lists(STATUSES, max_size=4), min_size=1, max_size=5)
WEIGHTS = {"f0": 3.0, "f2": 0.5}


def records_of(statuses: list[list[Any]]) -> list[RecordResult]:
    made = []
    for position, own in enumerate(statuses):
        results = [
            FieldResult(f"f{n}", float(status == "match"), "c", None, None, status, f"why {n % 2}")
            for n, status in enumerate(own)
        ]
        sums = count(results, WEIGHTS)
        made.append(RecordResult(position, results, None, None, *sums.scores(), sums))
    return made


def decided(statuses: list[list[Any]], verdicts: dict[str, str]) -> float:
    own = [[verdicts.get(status, status) for status in some] for some in statuses]
    return summed_up(records_of(own)).mean_f1


@given(RECORDS)
def test_bounds_are_what_the_run_would_have_if_all_were_wrong_or_right(
    statuses: list[list[Any]],
) -> None:
    run = summed_up(records_of(statuses))
    low, high = Undecided(WEIGHTS, run.records).bounds(run.mean_f1, run.total_records)
    assert low == pytest.approx(decided(statuses, dict.fromkeys(UNDECIDED, "mismatch")))
    assert high == pytest.approx(decided(statuses, dict.fromkeys(UNDECIDED, "match")))


def test_fields_are_counted_by_value_with_their_most_frequent_reason() -> None:
    statuses: list[list[Any]] = [["error", "match"], ["error", "batch_error"], ["match", "error"]]
    made = records_of(statuses)
    results = [replace(made[1].field_results[0], reason="other"), made[1].field_results[1]]
    found = Undecided({}, [made[0], replace(made[1], field_results=results), made[2], made[0]])

    assert found.fields == [
        ("f0", "error", 3, "why 0", False),
        ("f1", "batch_error", 1, "why 1", True),
        ("f1", "error", 1, "why 1", True),
    ]
    assert found.n_records == 1
