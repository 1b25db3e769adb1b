"""A summary is split without losing a character, and bullets are removed in known orders."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.calibration.texts import removal_orders, split_bullets
from factcheck.errors import InputError

LINES = st.sampled_from(
    ["- one", "* two", "  - deep", "1. first", "2) second", "# Head", "Key points:", "plain words.",
     "    goes on", "", "\u2022 dot", "\u2013 dash", "Two. Sentences.", "**Bold**", "-", "\u3002"]
)  # fmt: skip


@given(st.lists(LINES, min_size=1).map("\n".join).filter(str.strip))
def test_the_pieces_are_the_summary(summary: str) -> None:
    bullets = split_bullets(summary)
    assert "".join(piece.text for piece in bullets.pieces) == summary.strip()
    assert bullets.kept(range(len(bullets))) == summary.strip()


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        ("- one\n- two", ("- one", "- two")),
        ("* one\n+ two", ("* one", "+ two")),
        ("\u2022 one\n\u2013 two", ("\u2022 one", "\u2013 two")),
        ("1. one\n2) two\n(3) three", ("1. one", "2) two", "(3) three")),
        ("- one\n  goes on\nand on\n- two", ("- one\n  goes on\nand on", "- two")),
        ("- one\n  - deep\n- two", ("- one", "- deep", "- two")),
        ("- one\n\nA paragraph.", ("- one", "A paragraph.")),
        ("- **Bold** one\n- two", ("- **Bold** one", "- two")),
        ("One thing. Mr. Smith did two.", ("One thing.", "Mr. Smith did two.")),
        ("Wrapped\nline. Next.", ("Wrapped\nline.", "Next.")),
        ("one", ("one",)),
    ],
)  # fmt: skip
def test_what_a_bullet_is(summary: str, expected: tuple[str, ...]) -> None:
    assert split_bullets(summary).texts == expected


@pytest.mark.parametrize("heading", ["# Results", "Key points:", "**Results**", "**Results:**"])
def test_headings_stay_whatever_goes(heading: str) -> None:
    bullets = split_bullets(f"{heading}\n- one\n- two")
    assert bullets.texts == ("- one", "- two")
    assert bullets.kept({1}) == f"{heading}\n- two"
    assert bullets.kept(()) == heading


def test_a_blank_summary_is_refused() -> None:
    summary: Any
    for summary in ("", " \n\t", None, 7):
        with pytest.raises(InputError, match="blank"):
            split_bullets(summary)


def test_the_two_fixed_orders() -> None:
    from_end, from_start = removal_orders(4, 0)
    assert list(map(set, from_end)) == [{0, 1, 2, 3}, {0, 1, 2}, {0, 1}, {0}]
    assert list(map(set, from_start)) == [{0, 1, 2, 3}, {1, 2, 3}, {2, 3}, {3}]


@given(st.integers(2, 9), st.integers(0, 6))
def test_each_order_removes_one_bullet_at_a_time_until_one_is_left(n: int, n_random: int) -> None:
    orders = removal_orders(n, n_random)
    assert orders == removal_orders(n, n_random)
    assert len(set(orders)) == len(orders)
    for order in orders:
        assert [len(kept) for kept in order] == list(range(n, 0, -1))
        assert all(later < earlier for earlier, later in pairwise(order))


def test_few_bullets_have_few_orders_and_a_number_out_of_range_is_refused() -> None:
    assert [[*map(set, order)][-1:] for order in removal_orders(2, 5)] == [[{0}], [{1}]]
    assert removal_orders(0, 5) == removal_orders(1, 5) == ()
    for n_random in (-1, 1001, True):
        with pytest.raises(InputError, match="random orders"):
            removal_orders(5, n_random)
