"""Keywords, run beside other metrics over the same cases."""

from __future__ import annotations

from typing import Any

import pytest

from factcheck.errors import InputError
from factcheck.metrics import (
    EvalCase,
    EvalReport,
    KeywordMetric,
    MetricResult,
    evaluate,
)


def results(report: EvalReport) -> list[MetricResult]:
    return list(report.metrics[0].results.values())


def test_keywords_of_the_metric() -> None:
    report = evaluate(
        [EvalCase(actual_output="The sky is blue."), EvalCase(actual_output="Grass.")],
        [KeywordMetric(["sky", {"any": ["blue", "azure"]}, {"not": "green"}], threshold=0.5)],
    )
    first, second = results(report)
    assert (first.score, first.passed) == (1.0, True)
    assert first.reason == "every keyword is satisfied"
    assert (second.score, second.passed) == (0.0, False)
    assert second.reason == "not satisfied: sky, blue or azure"


def test_keywords_of_the_case() -> None:
    case = EvalCase(actual_output="The sky.", expected_output=["sky", "sea"])
    report = evaluate([case], [KeywordMetric()])
    assert results(report)[0].score == 0.5


@pytest.mark.parametrize("expected", [[], "sky", None, [{"nope": "x"}]])
def test_a_case_without_keywords_is_errored_and_the_rest_is_intact(expected: Any) -> None:
    cases = [
        EvalCase(actual_output="The sky.", expected_output=expected),
        EvalCase(actual_output="The sky.", expected_output=["sky"]),
    ]
    first, second = results(evaluate(cases, [KeywordMetric()]))
    assert first.score is None
    assert first.error is not None
    assert second.score == 1.0


def test_settings_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(InputError, match="empty"):
        KeywordMetric([])
    with pytest.raises(InputError, match="threshold"):
        KeywordMetric(["a"], threshold=2)
