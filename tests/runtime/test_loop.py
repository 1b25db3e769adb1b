"""One background loop serves every kind of caller."""

from __future__ import annotations

import asyncio
import threading

import pytest

from factcheck.runtime.loop import BackgroundLoop, together


async def thread_name() -> str:
    return threading.current_thread().name


def test_work_runs_in_the_background_thread_from_anywhere() -> None:
    loop = BackgroundLoop()

    async def inside() -> tuple[str, str]:
        return await loop.hop(thread_name()), loop.run(thread_name())

    assert loop.run(thread_name()) == "factcheck-loop"
    assert asyncio.run(inside()) == ("factcheck-loop", "factcheck-loop")


def test_waiting_for_itself_is_refused_instead_of_hanging() -> None:
    loop = BackgroundLoop()

    async def blocking_inside() -> str:
        return loop.run(thread_name())

    with pytest.raises(RuntimeError, match="ascore"):
        loop.run(blocking_inside())


def test_cancelling_the_caller_cancels_the_work() -> None:
    loop = BackgroundLoop()
    cancelled = threading.Event()

    async def long_work() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def impatient() -> None:
        await asyncio.wait_for(loop.hop(long_work()), timeout=0.01)

    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(impatient())

    assert cancelled.wait(5)


def test_when_one_fails_the_others_are_cancelled() -> None:
    ended: list[str] = []

    async def fails() -> None:
        raise ValueError("first")

    async def waits() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cancelled")

    with pytest.raises(ValueError, match="first"):
        asyncio.run(together([waits(), fails(), waits()]))

    assert ended == ["cancelled", "cancelled"]
