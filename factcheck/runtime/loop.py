"""Event loops in daemon threads, and values that a forked child must not inherit.

Connections belong to the loop they were opened in. A loop of our own lets synchronous callers,
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
from typing import Any, Generic, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from factcheck.errors import describe

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")
_CLEAN_UP_S = 2.0
"""Seconds that interrupted work may take to close what it opened."""


class BackgroundLoop:
    """An event loop in a daemon thread, started on first use."""

    def __init__(self, name: str = "factcheck-loop") -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._works: WeakKeyDictionary[Future[Any], _Contained[Any]] = WeakKeyDictionary()

    @property
    def is_current(self) -> bool:
        return threading.current_thread() is self._thread

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        future = asyncio.run_coroutine_threadsafe(contained := _Contained(work), self._running())
        self._works[future] = contained
        return future

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for `work`, blocking this thread; an interrupt cancels it.

        Raises:
            RuntimeError: Called from this loop itself, where waiting would never end.
        """
        if self.is_current:
            work.close()
            raise RuntimeError(
                "a synchronous factcheck call inside an asynchronous judge would wait for itself; "
                "await the asynchronous form (ascore, acheck, aextract) instead"
            )
        future = asyncio.run_coroutine_threadsafe(contained := _Contained(work), self._running())
        try:
            return future.result()
        except BaseException:
            if future.cancel():
                contained.ended.wait(_CLEAN_UP_S)
            raise

    async def hop(self, work: Coroutine[Any, Any, T]) -> T:
        """Await `work` in this loop from whatever loop this is; cancelled with it."""
        if self.is_current:
            return await work
        return await asyncio.wrap_future(self.submit(work))

    def cancel(self, futures: Iterable[Future[Any]]) -> None:
        """Cancel submitted work, and wait up to 2 s until it has closed what it opened."""
        works = [self._works[future] for future in futures if future.cancel()]
        deadline = time.monotonic() + _CLEAN_UP_S
        for work in works:
            work.ended.wait(max(0.0, deadline - time.monotonic()))

    def stop(self) -> None:
        """End the thread once its loop is free; used again, the loop starts again."""
        with self._lock:
            if self._loop is not None and self._thread is not None and self._thread.is_alive():
                self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop = self._thread = None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._thread is None or not self._thread.is_alive():
                self._loop = asyncio.new_event_loop()
                loop = self._loop
                self._thread = threading.Thread(
                    target=lambda: (loop.run_forever(), loop.close()), name=self._name, daemon=True
                )
                self._thread.start()
            return self._loop


class _Contained(Coroutine[Any, Any, T]):
    """A coroutine that cannot end its loop, and is not left unawaited when cancelled early.

    A wrapping `async def` would be: cancelled before its first step, it never awaits what it wraps.
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
        """Turn what would end the program into an error: it would end the loop of others."""
        self.ended.set()
        if (
            isinstance(error, (SystemExit, KeyboardInterrupt))
            and threading.current_thread() is not threading.main_thread()
        ):
            raise RuntimeError(f"{describe(error)}, raised by the code that was called") from error


async def together(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Results of all, in order; as soon as one fails, the others are cancelled."""
    tasks = [asyncio.ensure_future(_Contained(work)) for work in works]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


async def each(work: Callable[[S], Awaitable[T]], items: Iterable[S], at_once: int) -> list[T]:
    """The result for each item, in order, with at most `at_once` of them under way."""
    slots = asyncio.Semaphore(at_once)

    async def one(item: S) -> T:
        async with slots:
            return await work(item)

    return await together(map(one, items))


async def call(
    function: Callable[..., Any], *arguments: Any, failed: Callable[[BaseException], T]
) -> Any | T:
    """What a function of the user's returns, or `failed` of the error that it raised.

    The function runs in a thread; what it returns is awaited in this loop, if it can be.
    """

    def in_thread() -> Any:
        try:
            return function(*arguments)
        except BaseException as error:  # noqa: BLE001 - the function may raise anything
            return failed(error)

    try:
        result = await asyncio.to_thread(in_thread)
        return await result if inspect.isawaitable(result) else result
    except (Exception, SystemExit) as error:  # noqa: BLE001 - so may its coroutine
        return failed(error)


background = BackgroundLoop()
"""The loop every synchronous call and every connection of this process uses."""


def blocking(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The synchronous form of an asynchronous function whose name starts with `a`."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        return background.run(function(*args, **kwargs))

    call.__name__ = call.__qualname__ = function.__name__.removeprefix("a")
    return call


class PerProcess(Generic[T]):
    """A value that is made anew in every process: connections, limits, requests in flight."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: tuple[int, T] | None = None

    def __call__(self) -> T:
        process = os.getpid()
        if self._made is None or self._made[0] != process:
            self._made = (process, self._make())
        return self._made[1]

    def take(self) -> T | None:
        """The value of this process if it was made, and forget it."""
        made, self._made = self._made, None
        return made[1] if made is not None and made[0] == os.getpid() else None
