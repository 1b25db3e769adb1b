"""The field evaluator agrees with what another implementation recorded."""

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
    schema = annotate_xeval(deepcopy(case.schema))

    run = evaluate([case.gold], [case.extracted], schema)

    [record] = run.records
    expected = case.head
    rows = [[r.path, r.status, r.score, r.comparator] for r in record.field_results]
    if case.id in CHANGED:
        assert rows != expected.results
        assert rows == list(map(list, naive_evaluate(case.schema, case.gold, case.extracted).rows))
        return
    if naive_evaluate(case.schema, case.gold, case.extracted).ties:
        assert Counter(row[1] for row in rows) == Counter(row[1] for row in expected.results)
    else:
        assert rows == expected.results
        assert list(run.per_field) == list(expected.per_field)
        for path, field in run.per_field.items():
            counts = [field.matches, field.mismatches, field.omissions, field.hallucinations]
            assert [field.mean_score, *counts] == pytest.approx(expected.per_field[path])
    assert [run.total_fields, run.total_omissions, run.total_hallucinations] == expected.totals
    for metrics in (
        (record.precision, record.recall, record.f1),
        (run.mean_precision, run.mean_recall, run.mean_f1),
    ):
        assert metrics == pytest.approx((expected.p, expected.r, expected.f1), abs=1e-12)
