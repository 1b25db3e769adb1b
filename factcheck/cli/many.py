"""`factcheck score --records`: many pairs, rows as they are ready, a summary at the end."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

from factcheck.cli import output
from factcheck.cli.options import Format
from factcheck.cli.tally import (
    FINAL,
    Tally,
    codes_of,
    digest_of,
    failure,
    read_back,
    require_same,
)
from factcheck.datasets import Record, read_records
from factcheck.errors import FactcheckError, InputError
from factcheck.facts import CoverageReport, FactSet, digest
from factcheck.runtime.progress import progress
from factcheck.runtime.session import Session
from factcheck.scoring import Direction, FactCoverage, Facts, RecordFailure

if TYPE_CHECKING:
    from factcheck.results import ResultsFile


def score(
    path: str,
    given: Mapping[str, Any],
    direction: Direction,
    *,
    out: str | None,
    resume: bool,
    skip_bad: bool,
    chosen: Format | None,
    fail_under: float | None,
) -> None:
    """Score all records of a file; leaves with an exit code where something is wrong."""
    if resume and out is None:
        raise InputError("--resume needs --out FILE, the rows to go on with")
    if out is not None and not out.endswith((".jsonl", ".ndjson")):
        raise InputError(f"{out}: rows are written as JSON lines; name the file .jsonl")
    tally = Tally()
    records = read_records(path, skip_bad=skipper(tally) if skip_bad else None)
    with ExitStack() as stack:
        scorer = stack.enter_context(FactCoverage(**given))
        gc.freeze()  # what was imported for it lives on; a collector need not look again and again
        signature = f"{scorer.signature}|direction:{direction}"
        rows = None
        if out is not None:
            from factcheck.results import ResultsFile

            rows = stack.enter_context(ResultsFile.open(out, signature, resume=resume))
            read_back(out, tally)
        run(scorer, records, direction=direction, rows=rows, tally=tally)
    show(tally, signature, chosen)
    if tally.interrupted:
        output.remark("This is the result so far; --out FILE --resume goes on from its rows.")
        raise KeyboardInterrupt
    if tally.unwritable:
        raise InputError(tally.unwritable)
    output.leave(failure(tally, fail_under))


def dry_run(path: str, given: Mapping[str, Any], direction: Direction, *, skip_bad: bool) -> None:
    """Say what scoring a file would ask, with what the cache knows already."""
    from factcheck.judges.llm.meter import Meter

    tally, meter, n_records = Tally(), Meter(), 0
    facts_of: dict[str, FactSet] = {}
    asked: set[str] = set()
    with Session(budget=given["budget"], transport=meter.around) as session:
        scorer = FactCoverage(given["judge"], given["extractor"], session=session)
        for record in read_records(path, skip_bad=skipper(tally) if skip_bad else None):
            n_records += 1
            _count(scorer, record, direction, facts_of, asked)
    usage = meter.usage
    if not usage.calls:
        output.print_out(
            f"{n_records:,} records would take no calls: every answer is known already"
        )
        return
    cost = "unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f} at most"
    output.print_out(
        f"{n_records:,} records would take about {usage.calls:,} calls and "
        f"{usage.prompt_tokens:,} prompt tokens, with at most {usage.completion_tokens:,} "
        f"completion tokens; cost {cost}"
    )


def batch(
    step: str,
    state: str,
    path: str,
    given: Mapping[str, Any],
    direction: Direction,
    *,
    skip_bad: bool,
) -> None:
    """Submit or collect a batch of what scoring a file would ask."""
    from factcheck.cli import batch as steps

    tally = Tally()
    take = steps.submit if step == "submit" else steps.collect
    take(state, path, given, direction, skipper(tally) if skip_bad else None)


def _count(
    scorer: FactCoverage,
    record: Record,
    direction: Direction,
    facts_of: dict[str, FactSet],
    asked: set[str],
) -> None:
    """Put the questions of one record to the meter; the same question is counted once."""
    facts = record.facts
    if facts is None:
        source = digest(record.source)
        if source not in facts_of:
            facts_of[source] = _likely_facts(scorer, record.source)
        facts = facts_of[source]
    if facts and record.summary.strip():
        _check_once(scorer, facts, record.summary, asked)
        if direction == "both":
            _check_once(scorer, _likely_facts(scorer, record.summary), record.source, asked)


def _check_once(scorer: FactCoverage, facts: Facts, text: str, asked: set[str]) -> None:
    question = digest("\0".join((text, *(fact.text for fact in FactSet.of(facts)))))
    if question not in asked:
        asked.add(question)
        scorer.check(facts, text)


def _likely_facts(scorer: FactCoverage, text: str) -> FactSet:
    """The facts of a text if they are known; else those of the embedded judge stand for them."""
    from factcheck.judges.local.extractor import extract_facts

    try:
        return scorer.extract(text)
    except FactcheckError:
        return extract_facts(text)


def run(
    scorer: FactCoverage,
    records: Iterable[Record],
    *,
    direction: Direction,
    rows: ResultsFile | None,
    tally: Tally,
) -> None:
    """Score all records that have no row yet, and write their rows; an interrupt ends it early."""
    with ExitStack() as stack:
        tell = stack.enter_context(progress("Scoring"))
        scored = stack.enter_context(
            closing(scorer.score_records(_pending(records, rows, tally), direction=direction))
        )
        try:
            for number, (record, outcome) in enumerate(scored, 1):
                record_id = record.id if record else str(number)
                tally.add(record_id, outcome)
                if rows is not None and codes_of(outcome) <= FINAL:
                    try:
                        rows.append(record_id, _row(record, outcome))
                    except InputError as error:  # a full disk: sum up what was paid for
                        tally.unwritable = str(error)
                        return
                tell(tally.summary)
        except KeyboardInterrupt:
            tally.interrupted = True


def _pending(records: Iterable[Record], rows: ResultsFile | None, tally: Tally) -> Iterator[Record]:
    for record in records:
        if tally.stopped_by_budget:
            return
        if rows is None or record.id not in rows.done:
            yield record
        else:
            require_same(record, tally)


def _row(record: Record | None, outcome: CoverageReport | RecordFailure) -> dict[str, Any]:
    made_of = {"record": digest_of(record)} if record is not None else {}
    if isinstance(outcome, RecordFailure):
        return {**made_of, "error": {"code": outcome.code, "message": outcome.message}}
    return {**made_of, **outcome.to_dict()}


def show(tally: Tally, signature: str, chosen: Format | None) -> None:
    """Print the summary of a run.

    Raises:
        InputError: A format that holds one report only.
    """
    if chosen is Format.JSON:
        data = {
            **tally.summary.to_dict(),
            "failures": dict(tally.failures),
            "open": tally.open,
            "skipped": tally.skipped,
            "signature": signature,
        }
        output.print_out(json.dumps(data, ensure_ascii=False, indent=2))
        return
    from factcheck.facts.page import run_page
    from factcheck.reports import render

    page = run_page(
        tally.summary.to_dict(),
        tally.summary.usage,
        signature,
        worst=sorted((-negative, record_id) for negative, record_id in tally.worst),
        failures=tally.failures,
        n_skipped=tally.skipped,
    )
    output.print_out(render(page))


def require_format(chosen: Format | None) -> None:
    """Refuse, before anything is spent, a format that a run cannot be shown in."""
    if chosen not in {None, Format.TABLE, Format.JSON}:
        raise InputError(
            f"--format {chosen.value if chosen else ''} is for one pair; "
            "with --records use table or json, and --out for the rows"
        )


def skipper(tally: Tally) -> Callable[[InputError], None]:
    """Counts bad records and says what is wrong with each."""

    def skip(error: InputError) -> None:
        tally.skipped += 1
        output.complain(f"skipped: {error}")

    return skip
