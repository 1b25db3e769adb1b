"""Evaluation of cases by several metrics, in one report."""

from factcheck.metrics.evaluation import EvalCase, FunctionMetric, aevaluate, evaluate, metric
from factcheck.metrics.report import EvalReport, MetricReport, MetricResult, compare_runs

__all__ = [
    "EvalCase", "EvalReport", "FunctionMetric", "MetricReport", "MetricResult", "aevaluate",
    "compare_runs", "evaluate", "metric",
]  # fmt: skip
