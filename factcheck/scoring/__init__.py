"""Fact coverage of one summary or many: extract facts, check them, report."""

from factcheck.facts.report import Direction
from factcheck.scoring.comparison import compare
from factcheck.scoring.many import RecordFailure, score_records
from factcheck.scoring.run_report import RunReport
from factcheck.scoring.scorer import (
    FactCoverage,
    Facts,
    acheck,
    aextract,
    ascore,
    check,
    extract,
    score,
)

__all__ = [
    "Direction", "FactCoverage", "Facts", "RecordFailure", "RunReport",
    "acheck", "aextract", "ascore", "check", "compare", "extract", "score", "score_records",
]  # fmt: skip
