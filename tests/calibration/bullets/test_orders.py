"""Bullets go from the end, from the start and at random; the last one stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck import InputError
from factcheck.calibration.bullets import removal_orders


def test_the_two_fixed_orders() -> None:
    end, start = removal_orders(4, 0, 0)
    assert (end.name, end.removed) == ("end", (3, 2, 1))
    assert (start.name, start.removed) == ("start", (0, 1, 2))
    assert list(end.kept()) == [{0, 1, 2, 3}, {0, 1, 2}, {0, 1}, {0}]


@given(st.integers(2, 9), st.integers(0, 6), st.integers())
def test_each_order_takes_out_one_bullet_at_a_time_until_one_is_left(
    n: int, n_random: int, seed: int
) -> None:
    orders = removal_orders(n, n_random, seed)
    assert orders == removal_orders(n, n_random, seed)
    assert len({order.removed for order in orders}) == len(orders)
    for order in orders:
        sizes = [len(kept) for kept in order.kept()]
        assert sizes == list(range(n, 0, -1))
        assert set(order.removed) < set(range(n))


def test_another_seed_gives_other_orders() -> None:
    assert removal_orders(9, 3, 1) != removal_orders(9, 3, 2)


@pytest.mark.parametrize("n", [0, 1])
def test_there_is_nothing_to_take_out_of_one_bullet(n: int) -> None:
    assert removal_orders(n, 4, 0) == ()


def test_two_bullets_go_in_two_ways_however_many_are_asked_for() -> None:
    assert [order.removed for order in removal_orders(2, 5, 0)] == [(1,), (0,)]


@pytest.mark.parametrize("n_random", [-1, 1001, True])
def test_a_number_of_orders_out_of_range_is_refused(n_random: int) -> None:
    with pytest.raises(InputError, match="random orders"):
        removal_orders(5, n_random, 0)
