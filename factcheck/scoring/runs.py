"""Run over many records: rows as they are final, resume, and totals."""

from __future__ import annotations

import heapq
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from factcheck.documents import PathOrDash
from factcheck.documents.results import ResultsFile, read_results
from factcheck.errors import InputError
from factcheck.facts import CoverageReport, FactSet, Usage, short_digest, source_key
from factcheck.facts.page import lost_musts, parts, scale_lines, score_text, usage_text
from factcheck.facts.report import Direction
from factcheck.records import Record
from factcheck.records.reading import read_records
from factcheck.reports.page import Case, Item, Page, Section, entries, filled
from factcheck.reports.report import Report
from factcheck.reports.text import interval_text, one_line, plural, share
from factcheck.runtime.progress import Show
from factcheck.scoring.many import RecordFailure
from factcheck.scoring.scorer import FactCoverage
from factcheck.stats.intervals import Interval, cluster_interval

COUNTS = ("facts", "kept", "distorted", "dropped", "undecided")
"""What `CoverageReport.counts` counts."""
NO_USAGE = Usage()
FINAL = frozenset(
    {"input", "output", "truncated", "refused", "missing", "duplicate", "invalid", "flipped"}
)
"""Codes of failures that would come up again. Only these are written as rows."""
_BUDGET = "budget"
_N_LOWEST = 5

OnError = Callable[[InputError], None]


@dataclass(repr=False)
class Tally(Report):
    """Totals of a run so far; memory grows with the number of sources only."""

    signature: str = ""
    """How the scores were made; see `run_signature`."""
    n_records: int = 0
    """Records with a report."""
    n_scored: int = 0
    """Records with a score."""
    counts: Counter[str] = field(default_factory=Counter)
    """Facts of all records, by what became of them."""
    usage: Usage = NO_USAGE
    judge_quality: str = ""
    """See `CoverageReport.judge_quality`; of the first report."""
    failures: Counter[str] = field(default_factory=Counter)
    """Number of records without a report, by code."""
    first_failure: str = ""
    unfinished: int = 0
    """Records to be scored again when the run is resumed."""
    skipped: int = 0
    """Invalid records left out."""
    budget_exhausted: bool = False
    lost_musts: int = 0
    """Records with a `must` fact that is not known to be kept."""
    first_lost: str = ""
    interrupted: bool = False
    write_error: str = ""
    """Why no further rows could be written; empty if they could."""
    digests: dict[str, str] = field(default_factory=dict)
    """Of each record that has a row of an earlier run, by id."""
    left_out: int = 0
    """Rows of an earlier run whose records are not in the input."""
    _leads: list[float] = field(default_factory=list)
    _sum_low: float = 0.0
    _sum_high: float = 0.0
    _by_source: dict[str, tuple[int, float]] = field(default_factory=dict)
    """Number and sum of the scores of each source."""
    _lowest: list[tuple[float, int, str]] = field(default_factory=list)
    """Heap of (-score, -place in the input, id)."""

    def add(self, record_id: str, outcome: CoverageReport | RecordFailure, place: int = 0) -> None:
        codes = codes_of(outcome)
        self.unfinished += not codes <= FINAL
        self.budget_exhausted |= _BUDGET in codes
        if isinstance(outcome, RecordFailure):
            self.failures[outcome.code] += 1
            self.first_failure = self.first_failure or f"{outcome.id}: {outcome.message}"
            return
        self.n_records += 1
        self.usage = self.usage + outcome.usage
        self.counts.update(outcome.counts)
        self.judge_quality = self.judge_quality or outcome.judge_quality
        if outcome.lead is not None:
            self._leads.append(outcome.lead)
        if lost := lost_musts(outcome.results):
            self.lost_musts += 1
            self.first_lost = self.first_lost or f"{record_id}: {lost}"
        found = outcome.share
        self._sum_low += found.low
        self._sum_high += found.high
        if found.value is None:
            return
        self.n_scored += 1
        source = outcome.facts.source_digest or f"record {self.n_records}"
        n, total = self._by_source.get(source, (0, 0.0))
        self._by_source[source] = (n + 1, total + found.value)
        heapq.heappush(self._lowest, (-found.value, -place, record_id))
        if len(self._lowest) > _N_LOWEST:
            heapq.heappop(self._lowest)

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
    def bounds(self) -> tuple[float, float]:
        """Mean score if every undecided fact were dropped, and if it were kept, in [0, 1]."""
        n = self.n_records
        return (self._sum_low / n, self._sum_high / n) if n else (0.0, 1.0)

    @property
    def interval(self) -> Interval | None:
        """95 % interval of the mean, clustered by source; `None` with fewer than two sources.

        Summaries of one source are not independent, so the spread is taken between sources.
        """
        return cluster_interval(self._by_source.values())

    def load_rows(self, path: PathOrDash) -> None:
        """Learn which records have a row of an earlier run.

        Raises:
            InputError: The file is damaged.
        """
        self.digests = {row["id"]: str(row.get("record", "")) for row in read_results(path)}

    def add_rows(self, path: PathOrDash, places: Mapping[str, int]) -> None:
        """Count the rows of an earlier run.

        Args:
            path: The rows that `load_rows` saw, perhaps with more after them.
            places: Place in the input of every record that counts, by id.

        Raises:
            InputError: The file is damaged or holds rows of another kind.
        """
        for row in read_results(path):
            name = row["id"]
            if name in self.digests and name in places:
                self.add(name, outcome_of(row), places[name])

    def page(self) -> Page:
        """The totals as a report, with up to 5 lowest scores."""
        interval = interval_text(self.interval, 2)
        n_records = self.n_records + self.failures.total()
        lowest = (
            Item(share(-negative, 2), one_line(name))
            for negative, _, name in sorted(self._lowest, reverse=True)
        )
        errors = (
            Case("report", "error", f"{n:,} missing", code) for code, n in self.failures.items()
        )
        return Page(
            "Mean coverage",
            score_text(self.score),
            f"{self.n_scored:,} of {plural(n_records, 'record')} scored",
            interval and f"95 % interval {interval} over {plural(len(self._by_source), 'source')}",
            tuple(self._lines()),
            parts(self.counts),
            filled(Section("Lowest", items=tuple(lowest))),
            entries(("Usage", usage_text(self.usage)), ("Signature", self.signature)),
            suite="run",
            cases=(Case("mean coverage"), *errors),
            columns=tuple(self._row()),
            rows=lambda: [self._row()],
        )

    def _lines(self) -> Iterator[str]:
        yield from scale_lines(self.lead, self.judge_quality, len(self._leads))
        kinds = (f"{self.counts[kind]:,} {kind}" for kind in COUNTS[1:])
        yield f"{plural(self.counts['facts'], 'fact')}: {', '.join(kinds)}"
        if self.counts["undecided"]:
            bounds = interval_text(self.bounds, 2)
            yield f"{bounds} if every undecided fact were dropped / kept"
        missing = [f"{n:,} without a report ({code})" for code, n in sorted(self.failures.items())]
        if self.skipped:
            missing.append(f"{plural(self.skipped, 'invalid record')} skipped")
        if self.left_out:
            rows = plural(self.left_out, "row")
            missing.append(f"{rows} of records that are not in the input left out")
        if missing:
            yield ", ".join(missing)

    def _row(self) -> dict[str, Any]:
        low, high = self.interval or (None, None)
        counts = {kind: self.counts[kind] for kind in COUNTS}
        return {**self._numbers(), "interval_low": low, "interval_high": high, **counts}

    def _numbers(self) -> dict[str, Any]:
        low, high = self.bounds
        return {
            "records": self.n_records,
            "scored": self.n_scored,
            "sources": len(self._by_source),
            "score": self.score,
            "low": low,
            "high": high,
            "lead": self.lead,
            "judge_quality": self.judge_quality,
        }

    def to_dict(self) -> dict[str, Any]:
        return {
            **self._numbers(),
            "interval": list(self.interval) if self.interval else None,
            "counts": {kind: self.counts[kind] for kind in COUNTS},
            "usage": self.usage.to_dict(),
            "failures": dict(self.failures),
            "open": self.unfinished,
            "skipped": self.skipped,
            "left_out": self.left_out,
            "signature": self.signature,
        }


def outcome_of(row: Mapping[str, Any]) -> CoverageReport | RecordFailure:
    """What a row of a run holds.

    Raises:
        InputError: It is a row of another kind.
    """
    error = row.get("error")
    if isinstance(error, dict):
        return RecordFailure(row["id"], str(error.get("code")), str(error.get("message")))
    return CoverageReport.from_dict(row)


def codes_of(outcome: CoverageReport | RecordFailure) -> frozenset[str]:
    if isinstance(outcome, RecordFailure):
        return frozenset({outcome.code})
    return frozenset(f.code for f in (*outcome.undecided, *outcome.undecided_claims))


def read_all(
    paths: Sequence[PathOrDash],
    on_invalid: OnError | None = None,
    fields: Mapping[str, str] | None = None,
) -> Iterator[Record]:
    """The records of all files, in order; one is held at a time.

    Args:
        paths: See `factcheck.records.read_records`.
        on_invalid: Called with the error of an invalid record, which is then skipped. `None`: the
            first invalid record is raised.
        fields: See `factcheck.records.read_records`.

    Raises:
        InputError: A file cannot be read, or an id occurs twice.
    """
    readers = [read_records(path, skip_bad=on_invalid, fields=fields) for path in paths]
    ids: set[str] = set()
    for record in chain.from_iterable(readers):
        if record.id not in ids:
            if len(readers) > 1:
                ids.add(record.id)
            yield record
            continue
        where = f"{record.where}: duplicate id {record.id!r}"
        error = InputError(f"{where}; ids must be unique in all files")
        if on_invalid is None:
            raise error
        on_invalid(error)


def run_signature(scorer: FactCoverage, direction: Direction) -> str:
    """Signature of the rows of a run: judge, extractor, version and direction."""
    return f"{scorer.signature}|direction:{direction}"


def score_run(
    scorer: FactCoverage,
    records: Iterable[Record],
    tally: Tally,
    *,
    direction: Direction = "coverage",
    lead: bool = False,
    rows: ResultsFile | None = None,
    on_record: Show | None = None,
) -> None:
    """Score all records that have no row yet, write their rows and count them.

    Ctrl-C, an exhausted budget and a full disk end the run early; the tally says which it was.

    Args:
        scorer: Scores the records.
        records: Read only as far as they are needed.
        tally: Totals; it knows the rows of an earlier run (`Tally.load_rows`), which are counted at
            the end, if their records are in the input.
        direction: As in `FactCoverage.score`.
        lead: As in `FactCoverage.score`.
        rows: Where final rows go; `None`: nowhere.
        on_record: Called after each new record.

    Raises:
        InputError: `records` cannot be read, or a record is not the one its row was made of.
    """
    places: dict[str, int] = {}
    pending = _pending(records, tally, places)
    with closing(scorer.score_records(pending, direction=direction, lead=lead)) as scored:
        try:
            for number, (record, outcome) in enumerate(scored, 1):
                record_id = record.id if record else str(number)
                tally.add(record_id, outcome, places.pop(record_id, number))
                if rows is not None and codes_of(outcome) <= FINAL:
                    try:
                        rows.append(record_id, _row(record, outcome))
                    except InputError as error:  # a full disk: report what was paid for
                        tally.write_error = str(error)
                        break
                if on_record is not None:
                    on_record(tally.n_records, tally.counts["facts"], tally.usage)
        except KeyboardInterrupt:
            tally.interrupted = True
    if rows is not None and tally.digests:
        tally.add_rows(rows.path, places)


def _pending(records: Iterable[Record], tally: Tally, places: dict[str, int]) -> Iterator[Record]:
    """The records without a row; their places are noted, and those of the others."""
    n_rows = 0
    for place, record in enumerate(records, 1):
        if tally.budget_exhausted:
            return
        places[record.id] = place
        known = tally.digests.get(record.id)
        if known is None:
            yield record
        elif known in {"", record_digest(record)}:
            n_rows += 1
        else:
            raise InputError(
                f"{record.where or 'the records'}: record {record.id!r} differs from the one its "
                "row was made of; give changed records new ids, or start over without --resume"
            )
    tally.left_out = len(tally.digests) - n_rows


def _row(record: Record | None, outcome: CoverageReport | RecordFailure) -> dict[str, Any]:
    row: dict[str, Any] = {} if record is None else {"record": record_digest(record)}
    if isinstance(outcome, RecordFailure):
        return {**row, "error": {"code": outcome.code, "message": outcome.message}}
    return {**row, **outcome.to_dict()}


def record_digest(record: Record) -> str:
    """Short digest of the texts and facts of a record, by which a changed one is recognized."""
    facts = FactSet.of(record.facts).to_dict() if record.facts is not None else None
    parts = (source_key(record.source), record.summary, json.dumps(facts, sort_keys=True))
    return short_digest("\0".join(parts))
