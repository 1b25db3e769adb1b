"""Report of an evaluation: one row per case and metric; all figures follow from the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from factcheck.documents import to_plain
from factcheck.facts import ScoreSignature, Usage
from factcheck.facts.page import usage_text
from factcheck.metrics.ports import MetricResult
from factcheck.reports.page import (
    Case,
    Item,
    Page,
    Section,
    Status,
    Table,
    entries,
    filled,
    listed,
    parts_of,
)
from factcheck.reports.report import Report
from factcheck.reports.text import DASH, interval_text, name_text, plural, quote_text, share
from factcheck.stats.intervals import Interval, wilson

_FORMAT = 1
_KINDS = ("passed", "failed", "errors")


@dataclass(frozen=True, slots=True)
class EvalRow:
    """Result of one metric on one case."""

    case_id: str
    metric: str
    result: MetricResult

    @property
    def status(self) -> Status:
        """`passed`, `failed`, or `error` for a case that could not be measured."""
        if self.result.passed is None:
            return "error"
        return "passed" if self.result.passed else "failed"

    def to_dict(self) -> dict[str, Any]:
        return {"case": self.case_id, "metric": self.metric, **self.result.to_dict()}


@dataclass(frozen=True, slots=True)
class MetricReport:
    """Figures of a metric over all cases."""

    name: str
    threshold: float
    signature: ScoreSignature
    """How its scores were made."""
    usage: Usage
    """Their cost."""
    n_passed: int
    n_failed: int
    n_errors: int
    """Cases that could not be measured; they neither pass nor fail."""
    mean: float | None
    """Mean score of the measured cases, in [0, 1]; `None` without any."""

    @property
    def n_cases(self) -> int:
        """All cases, measured or not."""
        return self.n_passed + self.n_failed + self.n_errors

    @property
    def pass_rate(self) -> float | None:
        """Share of the measured cases that passed, in [0, 1]; `None` without any."""
        measured = self.n_passed + self.n_failed
        return self.n_passed / measured if measured else None

    @property
    def interval(self) -> Interval | None:
        """95 % Wilson interval of the pass rate; `None` where that is."""
        rate = self.pass_rate
        return None if rate is None else wilson(rate, self.n_passed + self.n_failed)

    def to_dict(self) -> dict[str, Any]:
        counts = {kind: getattr(self, f"n_{kind}") for kind in ("cases", *_KINDS)}
        figures = ("pass_rate", "interval", "mean", "threshold", "signature", "usage")
        data = {name: getattr(self, name) for name in figures}
        plain: dict[str, Any] = to_plain({"name": self.name, **counts, **data})
        return {**plain, "signature": str(self.signature)}


@dataclass(frozen=True, repr=False)
class EvalReport(Report):
    """Results of all metrics on all cases."""

    case_ids: tuple[str, ...]
    """The cases, in order."""
    metrics: tuple[MetricReport, ...]
    """The metrics, in order."""
    rows: tuple[EvalRow, ...]
    """One for each metric and case: the first metric's cases, then the next one's."""

    @property
    def usage(self) -> Usage:
        return sum((metric.usage for metric in self.metrics), Usage())

    def __getitem__(self, place: tuple[str, str]) -> MetricResult:
        """The result of a case and a metric: `report["case 1", "reference_match"]`."""
        return self._results[place]

    @cached_property
    def _results(self) -> dict[tuple[str, str], MetricResult]:
        return {(row.case_id, row.metric): row.result for row in self.rows}

    @property
    def passed(self) -> bool:
        """Whether every case passed every metric; one that could not be measured did not."""
        return all(row.result.passed is True for row in self.rows)

    def case_passed(self, case_id: str) -> bool | None:
        """Whether a case passed every metric; `None` if it failed none but one has an error."""
        results = [self._results[case_id, metric.name].passed for metric in self.metrics]
        if False in results:
            return False
        return None if None in results else True

    def to_rows(self) -> list[dict[str, Any]]:
        return [row.to_dict() for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": _FORMAT,
            "cases": list(self.case_ids),
            "metrics": [metric.to_dict() for metric in self.metrics],
            "rows": self.to_rows(),
        }

    def page(self) -> Page:
        verdicts = [self.case_passed(case_id) for case_id in self.case_ids]
        n_passed = verdicts.count(True)
        not_passed = [row for row in self.rows if not row.result.passed]
        return Page(
            "Passed",
            f"{n_passed:,} of {plural(len(verdicts), 'case')}",
            f"by {plural(len(self.metrics), 'metric')}",
            parts=parts_of(
                ("good", n_passed, "passed"),
                ("bad", verdicts.count(False), "failed"),
                ("unknown", verdicts.count(None), "errored"),
            ),
            sections=filled(
                self._metrics_section(),
                listed("Not passed", "bad", "", not_passed, _item, "result"),
            ),
            footer=entries(
                ("Usage", usage_text(self.usage)),
                *(("Signature", str(metric.signature)) for metric in self.metrics),
            ),
            suite="metrics",
            cases=tuple(
                Case(
                    f"{row.case_id} · {row.metric}",
                    row.status,
                    "" if row.result.passed else row.result.reason,
                    row.result.error.code if row.result.error else "",
                )
                for row in self.rows
            ),
            columns=("case", "metric", "score", "passed", "reason", "error", "details"),
            rows=self.to_rows,
        )

    def _metrics_section(self) -> Section:
        rows = []
        for one in self.metrics:
            rate = DASH
            if one.pass_rate is not None:
                rate = f"{share(one.pass_rate, 2)} ({interval_text(one.interval, 2)})"
            counts = (f"{getattr(one, f'n_{kind}'):,}" for kind in _KINDS)
            mean = DASH if one.mean is None else share(one.mean)
            rows.append((name_text(one.name), *counts, rate, mean, f"{one.threshold:g}"))
        columns = ("metric", *_KINDS, "pass rate", "mean", "threshold")
        dispensable = ("threshold", "mean", "errors")
        return Section("Metrics", table=Table(columns, tuple(rows), dispensable=dispensable))


def _item(row: EvalRow) -> Item:
    score = "error" if row.result.score is None else share(row.result.score)
    text = f"{name_text(row.metric)} {score}   {quote_text(row.result.reason)}"
    return Item(name_text(row.case_id), text.rstrip())
