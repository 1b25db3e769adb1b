"""Score a stream of records in order: with bounded concurrency, or in several processes.

Processes are for embedded judges, whose work is bound by the CPU. A line on standard error shows
the progress.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from factcheck.errors import FactcheckError, Failure, JudgeError, describe
from factcheck.facts import CoverageReport, Usage
from factcheck.records import Record, RecordLike, as_record
from factcheck.reports.text import plural
from factcheck.runtime.loop import background

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing.connection import Connection

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
Show = Callable[[int, Usage], None]
"""Displays the number of records so far, and their usage."""


class Scored(NamedTuple):
    """A record and its outcome."""

    record: Record | None
    """`None` for an invalid item."""
    outcome: Outcome


ScoreChunk = Callable[[Sequence[Record]], Iterable[Scored]]
_CHUNK = 4
"""Number of consecutive records sent to a process at once."""
_AHEAD = 4
"""Maximum number of chunks read per process, from the first unfinished one on."""


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


def score_in_processes(
    open_scorer: Callable[[], ScoreChunk],
    records: Iterable[RecordLike],
    processes: int,
) -> Generator[Scored, None, None]:
    """Score records lazily; yields the same outcomes as one process, in the same order.

    `records` is read in the calling thread, at most 16 records per process ahead of the first
    unfinished one. Each process calls `open_scorer`, which can be pickled, once there is work for
    it. Closing the iterator ends the processes. If one was killed or could not start, raises
    `JudgeError`.
    """
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
    from multiprocessing import get_context

    context = get_context("spawn")
    ours, theirs = context.Pipe()
    pool = ProcessPoolExecutor(processes, context, _start, (open_scorer, theirs))
    try:
        with closing(in_order(_submitted(pool, records_of(records)), _AHEAD * processes)) as chunks:
            for chunk in chunks:
                yield from chunk
    except BrokenProcessPool as error:
        raise JudgeError(
            "a process of the judge ended: killed, out of memory, or unable to start; records "
            "without an outcome are left to another run (--resume). If memory is short, use fewer "
            "processes; a script needs `if __name__ == '__main__':`"
        ) from error
    finally:
        ours.close()
        pool.shutdown(cancel_futures=True)
        theirs.close()


def _submitted(
    pool: ProcessPoolExecutor, records: Iterator[Record | RecordFailure]
) -> Iterator[Future[list[Scored]]]:
    while items := [*islice(records, _CHUNK)]:
        if sys.platform == "win32":
            yield pool.submit(_score, items)
            continue
        # The processes that this starts inherit the mask: Ctrl-C in the terminal is not for them.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            future = pool.submit(_score, items)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        yield future


_scorers: list[ScoreChunk] = []
"""In a process of the pool: its scorer."""


def _start(open_scorer: Callable[[], ScoreChunk], parent: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    _scorers.append(open_scorer())


def _score(items: Sequence[Record | RecordFailure]) -> list[Scored]:
    scored: list[Scored] = []
    for item in items:  # one at a time: threads would compete for the same core
        scored += _scorers[0]([item]) if isinstance(item, Record) else [Scored(None, item)]
    return scored


def _end_with(parent: Connection) -> None:
    """End this process once the run has closed its end of the pipe, or was killed."""
    with suppress(EOFError):
        parent.recv()
    os._exit(1)


@contextmanager
def show_progress(n_all: int = 0) -> Iterator[Show]:
    """Show count, time left and usage on standard error if it is a terminal.

    `n_all` is the number of records, 0 if unknown.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    from factcheck.facts.page import usage_text

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Scoring", total=n_all or None)

        def show(n_done: int, usage: Usage) -> None:
            count = (
                f"{n_done:,} of {plural(n_all, 'record')}" if n_all else plural(n_done, "record")
            )
            so_far = ", ".join(filter(None, (count, usage_text(usage))))
            bar.update(task, description=f"Scoring: {so_far}", completed=n_done)

        yield show
