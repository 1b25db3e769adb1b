"""Many records: a stream in, a stream out, in order, with a bounded number under way."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any, NamedTuple

from factcheck.errors import FactcheckError, InputError
from factcheck.facts import CoverageReport, RunSummary
from factcheck.records import Record, as_record
from factcheck.runtime.loop import background
from factcheck.runtime.progress import progress as shown_progress


@dataclass(frozen=True, slots=True)
class RecordFailure:
    """A record that has no report."""

    id: str
    code: str
    """Stable reason: a code of `factcheck.errors`."""
    message: str


class Scored(NamedTuple):
    """A record and what became of it."""

    record: Record | None
    """`None` for an item that is no record."""
    outcome: CoverageReport | RecordFailure


def score_records(
    score: Callable[[Record], Awaitable[CoverageReport]],
    records: Iterable[Record | Mapping[str, Any]],
    *,
    under_way: int,
) -> Generator[Scored, None, None]:
    """Score records as they are asked for; nothing is read far ahead.

    Args:
        score: Scores one record.
        records: Any iterable, endless ones too; it is read in the calling thread.
        under_way: Records that are read before the first of them must be finished.

    Yields:
        One `Scored` per record, in order. An error of this package ends only its own record.
        Leaving the iterator early cancels what is under way.
    """
    window: deque[Future[Scored]] = deque()
    door = asyncio.Lock()
    try:
        for number, item in enumerate(records, 1):
            window.append(background.submit(_scored(score, item, number, door)))
            while window and (len(window) >= under_way or window[0].done()):
                yield _first(window)
        while window:
            yield _first(window)
    finally:
        background.cancel(window)


def _first(window: deque[Future[Scored]]) -> Scored:
    """The oldest outcome, which stays in the window, to be cancelled, while it is waited for."""
    scored = window[0].result()
    window.popleft()
    return scored


def outcomes(
    scored: Generator[Scored, None, None], *, progress: bool
) -> Generator[CoverageReport | RecordFailure, None, None]:
    """What became of each record; leaving early closes `scored`."""
    summary = RunSummary()
    with ExitStack() as stack:
        stack.enter_context(closing(scored))
        show = stack.enter_context(shown_progress("Scoring")) if progress else None
        for _, outcome in scored:
            if show is not None and isinstance(outcome, CoverageReport):
                summary.add(outcome)
                show(summary)
            yield outcome


async def _scored(
    score: Callable[[Record], Awaitable[CoverageReport]],
    item: Record | Mapping[str, Any],
    number: int,
    door: asyncio.Lock,
) -> Scored:
    async with door:  # one after the other, so that the first request is sent before all are made
        await asyncio.sleep(0)
    try:
        record = as_record(item, number)
    except InputError as error:
        return Scored(None, RecordFailure(str(number), error.code, str(error)))
    try:
        return Scored(record, await score(record))
    except FactcheckError as error:
        return Scored(record, RecordFailure(record.id, error.code, str(error)))
