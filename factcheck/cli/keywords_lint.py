"""`factcheck keywords lint`: the faults of guides."""

from __future__ import annotations

import json

from factcheck.cli import gate, keywords_output, output
from factcheck.cli.keywords_output import Shown
from factcheck.cli.options import Format
from factcheck.files import refuse_stdin_twice
from factcheck.keywords import evaluate_behaviors, lint_guides, load_cases, load_responses
from factcheck.reports.keywords import junit


def lint(
    path: str, responses: str | None, chosen: Format | None, out: str | None, *, strict: bool
) -> None:
    """Show what the linter finds."""
    from factcheck.reports.keywords.lint import lint_report

    output.prepare_out(out, path, responses)
    refuse_stdin_twice(path, responses)
    with keywords_output.quiet_log():
        cases = load_cases(path)
        given = None
        if responses is not None:
            given = evaluate_behaviors(cases, load_responses(responses)).responses
        findings = lint_guides(cases, given)
    page = lint_report(findings, len(cases))
    data = {"n_cases": len(cases), "findings": [finding.to_dict() for finding in findings]}
    shown = Shown(
        page,
        lambda: json.dumps(data, ensure_ascii=False, indent=2),
        lambda: junit.render_lint(findings, page),
    )
    keywords_output.show(shown, chosen, out)
    if strict and findings:
        noun = "finding" if len(findings) == 1 else "findings"
        output.leave(
            gate.GateFailure(gate.GATE_FAILED, f"gate failed: {len(findings):,} {noun} (--strict)")
        )
