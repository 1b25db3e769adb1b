"""Work in a thread that stops soon after its caller is cancelled, or its deadline passes."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

from factcheck.runtime.deadline import require_time

T = TypeVar("T")
_cancelled: contextvars.ContextVar[threading.Event] = contextvars.ContextVar("_cancelled")


class Cancelled(Exception):
    """Raised in a thread whose result is no longer wanted."""


async def run_in_thread(function: Callable[..., T], *arguments: object) -> T:
    """Run a function that calls `checkpoint` regularly in a thread and return its result.

    If the caller is cancelled, the function stops at its next checkpoint, so that Ctrl-C does not
    wait for work whose result is lost.
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
    """Stop if the caller of `run_in_thread` was cancelled.

    Raises:
        Cancelled: The caller was cancelled.
        DeadlineExceeded: The deadline has passed.
    """
    event = _cancelled.get(None)
    if event is not None and event.is_set():
        raise Cancelled
    require_time()
