"""Cards with 20 keywords each, the same on every machine."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.keywords.plain import Card, Wanted

_LETTERS = "etaoinshrdlucmfwypvbgkjqxz"
_N_WORDS = 5_000
FRONT, BACK = 60, 250
"""Characters of the two sides of a card, without the keywords in them."""
KEYWORDS = 20


class CardWork(NamedTuple):
    """One case, and what several runs generated for it."""

    wanted: list[Wanted]
    runs: list[list[Card]]


class Words:
    """Makes texts and keywords."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)  # noqa: S311 - nothing secret
        self._words = [self._made() for _ in range(_N_WORDS)]

    def _made(self) -> str:
        return "".join(self.rng.choices(_LETTERS, k=self.rng.randint(3, 10)))

    def keywords(self, count: int) -> list[str]:
        """Different words."""
        found: dict[str, None] = {}
        while len(found) < count:
            found[self.rng.choice(self._words)] = None
        return list(found)

    def text(self, length: int, keywords: Sequence[str]) -> str:
        """A text of about `length` characters, and some keywords somewhere in it."""
        parts: list[str] = []
        size = 0
        while size < length:
            parts.append(self.rng.choice(self._words))
            size += len(parts[-1]) + 1
        for keyword in keywords:
            parts.insert(self.rng.randint(0, len(parts)), keyword)
        return " ".join(parts)


def card_work(n_cases: int, n_cards: int, n_runs: int) -> list[CardWork]:
    """Cases with as many expected as generated cards, most of which say part of one of them."""
    words = Words(n_cards)
    return [_card_case(words, n_cards, n_runs) for _ in range(n_cases)]


def _card_case(words: Words, n_cards: int, n_runs: int) -> CardWork:
    rng = words.rng
    half = KEYWORDS // 2
    wanted = [
        Wanted(words.keywords(half), words.keywords(half), rng.choice(["qa", "cloze", None]))
        for _ in range(n_cards)
    ]
    runs = []
    for _ in range(n_runs):
        cards = []
        for one in wanted:
            front = rng.sample(one.front_keywords, rng.randint(0, 7))
            back = rng.sample(one.back_keywords, rng.randint(0, 8))
            kind = rng.choice(["qa", "cloze"])
            cards.append(Card(words.text(FRONT, front), words.text(BACK, back), kind))
        rng.shuffle(cards)
        runs.append(cards)
    return CardWork(wanted, runs)


def fresh(text: str) -> str:
    """An equal text that no earlier search has prepared anything for."""
    return f"x{text}"[1:]


def fresh_cards(cards: Sequence[Card]) -> list[Card]:
    """Equal cards made of fresh texts."""
    return [Card(fresh(card.front), fresh(card.back), card.card_type) for card in cards]
