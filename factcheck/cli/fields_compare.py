"""`factcheck fields compare`: two saved runs, field by field."""

from __future__ import annotations

import json
from typing import Any

from factcheck.cli import fields_output, output
from factcheck.cli.fields import FieldsFormat
from factcheck.cli.fields_run import undisturbed
from factcheck.fields.reading import name_of, read_run
from factcheck.fields.runs.comparison import RunComparison, compare_runs
from factcheck.files import refuse_stdin_twice
from factcheck.reports.fields_compare import comparison_report, schema_warning


def compare(run_a: str, run_b: str, chosen: FieldsFormat | None, out: str | None) -> None:
    """Show which fields the second run wins and loses."""
    output.prepare_out(out, run_a, run_b)
    made = fields_output.format_of(chosen, out)
    refuse_stdin_twice(run_a, run_b)
    with fields_output.warnings_told(), output.waiting("Comparing"), undisturbed():
        comparison = compare_runs(read_run(run_a), read_run(run_b))
    names = (name_of(run_a), name_of(run_b))
    if made in fields_output.MACHINE and (warning := schema_warning(comparison)):
        output.complain(f"warning: {warning}")
    fields_output.show(_shown(comparison, names), made, out)


def _shown(comparison: RunComparison, names: tuple[str, str]) -> fields_output.Shown:
    report = comparison_report(comparison, names)

    def table() -> Any:
        from factcheck.reports.fields_table import render_comparison

        return render_comparison(report)

    def markdown() -> str:
        from factcheck.reports.fields_markdown import render_comparison

        return render_comparison(report)

    def csv() -> str:
        from factcheck.reports.fields_csv import render_comparison

        return render_comparison(comparison)

    def as_json() -> str:
        return json.dumps(comparison.to_dict(), ensure_ascii=False, indent=2) + "\n"

    texts = {
        FieldsFormat.JSON: as_json,
        FieldsFormat.CSV: csv,
        FieldsFormat.MARKDOWN: markdown,
    }
    return fields_output.Shown(report.headline, table, texts)
