"""Several metrics over the same cases in one report; a failure spoils only its case."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from factcheck.errors import ConfigError, InputError, JudgeUnavailable
from factcheck.metrics import (
    EvalCase,
    MetricReport,
    MetricResult,
    aevaluate,
    cases_by_id,
    evaluate,
    metric,
)
from factcheck.reports.page import parts_of
from factcheck.stats.intervals import wilson


@metric()
def length(case: EvalCase) -> float:
    """Longer is better, up to ten letters."""
    if case.actual_output == "boom":
        raise RuntimeError("boom")
    if case.actual_output == "down":
        raise JudgeUnavailable("no answer")
    return min(1.0, len(case.actual_output) / 10)


def outputs(*texts: Any) -> list[EvalCase]:
    return [EvalCase(actual_output=text) for text in texts]


def scores(reports: dict[str, MetricReport], name: str) -> list[float | str | None]:
    """For each case the score, or the code of its error."""
    results = reports[name].results.values()
    return [result.error.code if result.error else result.score for result in results]


def test_a_case_that_could_not_be_measured_neither_passes_nor_fails_and_is_counted() -> None:
    report = evaluate(outputs("long enough", "boom", "no", "down", ""), [length])
    summary = report["length"]
    assert summary.counts == {"passed": 1, "failed": 2, "errors": 2}
    assert (len(summary.results), summary.pass_rate, summary.mean) == (5, 1 / 3, 1.2 / 3)
    assert scores(report, "length") == [1.0, "raised", 0.2, "unavailable", 0.0]
    assert summary.results["2"].reason == "RuntimeError: boom"
    assert summary.interval == wilson(1 / 3, 3)
    assert "Score 0.400   1 of 3 cases passed, 2 more errored" in str(summary)
    assert "2  error   RuntimeError: boom\n4  error   no answer" in str(summary)
    assert summary.page().parts == parts_of(
        ("good", 1, "passed"), ("bad", 2, "failed"), ("unknown", 2, "errored")
    )
    statuses = ["passed", "error", "failed", "error", "failed"]
    assert [case.status for case in summary.page().cases] == statuses


def test_an_interrupt_is_no_result() -> None:
    @metric()
    async def interrupted(case: EvalCase) -> float:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(aevaluate(outputs("one"), [interrupted]))


def test_a_result_has_a_score_and_a_verdict_or_an_error_and_never_a_mixture() -> None:
    score: Any
    for score in (1.01, math.nan, None, True):
        with pytest.raises(InputError, match="a score must be a finite number"):
            MetricResult.scored(score, passed=True)
    failed = MetricResult.failed("input", "no text")
    with pytest.raises(InputError, match="passes or fails"):
        MetricResult(score=0.5, passed=None)
    with pytest.raises(InputError, match="neither passes nor fails"):
        MetricResult(score=0.0, passed=False, error=failed.error)
    assert (failed.score, failed.passed, failed.reason) == (None, None, "no text")


def test_a_metric_of_ones_own_is_a_function_of_any_kind() -> None:
    @metric(threshold=0.7)
    def brevity(case: EvalCase) -> float:
        return min(1.0, 5 / len(case.actual_output))

    @metric(name="later")
    async def waiting(case: EvalCase) -> bool:
        await asyncio.sleep(0)
        return bool(case.actual_output == "short")

    @metric(required_fields=("input",))
    def whole(case: EvalCase) -> MetricResult:
        return MetricResult.scored(1.0, passed=False, reason=str(case.input))

    report = evaluate(outputs("short", "much longer", ""), [brevity, waiting, whole])

    assert scores(report, "brevity") == [1.0, 5 / 11, "raised"]
    assert [row["passed"] for row in report["brevity"].to_rows()] == [True, False, None]
    assert brevity(EvalCase(actual_output="short")) == 1.0
    assert scores(report, "later") == [1.0, 0.0, 0.0]
    assert scores(report, "whole") == ["input"] * 3
    failed = evaluate([EvalCase(actual_output=1, input="x")], [whole])["whole"]
    assert failed.counts["failed"] == 1


@pytest.mark.parametrize(("given", "code"), [(2.0, "input"), ("1", "output"), (None, "output")])
def test_what_is_no_share_is_an_error_of_the_case(given: Any, code: str) -> None:
    odd = metric()(lambda _: given)
    assert scores(evaluate(outputs("x"), [odd]), "<lambda>") == [code]


def read_cases(items: Any) -> dict[str, EvalCase]:
    return cases_by_id(items, EvalCase.of)


CASES = outputs("one")
GOOD = {"actual_output": "x"}


@pytest.mark.parametrize(
    ("function", "arguments", "error", "says"),
    [
        (evaluate, [CASES, []], InputError, "list of metrics is empty"),
        (evaluate, [CASES, length], InputError, "metrics must be a list, not FunctionM"),
        (evaluate, [CASES, [length, length]], InputError, "two metrics have the name 'length'"),
        (evaluate, [CASES, ["a"]], ConfigError, "'a' is not a metric; decorate a function"),
        (metric(required_fields=("actual",)), [length], ConfigError, "unknown case fields"),
        (metric(threshold=math.nan), [length], InputError, "threshold"),
        (read_cases, [[GOOD | {"output": "x"}]], InputError, "case 1: unknown key 'output'; use"),
        (read_cases, [[{"input": "x"}]], InputError, "'actual_output' is missing"),
        (read_cases, [[GOOD | {"id": " "}]], InputError, "id of a case must be a string that is"),
        (read_cases, [[GOOD | {"references": ["y", None]}]], InputError, "item 2: expected a"),
        (read_cases, [["x"]], InputError, "expected an object with actual_output, input"),
        (read_cases, [[GOOD | {"id": "x"}] * 2], InputError, "case 2: duplicate id 'x'"),
        *((read_cases, [one], InputError, "must be a list") for one in (CASES[0], GOOD, "a", None)),
    ],
)
def test_what_cannot_be_used_is_refused(
    function: Any, arguments: Any, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        function(*arguments)


def test_cases_without_an_id_have_their_position() -> None:
    assert list(read_cases([GOOD, GOOD | {"id": "x"}])) == ["1", "x"]
