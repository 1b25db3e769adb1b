"""Keywords, run beside other metrics over the same cases."""

from __future__ import annotations

from typing import Any

import pytest

from factcheck.errors import InputError
from factcheck.metrics import EvalCase, KeywordMetric, MetricResult, evaluate


def measured(metric: KeywordMetric, *cases: EvalCase) -> list[MetricResult]:
    return list(evaluate(cases, [metric]).metrics[0].results.values())


def test_keywords_of_the_metric() -> None:
    metric = KeywordMetric(["sky", {"any": ["blue", "azure"]}, {"not": "green"}], threshold=0.5)
    cases = (EvalCase(actual_output=text) for text in ("The sky is blue.", "Grass."))
    first, second = measured(metric, *cases)
    assert (first.score, first.passed) == (1.0, True)
    assert first.reason == "every keyword is satisfied"
    assert (second.score, second.passed) == (0.0, False)
    assert second.reason == "not satisfied: sky, blue or azure"


@pytest.mark.parametrize("expected", [[], "sky", None, [{"nope": "x"}]])
def test_a_case_without_keywords_is_errored_and_the_rest_is_intact(expected: Any) -> None:
    first, second = measured(
        KeywordMetric(),
        EvalCase(actual_output="The sky.", expected_output=expected),
        EvalCase(actual_output="The sky.", expected_output=["sky", "sea"]),
    )
    assert first.score is None
    assert first.error is not None
    assert second.score == 0.5


def test_settings_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(InputError, match="empty"):
        KeywordMetric([])
    with pytest.raises(InputError, match="threshold"):
        KeywordMetric(["a"], threshold=2)
