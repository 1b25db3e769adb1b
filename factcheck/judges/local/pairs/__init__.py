"""The embedded judge of value pairs: whether two values of a field mean the same, offline."""

from factcheck.judges.local.pairs.judge import DECISION, LocalPairJudge, compare_values, judge_pair

__all__ = ["DECISION", "LocalPairJudge", "compare_values", "judge_pair"]
