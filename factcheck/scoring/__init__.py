"""Fact coverage of one summary or many: extract facts, check them, report."""

from factcheck.scoring.comparison import compare
from factcheck.scoring.many import RecordFailure
from factcheck.scoring.run_report import RunReport
from factcheck.scoring.scorer import FactCoverage, acheck, aextract, ascore, check, extract, score

__all__ = [
    "FactCoverage", "RecordFailure", "RunReport", "acheck", "aextract", "ascore", "check",
    "compare", "extract", "score",
]  # fmt: skip
