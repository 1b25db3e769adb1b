"""Agreement with people: what a judge's verdicts are worth, in figures with intervals."""

from factcheck.calibration.people.figures import measure_agreement
from factcheck.calibration.people.judging import Answer
from factcheck.calibration.people.measures import N_BINS, Bin, Figure
from factcheck.calibration.people.pairs import (
    LabelledPair,
    Partly,
    RecordedVerdict,
    read_pairs,
    read_recorded,
)
from factcheck.calibration.people.report import FIGURES, AgreementReport, JudgeAgreement
from factcheck.calibration.people.run import aagreement, agreement

__all__ = [
    "FIGURES",
    "N_BINS",
    "AgreementReport",
    "Answer",
    "Bin",
    "Figure",
    "JudgeAgreement",
    "LabelledPair",
    "Partly",
    "RecordedVerdict",
    "aagreement",
    "agreement",
    "measure_agreement",
    "read_pairs",
    "read_recorded",
]
