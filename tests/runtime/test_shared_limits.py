"""A run on several machines keeps its rate and its budget in Redis, whoever is killed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import Any

import pytest

from factcheck import Budget
from factcheck.errors import BudgetExceeded, ConfigError, JudgeUnavailable
from factcheck.facts import Usage
from factcheck.runtime.budget import BudgetTracker
from factcheck.runtime.cache import redis as redis_module
from factcheck.runtime.cache.redis import RedisCache, SharedLimits
from factcheck.runtime.retry import Limiter
from factcheck.runtime.session import Session
from tests.runtime.cache.conftest import empty_redis, free_port, redis_on, redis_url

__all__ = ["empty_redis", "redis_url"]


@pytest.fixture
def limits(empty_redis: str) -> Callable[[], SharedLimits]:
    """Makes the limits of one run, with a connection each, as every process has them."""
    return lambda: SharedLimits(RedisCache(empty_redis), "nightly")


async def send(tracker: BudgetTracker, most: int, actual: int | None, seconds: float = 0.0) -> None:
    async with tracker.reserve(Usage(prompt_tokens=most)) as spent:
        await asyncio.sleep(seconds)
        if actual is not None:
            spent.append(Usage(prompt_tokens=actual))


async def sent(*requests: Awaitable[None]) -> int:
    """How many of the requests were sent; the others had no budget."""
    found = await asyncio.gather(*requests, return_exceptions=True)
    assert all(one is None or isinstance(one, BudgetExceeded) for one in found)
    return found.count(None)


def twice(*asked: Any, evaluate: Any = RedisCache.evaluate) -> Any:
    """Ask the server, and ask again."""
    return [evaluate(*asked) for _ in range(2)][1]


def test_processes_spend_one_budget_to_the_last_call(limits: Callable[[], SharedLimits]) -> None:
    """One that asks for little leaves the rest to the other."""
    budget = Budget(max_calls=20, max_cost_usd=9.0)
    one, other = (BudgetTracker(budget, limits()) for _ in range(2))

    async def work() -> tuple[int, int]:
        few = await sent(*(send(one, 1, 1) for _ in range(3)))
        return few, await sent(*(send(other, 1, None) for _ in range(30)))

    assert asyncio.run(work()) == (3, 17)
    assert asyncio.run(sent(send(one, 1, 1))) == 0


def test_upper_bounds_of_another_process_do_not_end_a_run_early(
    limits: Callable[[], SharedLimits],
) -> None:
    one, other = (BudgetTracker(Budget(max_tokens=100), limits()) for _ in range(2))

    async def work() -> int:
        return await sent(
            *(send(tracker, 50, 10, 0.1) for tracker in (one, other) for _ in range(4))
        )

    assert asyncio.run(work()) == 6  # the seventh could need 50 of the 40 that are left

    async def ask_for_too_much() -> None:
        async with one.reserve(Usage(prompt_tokens=1)):
            await send(other, 101, 1)

    with pytest.raises(BudgetExceeded, match="100 tokens"):
        asyncio.run(ask_for_too_much())


def test_what_a_killed_process_had_reserved_counts_and_nobody_waits_for_it(
    limits: Callable[[], SharedLimits], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:  # the client asks again if an answer is lost
        patch.setattr(RedisCache, "evaluate", twice)
        patch.setattr(redis_module, "HOLD_S", 0)
        _, refused = asyncio.run(limits().reserve({"max_tokens": 60}, {"max_tokens": 100}))
        assert not refused
    other = BudgetTracker(Budget(max_tokens=100), limits())
    with pytest.raises(BudgetExceeded, match="100 tokens"):
        asyncio.run(send(other, 50, 1))
    asyncio.run(send(other, 40, 40))


def test_what_is_settled_while_the_server_is_away_is_settled_later_and_once(
    limits: Callable[[], SharedLimits],
) -> None:
    tracker = BudgetTracker(Budget(max_calls=4), limits())

    async def work() -> int:
        with pytest.MonkeyPatch.context() as patch:
            async with tracker.reserve(Usage()):  # it ends while the server is away
                patch.setattr(RedisCache, "evaluate", lambda *_: None)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(RedisCache, "evaluate", twice)
            return await sent(*(send(tracker, 1, 1) for _ in range(9)))

    assert asyncio.run(work()) == 3


def test_a_server_that_has_lost_its_data_learns_from_the_processes(
    empty_redis: str, limits: Callable[[], SharedLimits]
) -> None:
    import redis

    one, other = (BudgetTracker(Budget(max_calls=10), limits()) for _ in range(2))

    async def work() -> list[int]:
        before = [await sent(*(send(t, 1, 1) for _ in range(3))) for t in (one, other)]
        with redis.Redis.from_url(empty_redis) as client, pytest.MonkeyPatch.context() as patch:
            async with other.reserve(Usage()):  # it ends while the server is away
                client.flushall()
                patch.setattr(RedisCache, "evaluate", lambda *_: None)
            patch.undo()
            after = await sent(*(send(other, 1, 1) for _ in range(4)))
            client.flushall()
        return [*before, after, await sent(send(other, 1, 1))]

    assert asyncio.run(work()) == [3, 3, 3, 0]


def test_turns_of_a_model_are_evenly_spread_over_all_processes(
    limits: Callable[[], SharedLimits],
) -> None:
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    async def work() -> None:
        limiters = [Limiter(8, rpm=1, shared=limits(), model=name) for name in ("a", "a", "b")]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(asyncio, "sleep", note)
            for limiter in 2 * limiters:
                async with limiter.slot():
                    limiter.answered()

    asyncio.run(work())
    assert [round(wait / 60) for wait in waits] == [0, 1, 0, 2, 3, 1]


def test_a_clock_that_has_jumped_back_holds_nobody_up(
    empty_redis: str, limits: Callable[[], SharedLimits]
) -> None:
    import redis

    asyncio.run(limits().turn("a", 1.0))
    with redis.Redis.from_url(empty_redis) as client:
        (key,) = client.keys()
        client.incrbyfloat(key, 400 * 86_400)
    assert asyncio.run(limits().turn("a", 1.0)) < 1.0


def test_without_its_server_a_run_sends_nothing_and_with_it_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("redis")
    monkeypatch.setattr(redis_module, "PAUSE_S", 0.0)
    port = free_port()
    shared = SharedLimits(RedisCache(f"redis://127.0.0.1:{port}/0"), "nightly")
    tracker, limiter = BudgetTracker(Budget(max_calls=3), shared), Limiter(2, 600, shared=shared)

    async def one() -> None:
        async with tracker.reserve(Usage()) as spent, limiter.slot():
            spent.append(Usage())

    for is_there in (False, True, False, True):
        with ExitStack() as stack:
            if is_there:
                stack.enter_context(redis_on(port))
            else:
                stack.enter_context(pytest.raises(JudgeUnavailable, match="does not answer"))
            asyncio.run(one())
    with redis_on(port):
        asyncio.run(one())
        with pytest.raises(BudgetExceeded, match="3 requests"):
            asyncio.run(one())


def test_a_run_needs_a_cache_in_redis() -> None:
    with pytest.raises(ConfigError, match=r"the run 'nightly' needs a cache in Redis"):
        Session(cache="off", run="nightly")
