"""Many reports summed up: the mean coverage of a run, with an interval by document."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from factcheck.facts.model import Usage
from factcheck.facts.report import CoverageReport
from factcheck.reports.report import Report
from factcheck.stats.intervals import Interval, cluster_interval

if TYPE_CHECKING:
    from factcheck.reports.page import Page


class RunSummary(Report):
    """Takes reports one by one and forgets them; memory grows with the number of sources only."""

    def __init__(self) -> None:
        self.n_records = 0
        """Records with a report."""
        self.n_scored = 0
        """Records with a score."""
        self.counts = {"facts": 0, "kept": 0, "distorted": 0, "dropped": 0, "undecided": 0}
        """Facts of all records, by what became of them."""
        self.usage = Usage()
        self.judge_quality = ""
        """See `CoverageReport.judge_quality`; of the first report."""
        self._leads: list[float] = []
        self._sum_low = 0.0
        self._sum_high = 0.0
        self._by_source: dict[str, tuple[int, float]] = {}

    def add(self, report: CoverageReport) -> None:
        self.n_records += 1
        self.usage = self.usage + report.usage
        for name, count in report.counts.items():
            self.counts[name] += count
        self.judge_quality = self.judge_quality or report.judge_quality
        if report.lead is not None:
            self._leads.append(report.lead)
        share = report.share
        self._sum_low += share.low
        self._sum_high += share.high
        if share.value is None:
            return
        self.n_scored += 1
        source = report.facts.source_digest or f"record {self.n_records}"
        n, total = self._by_source.get(source, (0, 0.0))
        self._by_source[source] = (n + 1, total + share.value)

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
    def lead(self) -> float | None:
        """Mean score of the leads (`CoverageReport.lead`), in [0, 1]; `None` without any."""
        return math.fsum(self._leads) / len(self._leads) if self._leads else None

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

    def page(
        self,
        signature: str = "",
        *,
        lowest: Sequence[tuple[float, str]] = (),
        failures: Mapping[str, int] | None = None,
        n_skipped: int = 0,
        n_left_out: int = 0,
    ) -> Page:
        """The report of the run, ready to be rendered.

        Args:
            signature: How the scores were made.
            lowest: Lowest scores with the ids of their records, lowest first.
            failures: Number of records without a report, by code.
            n_skipped: Number of invalid records that were left out.
            n_left_out: Number of rows of an earlier run whose records are not in the input.
        """
        from factcheck.facts.page import parts, score_text, usage_text
        from factcheck.reports.page import Case, Item, Page, Section, entries, filled
        from factcheck.reports.text import interval_text, one_line, plural, share

        failures, interval = failures or {}, interval_text(self.interval, 2)
        n_records = self.n_records + sum(failures.values())
        errors = (Case("report", "error", f"{n:,} missing", code) for code, n in failures.items())
        items = tuple(Item(share(score, 2), one_line(name)) for score, name in lowest)
        return Page(
            "Mean coverage",
            score_text(self.score),
            f"{self.n_scored:,} of {plural(n_records, 'record')} scored",
            interval and f"95 % interval {interval} over {plural(self.n_sources, 'source')}",
            tuple(self._lines(failures, n_skipped, n_left_out)),
            parts(self.counts),
            filled(Section("Lowest", items=items)),
            entries(("Usage", usage_text(self.usage)), ("Signature", signature)),
            suite="run",
            cases=(Case("mean coverage"), *errors),
            columns=tuple(self._row()),
            rows=lambda: [self._row()],
        )

    def _lines(self, failures: Mapping[str, int], n_skipped: int, n_left_out: int) -> Iterator[str]:
        from factcheck.facts.page import scale_lines
        from factcheck.reports.text import interval_text, plural

        yield from scale_lines(self.lead, self.judge_quality, len(self._leads))
        kinds = (f"{self.counts[kind]:,} {kind}" for kind in list(self.counts)[1:])
        yield f"{plural(self.counts['facts'], 'fact')}: {', '.join(kinds)}"
        if self.counts["undecided"]:
            bounds = interval_text((self.low, self.high), 2)
            yield f"{bounds} if every undecided fact were dropped / kept"
        missing = [f"{n:,} without a report ({code})" for code, n in sorted(failures.items())]
        if n_skipped:
            missing.append(f"{plural(n_skipped, 'invalid record')} skipped")
        if n_left_out:
            missing.append(
                f"{plural(n_left_out, 'row')} of records that are not in the input left out"
            )
        if missing:
            yield ", ".join(missing)

    def _row(self) -> dict[str, Any]:
        row = self.to_dict()
        for nested in ("interval", "counts", "usage"):
            del row[nested]
        low, high = self.interval or (None, None)
        return {**row, "interval_low": low, "interval_high": high, **self.counts}

    def to_dict(self) -> dict[str, Any]:
        return {
            "records": self.n_records,
            "scored": self.n_scored,
            "sources": self.n_sources,
            "score": self.score,
            "low": self.low,
            "high": self.high,
            "lead": self.lead,
            "judge_quality": self.judge_quality,
            "interval": list(self.interval) if self.interval else None,
            "counts": dict(self.counts),
            "usage": self.usage.to_dict(),
        }
