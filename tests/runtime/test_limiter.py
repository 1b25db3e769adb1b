"""The limiter falls when a provider is overloaded, rises with answers, and closes its gate."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.runtime.retry import Limiter, patient

pytestmark = pytest.mark.anyio


async def test_no_more_slots_are_given_out_than_the_ceiling() -> None:
    limiter = Limiter(3)
    under_way, most = 0, 0

    async def one() -> None:
        nonlocal under_way, most
        async with limiter.slot():
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0)
            under_way -= 1

    await asyncio.gather(*(one() for _ in range(50)))
    assert most == 3


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


async def test_answers_bring_it_back_to_the_ceiling() -> None:
    limiter = Limiter(8)
    async with limiter.slot() as number:
        limiter.overloaded(number)
    for _ in range(100):
        limiter.answered()
    assert limiter.limit == 8


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


async def test_a_slot_goes_past_waiters_that_gave_up_or_are_patient() -> None:
    limiter = Limiter(1)
    entered = []

    async def one(name: str) -> None:
        async with limiter.slot():
            entered.append(name)

    async with limiter.slot():
        with patient():
            last = asyncio.ensure_future(one("last"))
        gone, first = (asyncio.ensure_future(one(name)) for name in ("gone", "first"))
        await asyncio.sleep(0)
        gone.cancel()
    await asyncio.wait_for(asyncio.gather(last, first), 5)
    assert entered == ["first", "last"]
