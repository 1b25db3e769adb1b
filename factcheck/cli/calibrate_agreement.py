"""`factcheck calibrate agreement`: judges beside people."""

from __future__ import annotations

from dataclasses import dataclass

from factcheck.calibration.containment import JUDGE as BASELINE
from factcheck.calibration.people import AgreementReport
from factcheck.calibration.people import agreement as measured
from factcheck.cli import output
from factcheck.errors import JudgeUnavailable
from factcheck.runtime.budget import Budget
from factcheck.settings import Settings


@dataclass(frozen=True)
class Asked:
    """What the command line says about the run."""

    data: str
    replies: str | None
    judges: list[str] | None
    difference: float
    max_calls: int | None
    max_cost_usd: float | None


def agreement(asked: Asked, *, as_json: bool) -> None:
    """Measure, and show the tables."""
    with output.waiting("Asking about labelled facts"):
        report = measured(
            asked.data,
            asked.judges or [Settings.from_environment().judge],
            replies=asked.replies or (),
            difference=asked.difference,
            budget=Budget(max_calls=asked.max_calls, max_usd=asked.max_cost_usd),
        )
    _show(report, as_json=as_json)
    for judge in report.judges:
        if judge.judge != BASELINE and not judge.n_pairs:
            raise JudgeUnavailable(f"{judge.judge} answered nothing: {judge.failure}")


def _show(report: AgreementReport, *, as_json: bool) -> None:
    if as_json:
        output.print_out(report.to_json())
        return
    from factcheck.reports.calibration_agreement import agreement_words
    from factcheck.reports.calibration_table import render_agreement

    output.print_table(render_agreement(agreement_words(report)))
