"""`factcheck keywords compare`: two saved runs, case by case."""

from __future__ import annotations

from factcheck.cli import gate, keywords_output, output
from factcheck.cli.keywords_output import Shown
from factcheck.cli.options import Format
from factcheck.errors import InputError
from factcheck.files import read_text, refuse_stdin_twice
from factcheck.keywords import BehaviorRun, DatasetResult, KeywordComparison, compare_runs
from factcheck.keywords.comparison import Run
from factcheck.keywords.json_texts import json_data
from factcheck.keywords.saved import FORMAT as CARDS
from factcheck.keywords.saved_suites import FORMAT as BEHAVIORS
from factcheck.reports.keywords import junit


def compare(
    run_a: str, run_b: str, chosen: Format | None, out: str | None, *, fail_if_worse: bool
) -> None:
    """Show which cases are better in the second run, and which are worse."""
    from factcheck.reports.keywords.compare import comparison_report

    output.prepare_out(out, run_a, run_b)
    refuse_stdin_twice(run_a, run_b)
    with output.waiting("Comparing"):
        a, b = read_run(run_a), read_run(run_b)
        comparison = compare_runs(a, b)
    page = comparison_report(comparison, (a, b), (_name(run_a), _name(run_b)))
    shown = Shown(
        page,
        lambda: comparison.to_json(indent=2),
        lambda: junit.render_comparison(comparison, page),
        comparison.notes,
    )
    keywords_output.show(shown, chosen, out)
    if fail_if_worse:
        output.leave(failure(comparison, a, b))


def read_run(path: str) -> Run:
    """A run that was saved as JSON.

    Raises:
        InputError: Not readable, or no run of cards or behaviours.
    """
    text = read_text(path)
    try:
        data = json_data(text)
        made_by = data.get("format") if isinstance(data, dict) else None
        if made_by == CARDS:
            return DatasetResult.from_dict(data)
        if made_by == BEHAVIORS:
            return BehaviorRun.from_dict(data)
    except InputError as error:
        raise InputError(f"{_name(path)}: {str(error).removeprefix('run: ')}") from error
    raise InputError(
        f"{_name(path)} is no saved run; 'factcheck keywords run' and 'behaviors' write one "
        "with --out RUN.json"
    )


def failure(comparison: KeywordComparison, a: Run, b: Run) -> gate.GateFailure | None:
    """Why the second run must not pass, or `None`. A case that lost its score does not help."""
    from factcheck.reports.keywords.compare import main_figure, p_text, unscored_in_b, verdict

    reasons = []
    if verdict(comparison) == "worse":
        difference = comparison.overall[main_figure(comparison)].difference or 0.0
        figure = "F1" if comparison.kind == "cards" else "pass rate"
        reasons.append(
            f"run b is worse ({figure} {difference:+.3f}, p {p_text(comparison.p_value)})"
        )
    if lost := unscored_in_b(a, b):
        noun = "case has" if len(lost) == 1 else "cases have"
        reasons.append(f"{len(lost):,} {noun} no score in run b ({lost[0]})")
    if not reasons:
        return None
    return gate.GateFailure(gate.GATE_FAILED, f"gate failed: {'; '.join(reasons)}")


def _name(path: str) -> str:
    return "standard input" if path == "-" else path
