"""`factcheck calibrate agreement`: judges beside people."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from factcheck.calibration.containment import JUDGE as BASELINE
from factcheck.calibration.people import AgreementReport, Partly
from factcheck.calibration.people import agreement as measured
from factcheck.cli import output
from factcheck.errors import InputError, JudgeUnavailable
from factcheck.files import refuse_stdin_twice, write_text
from factcheck.runtime.budget import Budget
from factcheck.settings import Settings

if TYPE_CHECKING:
    from factcheck.reports.calibration_agreement import AgreementWords


@dataclass(frozen=True)
class Asked:
    """What the command line says about the run."""

    data: str
    replies: str | None
    judges: list[str] | None
    partly: Partly
    difference: float
    max_calls: int | None
    max_cost_usd: float | None


def agreement(asked: Asked, out: str | None, *, as_json: bool) -> None:
    """Measure, and show the tables or write them to a file."""
    refuse_stdin_twice(asked.data, asked.replies)
    output.prepare_out(out, asked.data, asked.replies)
    with output.waiting("Asking about labelled facts"):
        report = measured(
            asked.data,
            asked.judges or [Settings.from_environment().judge],
            replies=asked.replies or (),
            partly=asked.partly,
            difference=asked.difference,
            budget=Budget(max_calls=asked.max_calls, max_cost_usd=asked.max_cost_usd),
        )
    _show(report, out, as_json=as_json)
    for judge in report.judges:
        if judge.judge != BASELINE and not judge.n_pairs:
            raise JudgeUnavailable(f"{judge.judge} answered nothing: {judge.failure}")


def _show(report: AgreementReport, out: str | None, *, as_json: bool) -> None:
    from factcheck.reports.calibration_agreement import agreement_words

    words = agreement_words(report)
    if out in {None, "-"}:
        if as_json:
            output.print_out(report.to_json())
        else:
            _print(words)
        return
    made = report.to_json() if as_json or Path(str(out)).suffix == ".json" else _plain(words)
    try:
        write_text(str(out), f"{made}\n")
    except InputError:
        _print(words)  # what was paid for is shown all the same
        raise
    output.print_out(f"{words.headline}   {out}")


def _print(words: AgreementWords) -> None:
    from factcheck.reports.calibration_table import render_agreement

    output.print_table(render_agreement(words))


def _plain(words: AgreementWords) -> str:
    from factcheck.reports.calibration_table import render_agreement
    from factcheck.reports.fields_table import plain

    return plain(render_agreement(words))
