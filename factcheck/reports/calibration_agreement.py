"""What the report of an agreement with people says, whatever it is rendered to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from factcheck.calibration.people import N_BINS, AgreementReport, Bin, Figure, JudgeAgreement
from factcheck.reports.calibration_bullets import NONE, short
from factcheck.reports.pages.model import Table

_SHOWN = {
    "balanced_accuracy": "balanced accuracy",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "kappa": "kappa",
    "auroc": "AUROC",
    "tuned_accuracy": "tuned",
    "corrected_coverage": "corrected",
    "pearson": "Pearson",
    "kendall": "Kendall",
}
"""Figures that may be undefined, by their names in tables."""
_MOST_NAMES = 3
_OF_PROBABILITIES = ("auroc", "tuned_accuracy")


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
            f"Agreement with people: {_count(report.n_pairs, 'fact')}, "
            f"{_count(report.n_documents, 'document')}, {report.share_entailed:.0%} entailed"
        ),
        tables=(
            _verdicts(report),
            _over_words(report),
            _probabilities(report),
            _calibration(report),
            _coverage(report),
        ),
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


def _over_words(report: AgreementReport) -> TableOf:
    rows = [
        (
            judge.judge,
            _value(judge.figures["balanced_accuracy"]),
            _value(judge.figures["baseline_accuracy"]),
            *_with_interval(judge.figures["over_baseline"], signed=True),
        )
        for judge in report.judges
        if judge.figures["over_baseline"].value is not None
    ]
    return TableOf(
        "Beside word containment",
        "balanced accuracy, on the facts that the judge decided",
        Table(("judge", "judge's", "words'", "difference", "95 %"), tuple(rows)),
    )


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


def _calibration(report: AgreementReport) -> TableOf:
    judges = [judge for judge in report.judges if judge.curve]
    curves = [{_bin_of(one): one for one in judge.curve} for judge in judges]
    rows = [
        (
            f"{place / N_BINS:.1f}\u2013{(place + 1) / N_BINS:.1f}",
            *(cell for curve in curves for cell in _bin_cells(curve.get(place))),
        )
        for place in sorted({place for curve in curves for place in curve})
    ]
    heads = (head for judge in judges for head in (judge.judge, "facts" + " " * len(judge.judge)))
    return TableOf(
        "Calibration",
        "share that people call entailed, by the probability that the judge gave",
        Table(("", *heads), tuple(rows)),
    )


def _bin_of(one: Bin) -> int:
    """The number of the bin, from what is in it."""
    return min(int(one.probability * N_BINS), N_BINS - 1)


def _bin_cells(one: Bin | None) -> tuple[str, str]:
    return (NONE, NONE) if one is None else (short(one.share), f"{one.n:,}")


def _coverage(report: AgreementReport) -> TableOf:
    rows = [
        (
            judge.judge,
            _both(judge, "coverage", "human_coverage"),
            _both(judge, "corrected_coverage", "held_out_human_coverage"),
            _interval(judge.figures["corrected_coverage"]),
            _value(judge.figures["pearson"]),
            _value(judge.figures["kendall"]),
            str(judge.n_correlated),
            _needed(judge),
        )
        for judge in report.judges
    ]
    difference = short(report.judges[0].needed.difference)
    columns = (
        "judge",
        "mean",
        "corrected",
        "95 %",
        "Pearson",
        "Kendall",
        "of docs",
        f"to see {difference}",
    )
    return TableOf(
        "Coverage",
        "by the judge / by people; corrected on one half for the error rates on the other; "
        f"documents that correlations rest on; to see a difference of {difference}, paired / "
        "unpaired",
        Table(columns, tuple(rows), dispensable=("95 %", "Pearson")),
    )


def _both(judge: JudgeAgreement, one: str, other: str) -> str:
    return f"{_value(judge.figures[one])} / {_value(judge.figures[other])}"


def _needed(judge: JudgeAgreement) -> str:
    cells = (judge.needed.paired, judge.needed.unpaired)
    return " / ".join(NONE if cell is None else str(cell) for cell in cells)


def _notes(report: AgreementReport) -> list[str]:
    notes = [
        f"{judge.judge}: {_count(judge.n_undecided, 'fact')} undecided, outside of every figure"
        + (f" ({judge.failure})" if judge.failure else "")
        for judge in report.judges
        if judge.n_undecided
    ]
    if report.n_unmatched:
        notes.append(f"{_count(report.n_unmatched, 'recorded verdict')} without a label, left out")
    return [*notes, *_undefined(report)]


def _undefined(report: AgreementReport) -> list[str]:
    """Why there is no figure, for judges that lack the same ones together."""
    lacking: dict[tuple[str, str], list[str]] = {}
    for judge in report.judges:
        for why, names in _lacking(judge).items():
            lacking.setdefault((", ".join(names), why), []).append(judge.judge)
    return [
        f"{names} of {_names(judges)}: undefined, {why}" for (names, why), judges in lacking.items()
    ]


def _names(judges: Sequence[str]) -> str:
    return ", ".join(judges) if len(judges) <= _MOST_NAMES else f"{len(judges)} judges"


def _lacking(judge: JudgeAgreement) -> dict[str, list[str]]:
    """For each reason the figures that a judge has not."""
    reasons: dict[str, list[str]] = {}
    for name, label in _SHOWN.items():
        figure = judge.figures[name]
        if figure.value is None and (judge.curve or name not in _OF_PROBABILITIES):
            reasons.setdefault(figure.why, []).append(label)
    if judge.needed.why:
        paired = "" if judge.needed.unpaired is None else ", paired"
        reasons.setdefault(judge.needed.why, []).append(f"documents needed{paired}")
    return reasons


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


def _with_interval(figure: Figure, *, signed: bool = False) -> tuple[str, str]:
    return _value(figure, signed=signed), _interval(figure, signed=signed)


def _value(figure: Figure, *, signed: bool = False) -> str:
    return NONE if figure.value is None else _number(figure.value, signed=signed)


def _interval(figure: Figure, *, signed: bool = False) -> str:
    span: Sequence[float] | None = figure.interval
    if span is None:
        return NONE
    low, high = (_number(bound, signed=signed) for bound in span)
    return f"{low} to {high}" if signed else f"{low}\u2013{high}"


def _number(value: float, *, signed: bool) -> str:
    near = 0.0 if round(value, 3) == 0 else value  # no "-.000"
    return f"{'+' if signed and near > 0 else ''}{short(near)}"
