"""Measures whether a judge can be trusted: on texts with known answers, and on human labels."""

from factcheck.calibration.agreement_labels import LabelledPair, read_pairs
from factcheck.calibration.agreement_run import (
    AgreementReport,
    JudgeAgreement,
    aagreement,
    agreement,
)
from factcheck.calibration.audit import AuditReport, aaudit_judge, audit_judge, audits_page
from factcheck.calibration.audit_trials import RULES
from factcheck.calibration.bullets import BulletRemoval, abullet_removal, bullet_removal
from factcheck.calibration.cascade import CascadeFit, fit_cascade
from factcheck.calibration.review import areview_page, review_page
from factcheck.calibration.texts import BundledText, load_texts
from factcheck.judges.local.containment import BASELINE, WordContainment

__all__ = [
    "BASELINE",
    "RULES",
    "AgreementReport",
    "AuditReport",
    "BulletRemoval",
    "BundledText",
    "CascadeFit",
    "JudgeAgreement",
    "LabelledPair",
    "WordContainment",
    "aagreement",
    "aaudit_judge",
    "abullet_removal",
    "agreement",
    "areview_page",
    "audit_judge",
    "audits_page",
    "bullet_removal",
    "fit_cascade",
    "load_texts",
    "read_pairs",
    "review_page",
]
