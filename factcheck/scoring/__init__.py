"""Scoring: extract the facts, check them, report the coverage; one text or many."""

from factcheck.scoring.accounting import account
from factcheck.scoring.functions import acheck, aextract, ascore, check, extract, score
from factcheck.scoring.many import RecordFailure, score_records
from factcheck.scoring.scorer import Direction, FactCoverage, Facts

__all__ = [
    "Direction",
    "FactCoverage",
    "Facts",
    "RecordFailure",
    "account",
    "acheck",
    "aextract",
    "ascore",
    "check",
    "extract",
    "score",
    "score_records",
]
