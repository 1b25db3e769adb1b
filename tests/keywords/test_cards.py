"""Cards may be mappings, dataclasses, named tuples or pydantic models, on either side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest
from pydantic import BaseModel

from factcheck.errors import InputError
from factcheck.keywords import ExpectedCard, match_cards
from tests.keywords.naive import Card, Wanted, expected_card


class CardType(Enum):
    """Types of cards."""

    QA = "qa"
    CLOZE = "cloze"


@dataclass(frozen=True, slots=True)
class SlottedWanted:
    """An expected card as the seed has it."""

    front_keywords: Sequence[str]
    back_keywords: Sequence[str]
    card_type: CardType | None = None


class ModelCard(BaseModel):
    """A generated card with a type of its own."""

    front: str
    back: str
    card_type: CardType


EXPECTED: tuple[Any, ...] = (
    expected_card(front=["a", "b"], back=["c"], card_type="qa"),
    ExpectedCard({"front": ("a", "b"), "back": ("c",)}, "qa"),
    {"front_keywords": ["a", "b"], "back_keywords": ["c"], "card_type": "qa"},
    Wanted(["a", "b"], ["c"], "qa"),
    SlottedWanted(["a", "b"], ["c"], CardType.QA),
)
GENERATED: tuple[Any, ...] = (
    {"front": "a", "back": "c", "card_type": "qa", "more": 1},
    Card("a", "c", "qa"),
    ModelCard(front="a", back="c", card_type=CardType.QA),
)


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("card", GENERATED, ids=lambda one: type(one).__name__)
def test_cards_of_any_type_score_the_same(expected: Any, card: Any) -> None:
    [match] = match_cards([expected], [card]).matches
    assert match.score == 0.4 * 0.5 + 0.4 + 0.2
    assert match.right_type is True


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({}, "expected card 1: expected card: no keywords; add"),
        ({"front": ["a"]}, "expected card 1: expected card: front: unknown key; use"),
        ({"front_keywords": "a"}, "front_keywords: expected a list, got 'a'"),
        ("text", "an expected card needs <field>_keywords, got str 'text'"),
        (None, "needs <field>_keywords, got null"),
    ],
)
def test_an_expected_card_that_cannot_be_used_is_refused(expected: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        match_cards([expected], [])


@pytest.mark.parametrize(
    ("cards", "message"),
    [
        (None, "expected a list of cards, got null"),
        (3, "expected a list of cards, got int 3"),
        ({"front": "a", "back": "b"}, "expected a list of cards, got dict"),
        (ModelCard(front="a", back="b", card_type=CardType.QA), "got ModelCard"),
        ([{"front": "a", "back": "b"}, {"front": "a"}], "card 2 .* has no 'back'"),
        ([None], "generated card 1 .null. has no 'front'"),
        ([{"front": "a", "back": None}], "generated card 1: 'back': expected a string, got null"),
    ],
)
def test_generated_cards_that_cannot_be_used_are_refused(cards: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        match_cards([{"front_keywords": ["a"], "back_keywords": ["b"]}], cards)
