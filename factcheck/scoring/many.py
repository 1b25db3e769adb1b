"""Score a stream of records in order, with a bounded number in flight."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
from concurrent.futures import Future
from contextlib import closing
from typing import Any, NamedTuple

from factcheck.errors import FactcheckError, Failure, JudgeError, describe
from factcheck.facts import CoverageReport
from factcheck.records import Record, as_record
from factcheck.runtime.loop import background

Score = Callable[[Record], Awaitable[CoverageReport]]


class RecordFailure(Failure[str]):
    """A record without a report."""

    @property
    def id(self) -> str:
        """Id of the record; its position, from 1, if it is invalid."""
        return self.subject


class Scored(NamedTuple):
    """A record and its outcome."""

    record: Record | None
    """`None` for an invalid item."""
    outcome: CoverageReport | RecordFailure


def score_records(
    score: Score, records: Iterable[Record | Mapping[str, Any]], *, under_way: int
) -> Generator[Scored, None, None]:
    """Score records lazily; few are read ahead.

    Args:
        score: Scores one record.
        records: Any iterable, even an endless one; it is read in the calling thread.
        under_way: Maximum number of records read before the first of them is finished.

    Yields:
        One `Scored` per record, in order. Any exception of a judge fails only its own record.
        Leaving the iterator early cancels what is in flight.
    """
    window: deque[Future[Scored]] = deque()
    door = asyncio.Lock()

    def first() -> Scored:  # stays in the window until it is there, to be cancelled with the others
        scored = window[0].result()
        window.popleft()
        return scored

    try:
        for number, item in enumerate(records, 1):
            window.append(background.submit(_scored(score, item, number, door)))
            while window and (len(window) >= under_way or window[0].done()):
                yield first()
        while window:
            yield first()
    finally:
        background.cancel(window)


def outcomes(
    scored: Generator[Scored, None, None], *, progress: bool
) -> Generator[CoverageReport | RecordFailure, None, None]:
    """The outcomes alone, perhaps with progress; leaving early closes `scored`."""
    with closing(scored):
        if not progress:
            yield from (outcome for _, outcome in scored)
            return
        from factcheck.facts.run import RunSummary
        from factcheck.runtime.progress import progress as shown_progress

        summary = RunSummary()
        with shown_progress("Scoring") as show:
            for _, outcome in scored:
                if isinstance(outcome, CoverageReport):
                    summary.add(outcome)
                    show(summary)
                yield outcome


async def _scored(
    score: Score, item: Record | Mapping[str, Any], number: int, door: asyncio.Lock
) -> Scored:
    async with door:  # one after the other, so that the first request is sent before all are made
        await asyncio.sleep(0)
    record = None
    try:
        record = as_record(item, number)
        return Scored(record, await score(record))
    except FactcheckError as error:
        code, message = error.code, str(error)
    except Exception as error:  # noqa: BLE001 - a judge of one's own may raise anything
        code, message = JudgeError.code, describe(error)
    return Scored(record, RecordFailure(record.id if record else str(number), code, message))
