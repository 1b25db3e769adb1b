"""The report of an evaluation as plain text: the metrics, then the cases that did not pass."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from factcheck.metrics.report import EvalReport, EvalRow, MetricSummary

_WIDTH = 100
_MOST_ROWS = 20
_LONGEST_REASON = 200
_DASH = "\u2013"


def render_text(report: EvalReport) -> str:
    """The report as plain text, without colour and without a final newline."""
    parts = [_plain(_metrics(report))]
    not_passed = [row for row in report.rows if row.result.passed is not True]
    if not_passed:
        parts.append(f"Not passed {len(not_passed)}")
        parts.append(_plain(_rows(not_passed[:_MOST_ROWS])))
        if len(not_passed) > _MOST_ROWS:
            parts.append(f"... and {len(not_passed) - _MOST_ROWS} more; to_rows() has all")
    signatures = "\n".join(f"Signature  {metric.signature}" for metric in report.metrics)
    return "\n\n".join([*parts, signatures])


def _metrics(report: EvalReport) -> Table:
    table = _table(("metric", "passed", "failed", "errors", "pass rate", "mean", "threshold"), 1)
    for metric, summary in zip(report.metrics, report.summaries, strict=True):
        table.add_row(
            Text(_one_line(metric.name)),
            f"{summary.n_passed:,}",
            f"{summary.n_failed:,}",
            f"{summary.n_errors:,}",
            _rate(summary),
            _DASH if summary.mean is None else f"{summary.mean:.3f}",
            f"{metric.threshold:g}",
        )
    return table


def _rate(summary: MetricSummary) -> str:
    if summary.pass_rate is None or summary.interval is None:
        return _DASH
    low, high = summary.interval
    return f"{summary.pass_rate:.2f} ({low:.2f} {_DASH} {high:.2f})"


def _rows(rows: Sequence[EvalRow]) -> Table:
    table = _table(("case", "metric", "score", ""), 2)
    for row in rows:
        result = row.result
        score = "error" if result.score is None else f"{result.score:.3f}"
        reason = _one_line(result.reason)
        if len(reason) > _LONGEST_REASON:
            reason = reason[: _LONGEST_REASON - 1] + "…"
        names = (Text(_one_line(name)) for name in (row.case_id, row.metric))
        table.add_row(*names, score, Text(reason))
    return table


def _table(columns: Sequence[str], n_names: int) -> Table:
    table = Table(*columns, box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for column in table.columns[n_names:]:
        if column.header:
            column.justify = "right"
            column.no_wrap = True
    return table


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _plain(table: Table) -> str:
    sink = StringIO()
    console = Console(
        file=sink,
        width=_WIDTH,
        color_system=None,
        force_terminal=False,
        force_jupyter=False,
        force_interactive=False,
        legacy_windows=False,
    )
    console.print(table, crop=False)
    return "\n".join(line.rstrip() for line in sink.getvalue().splitlines()).rstrip()
