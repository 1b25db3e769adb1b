"""A budget is kept before anything is sent."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.errors import BudgetExceeded, InputError
from factcheck.facts import Usage
from factcheck.runtime.budget import Budget, BudgetTracker, Price, price_of


async def spend(tracker: BudgetTracker, most: Usage, actual: Usage | None) -> None:
    async with tracker.reserve(most) as spent:
        await asyncio.sleep(0)
        if actual is not None:
            spent.append(actual)


@given(
    st.integers(0, 5),
    st.integers(0, 100),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.booleans()), max_size=12),
)
def test_what_is_spent_never_passes_a_cap(
    max_calls: int, max_tokens: int, requests: list[tuple[int, int, bool]]
) -> None:
    tracker = BudgetTracker(Budget(max_calls=max_calls, max_tokens=max_tokens))
    sent: list[int] = []

    async def one(most: int, share: int, known: bool) -> None:  # noqa: FBT001
        actual = min(most, share)
        await spend(
            tracker, Usage(prompt_tokens=most), Usage(prompt_tokens=actual) if known else None
        )
        sent.append(actual if known else most)

    async def work() -> None:
        results = await asyncio.gather(*(one(*r) for r in requests), return_exceptions=True)
        assert all(r is None or isinstance(r, BudgetExceeded) for r in results)

    asyncio.run(work())

    assert len(sent) <= max_calls
    assert sum(sent) <= max_tokens


def test_upper_bounds_of_requests_under_way_do_not_end_a_run_early() -> None:
    tracker = BudgetTracker(Budget(max_tokens=100))

    async def work() -> None:
        await asyncio.gather(
            *(spend(tracker, Usage(prompt_tokens=50), Usage(prompt_tokens=5)) for _ in range(10))
        )

    asyncio.run(work())

    with pytest.raises(BudgetExceeded, match="100 tokens"):
        asyncio.run(spend(tracker, Usage(prompt_tokens=51), None))


@pytest.mark.parametrize(
    ("name", "cap"),
    [
        ("max_calls", -1), ("max_calls", 1.5), ("max_calls", True), ("max_tokens", -1),
        ("max_tokens", 1e9), ("max_cost_usd", -1), ("max_cost_usd", float("nan")),
        ("max_cost_usd", True), ("max_cost_usd", "1"), ("max_cost_usd", 10**400),
    ],
)  # fmt: skip
def test_a_cap_that_is_no_amount_is_refused(name: str, cap: Any) -> None:
    with pytest.raises(InputError, match=name):
        Budget(**{name: cap})


def test_a_number_of_numpy_is_one() -> None:
    assert Budget(max_cost_usd=np.float64(0.5)).max_cost_usd == 0.5


def test_a_known_price_counts_cached_tokens_at_their_own_price() -> None:
    assert Price(1.0, 0.1, 10.0).cost_usd(1_000_000, 400_000, 100_000) == pytest.approx(1.64)


def test_an_unknown_price_is_unknown_and_not_zero() -> None:
    assert price_of("openai/gpt-5-nano") is not None
    assert price_of("openai/my-own-model") is None
    assert price_of("local") is None


def test_a_caller_has_a_budget_besides_that_of_the_session() -> None:
    session, caller = BudgetTracker(Budget(max_calls=3)), BudgetTracker(Budget(max_calls=2))

    async def work() -> None:
        with caller.spending():
            await spend(session, Usage(), Usage())
            await spend(session, Usage(), Usage())
            with pytest.raises(BudgetExceeded, match="2 requests"):
                await spend(session, Usage(), Usage())
        await spend(session, Usage(), Usage())
        with pytest.raises(BudgetExceeded, match="3 requests"):
            await spend(session, Usage(), Usage())

    asyncio.run(work())
