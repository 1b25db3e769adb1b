"""The page of a comparison: verdict, changes by kind, and what was left out."""

from __future__ import annotations

from typing import Any

import pytest

from factcheck.reports.comparison import Change, RunComparison, answer_text
from factcheck.stats.intervals import Interval
from factcheck.stats.resampling import Comparison

LESS = Comparison(0.9, 0.5, -0.4, Interval(-0.5, -0.3), 0.004, 0.02)
EQUAL = Comparison(0.5, 0.5, 0.0)


def compared(n_lost: int = 1, n_same: int = 1, **more: Any) -> RunComparison:
    lost = [Change.of_scores("Lost", f"l{n}", LESS) for n in range(n_lost)]
    same = [Change.of_scores("Unchanged", f"s{n}", EQUAL) for n in range(n_same)]
    known: dict[str, Any] = {
        "noun": "case",
        "metric": "F1",
        "main": LESS,
        "basis": "by case",
        "changes": (*lost, *same),
        "left_out": {"Only in A": ("x", "7"), "Only in B": ()},
        "lines": ("two runs",),
        "names": ("a.json", "b.json"),
    }
    return RunComparison(**{**known, **more})


@pytest.mark.parametrize(
    ("difference", "p_value", "p_adjusted", "answer"),
    [
        (0.2, 0.01, None, "B is better: F1 0.500 → 0.700."),
        (-0.2, 0.01, 0.04, "B is worse: F1 0.500 → 0.300."),
        (-0.2, 0.01, 0.05, "No clear difference: F1 0.500 → 0.300 may be chance."),
        (1e-12, 0.01, None, "A and B are equal: F1 0.500."),
        (0.2, None, None, "No verdict: F1 0.500 → 0.700."),
    ],
)
def test_the_answer_goes_by_the_adjusted_p(
    difference: float, p_value: float | None, p_adjusted: float | None, answer: str
) -> None:
    one = Comparison(0.5, 0.5 + difference, difference, None, p_value, p_adjusted)
    assert answer_text("F1", one) == answer


def test_names_are_said_where_there_are_any() -> None:
    assert compared().page().lines[0] == "A is a.json, B is b.json"
    assert "A is" not in str(compared(names=("", "")))
    assert compared(0, 0).page().lines[-1] == "cases: no change"
    assert "1 case with equal scores" in str(compared())
    assert compared().missing == ("x", "7")
