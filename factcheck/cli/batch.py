"""`factcheck score --records --batch`: the questions of a run, answered later at half the price."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factcheck.cli import output
from factcheck.datasets import read_records
from factcheck.errors import ConfigError, JudgeError
from factcheck.runtime.cache import open_cache
from factcheck.runtime.session import Session
from factcheck.scoring import Direction, FactCoverage

if TYPE_CHECKING:
    from factcheck.judges.llm.batch import Around
    from factcheck.judges.llm.batch_state import Batch


def submit(
    state: str,
    records: str,
    given: Mapping[str, Any],
    direction: Direction,
    skip: Callable[[Any], None] | None,
) -> None:
    """Hand in what scoring the records would ask; what the cache knows is not asked."""
    from factcheck.judges.llm import batch

    _require_cache()
    done = batch.submit(Path(state), lambda around: _run(records, given, direction, skip, around))
    if not done.batches:
        output.print_out("every answer is known already: run it without --batch")
        return
    output.print_out(
        f"{done.requests:,} requests handed in, {_named(done.batches)}; "
        f"collect them with --batch collect --batch-file {state}"
    )
    if done.extractions:
        output.print_out(_again(done.extractions))


def collect(
    state: str,
    records: str,
    given: Mapping[str, Any],
    direction: Direction,
    skip: Callable[[Any], None] | None,
) -> None:
    """Put the answers that came back into the cache; says so while some are still to come.

    Raises:
        JudgeError: A batch has not ended.
    """
    from factcheck.judges.llm import batch

    _require_cache()
    unlimited = {**given, "budget": None}  # what comes back is paid for already
    done = batch.collect(
        Path(state), lambda around: _run(records, unlimited, direction, skip, around)
    )
    for one in done.batches:
        problem = f" ({one.problem})" if one.problem else ""
        output.remark(f"{one.model}: {one.status}, {one.completed:,} of {one.requests:,}{problem}")
    if not done.final:
        raise JudgeError("the batch has not ended; collect it later")
    output.print_out(
        f"{done.used:,} answers are in the cache, {done.unused:,} were not asked for, "
        f"{done.unanswered:,} questions have none; run it without --batch for the report"
    )
    if done.extractions:
        output.print_out(_again(done.extractions))


def _run(
    path: str,
    given: Mapping[str, Any],
    direction: Direction,
    skip: Callable[[Any], None] | None,
    around: Around,
) -> None:
    with Session(budget=given["budget"], transport=around) as session:
        scorer = FactCoverage(
            given["judge"], given["extractor"], cassette=given["cassette"], session=session
        )
        for _ in scorer.score_many(read_records(path, skip_bad=skip), direction=direction):
            pass


def _require_cache() -> None:
    if open_cache() is None:
        raise ConfigError("--batch puts its answers into the cache; unset FACTCHECK_CACHE=off")


def _named(batches: tuple[Batch, ...]) -> str:
    names = ", ".join(one.batch_id or "?" for one in batches)
    return f"batch {names}" if len(batches) == 1 else f"batches {names}"


def _again(extractions: int) -> str:
    return (
        f"{extractions:,} of them list facts: once they are collected, submit again for the checks"
    )
