"""Several metrics over the same cases in one report; a bad case spoils only itself."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from factcheck import AtomicFact, FactCoverage
from factcheck.errors import ConfigError, InputError, JudgeUnavailable
from factcheck.facts import Usage
from factcheck.judges.ports import Ledger
from factcheck.metrics import (
    EvalCase,
    EvalReport,
    FactCoverageMetric,
    KeywordMetric,
    Metric,
    MetricResult,
    aevaluate,
    evaluate,
    metric,
)
from factcheck.metrics.evaluation import read_cases
from factcheck.references import ReferenceMatch
from factcheck.reports.page import parts_of
from factcheck.stats.intervals import wilson
from factcheck.testing import ScriptedChecker

SOURCE = "The bridge was closed in April. A diver found the crack. It cost $40."


class Together:
    """A metric of one's own with the whole port: longer is better, up to ten letters."""

    name = "together"
    threshold = 0.5
    required_fields: tuple[str, ...] = ("actual_output",)
    identity: Mapping[str, str] = {"rule": "letters"}

    def __init__(self, wrong: Any = None) -> None:
        self.calls: list[int] = []
        self._wrong = wrong

    async def measure_many(
        self, cases: Sequence[EvalCase], ledger: Ledger
    ) -> Sequence[MetricResult]:
        self.calls.append(len(cases))
        ledger.book(Usage(calls=1, prompt_tokens=len(cases)))
        if isinstance(self._wrong, BaseException):
            raise self._wrong
        if self._wrong is not None:
            results: Sequence[MetricResult] = self._wrong
            return results
        scores = [min(1.0, len(case.actual_output) / 10) for case in cases]
        return [MetricResult.scored(score, passed=score >= self.threshold) for score in scores]


@metric()
def length(case: EvalCase) -> float:
    """The same as a function."""
    if case.actual_output == "boom":
        raise RuntimeError("boom")
    if case.actual_output == "down":
        raise JudgeUnavailable("no answer")
    return min(1.0, len(case.actual_output) / 10)


def outputs(*texts: Any) -> list[EvalCase]:
    return [EvalCase(actual_output=text) for text in texts]


def scores(report: EvalReport, metric: str) -> list[float | str | None]:
    """For each case the score, or the code of its error."""
    results = [report[case, metric] for case in report.case_ids]
    return [result.error.code if result.error else result.score for result in results]


def test_the_usage_of_the_guide_works_as_it_stands() -> None:
    case = EvalCase(actual_output="The capital of France is Paris, located along the Seine River.")
    metric = ReferenceMatch(
        threshold=0.5,
        references=[
            "Paris is the capital and largest city of France.",
            "France's capital city is Paris.",
            "Paris, situated on the Seine, serves as France's capital.",
        ],
        aggregation="max",
        embedding_provider="local",
    )

    report = asyncio.run(aevaluate([case], [metric]))

    result = report["1", "reference_match"]
    assert result.passed is True
    assert result.score == metric.match(case).score
    assert result.details["best_index"] == 2


def test_coverage_references_and_a_metric_of_ones_own_land_in_one_report() -> None:
    cases = [
        EvalCase(id="good", actual_output="A diver found the crack. It cost $40.", source=SOURCE),
        EvalCase(id="bad", actual_output="Nothing.", source=SOURCE),
        EvalCase(id="no source", actual_output="A diver found the crack."),
    ]
    metrics: list[Metric] = [
        FactCoverageMetric(threshold=0.5),
        ReferenceMatch(["A diver found the crack."], threshold=0.5),
        length,
    ]

    report = evaluate(cases, metrics)

    assert [row["metric"] for row in report.to_rows()] == [
        *["fact_coverage"] * 3, *["reference_match"] * 3, *["length"] * 3,
    ]  # fmt: skip
    assert scores(report, "fact_coverage") == [0.5, 0.0, "input"]
    assert scores(report, "reference_match")[1:] == [0.0, 1.0]
    assert [report.case_passed(case) for case in report.case_ids] == [True, False, None]
    assert report.passed is False
    assert report.metrics[0].signature["judge"].startswith("local/")
    assert report.metrics[1].signature["embedder"] == "local/3 (lexical)"


def test_a_case_that_could_not_be_measured_neither_passes_nor_fails_and_is_counted() -> None:
    report = evaluate(outputs("long enough", "boom", "no", "down", ""), [length])
    (summary,) = report.metrics
    assert summary.counts == {"passed": 1, "failed": 2, "errors": 2}
    assert (len(summary.results), summary.pass_rate, summary.mean) == (5, 1 / 3, 1.2 / 3)
    assert scores(report, "length") == [1.0, "raised", 0.2, "unavailable", 0.0]
    assert report["2", "length"].reason == "RuntimeError: boom"
    assert summary.interval == wilson(1 / 3, 3)
    assert "length 0.400   1 of 3 cases passed, 2 more errored" in str(report)
    assert "2  error   RuntimeError: boom\n4  error   no answer" in str(report)
    assert report.page().parts == parts_of(
        ("good", 1, "passed"), ("bad", 2, "failed"), ("unknown", 2, "errored")
    )
    statuses = ["passed", "error", "failed", "error", "failed"]
    assert [case.status for case in report.page().also[0].cases] == statuses


def test_a_field_that_is_needed_and_missing_is_named() -> None:
    metric = Together()
    metric.required_fields = ("expected_output", "references")
    report = evaluate(outputs("text"), [metric])
    assert report["1", "together"].reason == (
        "the case lacks 'expected_output' and 'references', which together needs"
    )


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (RuntimeError("all"), "raised"),
        (JudgeUnavailable("down"), "unavailable"),
        ([1.0, 0.5], "output"),
        (7, "raised"),
    ],
)
def test_a_batch_that_fails_is_an_error_of_its_cases_and_of_no_other_metric(
    wrong: Any, code: str
) -> None:
    report = evaluate(outputs("one", "two"), [Together(wrong), length])
    assert scores(report, "together") == [code, code]
    assert scores(report, "length") == [0.3, 0.3]


def test_an_interrupt_is_no_result() -> None:
    @metric()
    async def interrupted(case: EvalCase) -> float:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(aevaluate(outputs("one"), [interrupted]))


def with_own(**attributes: Any) -> Together:
    metric = Together()
    for name, value in attributes.items():
        setattr(metric, name, value)
    return metric


@pytest.mark.parametrize(
    ("metrics", "error", "says"),
    [
        ([], InputError, "list of metrics is empty"),
        (length, InputError, "metrics must be a list, got FunctionMetric"),
        ([length, length], InputError, "two metrics have the name 'length'"),
        (["length"], ConfigError, "str is not a metric; decorate a function"),
        ([with_own(required_fields=("actual",))], ConfigError, "unknown case fields"),
        ([with_own(threshold=math.nan)], InputError, "threshold"),
    ],
)
def test_what_is_no_list_of_metrics_is_refused_before_anything_is_measured(
    metrics: Any, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        evaluate(outputs("one"), metrics)


def test_a_batch_metric_is_called_once_with_every_case_it_can_measure() -> None:
    metric = Together()
    report = evaluate([*outputs("a", "b"), {"bad": 1}, *outputs("c")], [metric])
    assert metric.calls == [3]
    assert scores(report, "together") == [0.1, 0.1, "input", 0.1]
    assert report.usage == Usage(calls=1, prompt_tokens=3)
    assert report.metrics[0].signature["rule"] == "letters"
    nothing = evaluate([], [metric])
    assert metric.calls == [3]
    assert (nothing.case_ids, nothing.to_rows()) == ((), [])


def coverage(case: EvalCase, metric: FactCoverageMetric) -> MetricResult:
    return evaluate([case], [metric])["1", "fact_coverage"]


def test_the_score_of_fact_coverage_is_that_of_the_scorer() -> None:
    case = EvalCase(actual_output="A diver found the crack.", source=SOURCE)
    expected = FactCoverage("local", "local").score(SOURCE, case.actual_output)
    result = coverage(case, FactCoverageMetric(threshold=0.9))
    assert (result.score, result.passed) == (expected.score, False)
    assert result.reason.startswith("1 of 4 facts kept")
    assert result.details["counts"] == expected.counts
    given = EvalCase(actual_output="It cost $40.", facts=("It cost $40.",))
    assert coverage(given, FactCoverageMetric()).score == 1.0


def test_a_fact_that_must_be_kept_and_is_not_fails_the_case_whatever_the_score() -> None:
    facts = (AtomicFact("a", "One.", must=True), AtomicFact("b", "Two."))
    checker = ScriptedChecker({"One.": "neutral", "Two.": "entailed"})
    metric = FactCoverageMetric(FactCoverage(checker, "local"), threshold=0.5)
    result = coverage(EvalCase(actual_output="x", facts=facts), metric)
    assert (result.score, result.passed) == (0.5, False)
    assert "must fact not kept: One." in result.reason


def test_a_judge_that_decides_nothing_is_an_error_and_no_zero() -> None:
    metric = FactCoverageMetric(FactCoverage(ScriptedChecker({}), "local"))
    result = coverage(EvalCase(actual_output="x", facts=("One.",)), metric)
    assert result.error is not None
    assert result.score is None


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
    assert [row["passed"] for row in report.to_rows()[:3]] == [True, False, None]
    assert brevity(EvalCase(actual_output="short")) == 1.0
    assert scores(report, "later") == [1.0, 0.0, 0.0]
    assert scores(report, "whole") == ["input"] * 3
    assert evaluate([EvalCase(actual_output=1, input="x")], [whole]).case_passed("1") is False


@pytest.mark.parametrize(("given", "code"), [(2.0, "input"), ("1", "output"), (None, "output")])
def test_what_is_no_share_is_an_error_of_the_case(given: Any, code: str) -> None:
    odd = metric()(lambda _: given)
    assert scores(evaluate(outputs("x"), [odd]), "<lambda>") == [code]


def test_a_mapping_is_read_like_a_case() -> None:
    data: dict[str, Any] = {
        "actual_output": "Paris.",
        "references": ["Paris", "It is Paris."],
        "facts": ["Paris is the capital."],
        "metadata": {"run": 3},
    }
    case = EvalCase.of(data)
    assert case == EvalCase(**data)
    assert case.references == ("Paris", "It is Paris.")
    assert case.facts == (AtomicFact("f1", "Paris is the capital."),)


@pytest.mark.parametrize(
    ("item", "says"),
    [
        ({"output": "x", "actual_output": "y"}, r"unknown keys \['output'\]; use"),
        ({"input": "x"}, "'actual_output' is missing"),
        ({"actual_output": "x", "input": 3}, "'input' must be a string, got int"),
        ({"actual_output": "x", "source": [7]}, "'source', document 1: expected a string"),
        ({"actual_output": "x", "id": " "}, "'id' is blank"),
        ({"actual_output": "x", "references": ["y", None]}, "number 2 is not a string"),
        ({"actual_output": "x", "facts": [" "]}, "has no text"),
        ("x", "must be an EvalCase or a mapping with its fields, got str"),
    ],
)
def test_what_is_no_case_says_why(item: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        EvalCase.of(item)


def test_cases_without_an_id_have_their_position() -> None:
    read = read_cases([{"actual_output": "a"}, {"actual_output": "b", "id": "x"}, {"b": 1}])
    assert list(read) == ["1", "x", "3"]
    assert isinstance(read["3"], MetricResult)
    with pytest.raises(InputError, match="two cases have the id 'x'"):
        read_cases([{"actual_output": "a", "id": "x"}, {"actual_output": "b", "id": "x"}])
    one: Any
    for one in (EvalCase(actual_output="a"), {"actual_output": "a"}, "a", None):
        with pytest.raises(InputError, match="cases must be a list of EvalCase"):
            read_cases(one)


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


@pytest.mark.parametrize("expected", [[], "sky", None])
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
