"""The naive evaluation is right: it agrees with what another implementation recorded."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.fields.naive import evaluate
from tests.fields.recorded import CHANGED, Case, recorded_cases


@pytest.mark.parametrize("case", recorded_cases())
def test_the_naive_evaluation_gives_what_was_recorded(case: Case) -> None:
    outcome = evaluate(case.schema, case.gold, case.extracted)

    rows = [list(row) for row in outcome.rows]
    if case.id in CHANGED:
        assert rows != case.head.results
        return
    if outcome.ties:
        assert Counter(row[1] for row in rows) == Counter(row[1] for row in case.head.results)
    else:
        assert rows == case.head.results
    assert (outcome.precision, outcome.recall, outcome.f1) == pytest.approx(
        (case.head.p, case.head.r, case.head.f1), abs=1e-12
    )


def test_a_tie_is_reported() -> None:
    """Which of the two elements is left over is not determined, but how many are is."""
    schema = {
        "type": "array",
        "items": {"type": "string"},
        "x-eval-align": {"match_by": "hungarian"},
    }

    tied = evaluate(schema, ["a", "a"], ["a"])
    certain = evaluate(schema, ["a", "b"], ["b"])

    assert [tie.kind for tie in tied.ties] == ["leaf"]
    assert not certain.ties
    assert [row.path for row in certain.rows] == ["[1]", "[0]"]
