"""Score runs over many records, writing rows as they become final; resume earlier runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain
from typing import Any

from factcheck.documents import PathOrDash
from factcheck.documents.results import ResultsFile, read_results
from factcheck.errors import InputError
from factcheck.facts import FactSet, short_digest, source_key
from factcheck.facts.report import Direction
from factcheck.records import Record
from factcheck.records.reading import read_records
from factcheck.runtime.progress import Show
from factcheck.scoring.many import Outcome, RecordFailure
from factcheck.scoring.run_report import FINAL, Tally, codes_of, outcome_of
from factcheck.scoring.scorer import FactCoverage

OnError = Callable[[InputError], None]


def read_all(
    paths: Sequence[PathOrDash],
    on_invalid: OnError | None = None,
    fields: Mapping[str, str] | None = None,
) -> Iterator[Record]:
    """Read the records of all files lazily, in order; see `read_records`.

    A record with a duplicate id is invalid as well: its error is passed to `on_invalid`, or raised.
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
        error = InputError(f"{where}; ids must be unique across files")
        if on_invalid is None:
            raise error
        on_invalid(error)


def run_signature(scorer: FactCoverage, direction: Direction) -> str:
    """Return the signature of a run: judge, extractor, version and direction."""
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
    """Score all records without a row, write their rows and add them to the tally.

    Ctrl-C, an exhausted budget or a full disk ends the run early and is recorded in the tally.
    Existing rows whose records are in the input are added at the end.

    Raises:
        InputError: `records` is unreadable, a record differs from its existing row, or the rows
            are damaged or of another kind.
    """
    digests: dict[str, str] = {}
    if rows is not None and rows.done:
        digests = {row["id"]: str(row.get("record", "")) for row in read_results(rows.path)}
    places: dict[str, int] = {}
    pending = _pending(records, tally, digests, places)
    with closing(scorer.score_records(pending, direction=direction, lead=lead)) as scored:
        try:
            for number, (record, outcome) in enumerate(scored, 1):
                record_id = record.id if record else str(number)
                tally.add(record_id, outcome, places.pop(record_id, number))
                if rows is not None and codes_of(outcome) <= FINAL:
                    try:
                        rows.append(record_id, row_of(record, outcome))
                    except InputError as error:  # disk full: still report what was paid for
                        tally.write_error = str(error)
                        break
                if on_record is not None:
                    on_record(tally.counts["records"], tally.counts["facts"], tally.usage)
        except KeyboardInterrupt:
            tally.interrupted = True
    if rows is not None and digests:
        for row in read_results(rows.path):
            if row["id"] in digests and row["id"] in places:
                tally.add(row["id"], outcome_of(row), places[row["id"]])
        tally.rows.sort(key=lambda row: row.place)


def _pending(
    records: Iterable[Record], tally: Tally, digests: Mapping[str, str], places: dict[str, int]
) -> Iterator[Record]:
    """Yield records without a row, given the `digests` of existing rows; fill `places` for all."""
    n_rows = 0
    for place, record in enumerate(records, 1):
        if tally.budget_exhausted:
            return
        places[record.id] = place
        known = digests.get(record.id)
        if known is None:
            yield record
        elif known in {"", record_digest(record)}:
            n_rows += 1
        else:
            raise InputError(
                f"{record.where or 'the records'}: record {record.id!r} has changed since its row "
                "was written; give changed records new ids, or start over without --resume"
            )
    tally.left_out = len(digests) - n_rows


def row_of(record: Record | None, outcome: Outcome) -> dict[str, Any]:
    """Return the row of a record, without its id; inverse: `outcome_of`."""
    row: dict[str, Any] = {} if record is None else {"record": record_digest(record)}
    if isinstance(outcome, RecordFailure):
        return {**row, "error": {"code": outcome.code, "message": outcome.message}}
    return {**row, **outcome.to_dict()}


def record_digest(record: Record) -> str:
    """Return a short digest of the texts and facts of a record, to detect changes."""
    facts = FactSet.of(record.facts).to_dict() if record.facts is not None else None
    parts = (source_key(record.source), record.summary, json.dumps(facts, sort_keys=True))
    return short_digest("\0".join(parts))
