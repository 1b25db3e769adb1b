"""Event loops in daemon threads, and values that must not survive a fork.

Connections belong to the loop they were opened in. A dedicated loop lets synchronous callers,
callers inside a running loop (a notebook, a web server) and callers in threads share one client.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Any, Generic, ParamSpec, TypeVar

from anyio import CancelScope

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")
_CLEAN_UP_S = 2.0
"""Maximum number of seconds for cancelled work to clean up."""


class PerProcess(Generic[T]):
    """A value created once per process: connections, limits, requests in flight."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._entry: tuple[int, T] | None = None

    def __call__(self) -> T:
        process = os.getpid()
        if self._entry is None or self._entry[0] != process:
            self._entry = (process, self._make())
        return self._entry[1]

    def take(self) -> T | None:
        """Remove and return the value of this process, or `None` if there is none."""
        entry, self._entry = self._entry, None
        return entry[1] if entry is not None and entry[0] == os.getpid() else None


class BackgroundLoop:
    """An event loop in a daemon thread, started on first use.

    It is asyncio's own: work that is cancelled in a portal of anyio cannot await anything while it
    cleans up.
    """

    def __init__(self, name: str = "factcheck-loop") -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop = PerProcess(self._start)
        self._thread: threading.Thread | None = None

    @property
    def is_current(self) -> bool:
        return threading.current_thread() is self._thread

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        with self._lock:
            return asyncio.run_coroutine_threadsafe(work, self._loop())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` and block until it is done; an interrupt cancels it.

        Called from this loop, where it would deadlock, it raises `RuntimeError`.
        """
        if self.is_current:
            work.close()
            raise RuntimeError(
                "a synchronous factcheck call inside an asynchronous judge would deadlock; "
                "await the asynchronous form (ascore, acheck, aextract) instead"
            )
        future = self.submit(work)
        try:
            return future.result()
        except BaseException:
            self.cancel([future])
            raise

    def hop(self, work: Coroutine[Any, Any, T]) -> Awaitable[T]:
        """Return `work` as done in this loop, to be awaited in any loop; a cancel is passed on."""
        return work if self.is_current else asyncio.wrap_future(self.submit(work))

    def cancel(self, futures: Iterable[Future[Any]]) -> None:
        """Cancel submitted work and wait up to 2 s for it to clean up."""
        wait([future for future in futures if future.cancel()], _CLEAN_UP_S)

    def stop(self) -> None:
        """Stop the loop, cancelling what is left in it; the next use starts another."""
        with self._lock:
            loop = self._loop.take()
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)

    def _start(self) -> asyncio.AbstractEventLoop:
        started: Future[asyncio.AbstractEventLoop] = Future()
        self._thread = threading.Thread(
            target=_serve, args=(started,), name=self._name, daemon=True
        )
        self._thread.start()
        return started.result()


def _serve(started: Future[asyncio.AbstractEventLoop]) -> None:
    """Run a loop until it is stopped; work that exits does not stop it, because others share it."""
    loop = asyncio.new_event_loop()
    loop.call_soon(started.set_result, loop)
    is_stopped = False
    while not is_stopped:
        with suppress(SystemExit, KeyboardInterrupt):  # the future of the work has it
            loop.run_forever()
            is_stopped = True
    loop.run_until_complete(_cancelled(asyncio.all_tasks(loop)))
    loop.close()


async def _cancelled(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks, and wait until they have cleaned up."""
    for task in tasks:
        task.cancel()
    with CancelScope(shield=True):
        await asyncio.gather(*tasks, return_exceptions=True)


async def together(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Gather results in order; the first failure cancels the other coroutines."""
    works = list(works)
    if len(works) == 1:
        return [await works[0]]
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        await _cancelled(tasks)
        raise


async def each(work: Callable[[S], Awaitable[T]], items: Iterable[S], at_once: int) -> list[T]:
    """Map `work` over items, in order, with at most `at_once` of them in progress."""
    slots = asyncio.Semaphore(at_once)

    async def one(item: S) -> T:
        async with slots:
            return await work(item)

    return await together(map(one, items))


async def call(
    function: Callable[..., Any], *arguments: Any, failed: Callable[[BaseException], T]
) -> Any | T:
    """Call a user-defined function in a thread; on an exception, return `failed(exception)`.

    An awaitable result is awaited in this loop.
    """

    def in_thread() -> Any:
        try:
            return function(*arguments)
        except BaseException as error:  # noqa: BLE001 - the function may raise anything
            return failed(error)

    try:
        result = await asyncio.to_thread(in_thread)
        return await result if inspect.isawaitable(result) else result
    except (Exception, SystemExit) as error:  # noqa: BLE001 - its coroutine may raise anything
        return failed(error)


background = BackgroundLoop()
"""The loop of all synchronous calls and connections in this process."""


def blocking(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Return the synchronous form of an asynchronous function whose name starts with `a`."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        return background.run(function(*args, **kwargs))

    call.__name__ = call.__qualname__ = function.__name__.removeprefix("a")
    return call
