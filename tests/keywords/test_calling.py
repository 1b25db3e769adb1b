"""Functions of the user: a few calls at a time, results in order, errors as values."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import Any

import pytest

from factcheck.errors import Failure, InputError, JudgeRefused
from factcheck.keywords.calling import Call, call_each, check_concurrency


def results(function: Any, n: int, concurrency: int = 4) -> list[Any]:
    """The results of `n` calls."""
    calls = [Call(function, (number,)) for number in range(n)]
    return asyncio.run(call_each(calls, concurrency=concurrency, progress=True))


def test_results_come_in_the_order_of_the_calls(capfd: pytest.CaptureFixture[str]) -> None:
    async def slow_first(number: int) -> int:
        for _ in range(20 - number):
            await asyncio.sleep(0)
        return number

    assert results(slow_first, 20) == list(range(20))
    assert results(lambda number: number * 2, 20) == list(range(0, 40, 2))
    assert results(slow_first, 0) == []
    assert capfd.readouterr() == ("", "")


def test_concurrency_is_limited() -> None:
    running, most = 0, 0

    async def call(_: int) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(3):
            await asyncio.sleep(0)
        running -= 1

    results(call, 30, concurrency=3)

    assert most == 3


def test_ordinary_functions_run_in_concurrent_daemon_threads_with_context() -> None:
    """Each call waits until all four have started; one after the other they would hang."""
    together = threading.Barrier(4, timeout=30)
    user: contextvars.ContextVar[str] = contextvars.ContextVar("user")
    user.set("me")

    def call(_: int) -> tuple[bool, str]:
        together.wait()
        return threading.current_thread().daemon, user.get("nobody")

    assert results(call, 4) == [(True, "me")] * 4


class Unprintable(Exception):
    """An error without a message."""

    def __str__(self) -> str:
        raise ValueError("no words")


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (JudgeRefused("not this one"), Failure("", "refused", "not this one")),
        (KeyError(), Failure("", "callable", "KeyError")),
        (SystemExit(3), Failure("", "callable", "SystemExit: 3")),
        (StopIteration(), None),
        (KeyboardInterrupt(), None),
        (BaseException("x"), None),
        (Unprintable(), None),
    ],
)
def test_errors_are_values_and_the_other_results_are_kept(
    error: BaseException, failure: Failure[str] | None
) -> None:
    def call(number: int) -> int:
        if number == 1:
            raise error
        return number

    first, failed, third = results(call, 3)

    assert (first, third) == (0, 2)
    assert failed == failure if failure else failed.message.startswith(type(error).__name__)


def test_asynchronous_functions_have_errors_as_values_too() -> None:
    async def call(number: int) -> int:
        return 1 // number

    failure = Failure("", "callable", "ZeroDivisionError: integer division or modulo by zero")
    assert results(call, 2) == [failure, 1]


def test_an_interrupt_ends_the_run() -> None:
    started = []

    async def call(number: int) -> None:
        started.append(number)
        if number == 1:
            raise KeyboardInterrupt
        await asyncio.Event().wait()

    with pytest.raises(KeyboardInterrupt):
        results(call, 10, concurrency=2)
    assert started == [0, 1]


@pytest.mark.parametrize("concurrency", [0, -1, 1.5, True, None])
def test_an_invalid_concurrency_is_refused(concurrency: Any) -> None:
    with pytest.raises(InputError, match="concurrency must be an integer of at least 1"):
        check_concurrency(concurrency)
