"""The orders in which bullets are taken out, one by one, until one is left."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from factcheck.errors import InputError

MOST_RANDOM_ORDERS = 1000


class RemovalOrder(NamedTuple):
    """One way of taking the bullets out of a summary."""

    name: str
    """`"end"`, `"start"`, or `"random-1"`, `"random-2"`, ..."""
    removed: tuple[int, ...]
    """Bullets, from 0, in the order in which they go; the one that is not named stays."""

    def kept(self) -> Iterator[frozenset[int]]:
        """The bullets left before the first step and after each one: from all of them to one."""
        left = frozenset(range(len(self.removed) + 1))
        yield left
        for bullet in self.removed:
            left -= {bullet}
            yield left


def removal_orders(n_bullets: int, n_random: int, seed: int) -> tuple[RemovalOrder, ...]:
    """From the end, from the start, and in random orders; none where there is nothing to take out.

    Args:
        n_bullets: Bullets of the summary.
        n_random: How many random orders, from 0 to 1,000. Equal ones are taken once.
        seed: Of the random orders; the same seed gives the same orders.

    Raises:
        InputError: `n_random` is out of range.
    """
    if isinstance(n_random, bool) or not 0 <= n_random <= MOST_RANDOM_ORDERS:
        raise InputError(f"the number of random orders is 0 to 1,000, not {n_random!r}")
    if n_bullets < 2:  # noqa: PLR2004 - the last bullet stays
        return ()
    upwards = tuple(range(n_bullets))
    known = dict.fromkeys([upwards[:0:-1], upwards[:-1]])
    orders = dict(zip(("end", "start"), known, strict=False))
    draw = random.Random(f"{seed}:{n_bullets}")  # noqa: S311 - repeatable, not secret
    for number in range(1, n_random + 1):
        order = tuple(draw.sample(upwards, n_bullets))[:-1]
        if order not in known:
            known[order] = None
            orders[f"random-{number}"] = order
    return tuple(RemovalOrder(name, removed) for name, removed in orders.items())
