"""A dataset scored: cards of any type, outputs of any kind, faulty ones apart, the rest intact."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest
from pydantic import BaseModel

from factcheck.errors import InputError, JudgeRefused
from factcheck.keywords import (
    CardCase,
    CardDataset,
    DatasetResult,
    ExpectedCard,
    aevaluate_dataset,
    evaluate_dataset,
    match_cards,
)
from tests.keywords.naive import Card, Wanted, expected_card

CARD = expected_card(front=["cell"], back=["unit"])
DATASET = CardDataset(
    (
        CardCase("one", "text one", (CARD,)),
        CardCase("two", "text two", (CARD, CARD)),
        CardCase("none", "text none", ()),
    ),
    "cells",
    "2",
)
GOOD = Card("the cell", "the unit")
BAD = Card("x", "y")
OUTPUTS: dict[str, list[Card]] = {"one": [GOOD, BAD], "two": [GOOD], "none": []}


def by_id(case: CardCase) -> list[Card]:
    """The output of a case."""
    return OUTPUTS[case.id]


class Unprintable(Exception):
    """An error without a message."""

    def __str__(self) -> str:
        raise ValueError("no words")


def raising(error: BaseException) -> Any:
    """Outputs that fail for one case."""

    def call(case: CardCase) -> list[Card]:
        if case.id == "two":
            raise error
        return OUTPUTS[case.id]

    return call


def raising_late(case: CardCase) -> Iterator[Card]:
    """Fails for one case, in the middle."""
    yield from OUTPUTS[case.id]
    if case.id == "two":
        raise ValueError("no luck")


@pytest.mark.parametrize(
    ("outputs", "code", "message"),
    [
        (raising(ValueError("no luck\nsecond line")), "raised", "ValueError: no luck"),
        (raising(JudgeRefused("not this one")), "refused", "not this one"),
        (raising(SystemExit(3)), "raised", "SystemExit: 3"),
        (raising(StopIteration()), "raised", "StopIteration"),
        (raising(KeyboardInterrupt()), "raised", "KeyboardInterrupt"),
        (raising(Unprintable()), "raised", "Unprintable"),
        (raising_late, "raised", "ValueError: no luck"),
        (OUTPUTS | {"two": None}, "input", "expected a list of cards, got null"),
        (OUTPUTS | {"two": "text"}, "input", "expected a list of cards, got str 'text'"),
        (OUTPUTS | {"two": [{"front": "a"}]}, "input", "has no 'back'"),
        ({"one": [GOOD, BAD], "none": []}, "input", "there is no output for this case"),
        ([[GOOD, BAD], 3, []], "input", "expected a list of cards, got int 3"),
    ],
)
def test_a_faulty_output_is_an_errored_case_and_the_rest_is_intact(
    outputs: Any, code: str, message: str
) -> None:
    run = evaluate_dataset(DATASET, outputs)
    [failure] = run.failures
    assert (failure.subject, failure.code) == ("two", code)
    assert message in failure.message
    assert [case.case_id for case in run.cases] == ["one", "none"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"outputs": None}, "outputs: expected a mapping from case id, or a list, got NoneType"),
        ({"outputs": "text"}, "got str"),
        ({"outputs": [[], []]}, "outputs: 2 for 3 cases; give one for each"),
        ({"outputs": {"thre": []}}, "outputs: 1 for unknown cases: 'thre'"),
        ({"threshold": 2}, "threshold must be a finite number"),
        ({"weights": {"front": 1}}, "case 'one': .*'back' has no weight"),
        ({"dataset": []}, r"expected a CardDataset.*got list"),
        *(({"concurrency": n}, "concurrency must be an integer of") for n in (0, 1.5, True)),
    ],
)
def test_outputs_and_settings_that_cannot_be_used_are_refused(settings: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate_dataset(**{"dataset": DATASET, "outputs": by_id, **settings})


def over_cases(function: Any, n: int) -> DatasetResult:
    """A run over a dataset whose outputs a function makes."""
    dataset = CardDataset(tuple(CardCase(str(k), "", ()) for k in range(n)))
    return evaluate_dataset(dataset, function, concurrency=4)


def test_ordinary_functions_run_in_concurrent_threads_with_context() -> None:
    """Each call waits until all four have started; one after the other they would hang."""
    together = threading.Barrier(4, timeout=30)
    user: contextvars.ContextVar[str] = contextvars.ContextVar("user")
    user.set("me")
    found = []

    def call(_: CardCase) -> list[Card]:
        together.wait()
        found.append(user.get("nobody"))
        return []

    assert over_cases(call, 4).failures == ()
    assert found == ["me"] * 4


def test_concurrency_is_limited_and_coroutines_run_in_the_loop_of_the_caller() -> None:
    running, most, loops = 0, 0, set()

    async def call(_: CardCase) -> list[Card]:
        nonlocal running, most
        loops.add(asyncio.get_running_loop())
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        return []

    async def main() -> None:
        dataset = CardDataset(tuple(CardCase(str(k), "", ()) for k in range(30)))
        run = await aevaluate_dataset(dataset, call, concurrency=4)
        assert run.failures == ()
        assert loops == {asyncio.get_running_loop()}

    asyncio.run(main())
    assert most == 4


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
