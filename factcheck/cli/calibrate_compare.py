"""`factcheck calibrate compare`: two runs on the same facts."""

from __future__ import annotations

from factcheck.calibration.paired import compare_coverage
from factcheck.cli import output
from factcheck.files import refuse_stdin_twice


def compare(run_a: str, run_b: str, *, as_json: bool) -> None:
    """Compare, and show what was won and lost."""
    refuse_stdin_twice(run_a, run_b)
    comparison = compare_coverage(run_a, run_b)
    if as_json:
        output.print_out(comparison.to_json())
        return
    from factcheck.reports.calibration_compare import comparison_words
    from factcheck.reports.calibration_table import render_comparison

    output.print_table(render_comparison(comparison_words(comparison)))
