"""Runs over many records: rows as they become final, resuming, dry runs and batches."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Literal

from factcheck.documents.results import ResultsFile, read_results
from factcheck.errors import ConfigError, FactcheckError, InputError
from factcheck.facts import CoverageReport, FactSet, Usage, short_digest, source_key
from factcheck.facts.report import Direction
from factcheck.judges.ports import Ledger
from factcheck.records import Record
from factcheck.scoring.many import Outcome, RecordFailure, Show
from factcheck.scoring.run_report import FINAL, RunReport, codes_of, outcome_of
from factcheck.scoring.scorer import FactCoverage

Options = Mapping[str, Any]
"""Keyword arguments of `FactCoverage`."""


def run_signature(scorer: FactCoverage, direction: Direction) -> str:
    """Return the signature of a run: judge, extractor, version and direction."""
    return f"{scorer.signature}|direction:{direction}"


def score_run(
    scorer: FactCoverage,
    records: Iterable[Record],
    *,
    direction: Direction = "coverage",
    rows: ResultsFile | None = None,
    on_record: Show | None = None,
) -> RunReport:
    """Score all records without a row, write their rows and close `rows`.

    Ctrl-C, an exhausted budget or a full disk ends the run early and is recorded in the report.
    Existing rows whose records are in the input are added at the end; a record that differs from
    its row is an `InputError`.
    """
    run = RunReport()
    digests: dict[str, str] = {}
    if rows is not None and rows.done:
        digests = {row["id"]: str(row.get("record", "")) for row in read_results(rows.path)}
    places: dict[str, int] = {}
    pending = _pending(records, run, digests, places)
    with closing(scorer.score_records(pending, direction=direction)) as scored:
        try:
            for number, (record, outcome) in enumerate(scored, 1):
                record_id = record.id if record else str(number)
                places.setdefault(record_id, number)
                run.add(record_id, outcome)
                if rows is not None and codes_of(outcome) <= FINAL:
                    try:
                        rows.append(record_id, row_of(record, outcome))
                    except InputError as error:  # disk full: still report what was paid for
                        run.write_error = str(error)
                        break
                if on_record is not None:
                    on_record(len(run.rows), run.usage)
        except KeyboardInterrupt:
            run.interrupted = True
    if rows is not None and digests:
        for row in read_results(rows.path):
            if row["id"] in digests and row["id"] in places:
                run.add(row["id"], outcome_of(row))
        run.rows.sort(key=lambda row: places[row.id])
    _close(run, rows)
    run.signature = run_signature(scorer, direction)
    return run


def _close(run: RunReport, rows: ResultsFile | None) -> None:
    run.complete = not (run.interrupted or run.write_error or run.unfinished)
    if rows is not None and not run.write_error:
        rows.complete = run.complete
        try:
            rows.close()
        except InputError as error:  # disk full: still report what was paid for
            run.write_error = str(error)


def _pending(
    records: Iterable[Record], run: RunReport, digests: Mapping[str, str], places: dict[str, int]
) -> Iterator[Record]:
    """Yield records without a row, given the `digests` of existing rows; fill `places` for all."""
    n_rows = 0
    for place, record in enumerate(records, 1):
        if run.budget_exhausted:
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
    run.left_out = len(digests) - n_rows


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


def cached_report(
    options: Options, score: Callable[[FactCoverage], CoverageReport]
) -> CoverageReport | None:
    """Build the report of an interrupted call from cached replies, without sending requests.

    Facts without a cached verdict are undecided. Returns `None` for local judges, which do not
    cache. If the facts are not cached, raises a `FactcheckError`.
    """
    from factcheck.judges.llm.engine import Meter

    with FactCoverage(**options, transport=Meter().around) as scorer:
        return None if scorer.signature.never_flips else score(scorer)


def estimate(
    options: Options, records: Iterable[Record], direction: Direction = "coverage"
) -> tuple[int, Usage, set[str]]:
    """Count the records of a run and estimate its usage, without sending requests.

    Cached replies cost nothing. Facts that are not known yet are approximated by those of the local
    extractor. Requests and prompt tokens are estimates; completion tokens and cost are upper
    bounds without thought. The names of the models are returned, too.
    """
    from factcheck.judges.llm.engine import Meter

    meter, n_records = Meter(), 0
    seen: set[str] = set()
    counting = {**options, "processes": 1, "transport": meter.around}
    with FactCoverage(**counting) as asking:
        counting["extractor"] = _LikelyFacts(asking)
        with FactCoverage(**counting) as scorer:
            for record in records:
                n_records += 1
                if (key := record_digest(record)) in seen:
                    continue
                seen.add(key)
                with suppress(FactcheckError):
                    scorer.score(
                        record.source, record.summary, facts=record.facts, direction=direction
                    )
    return n_records, meter.usage, meter.models


class _LikelyFacts:
    """Extractor of a dry run: facts from the cache, or else those of the local extractor."""

    def __init__(self, scorer: FactCoverage) -> None:
        self._scorer = scorer
        self._facts: dict[str, FactSet] = {}
        self.identity = {"extractor": "likely"}

    async def extract(self, source: str, ledger: Ledger) -> FactSet:  # noqa: ARG002 - the port's
        from factcheck.judges.local.extractor import extract_facts

        if source not in self._facts:
            try:
                self._facts[source] = await self._scorer.aextract(source)
            except FactcheckError:
                self._facts[source] = extract_facts(source)
        return self._facts[source]


def run_batch(
    step: Literal["submit", "collect"],
    state: Path,
    options: Options,
    records: Callable[[], Iterable[Record]],
    direction: Direction = "coverage",
) -> Any:
    """Submit a run as a batch, or store the replies of a finished batch in the cache.

    The file `state` records the submitted requests; `records` must return the same records again.
    Raises `ConfigError` if the cache is off, or the judge has no batch endpoint.
    """
    from factcheck.judges.llm import batch
    from factcheck.runtime.cache import open_cache

    if open_cache() is None:
        raise ConfigError("--batch stores replies in the cache; unset FACTCHECK_CACHE=off")
    if step == "collect":
        options = {**options, "budget": None}  # the replies are already paid for

    def run(around: Any) -> None:
        with FactCoverage(**options, transport=around) as scorer:
            for _ in scorer.score_many(records(), direction=direction):
                pass

    return batch.submit(state, run) if step == "submit" else batch.collect(state, run)
