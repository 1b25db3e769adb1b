"""Evaluation of cases by several metrics, in one report."""

from factcheck.metrics.builtin import FactCoverageMetric, KeywordMetric
from factcheck.metrics.evaluation import FunctionMetric, aevaluate, evaluate, metric
from factcheck.metrics.ports import BatchMetric, EvalCase, Metric, MetricResult
from factcheck.metrics.report import EvalReport, EvalRow, MetricReport

__all__ = [
    "BatchMetric",
    "EvalCase",
    "EvalReport",
    "EvalRow",
    "FactCoverageMetric",
    "FunctionMetric",
    "KeywordMetric",
    "Metric",
    "MetricReport",
    "MetricResult",
    "aevaluate",
    "evaluate",
    "metric",
]
