"""The caller's function is asked a few questions at a time, and its errors are values."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import Any

import pytest

from factcheck.errors import Failure, InputError, JudgeRefused
from factcheck.keywords.calling import Call, call_each, check_concurrency


def asked(function: Any, n: int, concurrency: int = 4) -> list[Any]:
    """The results of `n` calls."""
    calls = [Call(function, (number,)) for number in range(n)]
    return asyncio.run(call_each(calls, concurrency=concurrency, progress=True))


def test_answers_come_in_the_order_of_the_questions() -> None:
    async def slow_first(number: int) -> int:
        for _ in range(20 - number):
            await asyncio.sleep(0)
        return number

    assert asked(slow_first, 20) == list(range(20))
    assert asked(lambda number: number * 2, 20) == list(range(0, 40, 2))


def test_no_more_calls_are_under_way_than_allowed() -> None:
    under_way, most = 0, 0

    async def call(number: int) -> int:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        for _ in range(3):
            await asyncio.sleep(0)
        under_way -= 1
        return number

    asked(call, 30, concurrency=3)

    assert most == 3


def test_ordinary_functions_run_at_the_same_time_in_threads() -> None:
    """Each call waits until all four are there; one after the other they would wait for ever."""
    together = threading.Barrier(4, timeout=30)

    assert sorted(asked(lambda _: together.wait(), 4)) == [0, 1, 2, 3]


def test_errors_are_values_and_the_other_answers_are_there() -> None:
    def call(number: int) -> int:
        if number == 1:
            raise JudgeRefused("not this one")
        if number == 2:
            raise KeyError
        return number

    async def acall(number: int) -> int:
        return call(number)

    expected = [0, Failure("", "refused", "not this one"), Failure("", "callable", "KeyError"), 3]
    assert asked(call, 4) == asked(acall, 4) == expected


def test_a_function_that_leaves_the_program_gives_an_error() -> None:
    """The loop would end with it, and nobody would ever be told."""

    def leave(_: int) -> int:
        raise SystemExit(3)

    assert asked(leave, 1) == [Failure("", "callable", "SystemExit: 3")]


def test_no_thread_keeps_the_process_alive() -> None:
    """After an interrupt nobody waits for a model that is still thinking."""
    assert asked(lambda _: threading.current_thread().daemon, 3) == [True] * 3


def test_context_variables_are_seen_in_threads() -> None:
    user: contextvars.ContextVar[str] = contextvars.ContextVar("user")
    user.set("me")

    assert asked(lambda _: user.get("nobody"), 2) == ["me", "me"]


def test_no_questions_have_no_answers() -> None:
    assert asked(lambda _: 1, 0) == []


def test_an_interrupt_ends_the_run() -> None:
    started = []

    async def call(number: int) -> int:
        started.append(number)
        if number == 1:
            raise KeyboardInterrupt
        await asyncio.Event().wait()
        return number

    with pytest.raises(KeyboardInterrupt):
        asked(call, 10, concurrency=2)
    assert started == [0, 1]


@pytest.mark.parametrize("concurrency", [0, -1, 1.5, True, None])
def test_a_concurrency_that_is_none_is_refused(concurrency: Any) -> None:
    with pytest.raises(InputError, match="concurrency must be an integer of at least 1"):
        check_concurrency(concurrency)


def test_progress_shows_nothing_where_nobody_sees_it(capfd: pytest.CaptureFixture[str]) -> None:
    assert asked(lambda number: number, 2) == [0, 1]
    assert capfd.readouterr() == ("", "")


class Unspeakable(Exception):
    """Cannot even be told."""

    def __str__(self) -> str:
        raise ValueError("no words")


@pytest.mark.parametrize(
    "error", [StopIteration(), KeyboardInterrupt(), BaseException("x"), Unspeakable()]
)
def test_whatever_a_callable_raises_is_the_failure_of_its_case(error: BaseException) -> None:
    def call(number: int) -> int:
        if number == 1:
            raise error
        return number

    first, second, third = asked(call, 3)
    assert (first, third) == (0, 2)
    assert second.message.startswith(type(error).__name__)
