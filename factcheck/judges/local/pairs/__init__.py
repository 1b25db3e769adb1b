"""Embedded pair judge: decides offline whether two values of a field are equivalent."""

from factcheck.judges.local.pairs.judge import LocalPairJudge, compare_values, judge_pair
from factcheck.judges.local.pairs.normal import DECISION

__all__ = ["DECISION", "LocalPairJudge", "compare_values", "judge_pair"]
