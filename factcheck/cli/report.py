"""`factcheck report`: results that were saved, in another format."""

from __future__ import annotations

from typing import Annotated

from factcheck.cli import options, output


def report(
    file: Annotated[
        str, options.argument("FILE", "Rows of 'run --out' (.jsonl), or a JSON report of 'score'.")
    ],
    *,
    format_: options.ReportFormat = None,
    out: options.Out = None,
    fail_under: Annotated[
        float | None, options.fail_under("Exit with 1 if the (mean) score is lower, e.g. 0.8.")
    ] = None,
) -> None:
    """Show saved results as HTML, Markdown, CSV or JUnit.

    The HTML page of a run can be sorted, and each row opens its source
    and summary with the facts marked. Nothing is scored again.
    """
    from factcheck.documents import read_text
    from factcheck.facts import CoverageReport
    from factcheck.scoring import gates
    from factcheck.scoring.run_report import RunReport

    to = output.destination(format_, out, file)
    result: RunReport | CoverageReport
    if file.endswith((".jsonl", ".ndjson")):
        result = RunReport.read(file)
        failure = gates.run_gate(result, fail_under)
    else:
        result = CoverageReport.from_json(read_text(file))
        failure = gates.coverage_gate(result, gates.Limits(fail_under=fail_under))
    if fail_under is None:
        failure = None
    output.report(result.page(), result.to_json, to, failure=failure)
