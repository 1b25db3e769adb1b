"""The rules of the seed, written as plainly as can be, and texts and cards to try them on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from hypothesis import strategies as st

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


def share(keywords: Sequence[str], text: str) -> float:
    if len(keywords) == 0:
        return 0.0
    hits = [keyword for keyword in keywords if keyword in text]
    return len(hits) / len(keywords)


def pair_score(wanted: Wanted, card: Card) -> float:
    front, back = share(wanted.front_keywords, card.front), share(wanted.back_keywords, card.back)
    if wanted.card_type is None:
        return front * 0.5 + back * 0.5
    return front * 0.4 + back * 0.4 + (1.0 if wanted.card_type == card.card_type else 0.0) * 0.2


def greedy_pairs(
    wanted: Sequence[Wanted], cards: Sequence[Card], threshold: float
) -> list[tuple[int, int, float]]:
    """Each expected card in turn takes the best card that is left, the first of the best."""
    pairs = []
    left = list(range(len(cards)))
    for number, one in enumerate(wanted):
        scores = {other: pair_score(one, cards[other]) for other in left}
        top = max(scores.values(), default=0.0)
        if top > 0.0 and top >= threshold:
            other = next(other for other in left if scores[other] == top)
            left.remove(other)
            pairs.append((number, other, top))
    return pairs


LETTERS = "abcdeé可以拒绝罚款\U0001f600\u0301 "
texts = st.text(LETTERS, max_size=25)
keywords = st.text(LETTERS, min_size=1, max_size=3)
keyword_lists = st.lists(keywords, max_size=5)
types = st.sampled_from([None, "qa", "cloze"])
wanted_cards = st.builds(Wanted, keyword_lists, keyword_lists, types)
cards = st.builds(Card, texts, texts, types)
thresholds = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 1.0])
