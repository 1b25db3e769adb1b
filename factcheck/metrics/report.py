"""The report of an evaluation: one row per case and metric; all numbers follow from the rows."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from factcheck.facts import Interval, ScoreSignature, Usage, wilson
from factcheck.metrics.results import MetricResult

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class EvalRow:
    """What one metric says about one case."""

    case_id: str
    metric: str
    result: MetricResult

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data, on one level but for the error and the details."""
        return {"case": self.case_id, "metric": self.metric, **self.result.to_dict()}


@dataclass(frozen=True, slots=True)
class MetricReport:
    """A metric of an evaluation."""

    name: str
    threshold: float
    signature: ScoreSignature
    """How its scores were made."""
    usage: Usage
    """What they cost."""


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """What a metric says about all cases."""

    name: str
    n_passed: int
    n_failed: int
    n_errors: int
    """Cases that could not be measured; they count neither as passed nor as failed."""
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
        """Everything as JSON-ready data."""
        return {
            "name": self.name,
            "cases": self.n_cases,
            "passed": self.n_passed,
            "failed": self.n_failed,
            "errors": self.n_errors,
            "pass_rate": self.pass_rate,
            "interval": list(self.interval) if self.interval else None,
            "mean": self.mean,
        }


@dataclass(frozen=True)
class EvalReport:
    """What all metrics say about all cases."""

    case_ids: tuple[str, ...]
    """The cases, in their order."""
    metrics: tuple[MetricReport, ...]
    """The metrics, in their order."""
    rows: tuple[EvalRow, ...]
    """One for each metric and case: the first metric's cases, then the next one's."""

    @cached_property
    def summaries(self) -> tuple[MetricSummary, ...]:
        """What each metric says about all cases, in the order of the metrics."""
        return tuple(self._summary(metric.name) for metric in self.metrics)

    def _summary(self, metric: str) -> MetricSummary:
        results = [row.result for row in self.rows if row.metric == metric]
        scores = [result.score for result in results if result.score is not None]
        return MetricSummary(
            name=metric,
            n_passed=sum(result.passed is True for result in results),
            n_failed=sum(result.passed is False for result in results),
            n_errors=sum(result.error is not None for result in results),
            mean=math.fsum(scores) / len(scores) if scores else None,
        )

    @property
    def usage(self) -> Usage:
        """What all metrics cost together."""
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
        """One JSON-ready dict for each metric and case."""
        return [row.to_dict() for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        return {
            "format": _FORMAT,
            "cases": list(self.case_ids),
            "metrics": [
                {
                    **summary.to_dict(),
                    "threshold": metric.threshold,
                    "signature": str(metric.signature),
                    "usage": metric.usage.to_dict(),
                }
                for metric, summary in zip(self.metrics, self.summaries, strict=True)
            ],
            "rows": self.to_rows(),
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """Everything as JSON.

        Raises:
            TypeError: A metric of your own put something else into its details.
        """
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent, allow_nan=False)

    def __str__(self) -> str:
        from factcheck.metrics.table import render_text

        return render_text(self)
