"""Report of a run: one row per record, totals, and a page per record."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from factcheck.documents import PathOrDash
from factcheck.documents.results import read_run
from factcheck.facts import CheckFailure, CoverageReport, Usage
from factcheck.facts.coverage import trust_lines
from factcheck.facts.model import COUNTS
from factcheck.facts.page import answer_text, bounds_text, lost_musts, parts, score_text, usage_text
from factcheck.reports import Report
from factcheck.reports.page import Alert, Case, Page, Section, Svg, Table, entries, filled
from factcheck.reports.pictures import histogram_svg
from factcheck.reports.text import DASH, interval_text, name_text, one_line, plural, some_of
from factcheck.scoring.many import Outcome, RecordFailure
from factcheck.stats.intervals import Interval, cluster_interval

FINAL = frozenset(
    {"input", "output", "truncated", "refused", "missing", "duplicate", "invalid", "flipped"}
    | {"unsure", "language"}
)
"""Codes of permanent failures. Records with other failures get no row and are retried on resume."""
_BUDGET = "budget"
_N_BINS = 10
_LONGEST_BAR = 15


class Row(NamedTuple):
    """Outcome of a record; all fields but the last are CSV columns."""

    id: str
    score: float | None = None
    low: float | None = None
    high: float | None = None
    expected: float | None = None
    faithfulness: float | None = None
    facts: int | None = None
    """Number of facts; like the other counts, `None` for a record without a report."""
    kept: int | None = None
    distorted: int | None = None
    dropped: int | None = None
    undecided: int | None = None
    lost_must: str | None = None
    code: str | None = None
    """Code of the failure of a record without a report."""
    message: str | None = None
    source: str = ""
    """Digest of the source, for clustering."""

    @classmethod
    def of(cls, name: str, outcome: Outcome) -> Row:
        if isinstance(outcome, RecordFailure):
            return cls(name, code=outcome.code, message=outcome.message)
        found = outcome.share
        rates = found.value, found.low, found.high, found.expected, outcome.faithfulness
        lost, source = lost_musts(outcome.results) or None, outcome.source_digest or name
        counts: dict[str, Any] = outcome.counts
        return cls(name, *rates, **counts, lost_must=lost, source=source)

    @property
    def counts(self) -> dict[str, int]:
        """Number of facts by outcome; 0 without a report."""
        return {kind: getattr(self, kind) or 0 for kind in COUNTS[1:]}

    def case(self) -> Case:
        """Make the test case; like the gate, it fails if a `must` fact is lost."""
        if self.code is not None:
            return Case(one_line(self.id), "error", one_line(self.message or ""), self.code)
        title = f"{one_line(self.id)} coverage {score_text(self.score)}"
        if self.lost_must:
            return Case(title, "failed", self.lost_must, "must")
        return Case(title)

    @property
    def rank(self) -> tuple[bool, bool, float, int]:
        """Sort key, worst first: no report, undecided, then by score and distorted facts."""
        has_score = self.score is not None
        return self.code is None, has_score, self.score or 0.0, -(self.distorted or 0)


COLUMNS = Row._fields[:-1]
"""Columns of CSV and data frames."""


class RunReport(Report):
    """Rows and totals of a run.

    Args:
        outcomes: Reports by record id, to list worst first; `None` for a run in progress, whose
            records are added in order and whose reports are not held.
        signature: Signature of the run; see `run_signature`.
    """

    def __init__(self, outcomes: Mapping[str, Outcome] | None = None, signature: str = "") -> None:
        self.outcomes = outcomes
        self.signature = signature
        self.rows: list[Row] = []
        """One row per record."""
        self.counts: Counter[str] = Counter()
        """Number of records with a report, and of their facts by outcome."""
        self.usage = Usage()
        self.judge_quality = ""
        """`CoverageReport.judge_quality` of the first report."""
        self.unfinished = 0
        """Number of records to be scored again on resume."""
        self.problem = ""
        """The first of them, with the reason."""
        self.budget_exhausted = False
        self.interrupted = False
        self.write_error = ""
        """Error that prevented further rows from being written; may be empty."""
        self.left_out = 0
        """Number of existing rows whose records are not in the input."""
        self.complete = True
        """Whether every record of the run is among the rows."""
        for name, outcome in (outcomes or {}).items():
            self.add(name, outcome)
        if outcomes is not None:
            self.rows.sort(key=lambda row: row.rank)

    @classmethod
    def read(cls, path: PathOrDash) -> RunReport:
        """Read rows written by `factcheck run --out`.

        Raises `InputError` if the file is damaged or has rows of another kind.
        """
        signature, rows, complete = read_run(path)
        report = cls({row["id"]: outcome_of(row) for row in rows}, signature)
        report.complete = complete
        return report

    def add(self, record_id: str, outcome: Outcome) -> None:
        codes = codes_of(outcome)
        if not codes <= FINAL:
            self.unfinished += 1
            passing = next(one for one in failures_of(outcome) if one.code not in FINAL)
            self.problem = self.problem or f"{record_id}: {passing.message}"
        self.budget_exhausted |= _BUDGET in codes
        self.rows.append(Row.of(record_id, outcome))
        if isinstance(outcome, CoverageReport):
            self.usage = self.usage + outcome.usage
            self.counts.update(outcome.counts, records=1)
            self.judge_quality = self.judge_quality or outcome.judge_quality

    @property
    def failures(self) -> Counter[str]:
        """Number of records without a report, by code."""
        return Counter(row.code for row in self.rows if row.code is not None)

    @property
    def by_source(self) -> dict[str, list[float]]:
        """Scores by source."""
        scores: dict[str, list[float]] = {}
        for row in self.rows:
            if row.score is not None:
                scores.setdefault(row.source, []).append(row.score)
        return scores

    @property
    def score(self) -> float | None:
        """Mean score of the scored records, in [0, 1]; `None` if there are none."""
        return self._mean("score")

    @property
    def interval(self) -> Interval | None:
        """95 % interval of the mean, clustered by source; `None` with fewer than two sources."""
        return cluster_interval([(len(one), math.fsum(one)) for one in self.by_source.values()])

    def _mean(self, column: str) -> float | None:
        known = [value for row in self.rows if (value := getattr(row, column)) is not None]
        return math.fsum(known) / len(known) if known else None

    @property
    def n_scored(self) -> int:
        """Number of records with a score."""
        return sum(map(len, self.by_source.values()))

    def page(self) -> Page:
        """Describe the totals, and the records if their reports are held."""
        n_scored, n_records = self.n_scored, len(self.rows)
        share = f"{n_scored:,} of {plural(n_records, 'record')}" if n_records else "no record"
        scored = f"{share} scored" if self.complete else f"{share} scored so far"
        interval, n_sources = interval_text(self.interval, 2), len(self.by_source)
        sections: tuple[Section, ...] = ()
        if self.outcomes is not None:
            records = Section("Records", meaning="lowest coverage first", table=self._table())
            sections = filled(self._distribution(), records)
        cases = [row.case() for row in self.rows]
        if self.partial:
            cases.append(Case("all records", "error", self.partial, "partial"))
        lost = [row.id for row in self.rows if row.lost_must]
        alert = f"{plural(len(lost), 'record')} lost a must fact: {some_of(lost)}"
        return Page(
            "Mean coverage",
            score_text(self.score),
            scored,
            interval and f"95 % interval {interval} over {plural(n_sources, 'source')}",
            tuple(self._lines()),
            parts(self.counts),
            sections,
            entries(("Usage", usage_text(self.usage)), ("Signature", self.signature)),
            alerts=(Alert(alert),) if lost else (),
            suite="run",
            answer=f"{scored}: {answer_text(self.counts)}" if n_sources else "",
            trust=trust_lines(self.signature, self.judge_quality) if n_sources else (),
            cases=tuple(cases),
            columns=COLUMNS,
            rows=self._records,
        )

    @property
    def partial(self) -> str:
        """Say that the rows are not all of the run; empty if they are."""
        why = "partial result: records are without a row; continue with --resume"
        return "" if self.complete else why

    def _lines(self) -> Iterator[str]:
        totals = self._totals()
        if self.partial:
            yield self.partial
        if totals["faithfulness"] is not None:
            yield f"Faithfulness: {score_text(totals['faithfulness'])}, mean of the records"
        if self.counts["undecided"]:
            yield bounds_text("fact", (totals["low"], totals["high"]))
        missing = [f"{n:,} without a report ({code})" for code, n in sorted(self.failures.items())]
        if n := sum(row.score is None and row.code is None for row in self.rows):
            missing.append(f"{n:,} without a score, as no fact was decided")
        if self.left_out:
            rows = plural(self.left_out, "row")
            missing.append(f"{rows} of records that are not in the input left out")
        if missing:
            yield ", ".join(missing)

    def _totals(self) -> dict[str, Any]:
        """Compute counts and means; `low` and `high` are the means of the bounds."""
        low, high = self._mean("low"), self._mean("high")
        return {
            "records": self.counts["records"],
            "scored": self.n_scored,
            "sources": len(self.by_source),
            "score": self.score,
            "low": 0.0 if low is None else low,
            "high": 1.0 if high is None else high,
            "faithfulness": self._mean("faithfulness"),
            "judge_quality": self.judge_quality,
        }

    def _records(self) -> list[dict[str, Any]]:
        return [dict(zip(COLUMNS, row, strict=False)) for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """Convert totals, and rows if the reports are held, to JSON-ready data."""
        records = {} if self.outcomes is None else {"records": self._records()}
        return {
            **self._totals(),
            "interval": list(self.interval) if self.interval else None,
            "counts": {kind: self.counts[kind] for kind in COUNTS},
            "usage": self.usage.to_dict(),
            "failures": dict(self.failures),
            "open": self.unfinished,
            "complete": self.complete,
            "left_out": self.left_out,
            "signature": self.signature,
            **records,
        }

    def _table(self) -> Table:
        outcomes = self.outcomes or {}
        names = ("faithfulness", *COUNTS) if self._mean("faithfulness") is not None else COUNTS
        return Table(
            ("record", "coverage", *names),
            tuple(_cells(row, names) for row in self.rows),
            bars=tuple(parts(row.counts) for row in self.rows),
            details=lambda place: _detail(self.rows[place].id, outcomes),
        )

    def _distribution(self) -> Section:
        scores = (row.score for row in self.rows if row.score is not None)
        bins = Counter(min(int(score * _N_BINS), _N_BINS - 1) for score in scores)
        rows = []
        for place in range(_N_BINS if bins else 0):
            bar = "█" * -(-_LONGEST_BAR * bins[place] // max(bins.values()))
            low, high = place / _N_BINS, (place + 1) / _N_BINS
            rows.append((f"{low:.1f}{DASH}{high:.1f}", bar, f"{bins[place]:,}"))
        table = Table(("coverage", "distribution", "records"), tuple(rows), n_names=2)
        picture = histogram_svg([bins[place] for place in range(_N_BINS)]) if bins else Svg()
        return Section("Distribution", meaning="of coverage", table=table, picture=picture)


def _detail(name: str, outcomes: Mapping[str, Outcome]) -> Page:
    outcome = outcomes[name]
    if isinstance(outcome, RecordFailure):
        return Page(name_text(name), "no report", one_line(outcome.message))
    page = outcome.page()
    return page._replace(name=f"{name_text(name)}: {page.name.lower()}", trust=())


def _cells(row: Row, names: Iterable[str]) -> tuple[str, ...]:
    """Return the table row of a record; without a report, most cells are empty."""
    cells = [name_text(row.id), score_text(row.score) if row.code is None else "no report"]
    for name in names:
        value = getattr(row, name)
        shown = f"{value:,}" if isinstance(value, int) else score_text(value)
        cells.append("" if value is None else shown)
    return tuple(cells)


def failures_of(outcome: Outcome) -> tuple[RecordFailure | CheckFailure, ...]:
    """Return the failure of a record, or those of its facts and claims."""
    if isinstance(outcome, RecordFailure):
        return (outcome,)
    return (*outcome.undecided, *outcome.undecided_claims)


def codes_of(outcome: Outcome) -> frozenset[str]:
    """Collect the codes of the failures of a record and its facts."""
    return frozenset(failure.code for failure in failures_of(outcome))


def outcome_of(row: Mapping[str, Any]) -> Outcome:
    """Convert a row to a report or failure; raises `InputError` for one of another kind."""
    error = row.get("error")
    if isinstance(error, dict):
        return RecordFailure(row["id"], str(error.get("code")), str(error.get("message")))
    return CoverageReport.from_dict(row)
