"""One background loop serves every kind of caller, and asks the same question once at a time."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence

import pytest

from factcheck import FactCoverage
from factcheck.runtime.loop import BackgroundLoop, together
from factcheck.runtime.result_cache import ResultCache
from factcheck.testing import FactModel, LocalOpenAIServer


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


class Work:
    """Takes a minute, and cleans up where it is cancelled."""

    def __init__(self) -> None:
        self.started, self.cleaned = threading.Event(), threading.Event()

    async def __call__(self) -> None:
        self.started.set()
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            self.cleaned.set()


def test_cancelling_the_caller_cancels_the_work() -> None:
    loop, work = BackgroundLoop(), Work()

    async def impatient() -> None:
        hop = asyncio.ensure_future(loop.hop(work()))
        await asyncio.to_thread(work.started.wait)
        hop.cancel()
        await hop

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(impatient())
    assert work.cleaned.wait(5)


def test_when_one_fails_the_others_are_cancelled() -> None:
    one, other = Work(), Work()

    async def fails() -> None:
        raise ValueError("first")

    with pytest.raises(ValueError, match="first"):
        asyncio.run(together([one(), fails(), other()]))
    assert one.cleaned.is_set()
    assert other.cleaned.is_set()


def test_cancelling_waits_until_the_work_has_cleaned_up() -> None:
    loop, work = BackgroundLoop(), Work()
    future = loop.submit(work())
    assert work.started.wait(5)
    loop.cancel([future])
    assert work.cleaned.is_set()


def test_a_stopped_loop_starts_again() -> None:
    loop = BackgroundLoop("guest")
    assert loop.run(thread_name()) == "guest"
    loop.stop()
    assert loop.run(thread_name()) == "guest"


BARN = "The barn burned. The cow lived."


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_after_a_call_can_ask_too(monkeypatch: pytest.MonkeyPatch) -> None:
    with LocalOpenAIServer(FactModel()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        with FactCoverage("openai/tiny", cache="off") as scorer:
            assert scorer.score(BARN, BARN).score == 1.0
            child = os.fork()
            if child == 0:
                decided = scorer.score(BARN, "The barn burned.").score
                os._exit(0 if decided == 0.5 else 1)
            _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


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
    return ResultCache(None, lambda _: None, lambda data, _: str(data))


async def resolve(cache: Cache, keys: Sequence[str], ask: Ask) -> list[str]:
    return await cache.results(
        keys, list, lambda some: [[*some]] if some else [], ask, lambda _: None
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
async def test_an_error_reaches_whoever_asked_and_so_does_a_key_that_was_forgotten() -> None:
    async def fail(keys: Sequence[str]) -> list[str]:
        raise ValueError("broken")

    async def forget(keys: Sequence[str]) -> list[str]:
        return ["x"]

    for ask, says in ((fail, "broken"), (forget, "shorter")):
        with pytest.raises(ValueError, match=says):
            await resolve(flight(), ["a", "b"], ask)


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
