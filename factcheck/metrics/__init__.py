"""Evaluation of cases by several metrics, in one report."""

from factcheck.metrics.evaluation import (
    FactCoverageMetric,
    FunctionMetric,
    KeywordMetric,
    aevaluate,
    evaluate,
    metric,
)
from factcheck.metrics.ports import EvalCase, Metric, MetricResult
from factcheck.metrics.report import EvalReport, MetricReport

__all__ = [
    "EvalCase", "EvalReport", "FactCoverageMetric", "FunctionMetric", "KeywordMetric", "Metric",
    "MetricReport", "MetricResult", "aevaluate", "evaluate", "metric",
]  # fmt: skip
