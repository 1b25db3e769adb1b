"""Several metrics over the same cases, in one report."""

from factcheck.metrics.cases import EvalCase
from factcheck.metrics.coverage import FactCoverageMetric
from factcheck.metrics.evaluation import evaluate, evaluate_sync
from factcheck.metrics.keywords import CardMetric, KeywordMetric
from factcheck.metrics.ports import BatchMetric, Metric
from factcheck.metrics.report import EvalReport, EvalRow, MetricReport, MetricSummary
from factcheck.metrics.results import MetricFailure, MetricResult

__all__ = [
    "BatchMetric",
    "CardMetric",
    "EvalCase",
    "EvalReport",
    "EvalRow",
    "FactCoverageMetric",
    "KeywordMetric",
    "Metric",
    "MetricFailure",
    "MetricReport",
    "MetricResult",
    "MetricSummary",
    "evaluate",
    "evaluate_sync",
]
