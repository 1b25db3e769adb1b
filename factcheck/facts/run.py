"""Many reports summed up: the mean coverage of a run, with an interval by document."""

from __future__ import annotations

import math
from typing import Any

from factcheck.facts.model import Usage
from factcheck.facts.report import CoverageReport
from factcheck.stats import Interval, cluster_interval


class RunSummary:
    """Takes reports one by one and forgets them; memory grows with the number of sources only."""

    def __init__(self) -> None:
        self.n_records = 0
        """Records with a report."""
        self.n_scored = 0
        """Records with a score."""
        self.counts = {"facts": 0, "kept": 0, "distorted": 0, "dropped": 0, "undecided": 0}
        """Facts of all records, by what became of them."""
        self.usage = Usage()
        self._sum_low = 0.0
        self._sum_high = 0.0
        self._by_source: dict[str, tuple[int, float]] = {}

    def add(self, report: CoverageReport) -> None:
        """Take one report into account."""
        self.n_records += 1
        self.usage = self.usage + report.usage
        for name, count in report.counts.items():
            self.counts[name] += count
        self._sum_low += report.low
        self._sum_high += report.high
        if report.score is None:
            return
        self.n_scored += 1
        source = report.facts.source_digest or f"record {self.n_records}"
        n, total = self._by_source.get(source, (0, 0.0))
        self._by_source[source] = (n + 1, total + report.score)

    @property
    def n_sources(self) -> int:
        """Different sources among the scored records."""
        return len(self._by_source)

    @property
    def score(self) -> float | None:
        """Mean score of the scored records, in [0, 1]; `None` without any."""
        if self.n_scored == 0:
            return None
        return math.fsum(total for _, total in self._by_source.values()) / self.n_scored

    @property
    def low(self) -> float:
        """Mean score if every undecided fact were dropped, in [0, 1]."""
        return self._sum_low / self.n_records if self.n_records else 0.0

    @property
    def high(self) -> float:
        """Mean score if every undecided fact were kept, in [0, 1]."""
        return self._sum_high / self.n_records if self.n_records else 1.0

    @property
    def interval(self) -> Interval | None:
        """95 % interval of the mean, clustered by source; `None` with fewer than two sources.

        Summaries of one source are not independent, so the spread is taken between sources.
        """
        return cluster_interval(self._by_source.values())

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        return {
            "records": self.n_records,
            "scored": self.n_scored,
            "sources": self.n_sources,
            "score": self.score,
            "low": self.low,
            "high": self.high,
            "interval": list(self.interval) if self.interval else None,
            "counts": dict(self.counts),
            "usage": self.usage.to_dict(),
        }
