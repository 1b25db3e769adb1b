"""Whether a report lets a build pass."""

from __future__ import annotations

from typing import NamedTuple

from factcheck.errors import InputError, JudgeError
from factcheck.facts import CoverageReport, Verdict
from factcheck.reports.content import lost_musts

GATE_FAILED = 1
NOTHING_DECIDED = JudgeError.exit_code
_ROUNDING = 1e-9


class GateFailure(NamedTuple):
    """Why a build should stop."""

    exit_code: int
    message: str


def check_threshold(threshold: float | None) -> None:
    """Refuse a threshold that is no share.

    Raises:
        InputError: Outside [0, 1], or not a number.
    """
    if threshold is not None and not 0.0 <= threshold <= 1.0:
        raise InputError(f"--fail-under is {threshold:g}; give a share from 0 to 1, such as 0.8")


def failure(report: CoverageReport, threshold: float | None = None) -> GateFailure | None:
    """Why the gate fails, or `None` if it does not.

    A `must` fact has to be known to be kept: undecided is not enough.
    """
    if report.results and not any(isinstance(result, Verdict) for result in report.results):
        first = report.undecided[0]
        return GateFailure(
            NOTHING_DECIDED, f"no verdict on any fact ({first.code}: {first.message}); run it again"
        )
    if report.score is None and threshold is not None:
        return GateFailure(
            NOTHING_DECIDED, "no score to compare with --fail-under: every decided fact weighs 0"
        )
    reasons = [lost_musts(report)]
    if threshold is not None and report.score is not None and report.score < threshold - _ROUNDING:
        reasons.append(f"score {_below(report.score, threshold)} is under {threshold:g}")
    reasons = [reason for reason in reasons if reason]
    return GateFailure(GATE_FAILED, f"gate failed: {'; '.join(reasons)}") if reasons else None


def _below(score: float, threshold: float) -> str:
    """`score` with as many decimals as it takes to see that it is below `threshold`."""
    digits = 2
    while float(f"{score:.{digits}f}") >= threshold:
        digits += 1
    return f"{score:.{digits}f}"
