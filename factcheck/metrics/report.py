"""Report of an evaluation; all figures are derived from the results of the cases."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from factcheck.facts import ScoreSignature, Usage
from factcheck.facts.page import usage_text
from factcheck.metrics.ports import MetricResult
from factcheck.reports import Report
from factcheck.reports.page import (
    Case,
    Item,
    Page,
    Section,
    Table,
    entries,
    filled,
    parts_of,
)
from factcheck.reports.text import DASH, interval_text, name_text, plural, quote_text, share
from factcheck.stats.intervals import Interval, wilson


@dataclass(frozen=True, slots=True)
class MetricReport:
    """Results of a metric."""

    DERIVED = ("counts", "pass_rate", "interval", "mean")
    name: str
    threshold: float
    signature: ScoreSignature
    """Signature of the scores."""
    usage: Usage
    """Total usage."""
    results: Mapping[str, MetricResult]
    """Results by case id, in order."""

    @property
    def counts(self) -> dict[str, int]:
        """Number of cases that `passed`, `failed`, or could not be measured (`errors`)."""
        found = Counter(result.passed for result in self.results.values())
        return {"passed": found[True], "failed": found[False], "errors": found[None]}

    @property
    def mean(self) -> float | None:
        """Mean score of the measured cases, in [0, 1]; `None` without any."""
        scores = [one.score for one in self.results.values() if one.score is not None]
        return math.fsum(scores) / len(scores) if scores else None

    @property
    def pass_rate(self) -> float | None:
        """Fraction of the measured cases that passed, in [0, 1]; `None` without any."""
        measured = len(self.results) - self.counts["errors"]
        return self.counts["passed"] / measured if measured else None

    @property
    def interval(self) -> Interval | None:
        """95 % Wilson interval of the pass rate; `None` if that is undefined."""
        rate = self.pass_rate
        return None if rate is None else wilson(rate, len(self.results) - self.counts["errors"])


@dataclass(frozen=True, slots=True, repr=False)
class EvalReport(Report):
    """Results of all metrics on all cases."""

    DERIVED = ("passed",)
    case_ids: tuple[str, ...]
    """Ids of the cases, in order."""
    metrics: tuple[MetricReport, ...]
    """Reports of the metrics, in order."""

    @property
    def usage(self) -> Usage:
        return sum((metric.usage for metric in self.metrics), Usage())

    def __getitem__(self, place: tuple[str, str]) -> MetricResult:
        """Return the result of a case and a metric: `report["case 1", "reference_match"]`."""
        case_id, name = place
        return {metric.name: metric.results for metric in self.metrics}[name][case_id]

    @property
    def passed(self) -> bool:
        """Whether every case passed every metric; errored cases did not."""
        return all(result.passed is True for _, _, result in self._rows())

    def case_passed(self, case_id: str) -> bool | None:
        """Whether a case passed every metric; `None` if it failed none but errored on one."""
        results = [metric.results[case_id].passed for metric in self.metrics]
        if False in results:
            return False
        return None if None in results else True

    def _rows(self) -> Iterator[tuple[str, str, MetricResult]]:
        """Case id, metric name and result, by metric and then by case."""
        for metric in self.metrics:
            for case_id, result in metric.results.items():
                yield case_id, metric.name, result

    def to_rows(self) -> list[dict[str, Any]]:
        return [{"case": id_, "metric": name, **one.to_dict()} for id_, name, one in self._rows()]

    def page(self) -> Page:
        verdicts = [self.case_passed(case_id) for case_id in self.case_ids]
        not_passed = [row for row in self._rows() if not row[2].passed]
        return Page(
            "Passed",
            f"{verdicts.count(True):,} of {plural(len(verdicts), 'case')}",
            f"by {plural(len(self.metrics), 'metric')}",
            parts=parts_of(
                ("good", verdicts.count(True), "passed"),
                ("bad", verdicts.count(False), "failed"),
                ("unknown", verdicts.count(None), "errored"),
            ),
            sections=filled(
                self._metrics_section(),
                Section("Not passed", "bad").listing(not_passed, lambda row: _item(*row), "result"),
            ),
            footer=entries(
                ("Usage", usage_text(self.usage)),
                *(("Signature", str(metric.signature)) for metric in self.metrics),
            ),
            suite="metrics",
            cases=tuple(_junit_case(*row) for row in self._rows()),
            columns=("case", "metric", "score", "passed", "reason", "error", "details"),
            rows=self.to_rows,
        )

    def _metrics_section(self) -> Section:
        rows = []
        for one in self.metrics:
            rate = DASH
            if one.pass_rate is not None:
                rate = f"{share(one.pass_rate, 2)} ({interval_text(one.interval, 2)})"
            counts = (f"{n:,}" for n in one.counts.values())
            mean = DASH if one.mean is None else share(one.mean)
            rows.append((name_text(one.name), *counts, rate, mean, f"{one.threshold:g}"))
        columns = ("metric", "passed", "failed", "errors", "pass rate", "mean", "threshold")
        dispensable = ("threshold", "mean", "errors")
        return Section("Metrics").tabled(Table(columns, tuple(rows), dispensable=dispensable))


def _item(case_id: str, metric: str, result: MetricResult) -> Item:
    score = "error" if result.score is None else share(result.score)
    text = f"{name_text(metric)} {score}   {quote_text(result.reason)}"
    return Item(name_text(case_id), text.rstrip())


def _junit_case(case_id: str, metric: str, result: MetricResult) -> Case:
    name, error = f"{case_id} · {metric}", result.error
    if error is not None:
        return Case(name, "error", result.reason, error.code)
    return Case(name) if result.passed else Case(name, "failed", result.reason)
