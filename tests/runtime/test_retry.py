"""The retry policy keeps to its limits and obeys the provider."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from factcheck import RetryPolicy
from factcheck.errors import (
    FactcheckError,
    InputError,
    JudgeRateLimited,
    JudgeRejected,
    JudgeUnavailable,
)

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
    assert asyncio.run(QUICK.retry(ask)) == "answer"
    assert ask.count == 3


def test_it_stops_after_its_attempts_with_the_last_error() -> None:
    ask = Asked(*(JudgeUnavailable(str(number)) for number in range(9)))
    with pytest.raises(JudgeUnavailable, match="3"):
        asyncio.run(QUICK.retry(ask))
    assert ask.count == 4


@pytest.mark.parametrize(
    "error", [JudgeRejected("no"), JudgeRateLimited("later", retry_after_s=61.0)]
)
def test_it_does_not_ask_again_where_that_cannot_help(error: FactcheckError) -> None:
    ask = Asked(error)
    with pytest.raises(type(error)):
        asyncio.run(QUICK.retry(ask))
    assert ask.count == 1


def test_it_starts_no_pause_that_ends_after_the_deadline() -> None:
    ask = Asked(JudgeRateLimited("later", retry_after_s=5.0))
    with pytest.raises(JudgeRateLimited):
        asyncio.run(RetryPolicy(stop_after_delay=1.0).retry(ask))
    assert ask.count == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("stop_after_attempt", 0), ("stop_after_attempt", 2.5), ("stop_after_attempt", True),
        ("stop_after_delay", -1.0), ("stop_after_delay", float("nan")),
        ("wait_max", float("inf")), ("wait_multiplier", -0.5), ("wait_multiplier", "1"),
    ],
)  # fmt: skip
def test_a_policy_out_of_range_is_refused(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=name):
        RetryPolicy(**{name: value})


def test_waiting_in_the_queue_does_not_use_up_the_deadline() -> None:
    ask = Asked(JudgeRateLimited("later", retry_after_s=0.0))
    assert asyncio.run(RetryPolicy(stop_after_delay=0.0).retry(ask, lambda: 9.0)) == "answer"
