"""Score a stream of records in order, with bounded concurrency."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, nullcontext
from typing import Any, NamedTuple

from factcheck.errors import FactcheckError, Failure, JudgeError, describe
from factcheck.facts import CoverageReport, Usage
from factcheck.records import Record, RecordLike, as_record
from factcheck.runtime.loop import background
from factcheck.runtime.progress import progress as show_progress

Score = Callable[..., Awaitable[Sequence[CoverageReport]]]
"""Scores summaries of one source, as `FactCoverage.ascore_summaries` does."""


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
    score: Score,
    records: Iterable[RecordLike],
    *,
    in_flight: int,
    group_size: int = 1,
) -> Generator[Scored, None, None]:
    """Score records lazily, in order; an exception of a judge fails only its own record.

    `records` is read in the calling thread, at most `in_flight` ahead of the first unfinished one.
    Up to `group_size` consecutive records with the same source and facts are scored together.
    Closing the iterator cancels the records in flight.
    """
    start = asyncio.Lock()
    groups = groups_of(records, group_size)
    submitted = (background.submit(score_group(score, group, start)) for group in groups)
    return in_order(submitted, in_flight / group_size, background.cancel)


def in_order(
    submitted: Iterable[Future[list[Scored]]],
    ahead: float,
    cancel: Callable[[Iterable[Future[Any]]], object] = lambda _: None,
) -> Generator[Scored, None, None]:
    """Yield what futures hold, reading at most `ahead` from the first unfinished one on.

    Those that are not needed any more are passed to `cancel`.
    """
    window: deque[Future[list[Scored]]] = deque()

    def first() -> list[Scored]:  # stays in the window until finished, so that it can be cancelled
        scored = window[0].result()
        window.popleft()
        return scored

    try:
        for future in submitted:
            window.append(future)
            while window and (len(window) >= ahead or window[0].done()):
                yield from first()
        while window:
            yield from first()
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


def groups_of(records: Iterable[RecordLike], size: int) -> Iterator[list[Record | RecordFailure]]:
    """Group up to `size` consecutive records with equal source and facts; invalid ones alone."""
    frame: Any = records
    if hasattr(frame, "iterrows"):  # a pandas data frame yields the names of its columns
        records = frame.to_dict("records")
    group: list[Record | RecordFailure] = []
    key: object = None
    for number, item in enumerate(records, 1):
        record: Record | RecordFailure
        try:
            record = as_record(item, number)
        except FactcheckError as error:
            record = RecordFailure(str(number), error.code, str(error))
        before, key = key, (record.source, record.facts) if isinstance(record, Record) else number
        if group and key != before:
            yield group
            group = []
        group.append(record)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


async def score_group(
    score: Score, group: Sequence[Record | RecordFailure], start: asyncio.Lock
) -> list[Scored]:
    """Score a group of `groups_of`, one by one if scoring it as a whole fails.

    All groups of a run share the lock `start`.
    """
    async with start:  # one at a time, so that requests are sent before all groups are prepared
        await asyncio.sleep(0)
    records = [record for record in group if isinstance(record, Record)]
    if not records:
        return [Scored(None, failure) for failure in group if isinstance(failure, RecordFailure)]
    try:
        summaries = [record.summary for record in records]
        reports = await score(records[0].source, summaries, facts=records[0].facts)
        return [Scored(record, report) for record, report in zip(records, reports, strict=True)]
    except FactcheckError as error:
        code, message = error.code, str(error)
    except Exception as error:  # noqa: BLE001 - a user's judge may raise anything
        code, message = JudgeError.code, describe(error)
    if len(records) > 1:
        return [one for record in records for one in await score_group(score, [record], start)]
    return [Scored(records[0], RecordFailure(records[0].id, code, message))]
