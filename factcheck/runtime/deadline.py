"""Deadlines and cancellation: what is not decided in time is a failure with code `deadline`."""

from __future__ import annotations

import math
import os
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from typing import TypeVar

from anyio import CancelScope, CapacityLimiter, fail_after, from_thread, to_thread
from anyio.lowlevel import RunVar

from factcheck.errors import DeadlineExceeded
from factcheck.settings import require_number

Q = TypeVar("Q")
R = TypeVar("R")
_MORE_THREADS = 4
"""Threads at the same time beyond one per core."""
_ends_at: ContextVar[float] = ContextVar("_ends_at", default=math.inf)
_threads: RunVar[CapacityLimiter] = RunVar("_threads")


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Limit the time of the judging in a block, including its threads and tasks.

    Facts and pairs that are undecided by then are returned as failures with the code `deadline`,
    and their requests are cancelled. Facts that could not be extracted by then raise
    `DeadlineExceeded`. Of nested deadlines, the first to end counts.

    Args:
        seconds: Greater than 0.

    Raises:
        InputError: The number of seconds is out of range.

    Example:
        `with deadline(2.0): report = factcheck.score(source, summary)`
    """
    ends_at = time.monotonic() + require_number("seconds", seconds, above=0)
    token = _ends_at.set(min(ends_at, _ends_at.get()))
    try:
        yield
    finally:
        _ends_at.reset(token)


def remaining_s() -> float | None:
    """Seconds until the deadline, negative after it; `None` without one."""
    ends_at = _ends_at.get()
    return None if ends_at == math.inf else ends_at - time.monotonic()


def is_over() -> bool:
    """Whether the deadline has passed."""
    return time.monotonic() >= _ends_at.get()


def require_time() -> None:
    """Raise `DeadlineExceeded` after the deadline."""
    if is_over():
        raise DeadlineExceeded("undecided when the deadline passed")


@asynccontextmanager
async def within_deadline() -> AsyncIterator[None]:
    """Cancel a block at the deadline, and do not enter it later; raises `DeadlineExceeded` then."""
    require_time()
    try:
        with fail_after(remaining_s()):
            yield
    except TimeoutError:
        require_time()
        raise


def decide_each(
    decide: Callable[[Q], R], questions: Iterable[Q], failed: Callable[[Q, DeadlineExceeded], R]
) -> tuple[R, ...]:
    """Map `decide` over questions in order; `failed` makes the results of those left over."""

    def one(question: Q) -> R:
        try:
            require_time()
            return decide(question)
        except DeadlineExceeded as error:
            return failed(question, error)

    return tuple(map(one, questions))


async def run_in_thread(function: Callable[..., R], *arguments: object) -> R:
    """Run a function that calls `checkpoint` regularly in a thread and return its result.

    If the caller is cancelled, the function stops at its next checkpoint, so that Ctrl-C does not
    wait for work whose result is lost.
    """
    limiter = _threads.get(None)
    if limiter is None:
        limiter = CapacityLimiter((os.cpu_count() or 1) + _MORE_THREADS)
        _threads.set(limiter)
    with CancelScope() as scope:
        try:
            return await to_thread.run_sync(
                function, *arguments, abandon_on_cancel=True, limiter=limiter
            )
        finally:
            scope.cancel()  # which an abandoned function notices
    raise AssertionError("a scope that ends with its work catches nothing")


def checkpoint() -> None:
    """Stop if the caller of `run_in_thread` was cancelled, or the deadline has passed.

    Raises `asyncio.CancelledError` or `DeadlineExceeded`.
    """
    with suppress(RuntimeError):  # called in another thread
        from_thread.check_cancelled()
    require_time()
