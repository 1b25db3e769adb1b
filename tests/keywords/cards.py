"""Cards to match: expected ones, and generated ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from factcheck.keywords import ExpectedCard


class Wanted(NamedTuple):
    """An expected card with two fields."""

    front_keywords: Sequence[str]
    back_keywords: Sequence[str]
    card_type: str | None = None


class Card(NamedTuple):
    """A generated card."""

    front: str
    back: str
    card_type: str | None = None


def expected_card(card_type: str | None = None, **fields: Sequence[Any]) -> ExpectedCard:
    return ExpectedCard({name: tuple(words) for name, words in fields.items()}, card_type)
