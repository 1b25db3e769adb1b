"""What the report of an agreement with people says, whatever it is rendered to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from factcheck.calibration.people import AgreementReport, Figure, JudgeAgreement
from factcheck.reports.calibration_bullets import NONE, short
from factcheck.reports.pages.model import Table


class TableOf(NamedTuple):
    """One table of the report."""

    title: str
    legend: str
    table: Table


class AgreementWords(NamedTuple):
    """The report, as words."""

    headline: str
    tables: tuple[TableOf, ...]
    notes: tuple[str, ...]


def agreement_words(report: AgreementReport) -> AgreementWords:
    """The report of an agreement."""
    return AgreementWords(
        headline=(
            f"Agreement with people: {report.n_pairs:,} facts, {report.n_documents} documents, "
            f"{report.share_entailed:.0%} entailed"
        ),
        tables=(_verdicts(report), _probabilities(report), _coverage(report)),
        notes=tuple(_notes(report)),
    )


def _verdicts(report: AgreementReport) -> TableOf:
    rows = [
        (
            judge.judge,
            f"{judge.n_pairs:,}",
            str(judge.n_documents),
            *_with_interval(judge.figures["balanced_accuracy"]),
            _value(judge.figures["sensitivity"]),
            _value(judge.figures["specificity"]),
            _value(judge.figures["kappa"]),
        )
        for judge in report.judges
    ]
    columns = (
        "judge", "facts", "docs", "balanced accuracy", "95 %", "sensitivity", "specificity",
        "kappa",
    )  # fmt: skip
    table = Table(columns, tuple(rows), dispensable=("docs", "kappa", "facts"))
    return TableOf("Verdicts", "", table)


def _probabilities(report: AgreementReport) -> TableOf:
    rows = [
        (
            judge.judge,
            *_with_interval(judge.figures["auroc"]),
            *_with_interval(judge.figures["tuned_accuracy"]),
            ", ".join(map(short, judge.thresholds)) or NONE,
            _value(judge.figures["calibration_error"]),
        )
        for judge in report.judges
        if judge.curve
    ]
    columns = ("judge", "AUROC", "95 %", "tuned", "95 % ", "thresholds", "calibration error")
    return TableOf(
        "Probabilities",
        "tuned: balanced accuracy, the threshold of each half chosen on the other half",
        Table(columns, tuple(rows), dispensable=("thresholds", "95 % ")),
    )


def _coverage(report: AgreementReport) -> TableOf:
    rows = [
        (
            judge.judge,
            _both(judge, "coverage", "human_coverage"),
            _both(judge, "corrected_coverage", "held_out_human_coverage"),
            _interval(judge.figures["corrected_coverage"]),
            _value(judge.figures["pearson"]),
            _value(judge.figures["kendall"]),
            _needed(judge),
        )
        for judge in report.judges
    ]
    difference = short(report.judges[0].needed.difference)
    columns = ("judge", "mean", "corrected", "95 %", "Pearson", "Kendall", f"docs, {difference}")
    return TableOf(
        "Coverage",
        "by the judge / by people; corrected on one half for the error rates on the other; "
        f"documents that show a difference of {difference}, paired / unpaired",
        Table(columns, tuple(rows), dispensable=("95 %", "Pearson")),
    )


def _both(judge: JudgeAgreement, one: str, other: str) -> str:
    return f"{_value(judge.figures[one])} / {_value(judge.figures[other])}"


def _needed(judge: JudgeAgreement) -> str:
    cells = (judge.needed.paired, judge.needed.unpaired)
    return " / ".join(NONE if cell is None else str(cell) for cell in cells)


def _notes(report: AgreementReport) -> list[str]:
    notes = [
        f"{judge.judge}: {judge.n_undecided} facts undecided, outside of every figure"
        + (f" ({judge.failure})" if judge.failure else "")
        for judge in report.judges
        if judge.n_undecided
    ]
    if report.n_unmatched:
        notes.append(f"{report.n_unmatched:,} recorded verdicts have no label, and are left out")
    first = report.judges[0]
    why = first.figures["balanced_accuracy"].why
    if why:
        notes.append(f"undefined figures of {first.judge}: {why}")
    return notes


def _with_interval(figure: Figure) -> tuple[str, str]:
    return _value(figure), _interval(figure)


def _value(figure: Figure) -> str:
    return NONE if figure.value is None else short(figure.value)


def _interval(figure: Figure) -> str:
    span: Sequence[float] | None = figure.interval
    return NONE if span is None else f"{short(span[0])}\u2013{short(span[1])}"
