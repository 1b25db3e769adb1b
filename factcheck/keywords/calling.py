"""The caller's own function, asked many questions: some at a time, in order, errors as values."""

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

from factcheck.errors import FactcheckError, InputError, describe
from factcheck.runtime.loop import together

CALLABLE = "callable"
"""Code of an error that the caller's function raised."""


class CallFailure(NamedTuple):
    """A question that has no answer."""

    code: str
    """A code of `factcheck.errors`, or `callable`."""
    message: str


class Calling(NamedTuple):
    """How a function is asked."""

    concurrency: int = 8
    """Calls under way at most; those of an ordinary function run in as many threads."""
    progress: bool = False
    """Whether to show on standard error how many are answered, if somebody sees it."""

    def checked(self) -> Calling:
        """These settings.

        Raises:
            InputError: They cannot be used.
        """
        n = self.concurrency
        if not isinstance(n, int) or isinstance(n, bool) or n < 1:
            raise InputError(f"concurrency must be a whole number of at least 1, not {n!r}")
        return self


async def answers(
    function: Callable[..., Any], questions: Sequence[tuple[Any, ...]], calling: Calling
) -> list[Any]:
    """What a function gives for each question.

    Args:
        function: An ordinary function, which runs in threads, or an asynchronous one, which runs
            in this event loop.
        questions: The arguments of each call.
        calling: How many at a time.

    Returns:
        One answer a question, in order; a `CallFailure` where the function raised an error.
    """
    given: list[Any] = [None] * len(questions)
    waiting = iter(enumerate(questions))
    with _progress(len(questions), shown=calling.progress) as advance:

        async def work() -> None:
            for number, question in waiting:
                given[number] = await _answer(function, question)
                advance()

        await together(work() for _ in range(min(calling.concurrency, len(questions))))
    return given


async def _answer(function: Callable[..., Any], question: tuple[Any, ...]) -> Any:
    try:
        if _is_async(function):
            return await function(*question)
        call = partial(contextvars.copy_context().run, function, *question)
        given = await asyncio.wrap_future(_in_thread(call))
        return await given if inspect.isawaitable(given) else given
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the caller's
        return failure_of(error)


def _in_thread(call: Callable[[], Any]) -> Future[Any]:
    """What a call gives; its thread is a daemon, so that an interrupt need not wait for it."""
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            given = call()
        except BaseException as error:  # noqa: BLE001 - the caller's code, in a thread of its own
            given = failure_of(error)
        future.set_result(given)

    threading.Thread(target=run, name="factcheck-keywords", daemon=True).start()
    return future


def failure_of(error: BaseException) -> CallFailure:
    """An error of the caller's code, or of ours that it caused, as a value."""
    code = error.code if isinstance(error, FactcheckError) else CALLABLE
    return CallFailure(code, describe(error))


def _is_async(function: Callable[..., Any]) -> bool:
    call = getattr(function, "__call__", None)  # noqa: B004 - the method of an object
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


@contextmanager
def _progress(total: int, *, shown: bool) -> Iterator[Callable[[], None]]:
    """A bar on standard error; nothing if nobody sees it."""
    if not shown or sys.stderr is None or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("Asking"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Asking", total=total)
        yield lambda: bar.advance(task)
