"""Can this judge be trusted? Measured on texts whose answer is known, and on human labels."""

from factcheck.calibration.audit import AuditReport, aaudit_judge, audit_judge
from factcheck.calibration.bullets import BulletRemoval, abullet_removal, bullet_removal
from factcheck.calibration.containment import WordContainment
from factcheck.calibration.paired import CoverageComparison, compare_coverage
from factcheck.calibration.people import AgreementReport, aagreement, agreement
from factcheck.calibration.texts import BundledText, load_texts

__all__ = [
    "AgreementReport",
    "AuditReport",
    "BulletRemoval",
    "BundledText",
    "CoverageComparison",
    "WordContainment",
    "aagreement",
    "aaudit_judge",
    "abullet_removal",
    "agreement",
    "audit_judge",
    "bullet_removal",
    "compare_coverage",
    "load_texts",
]
