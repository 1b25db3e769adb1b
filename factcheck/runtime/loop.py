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
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable
from concurrent.futures import Future
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from factcheck.errors import describe

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")
_CLEAN_UP_S = 2.0
"""Maximum number of seconds for cancelled work to clean up."""


class BackgroundLoop:
    """An event loop in a daemon thread, started on first use."""

    def __init__(self, name: str = "factcheck-loop") -> None:
        self._name = name
        self._lock = threading.Lock()
        self._running: _Running | None = None
        self._thread: threading.Thread | None = None
        self._submitted: WeakKeyDictionary[Future[Any], _Contained[Any]] = WeakKeyDictionary()

    @property
    def is_current(self) -> bool:
        return threading.current_thread() is self._thread

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        future = asyncio.run_coroutine_threadsafe(contained := _Contained(work), self._start())
        self._submitted[future] = contained
        return future

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` and block until it is done; an interrupt cancels it.

        Raises:
            RuntimeError: Called from this loop, where it would deadlock.
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
        works = [self._submitted[future] for future in futures if future.cancel()]
        deadline = time.monotonic() + _CLEAN_UP_S
        for work in works:
            work.ended.wait(max(0.0, deadline - time.monotonic()))

    def stop(self) -> None:
        """Stop the loop, cancelling what is left in it; the next use starts another."""
        with self._lock:
            if self._running is not None and self._thread is not None and self._thread.is_alive():
                self._running.loop.call_soon_threadsafe(self._running.stopped.set)
            self._running = self._thread = None

    def _start(self) -> asyncio.AbstractEventLoop:
        """Return the loop, which is started unless it is running."""
        with self._lock:
            if self._running is None or self._thread is None or not self._thread.is_alive():
                started: Future[_Running] = Future()
                self._thread = threading.Thread(
                    target=asyncio.run, args=(_serve(started),), name=self._name, daemon=True
                )
                self._thread.start()
                self._running = started.result()
            return self._running.loop


class _Running(NamedTuple):
    loop: asyncio.AbstractEventLoop
    stopped: asyncio.Event


async def _serve(started: Future[_Running]) -> None:
    """Keep the loop running until the event is set that `started` gets."""
    stopped = asyncio.Event()
    started.set_result(_Running(asyncio.get_running_loop(), stopped))
    await stopped.wait()


class _Contained(Coroutine[Any, Any, T]):
    """A coroutine that cannot stop its loop and causes no warning when cancelled early.

    A wrapping `async def` cancelled before its first step would leave the inner one unawaited.
    """

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._work = work
        self.ended = threading.Event()

    def send(self, value: Any) -> Any:
        try:
            return self._work.send(value)
        except BaseException as error:
            self._end(error)
            raise

    def throw(self, *error: Any) -> Any:
        try:
            return self._work.throw(*error)
        except BaseException as raised:
            self._end(raised)
            raise

    def close(self) -> None:
        self._work.close()
        self.ended.set()

    def __await__(self) -> Generator[Any, Any, T]:
        return self._work.__await__()

    def _end(self, error: BaseException) -> None:
        """Convert exceptions that would stop the loop, which others share, into an error."""
        self.ended.set()
        if (
            isinstance(error, (SystemExit, KeyboardInterrupt))
            and threading.current_thread() is not threading.main_thread()
        ):
            raise RuntimeError(f"{describe(error)}, raised by the code that was called") from error


async def together(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Gather results in order; the first failure cancels the other coroutines."""
    works = list(works)
    if len(works) == 1:
        return [await works[0]]
    tasks = [asyncio.ensure_future(_Contained(work)) for work in works]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
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
