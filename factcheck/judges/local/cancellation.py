"""Work in a thread that ends soon after whoever waits for it is cancelled."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_cancelled: contextvars.ContextVar[threading.Event] = contextvars.ContextVar("_cancelled")


class Cancelled(Exception):
    """Ends a thread whose result nobody waits for any more."""


async def run_in_thread(function: Callable[..., T], *arguments: object) -> T:
    """The result of a function that runs in a thread and passes a `checkpoint` now and then.

    If the caller is cancelled, the function ends at its next checkpoint: after Ctrl-C, the process
    does not wait for work whose result is lost.
    """
    event = threading.Event()
    context = contextvars.copy_context()
    context.run(_cancelled.set, event)
    loop = asyncio.get_running_loop()
    try:
        return await loop.run_in_executor(None, lambda: context.run(function, *arguments))
    finally:
        event.set()


def checkpoint() -> None:
    """Go on, unless the caller of `run_in_thread` was cancelled.

    Raises:
        Cancelled: It was.
    """
    event = _cancelled.get(None)
    if event is not None and event.is_set():
        raise Cancelled
