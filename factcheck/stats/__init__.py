"""Confidence intervals, resampling and tests; knows nothing of facts, records or judges.

Importing it is cheap: numpy is loaded by the first function that draws or ranks.
"""

from factcheck.stats.assignment import assign
from factcheck.stats.comparison import (
    Change,
    Changes,
    Comparison,
    compare_scores,
    split_changes,
    step_down,
)
from factcheck.stats.correlation import kendall, pearson, ranks, spearman
from factcheck.stats.intervals import (
    Z_95,
    Estimate,
    Interval,
    cluster_interval,
    effective_size,
    paired_share_interval,
    sign_test,
    t_interval,
    wilson,
)
from factcheck.stats.resampling import (
    Matrix,
    SumScores,
    bootstrap_differences,
    bootstrap_groups,
    bootstrap_mean,
    bootstrap_ratio,
    bootstrap_scores,
    check_resampling,
    mean_estimate,
)

__all__ = [
    "Z_95",
    "Change",
    "Changes",
    "Comparison",
    "Estimate",
    "Interval",
    "Matrix",
    "SumScores",
    "assign",
    "bootstrap_differences",
    "bootstrap_groups",
    "bootstrap_mean",
    "bootstrap_ratio",
    "bootstrap_scores",
    "check_resampling",
    "cluster_interval",
    "compare_scores",
    "effective_size",
    "kendall",
    "mean_estimate",
    "paired_share_interval",
    "pearson",
    "ranks",
    "sign_test",
    "spearman",
    "split_changes",
    "step_down",
    "t_interval",
    "wilson",
]
