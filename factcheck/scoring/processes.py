"""Score records in several processes, for embedded judges, whose work is bound by the CPU."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from itertools import chain, islice
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import cast

from factcheck.errors import JudgeError
from factcheck.records import Record, RecordLike
from factcheck.scoring.many import Scored, groups_of

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
    groups = groups_of(records, 1)
    n_sent, n_yielded, is_read = 0, 0, False
    workers: dict[Connection, SpawnProcess] = {}
    busy: dict[Connection, int] = {}
    scored: dict[int, list[Scored]] = {}
    try:
        while busy or scored or not is_read:
            while len(busy) < processes and n_sent - n_yielded < _AHEAD * processes:
                items = [*chain.from_iterable(islice(groups, _CHUNK))]
                if is_read := not items:
                    break
                pipe = next((one for one in workers if one not in busy), None)
                pipe = pipe or _start(open_scorer, workers)
                busy[pipe] = n_sent
                n_sent += 1
                with suppress(BrokenPipeError):  # the process has died: `_receive` reports it
                    pipe.send(items)
            while n_yielded in scored:
                yield from scored.pop(n_yielded)
                n_yielded += 1
            for pipe in cast("list[Connection]", wait(busy) if busy else []):
                scored[busy.pop(pipe)] = _receive(pipe, workers[pipe])
    finally:
        for process in workers.values():
            process.kill()
        for pipe, process in workers.items():
            process.join()
            pipe.close()


def _start(
    open_scorer: Callable[[], ScoreChunk], workers: dict[Connection, SpawnProcess]
) -> Connection:
    context = get_context("spawn")
    pipe, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, open_scorer), daemon=True)
    if sys.platform == "win32":
        process.start()
    else:  # Ctrl-C in the terminal is for this process only
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    theirs.close()
    workers[pipe] = process
    return pipe


def _receive(pipe: Connection, process: SpawnProcess) -> list[Scored]:
    try:
        scored: list[Scored] = pipe.recv()
    except (EOFError, ConnectionResetError) as error:
        process.join()
        raise JudgeError(
            f"a process of the judge ended with code {process.exitcode}: killed, out of memory, or "
            "unable to start; records without an outcome are left to another run (--resume). "
            "If memory is short, use fewer processes; a script needs `if __name__ == '__main__':`"
        ) from error
    return scored


def _work(pipe: Connection, open_scorer: Callable[[], ScoreChunk]) -> None:
    """Score chunks until the parent ends this process, or has ended itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    score = open_scorer()
    with suppress(EOFError, BrokenPipeError):
        while True:
            scored: list[Scored] = []
            for item in pipe.recv():  # one at a time: threads would compete for the same core
                scored += score([item]) if isinstance(item, Record) else [Scored(None, item)]
            pipe.send(scored)


def _end_with_parent() -> None:
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)
