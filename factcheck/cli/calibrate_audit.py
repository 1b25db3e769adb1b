"""`factcheck calibrate audit`: a judge held against itself."""

from __future__ import annotations

import json
from dataclasses import dataclass

from factcheck.calibration.audit import AuditReport, audit_judge
from factcheck.cli import output
from factcheck.cli.calibrate_texts import OwnText, own_texts
from factcheck.errors import JudgeUnavailable
from factcheck.runtime.budget import Budget
from factcheck.settings import Settings


@dataclass(frozen=True)
class Asked:
    """What the command line says about the run."""

    text: OwnText
    judges: list[str] | None
    extractor: str | None
    per_rule: int
    seed: int
    max_calls: int | None
    max_cost_usd: float | None


def audit(asked: Asked, *, as_json: bool) -> None:
    """Audit each judge, and show what was found."""
    texts = own_texts(asked.text)
    reports = []
    for judge in asked.judges or [Settings.from_environment().judge]:
        with output.waiting(f"Auditing {judge}"):
            report = audit_judge(
                judge,
                texts,
                extractor=asked.extractor,
                budget=Budget(max_calls=asked.max_calls, max_cost_usd=asked.max_cost_usd),
                per_rule=asked.per_rule,
                seed=asked.seed,
            )
        reports.append(report)
        if not as_json:
            _print(report)
    if as_json:
        data = [report.to_dict() for report in reports]
        output.print_out(json.dumps(data, ensure_ascii=False, indent=2))
    for report in reports:
        if not report.n_answers:
            raise JudgeUnavailable(f"{report.judge} answered nothing: {report.failure}")


def _print(report: AuditReport) -> None:
    from factcheck.reports.calibration_audit import audit_words
    from factcheck.reports.calibration_table import render_audit

    output.print_table(render_audit(audit_words(report)))
