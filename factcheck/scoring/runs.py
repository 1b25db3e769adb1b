"""Run over many records: rows as they are final, resume, and totals."""

from __future__ import annotations

import heapq
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from factcheck.documents import PathOrDash
from factcheck.documents.results import ResultsFile, read_results
from factcheck.errors import InputError
from factcheck.facts import (
    CoverageReport,
    FactSet,
    RunSummary,
    short_digest,
    source_key,
)
from factcheck.facts.page import lost_musts
from factcheck.facts.report import Direction
from factcheck.records import Record
from factcheck.records.reading import read_records
from factcheck.reports.page import Page
from factcheck.scoring.many import RecordFailure
from factcheck.scoring.scorer import FactCoverage

FINAL = frozenset(
    {"input", "output", "truncated", "refused", "missing", "duplicate", "invalid", "flipped"}
)
"""Codes of failures that would come up again. Only these are written as rows."""
_BUDGET = "budget"
_N_LOWEST = 5

OnError = Callable[[InputError], None]


@dataclass
class Tally:
    """Totals of a run so far."""

    summary: RunSummary = field(default_factory=RunSummary)
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
        self.summary.add(outcome)
        if lost := lost_musts(outcome.results):
            self.lost_musts += 1
            self.first_lost = self.first_lost or f"{record_id}: {lost}"
        if outcome.score is not None:
            heapq.heappush(self._lowest, (-outcome.score, -place, record_id))
            if len(self._lowest) > _N_LOWEST:
                heapq.heappop(self._lowest)

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
            if name not in self.digests or name not in places:
                continue
            self.add(name, outcome_of(row), places[name])

    def page(self, signature: str) -> Page:
        """The totals as a report, with up to 5 lowest scores.

        Args:
            signature: How the scores were made; see `run_signature`.
        """
        lowest = [(-negative, name) for negative, _, name in sorted(self._lowest, reverse=True)]
        return self.summary.page(
            signature,
            lowest=lowest,
            failures=self.failures,
            n_skipped=self.skipped,
            n_left_out=self.left_out,
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.summary.to_dict(),
            "failures": dict(self.failures),
            "open": self.unfinished,
            "skipped": self.skipped,
            "left_out": self.left_out,
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
    on_record: Callable[[RunSummary], None] | None = None,
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
        on_record: Called after each new record with the totals so far.

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
                    on_record(tally.summary)
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
