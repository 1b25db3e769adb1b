"""The retry policy and the limiter keep to their limits and obey the provider."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck import RetryPolicy
from factcheck.errors import (
    FactcheckError,
    InputError,
    JudgeRateLimited,
    JudgeRejected,
    JudgeUnavailable,
)
from factcheck.runtime.retry import Limiter
from factcheck.runtime.session import Session

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


def test_it_asks_until_there_is_an_answer() -> None:
    ask = Asked(JudgeUnavailable("a"), JudgeRateLimited("b", retry_after_s=0.0))
    assert asyncio.run(QUICK.attempts()(ask)) == "answer"
    assert ask.count == 3


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
@given(st.lists(st.sampled_from(["answered", "overloaded"]), max_size=60), st.integers(1, 64))
async def test_the_limit_stays_between_one_and_the_ceiling(events: list[str], ceiling: int) -> None:
    limiter = Limiter(ceiling)
    for event in events:
        async with limiter.slot() as number:
            pass
        if event == "answered":
            limiter.answered()
        else:
            limiter.overloaded(number)
        assert 1 <= limiter.limit <= ceiling


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
    async with limiter.slot() as later:
        limiter.overloaded(later)
    assert limiter.limit == 4
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


@pytest.mark.anyio
async def test_requests_a_minute_are_evenly_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    limiter = Limiter(8, rpm=1)
    monkeypatch.setattr(asyncio, "sleep", note)
    for _ in range(3):
        async with limiter.slot():
            limiter.answered()
    assert [round(wait / 60) for wait in waits] == [0, 1, 2]


def test_a_limit_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="rpm"):
        Session(cache="off", rpm=0)
