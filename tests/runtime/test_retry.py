"""Retries and limits, of one process and of a run on several machines, whoever is killed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck import Budget, RetryPolicy
from factcheck.errors import (
    BudgetExceeded,
    ConfigError,
    FactcheckError,
    InputError,
    JudgeRateLimited,
    JudgeRejected,
    JudgeUnavailable,
)
from factcheck.facts import Usage
from factcheck.judges.llm.engine import RequestRunner
from factcheck.runtime import limits as limits_module
from factcheck.runtime.budget import BudgetTracker
from factcheck.runtime.cache.redis import RedisCache
from factcheck.runtime.limits import SharedLimits
from factcheck.runtime.retry import Limiter
from factcheck.runtime.session import Session
from tests.runtime.cache.conftest import empty_redis, free_port, redis_on, redis_url

QUICK = RetryPolicy(stop_after_attempt=4, wait_multiplier=0.0)


class Asked:
    """Fails with the given errors, then answers."""

    def __init__(self, *errors: FactcheckError) -> None:
        self.errors = list(errors)
        self.count = 0

    async def __call__(self) -> str:
        self.count += 1
        if self.errors:
            raise self.errors.pop(0)
        return "answer"


@pytest.mark.parametrize(
    ("policy", "error", "count"),
    [
        (QUICK, JudgeUnavailable("down"), 4),
        (QUICK, JudgeRejected("no"), 1),
        (QUICK, JudgeRateLimited("later", retry_after_s=61.0), 1),
        (RetryPolicy(stop_after_delay=1.0), JudgeRateLimited("later", retry_after_s=5.0), 1),
    ],
    ids=["attempts", "cannot help", "too long a pause", "ends after the deadline"],
)
def test_it_stops_with_the_last_error(
    policy: RetryPolicy, error: FactcheckError, count: int
) -> None:
    ask = Asked(*[error] * 9)
    with pytest.raises(type(error)):
        asyncio.run(policy.attempts()(ask))
    assert ask.count == count


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("stop_after_attempt", value) for value in (0, 2.5)),
        *((name, -1.0) for name in ("stop_after_delay", "wait_max", "wait_multiplier")),
    ],
)
def test_a_policy_out_of_range_is_refused(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=name):
        RetryPolicy(**{name: value})


def test_waiting_in_the_queue_does_not_use_up_the_deadline() -> None:
    ask = Asked(JudgeRateLimited("later", retry_after_s=0.0))
    assert asyncio.run(RetryPolicy(stop_after_delay=0.0).attempts(lambda: 9.0)(ask)) == "answer"


@pytest.mark.anyio
async def test_it_is_halved_once_for_all_requests_that_met_the_same_overload() -> None:
    limiter = Limiter(16)
    numbers = []
    for _ in range(8):
        async with limiter.slot() as number:
            numbers.append(number)
    for number in numbers:
        limiter.overloaded(number)
    assert limiter.limit == 8
    for limit in (4, 2, 1, 1):
        async with limiter.slot() as later:
            limiter.overloaded(later)
        assert limiter.limit == limit
    for _ in range(200):
        limiter.answered()
    assert limiter.limit == 16


@pytest.mark.anyio
async def test_a_closed_gate_holds_everybody_back() -> None:
    limiter = Limiter(4)
    async with limiter.slot() as number:
        limiter.overloaded(number, pause_s=0.2)
    opened = asyncio.get_running_loop().time() + 0.2
    entered = []

    async def one() -> None:
        async with limiter.slot():
            entered.append(asyncio.get_running_loop().time())

    await asyncio.gather(one(), one())
    assert all(moment >= opened - 0.01 for moment in entered)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was to be waited, which is noted instead."""
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", note)
    return waits


@pytest.mark.anyio
async def test_connections_to_a_model_of_the_same_name_take_their_own_turns(
    waits: list[float],
) -> None:
    with Session(cache="off", rpm=1) as session:
        runners = [RequestRunner[str]("local", session, None) for _ in range(2)]
        for runner in 3 * runners:
            async with runner.limiter().slot():
                runner.limiter().answered()
    assert [round(wait / 60) for wait in waits] == [0, 0, 1, 1, 2, 2]


def test_a_limit_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="rpm"):
        Session(cache="off", rpm=0)


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


@given(
    st.integers(0, 5),
    st.integers(0, 100),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.booleans()), max_size=12),
)
def test_what_is_spent_never_passes_a_cap(
    max_calls: int, max_tokens: int, requests: list[tuple[int, int, bool]]
) -> None:
    tracker = BudgetTracker(Budget(max_calls=max_calls, max_tokens=max_tokens))
    costs: list[int] = []

    async def one(most: int, share: int, known: bool) -> None:  # noqa: FBT001
        actual = min(most, share) if known else None
        await send(tracker, most, actual)
        costs.append(most if actual is None else actual)

    asyncio.run(sent(*(one(*request) for request in requests)))
    assert len(costs) <= max_calls
    assert sum(costs) <= max_tokens


def test_upper_bounds_of_requests_under_way_do_not_end_a_run_early() -> None:
    tracker = BudgetTracker(Budget(max_tokens=100))
    assert asyncio.run(sent(*(send(tracker, 50, 5) for _ in range(10)))) == 10
    with pytest.raises(BudgetExceeded, match="100 tokens"):
        asyncio.run(send(tracker, 51, None))


def test_a_caller_has_a_budget_besides_that_of_the_session() -> None:
    session, caller = BudgetTracker(Budget(max_calls=3)), BudgetTracker(Budget(max_calls=2))

    async def work() -> None:
        with caller.spending():
            assert await sent(send(session, 0, 0), send(session, 0, 0)) == 2
            with pytest.raises(BudgetExceeded, match="2 requests"):
                await send(session, 0, 0)
        await send(session, 0, 0)
        with pytest.raises(BudgetExceeded, match="3 requests"):
            await send(session, 0, 0)

    asyncio.run(work())


def twice(*asked: Any, evaluate: Any = RedisCache.evaluate) -> Any:
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
        patch.setattr(limits_module, "HOLD_S", 0)
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
    limits: Callable[[], SharedLimits], waits: list[float]
) -> None:
    async def work() -> None:
        limiters = [Limiter(8, rpm=1, limits=limits(), model=name) for name in ("a", "a", "b")]
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


def test_without_its_server_a_run_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("redis")
    monkeypatch.setattr(RedisCache, "pause_s", 0.0)
    port = free_port()
    shared = SharedLimits(RedisCache(f"redis://127.0.0.1:{port}/0"), "nightly")
    tracker, limiter = BudgetTracker(Budget(max_calls=3), shared), Limiter(2, 600, limits=shared)

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
