"""Agreement with people: what a judge's verdicts are worth, in figures with intervals."""

from factcheck.calibration.people.figures import measure_agreement
from factcheck.calibration.people.judging import Answer
from factcheck.calibration.people.measures import Bin, Figure
from factcheck.calibration.people.pairs import (
    LabelledPair,
    RecordedVerdict,
    read_pairs,
    read_recorded,
)
from factcheck.calibration.people.report import FIGURES, AgreementReport, JudgeAgreement
from factcheck.calibration.people.run import aagreement, agreement

__all__ = [
    "FIGURES",
    "AgreementReport",
    "Answer",
    "Bin",
    "Figure",
    "JudgeAgreement",
    "LabelledPair",
    "RecordedVerdict",
    "aagreement",
    "agreement",
    "measure_agreement",
    "read_pairs",
    "read_recorded",
]
