"""Cards and responses with 20 keywords each, the same on every machine."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.keywords.plain import Card, Wanted

_LETTERS = "etaoinshrdlucmfwypvbgkjqxz"
_N_WORDS = 5_000
_N_CHARACTERS = 2_500
FRONT, BACK = 60, 250
"""Characters of the two sides of a card, without the keywords in them."""
KEYWORDS = 20


class CardWork(NamedTuple):
    """One case, and what several runs generated for it."""

    wanted: list[Wanted]
    runs: list[list[Card]]


class ResponseWork(NamedTuple):
    """Responses, and the guide to label them by."""

    guide: dict[str, list[str]]
    responses: list[str]


class Words:
    """Makes texts and keywords of one script."""

    def __init__(self, seed: int, *, chinese: bool) -> None:
        self.rng = random.Random(seed)  # noqa: S311 - nothing secret
        self._space = "" if chinese else " "
        if chinese:
            self._words = [chr(0x4E00 + k) for k in range(_N_CHARACTERS)]
        else:
            self._words = [self._made(_LETTERS, 3, 10) for _ in range(_N_WORDS)]
        self._chinese = chinese

    def _made(self, letters: Sequence[str], least: int, most: int) -> str:
        return "".join(self.rng.choices(letters, k=self.rng.randint(least, most)))

    def keywords(self, count: int) -> list[str]:
        """Different keywords: English words, or Chinese ones of two to four characters."""
        found: dict[str, None] = {}
        while len(found) < count:
            word = self._made(self._words, 2, 4) if self._chinese else self.rng.choice(self._words)
            found[word] = None
        return list(found)

    def text(self, length: int, keywords: Sequence[str] = ()) -> str:
        """A text of about `length` characters, and some keywords somewhere in it."""
        parts: list[str] = []
        size = 0
        while size < length:
            parts.append(self.rng.choice(self._words))
            size += len(parts[-1]) + len(self._space)
        for keyword in keywords:
            parts.insert(self.rng.randint(0, len(parts)), keyword)
        return self._space.join(parts)


def card_work(n_cases: int, n_cards: int, n_runs: int) -> list[CardWork]:
    """Cases with as many expected as generated cards, most of which say part of one of them."""
    words = Words(n_cards, chinese=False)
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


def response_work(count: int, length: int, *, chinese: bool) -> ResponseWork:
    """Responses with none to three keywords, mostly of one behaviour."""
    words = Words(length, chinese=chinese)
    rng = words.rng
    keywords = words.keywords(KEYWORDS)
    half = KEYWORDS // 2
    sides = [keywords[:half], keywords[half:], keywords]
    responses = [
        words.text(length, rng.choices(rng.choices(sides, (9, 9, 2))[0], k=rng.randint(0, 3)))
        for _ in range(count)
    ]
    return ResponseWork({"strict_keywords": sides[0], "service_keywords": sides[1]}, responses)


def fresh(text: str) -> str:
    """An equal text that no earlier search has prepared anything for."""
    return f"x{text}"[1:]


def fresh_cards(cards: Sequence[Card]) -> list[Card]:
    """Equal cards made of fresh texts."""
    return [Card(fresh(card.front), fresh(card.back), card.card_type) for card in cards]
