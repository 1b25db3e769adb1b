"""The embedded judge of value pairs: whether two values of a field mean the same, offline."""

from factcheck.judges.local.pairs.judge import LocalPairJudge, compare_values, judge_pair
from factcheck.judges.local.pairs.model import DECISION

__all__ = ["DECISION", "LocalPairJudge", "compare_values", "judge_pair"]
