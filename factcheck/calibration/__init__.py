"""Measures whether a judge can be trusted: on texts with known answers, and on human labels."""

from factcheck.calibration.agreement import (
    AgreementReport,
    JudgeAgreement,
    LabelledPair,
    aagreement,
    agreement,
    read_pairs,
)
from factcheck.calibration.audit import AuditReport, aaudit_judge, audit_judge
from factcheck.calibration.audit_trials import RULES
from factcheck.calibration.bullets import BulletRemoval, abullet_removal, bullet_removal
from factcheck.calibration.texts import Subject, aprice, load_texts, price
from factcheck.calibration.trust import TrustReport, atrust, trust
from factcheck.judges.local.containment import BASELINE, WordContainment

__all__ = [
    "BASELINE", "RULES", "AgreementReport", "AuditReport", "BulletRemoval", "JudgeAgreement",
    "LabelledPair", "Subject", "TrustReport", "WordContainment", "aagreement", "aaudit_judge",
    "abullet_removal", "agreement", "aprice", "atrust", "audit_judge", "bullet_removal",
    "load_texts", "price", "read_pairs", "trust",
]  # fmt: skip
