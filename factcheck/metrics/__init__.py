"""Evaluation of cases by any number of metrics."""

from factcheck.metrics.evaluation import EvalCase, FunctionMetric, aevaluate, evaluate, metric
from factcheck.metrics.report import MetricReport, MetricResult, compare_runs

__all__ = [
    "EvalCase", "FunctionMetric", "MetricReport", "MetricResult", "aevaluate", "compare_runs",
    "evaluate", "metric",
]  # fmt: skip
