"""The plain loops that the fast paths replace: one `in` for each keyword and text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Wanted(NamedTuple):
    """An expected card."""

    front_keywords: Sequence[str]
    back_keywords: Sequence[str]
    card_type: str | None


class Card(NamedTuple):
    """A generated card."""

    front: str
    back: str
    card_type: str | None


def share(keywords: Sequence[str], text: str) -> float:
    """The share of keywords that a text has."""
    if not keywords:
        return 0.0
    return sum(1 for keyword in keywords if keyword in text) / len(keywords)


def pair_score(wanted: Wanted, card: Card) -> float:
    """How well one card says what is expected."""
    front = share(wanted.front_keywords, card.front)
    back = share(wanted.back_keywords, card.back)
    if wanted.card_type is None:
        return front * 0.5 + back * 0.5
    bonus = 1.0 if card.card_type == wanted.card_type else 0.0
    return front * 0.4 + back * 0.4 + bonus * 0.2


def all_scores(wanted: Sequence[Wanted], cards: Sequence[Card]) -> list[list[float]]:
    """The scores of all pairs."""
    return [[pair_score(one, card) for card in cards] for one in wanted]


def matched(
    wanted: Sequence[Wanted], cards: Sequence[Card], threshold: float = 0.3
) -> list[tuple[int, int, float]]:
    """The pairs of greedy matching; a card that is taken is not scored again."""
    taken: set[int] = set()
    pairs = []
    for i, one in enumerate(wanted):
        best, partner = 0.0, -1
        for j, card in enumerate(cards):
            if j in taken:
                continue
            score = pair_score(one, card)
            if score > best:
                best, partner = score, j
        if partner >= 0 and best >= threshold:
            taken.add(partner)
            pairs.append((i, partner, best))
    return pairs
