"""Evaluation of cases by several metrics, in one report."""

from factcheck.metrics.builtin import FactCoverageMetric, KeywordMetric
from factcheck.metrics.cases import EvalCase, Metric, MetricResult
from factcheck.metrics.evaluation import FunctionMetric, aevaluate, evaluate, metric
from factcheck.metrics.report import EvalReport, MetricReport, compare_runs

__all__ = [
    "EvalCase", "EvalReport", "FactCoverageMetric", "FunctionMetric", "KeywordMetric", "Metric",
    "MetricReport", "MetricResult", "aevaluate", "compare_runs", "evaluate",
    "metric",
]  # fmt: skip
