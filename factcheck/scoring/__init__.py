"""Fact coverage of one summary or many: extract facts, check them, report."""

from factcheck.facts.report import Direction
from factcheck.scoring.functions import acheck, aextract, ascore, check, extract, score
from factcheck.scoring.many import RecordFailure, score_records
from factcheck.scoring.scorer import FactCoverage, Facts, account

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
