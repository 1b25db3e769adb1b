"""Score a stream of records in order, with a bounded number in flight."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

from factcheck.errors import FactcheckError, Failure, JudgeError, describe
from factcheck.facts import CoverageReport
from factcheck.records import Record, as_record
from factcheck.runtime.loop import background

Score = Callable[[Sequence[Record]], Awaitable[Sequence[CoverageReport]]]
"""Scores records of one source that have the same facts."""


class RecordFailure(Failure[str]):
    """A record without a report."""

    @property
    def id(self) -> str:
        """Id of the record; its position, from 1, if it is invalid."""
        return self.subject


Outcome = CoverageReport | RecordFailure


class Scored(NamedTuple):
    """A record and its outcome."""

    record: Record | None
    """`None` for an invalid item."""
    outcome: Outcome


def score_records(
    score: Score,
    records: Iterable[Record | Mapping[str, Any]],
    *,
    under_way: int,
    together: int = 1,
) -> Generator[Scored, None, None]:
    """Score records lazily, in order; any exception of a judge fails only its own record.

    `records` is read in the calling thread, at most `under_way` ahead of the first that is not
    finished; up to `together` neighbours with the same source and facts are scored together.
    Leaving the iterator early cancels what is in flight.
    """
    window: deque[Future[list[Scored]]] = deque()
    door = asyncio.Lock()

    def first() -> list[Scored]:  # stays in the window until it is there, to be cancelled too
        scored = window[0].result()
        window.popleft()
        return scored

    try:
        for group in groups_of(records, together):
            window.append(background.submit(_scored(score, group, door)))
            while window and (len(window) * together >= under_way or window[0].done()):
                yield from first()
        while window:
            yield from first()
    finally:
        background.cancel(window)


def groups_of(
    records: Iterable[Record | Mapping[str, Any]], size: int
) -> Iterator[list[Record | RecordFailure]]:
    """Neighbours with the same source and facts, up to `size`; an invalid item is by itself."""
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


async def _scored(
    score: Score, group: Sequence[Record | RecordFailure], door: asyncio.Lock
) -> list[Scored]:
    async with door:  # one after the other, so that the first request is sent before all are made
        await asyncio.sleep(0)
    records = [record for record in group if isinstance(record, Record)]
    if not records:
        return [Scored(None, failure) for failure in group if isinstance(failure, RecordFailure)]
    try:
        reports = await score(records)
        return [Scored(record, report) for record, report in zip(records, reports, strict=True)]
    except FactcheckError as error:
        code, message = error.code, str(error)
    except Exception as error:  # noqa: BLE001 - a judge of one's own may raise anything
        code, message = JudgeError.code, describe(error)
    if len(records) > 1:
        return [one for record in records for one in await _scored(score, [record], door)]
    return [Scored(records[0], RecordFailure(records[0].id, code, message))]
