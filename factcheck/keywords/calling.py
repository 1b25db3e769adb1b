"""Calls of user functions: several at a time, results in order, errors as values."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from factcheck.errors import FactcheckError, Failure, InputError, describe
from factcheck.runtime.loop import together


class Call(NamedTuple):
    """An ordinary function, called in a thread, or an asynchronous one, awaited in this loop."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


def check_concurrency(concurrency: int) -> None:
    if not isinstance(concurrency, int) or isinstance(concurrency, bool) or concurrency < 1:
        raise InputError(f"concurrency must be an integer of at least 1, got {concurrency!r}")


async def call_each(calls: Sequence[Call], *, concurrency: int, progress: bool) -> list[Any]:
    """One result per call, in order; a `Failure` where the function raised an error."""
    results: list[Any] = [None] * len(calls)
    waiting = iter(enumerate(calls))
    with _progress_bar(len(calls), shown=progress) as advance:

        async def work() -> None:
            for number, call in waiting:
                results[number] = await _result(call)
                advance()

        await together(work() for _ in range(min(concurrency, len(calls))))
    return results


async def _result(call: Call) -> Any:
    method = getattr(call.function, "__call__", None)  # noqa: B004 - the method of an object
    try:
        if any(map(inspect.iscoroutinefunction, (call.function, method))):
            return await call.function(*call.arguments)
        result = await asyncio.wrap_future(_in_thread(partial(call.function, *call.arguments)))
        return await result if inspect.isawaitable(result) else result
    except (Exception, SystemExit) as error:  # noqa: BLE001 - raised by the user's function
        return failure_of(error)


def _in_thread(call: Callable[[], Any]) -> Future[Any]:
    """The result of a call in a daemon thread, so that an interrupt need not wait for it."""
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            result = context.run(call)
        except BaseException as error:  # noqa: BLE001 - raised by the user's function
            result = failure_of(error)
        future.set_result(result)

    threading.Thread(target=run, name="factcheck-keywords", daemon=True).start()
    return future


def failure_of(error: BaseException, subject: str = "") -> Failure[str]:
    """A failure for an error that the user's code raised or caused."""
    code = error.code if isinstance(error, FactcheckError) else "callable"
    return Failure(subject, code, describe(error))


@contextmanager
def _progress_bar(total: int, *, shown: bool) -> Iterator[Callable[[], None]]:
    if not shown or sys.stderr is None or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("Calling"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Calling", total=total)
        yield lambda: bar.advance(task)
