"""A budget is kept before anything is sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck import InputError, Usage
from factcheck.errors import BudgetExceeded
from factcheck.runtime.budget import Budget, Purse
from factcheck.runtime.prices import Price, price_of


@given(
    st.integers(0, 5),
    st.integers(0, 100),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=12),
)
def test_what_is_spent_never_passes_a_cap(
    max_calls: int, max_tokens: int, requests: list[tuple[int, int]]
) -> None:
    purse = Purse(Budget(max_calls=max_calls, max_tokens=max_tokens))
    calls = tokens = 0
    for most, share in requests:
        actual = min(most, share)
        try:
            with purse.reserve(Usage(prompt_tokens=most)) as spent:
                spent.append(Usage(prompt_tokens=actual))
        except BudgetExceeded:
            continue
        calls += 1
        tokens += actual

    assert calls <= max_calls
    assert tokens <= max_tokens


def test_what_was_reserved_and_not_spent_can_be_spent_later() -> None:
    purse = Purse(Budget(max_tokens=100))
    for _ in range(10):
        with purse.reserve(Usage(prompt_tokens=50)) as spent:
            spent.append(Usage(prompt_tokens=5))

    with pytest.raises(BudgetExceeded, match="100 tokens"), purse.reserve(Usage(prompt_tokens=51)):
        pass


def test_dollars_are_kept_as_well() -> None:
    purse = Purse(Budget(max_usd=1.0))
    with purse.reserve(Usage(cost_usd=0.9)) as spent:
        spent.append(Usage(cost_usd=0.8))

    with pytest.raises(BudgetExceeded, match="1 US dollars"), purse.reserve(Usage(cost_usd=0.3)):
        pass


@pytest.mark.parametrize("name", ["max_calls", "max_tokens", "max_usd"])
def test_a_negative_cap_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=name):
        Budget(**{name: -1})


def test_a_known_price_counts_cached_tokens_at_their_own_price() -> None:
    assert Price(1.0, 0.1, 10.0).cost_usd(1_000_000, 400_000, 100_000) == pytest.approx(1.64)


def test_an_unknown_price_is_unknown_and_not_zero() -> None:
    assert price_of("openai/gpt-5-nano") is not None
    assert price_of("openai/my-own-model") is None
    assert price_of("local") is None
