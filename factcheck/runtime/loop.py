"""One background event loop for everything that talks to the network.

Connections belong to the loop they were opened in. A loop of our own lets synchronous callers,
callers inside a running loop (a notebook, a web server) and callers in threads share one client.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterable
from concurrent.futures import Future
from typing import Any, TypeVar

from factcheck.errors import describe

T = TypeVar("T")
_CLEAN_UP_S = 2.0
"""Seconds that work which was interrupted may take to close what it opened."""


class BackgroundLoop:
    """An event loop in a daemon thread, started on first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._thread is None or not self._thread.is_alive():
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="factcheck-loop", daemon=True
                )
                self._thread.start()
            return self._loop

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start `work` in the background loop."""
        return asyncio.run_coroutine_threadsafe(_contained(work), self._running())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for `work`, blocking this thread; an interrupt cancels it.

        Raises:
            RuntimeError: Called from the background loop itself, where waiting would never end.
        """
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError(
                "a synchronous factcheck call inside an asynchronous judge would wait for itself; "
                "await the asynchronous form (ascore, acheck, aextract) instead"
            )
        ended = threading.Event()
        future = self.submit(_told_at_end(work, ended))
        try:
            return future.result()
        except BaseException:
            if future.cancel():
                ended.wait(_CLEAN_UP_S)  # what is open is closed before the program may end
            raise

    async def hop(self, work: Coroutine[Any, Any, T]) -> T:
        """Await `work` in the background loop from whatever loop this is; cancelled with it."""
        if threading.current_thread() is self._thread:
            return await work
        return await asyncio.wrap_future(self.submit(work))


async def _told_at_end(work: Coroutine[Any, Any, T], ended: threading.Event) -> T:
    try:
        return await work
    finally:
        ended.set()


async def _contained(work: Coroutine[Any, Any, T]) -> T:
    """What would end the program is an error here: it would end the loop that others wait for."""
    try:
        return await work
    except (SystemExit, KeyboardInterrupt) as error:
        if threading.current_thread() is threading.main_thread():
            raise
        raise RuntimeError(f"{describe(error)}, raised by the code that was called") from error


async def together(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Results of all, in order; as soon as one fails, the others are cancelled."""
    tasks = [asyncio.ensure_future(_contained(work)) for work in works]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


background = BackgroundLoop()
"""The loop every synchronous call and every connection of this process uses."""
