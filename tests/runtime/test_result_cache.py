"""The same question asked at the same time is asked once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence

import pytest

from factcheck.runtime.result_cache import ResultCache


class Asked:
    """Answers each key with itself in capitals, and counts how often it was asked for."""

    def __init__(self, pause_s: float = 0.01) -> None:
        self.keys: list[str] = []
        self._pause_s = pause_s

    async def __call__(self, keys: Sequence[str]) -> list[str]:
        self.keys += keys
        await asyncio.sleep(self._pause_s)
        return [key.upper() for key in keys]


Cache = ResultCache[str, str]
Ask = Callable[[Sequence[str]], Awaitable[list[str]]]


def flight() -> Cache:
    return ResultCache(None, {}, lambda _: None, lambda data, _: str(data))


async def resolve(cache: Cache, keys: Sequence[str], ask: Ask) -> list[str]:
    questions = {key: key for key in keys}
    return await cache.results(
        keys, questions, lambda some: [[*some]] if some else [], ask, lambda _: None
    )


def test_callers_in_different_loops_and_threads_share_one_answer() -> None:
    ask, cache = Asked(pause_s=0.3), flight()
    answers: list[list[str]] = []
    barrier = threading.Barrier(4)

    def caller() -> None:
        barrier.wait()
        answers.append(asyncio.run(resolve(cache, ["a"], ask)))

    threads = [threading.Thread(target=caller) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == [["A"]] * 4
    assert ask.keys == ["a"]


@pytest.mark.anyio
async def test_a_question_is_asked_again_once_its_answer_has_been_given() -> None:
    ask, cache = Asked(), flight()
    await resolve(cache, ["a"], ask)
    await resolve(cache, ["a"], ask)
    assert ask.keys == ["a", "a"]


@pytest.mark.anyio
async def test_when_whoever_asked_gives_up_the_others_ask_for_themselves() -> None:
    ask, cache = Asked(pause_s=0.05), flight()
    first = asyncio.ensure_future(resolve(cache, ["a"], ask))
    await asyncio.sleep(0)
    second = asyncio.ensure_future(resolve(cache, ["a"], ask))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == ["A"]
    assert ask.keys == ["a", "a"]


@pytest.mark.anyio
async def test_a_waiter_that_gives_up_takes_nothing_from_the_others() -> None:
    ask, cache = Asked(pause_s=0.05), flight()
    first, second, third = (asyncio.ensure_future(resolve(cache, ["a"], ask)) for _ in range(3))
    await asyncio.sleep(0.01)
    second.cancel()
    assert [await first, await third] == [["A"]] * 2
    assert ask.keys == ["a"]


@pytest.mark.anyio
async def test_an_error_reaches_whoever_asked() -> None:
    async def fail(keys: Sequence[str]) -> list[str]:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await resolve(flight(), ["a"], fail)


@pytest.mark.anyio
async def test_forgetting_a_key_is_a_defect_and_not_an_endless_loop() -> None:
    async def forget(keys: Sequence[str]) -> list[str]:
        return ["x"]

    with pytest.raises(ValueError, match="shorter"):
        await resolve(flight(), ["a", "b"], forget)


@pytest.mark.anyio
@pytest.mark.parametrize("turns", range(14))
async def test_a_waiter_that_is_cancelled_with_whoever_asked_stays_cancelled(turns: int) -> None:
    ask, cache = Asked(pause_s=5), flight()
    first = asyncio.ensure_future(resolve(cache, ["a"], ask))
    await asyncio.sleep(0)
    second = asyncio.ensure_future(resolve(cache, ["a"], ask))
    await asyncio.sleep(0)
    first.cancel()
    for _ in range(turns):
        await asyncio.sleep(0)
    second.cancel()
    await asyncio.gather(first, second, return_exceptions=True)
    assert second.cancelled()
