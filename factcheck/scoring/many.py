"""Score a stream of records in order, with bounded concurrency."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing, nullcontext
from typing import Any, NamedTuple, TypeVar

from factcheck.errors import FactcheckError, Failure, JudgeError, describe
from factcheck.facts import CoverageReport, Usage
from factcheck.records import Record, RecordLike, as_record
from factcheck.runtime.loop import background
from factcheck.runtime.progress import progress as show_progress

T = TypeVar("T")
Score = Callable[..., Awaitable[CoverageReport]]
"""Scores one summary, as `FactCoverage.ascore` does."""


class RecordFailure(Failure[str]):
    """Reason why a record has no report."""

    @property
    def id(self) -> str:
        """Id of the record; its 1-based position if it is invalid."""
        return self.subject


Outcome = CoverageReport | RecordFailure


class Scored(NamedTuple):
    """A record and its outcome."""

    record: Record | None
    """`None` for an invalid item."""
    outcome: Outcome


def score_records(
    score: Score, records: Iterable[RecordLike], *, in_flight: int
) -> Generator[Scored, None, None]:
    """Score records lazily, in order; an exception of a judge fails only its own record.

    `records` is read in the calling thread, at most `in_flight` ahead of the first unfinished one.
    Closing the iterator cancels the records in flight.
    """
    start = asyncio.Lock()
    items = records_of(records)
    submitted = (background.submit(score_record(score, item, start)) for item in items)
    return in_order(submitted, in_flight, background.cancel)


def in_order(
    submitted: Iterable[Future[T]],
    ahead: int,
    cancel: Callable[[Iterable[Future[Any]]], object] = lambda _: None,
) -> Generator[T, None, None]:
    """Yield what futures hold, reading at most `ahead` from the first unfinished one on.

    Those that are not needed any more are passed to `cancel`.
    """
    window: deque[Future[T]] = deque()

    def first() -> T:  # stays in the window until finished, so that it can be cancelled
        found = window[0].result()
        window.popleft()
        return found

    try:
        for future in submitted:
            window.append(future)
            while window and (len(window) >= ahead or window[0].done()):
                yield first()
        while window:
            yield first()
    finally:
        cancel(window)


def outcomes(
    scored: Generator[Scored, None, None], *, progress: bool
) -> Generator[Outcome, None, None]:
    """Yield the outcomes of scored records, showing progress on standard error if asked to."""
    n_records, n_facts, usage = 0, 0, Usage()
    shown = show_progress("Scoring") if progress else nullcontext()
    with closing(scored), shown as show:
        for _, outcome in scored:
            if show and isinstance(outcome, CoverageReport):
                n_records, n_facts = n_records + 1, n_facts + len(outcome.facts)
                usage = usage + outcome.usage
                show(n_records, n_facts, usage)
            yield outcome


def records_of(records: Iterable[RecordLike]) -> Iterator[Record | RecordFailure]:
    """Yield records, or for an invalid item the reason."""
    frame: Any = records
    if hasattr(frame, "iterrows"):  # a pandas data frame yields the names of its columns
        records = frame.to_dict("records")
    for number, item in enumerate(records, 1):
        try:
            record: Record | RecordFailure = as_record(item, number)
        except FactcheckError as error:
            record = RecordFailure(str(number), error.code, str(error))
        yield record


async def score_record(score: Score, record: Record | RecordFailure, start: asyncio.Lock) -> Scored:
    """Score a record; all records of a run share the lock `start`."""
    async with start:  # one at a time, so that requests are sent before all records are prepared
        await asyncio.sleep(0)
    if isinstance(record, RecordFailure):
        return Scored(None, record)
    try:
        report = await score(record.source, record.summary, facts=record.facts)
    except FactcheckError as error:
        return Scored(record, RecordFailure(record.id, error.code, str(error)))
    except Exception as error:  # noqa: BLE001 - a user's judge may raise anything
        return Scored(record, RecordFailure(record.id, JudgeError.code, describe(error)))
    return Scored(record, report)
