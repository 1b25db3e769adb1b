"""Requests and tokens a minute are spread out, by a clock that the test holds."""

from __future__ import annotations

import asyncio

import pytest

from factcheck.errors import InputError
from factcheck.runtime.retry import Limiter
from factcheck.runtime.session import Session


def starts(limiter: Limiter, tokens: list[int], beyond: int = 0) -> list[float]:
    """When requests start, in seconds, if every sleep takes as long as it says and no longer."""
    clock = [1000.0]

    async def run() -> list[float]:
        found = []
        for estimate in tokens:
            async with limiter.slot(estimate):
                found.append(clock[0] - 1000.0)
                limiter.answered(beyond)
        return found

    async def sleep(seconds: float) -> None:
        clock[0] += max(0.0, seconds)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio, "sleep", sleep)
        loop = asyncio.new_event_loop()
        patch.setattr(loop, "time", lambda: clock[0])
        try:
            return loop.run_until_complete(run())
        finally:
            loop.close()


def test_requests_a_minute_are_evenly_spread() -> None:
    assert starts(Limiter(8, rpm=60), [0, 0, 0]) == [0.0, 1.0, 2.0]


def test_tokens_a_minute_count_what_was_estimated_and_what_came() -> None:
    assert starts(Limiter(8, tpm=6_000), [100, 200, 0]) == [0.0, 1.0, 3.0]
    assert starts(Limiter(8, tpm=6_000), [100, 100], beyond=300) == [0.0, 4.0]


def test_without_a_limit_nothing_waits() -> None:
    assert starts(Limiter(8), [10_000] * 3) == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("option", ["rpm", "tpm"])
def test_a_limit_that_is_none_is_refused(option: str) -> None:
    with pytest.raises(InputError, match=option):
        Session(cache="off", **{option: 0})  # type: ignore[arg-type]
