"""The audit of a judge without labels: proven errors, by rule."""

from factcheck.calibration.audit.report import AuditReport, Finding, RuleResult
from factcheck.calibration.audit.run import aaudit_judge, audit_judge
from factcheck.calibration.audit.trials import RULES, AuditText, Question, Trial

__all__ = [
    "RULES",
    "AuditReport",
    "AuditText",
    "Finding",
    "Question",
    "RuleResult",
    "Trial",
    "aaudit_judge",
    "audit_judge",
]
