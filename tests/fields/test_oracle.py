"""Both evaluations, of the package and the naive one, agree with another implementation."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy

import pytest

from factcheck.fields import annotate_xeval, evaluate
from tests.fields.naive import evaluate as naive_evaluate
from tests.fields.recorded import CHANGED, Case, recorded_cases


@pytest.mark.parametrize("case", recorded_cases())
def test_evaluate_gives_what_was_recorded(case: Case) -> None:
    """Results in order; only where several pairings are equally good, just how many of each."""
    run = evaluate([case.gold], [case.extracted], annotate_xeval(deepcopy(case.schema)))
    naive = naive_evaluate(case.schema, case.gold, case.extracted)

    [record] = run.records
    expected = case.head
    rows = [[r.path, r.status, r.score, r.comparator] for r in record.field_results]
    naive_rows = [list(row) for row in naive.rows]
    if case.id in CHANGED:
        assert rows == naive_rows != expected.results
        return
    if naive.ties:
        recorded = Counter(row[1] for row in expected.results)
        assert Counter(row[1] for row in rows) == recorded
        assert Counter(row[1] for row in naive_rows) == recorded
    else:
        assert rows == naive_rows == expected.results
        assert list(run.per_field) == list(expected.per_field)
        for path, field in run.per_field.items():
            counts = [field.matches, field.mismatches, field.omissions, field.hallucinations]
            assert [field.mean_score, *counts] == pytest.approx(expected.per_field[path])
    assert [run.total_fields, run.total_omissions, run.total_hallucinations] == expected.totals
    for metrics in (
        (record.precision, record.recall, record.f1),
        (run.mean_precision, run.mean_recall, run.mean_f1),
        (naive.precision, naive.recall, naive.f1),
    ):
        assert metrics == pytest.approx((expected.p, expected.r, expected.f1), abs=1e-12)


def test_a_tie_is_reported() -> None:
    """Which of the two elements is left over is not determined, but how many are is."""
    align = {"match_by": "hungarian"}
    schema = {"type": "array", "items": {"type": "string"}, "x-eval-align": align}

    tied = naive_evaluate(schema, ["a", "a"], ["a"])
    certain = naive_evaluate(schema, ["a", "b"], ["b"])

    assert [tie.kind for tie in tied.ties] == ["leaf"]
    assert not certain.ties
    assert [row.path for row in certain.rows] == ["[1]", "[0]"]
