"""The result of comparing judges with human labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from factcheck.calibration.agreement_metrics import N_BINS, Bin
from factcheck.reports.page import Alert, Page, Section, Table, filled
from factcheck.reports.report import Report
from factcheck.reports.text import DASH, percent, plural, short, short_range
from factcheck.stats.intervals import Estimate

_SHOWN = {
    "balanced_accuracy": "balanced accuracy",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "kappa": "kappa",
    "auroc": "AUROC",
    "corrected_coverage": "corrected",
    "pearson": "Pearson",
    "kendall": "Kendall",
}
"""Metrics that may be undefined, by their names in tables."""
_MAX_NAMES = 3
_Cell: TypeAlias = "Callable[[JudgeAgreement], str]"


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """The agreement of one judge with human labels."""

    judge: str
    metrics: Mapping[str, Estimate]
    """By name:

    - `balanced_accuracy`, `sensitivity`, `specificity`, `kappa`: of its verdicts.
    - `baseline_accuracy`: the balanced accuracy of word containment on the same pairs;
      `over_baseline`: that of the judge minus it.
    - `auroc`, `calibration_error`: of its probabilities.
    - `pearson`, `kendall`: mean over documents of the correlation with the human coverage, over the
      systems of a document.
    - `coverage`, `human_coverage`: the mean coverage of all documents. `corrected_coverage`: that
      of one half of the documents, corrected for the error rates on the other half (Rogan-Gladen),
      to be compared with `held_out_human_coverage` of the same half.
    """
    n_documents: int
    n_pairs: int
    """Pairs with a label and a verdict."""
    n_undecided: int
    """Pairs with a label but no verdict; outside every metric."""
    curve: tuple[Bin, ...]
    """The calibration curve; empty without probabilities."""
    n_correlated: int
    """Documents behind `pearson` and `kendall`: those with three texts or more."""
    failure: str
    """Why verdicts are missing, the first time."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "judge": self.judge,
            "documents": self.n_documents,
            "pairs": self.n_pairs,
            "undecided": self.n_undecided,
            "metrics": {name: one.to_dict() for name, one in self.metrics.items()},
            "calibration_curve": [one._asdict() for one in self.curve],
            "correlated_documents": self.n_correlated,
            "failure": self.failure,
        }


@dataclass(frozen=True, slots=True, repr=False)
class AgreementReport(Report):
    """The agreement of judges with human labels, on the same labelled pairs."""

    judges: tuple[JudgeAgreement, ...]
    """In the order given, the baseline last."""
    n_documents: int
    n_pairs: int
    share_entailed: float
    """Share of the pairs with the human label entailed."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "documents": self.n_documents,
            "pairs": self.n_pairs,
            "share_entailed": self.share_entailed,
            "judges": [judge.to_dict() for judge in self.judges],
        }

    def page(self) -> Page:
        with_curve = [judge for judge in self.judges if judge.curve]
        compared = [one for one in self.judges if one.metrics["over_baseline"].value is not None]
        return Page(
            "Agreement with human labels",
            counts=(
                f"{plural(self.n_pairs, 'fact')}, {plural(self.n_documents, 'document')}, "
                f"{percent(self.share_entailed)} entailed"
            ),
            alerts=tuple(Alert(note, "unknown") for note in self._notes()),
            sections=filled(
                _section("Verdicts", "", _VERDICTS, self.judges, "docs", "kappa", "facts"),
                _section(
                    "Compared with word containment",
                    "balanced accuracy, on the facts that the judge decided",
                    _BASELINE,
                    compared,
                ),
                _section("Probabilities", "", _PROBABILITIES, with_curve),
                _calibration(with_curve),
                _section(
                    "Coverage",
                    "by the judge / by humans; corrected on one half for the error rates on the "
                    "other; documents behind the correlations",
                    _COVERAGE,
                    self.judges,
                    "95 %",
                    "Pearson",
                ),
            ),
            columns=("judge", "metric", "value", "low", "high", "why"),
            rows=self._rows,
        )

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        for judge in self.judges:
            for name, one in judge.metrics.items():
                low, high = one.interval or (None, None)
                values = {"value": one.value, "low": low, "high": high, "why": one.why}
                yield {"judge": judge.judge, "metric": name, **values}

    def _notes(self) -> Iterator[str]:
        for judge in self.judges:
            if judge.n_undecided:
                why = f" ({judge.failure})" if judge.failure else ""
                undecided = plural(judge.n_undecided, "fact")
                yield f"{judge.judge}: {undecided} undecided, outside every metric{why}"
        lacking: dict[tuple[str, str], list[str]] = {}
        for judge in self.judges:
            for why, names in _undefined(judge).items():
                lacking.setdefault((", ".join(names), why), []).append(judge.judge)
        for (metrics, why), judges in lacking.items():
            shown = ", ".join(judges) if len(judges) <= _MAX_NAMES else f"{len(judges)} judges"
            yield f"{metrics} of {shown}: undefined, {why}"


def _undefined(judge: JudgeAgreement) -> dict[str, list[str]]:
    """The undefined metrics of a judge, by reason."""
    reasons: dict[str, list[str]] = {}
    for name, label in _SHOWN.items():
        one = judge.metrics[name]
        if one.value is None and (judge.curve or name != "auroc"):
            reasons.setdefault(one.why, []).append(label)
    return reasons


def _value(*names: str, with_sign: bool = False) -> _Cell:
    return lambda judge: " / ".join(
        short(judge.metrics[name].value, with_sign=with_sign) for name in names
    )


def _interval(name: str, *, with_sign: bool = False) -> _Cell:
    return lambda judge: short_range(judge.metrics[name].interval, with_sign=with_sign)


_NAME: dict[str, _Cell] = {"judge": lambda judge: judge.judge}
_VERDICTS = {
    **_NAME,
    "facts": lambda judge: f"{judge.n_pairs:,}",
    "docs": lambda judge: str(judge.n_documents),
    "balanced accuracy": _value("balanced_accuracy"),
    "95 %": _interval("balanced_accuracy"),
    "sensitivity": _value("sensitivity"),
    "specificity": _value("specificity"),
    "kappa": _value("kappa"),
}
_BASELINE = {
    **_NAME,
    "judge's": _value("balanced_accuracy"),
    "words'": _value("baseline_accuracy"),
    "difference": _value("over_baseline", with_sign=True),
    "95 %": _interval("over_baseline", with_sign=True),
}
_PROBABILITIES = {
    **_NAME,
    "AUROC": _value("auroc"),
    "95 %": _interval("auroc"),
    "calibration error": _value("calibration_error"),
}
_COVERAGE = {
    **_NAME,
    "mean": _value("coverage", "human_coverage"),
    "corrected": _value("corrected_coverage", "held_out_human_coverage"),
    "95 %": _interval("corrected_coverage"),
    "Pearson": _value("pearson"),
    "Kendall": _value("kendall"),
    "of docs": lambda judge: str(judge.n_correlated),
}


def _section(
    title: str,
    legend: str,
    columns: Mapping[str, _Cell],
    judges: Sequence[JudgeAgreement],
    *dispensable: str,
) -> Section:
    rows = tuple(tuple(cell(judge) for cell in columns.values()) for judge in judges)
    table = Table((*columns,), rows, dispensable=dispensable)
    return Section(title, legend=(legend,) if legend else (), table=table)


def _calibration(judges: Sequence[JudgeAgreement]) -> Section:
    curves = [{min(int(b.probability * N_BINS), N_BINS - 1): b for b in j.curve} for j in judges]
    rows = []
    for place in sorted({place for curve in curves for place in curve}):
        bins = [curve.get(place) for curve in curves]
        cells = [(short(one.share), f"{one.n:,}") if one else (DASH, DASH) for one in bins]
        bounds = f"{place / N_BINS:.1f}{DASH}{(place + 1) / N_BINS:.1f}"
        rows.append((bounds, *(cell for pair in cells for cell in pair)))
    heads = (head for judge in judges for head in (judge.judge, "facts" + " " * len(judge.judge)))
    return Section(
        "Calibration",
        legend=("share of facts with the human label entailed, by the judge's probability",),
        table=Table(("", *heads), tuple(rows)),
    )
