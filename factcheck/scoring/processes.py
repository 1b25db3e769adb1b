"""Score records in several processes, for embedded judges, whose work is bound by the CPU."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, suppress
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection

from factcheck.errors import JudgeError
from factcheck.records import Record, RecordLike
from factcheck.scoring.many import RecordFailure, Scored, in_order, records_of

ScoreChunk = Callable[[Sequence[Record]], Iterable[Scored]]
_CHUNK = 4
"""Number of consecutive records sent to a process at once."""
_AHEAD = 4
"""Maximum number of chunks read per process, from the first unfinished one on."""


def score_in_processes(
    open_scorer: Callable[[], ScoreChunk],
    records: Iterable[RecordLike],
    processes: int,
) -> Generator[Scored, None, None]:
    """Score records lazily; yields the same outcomes as one process, in the same order.

    `records` is read in the calling thread, at most 16 records per process ahead of the first
    unfinished one. Closing the iterator ends the processes.

    Args:
        open_scorer: Called once in each process; can be pickled.
        records: Valid and invalid records; see `score_records`.
        processes: Maximum number of processes; each starts when there is work for it.

    Raises:
        JudgeError: A process was killed or could not start.
    """
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
