"""A dataset scored: outputs of any kind, faulty ones apart, the rest intact."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from factcheck.errors import InputError, JudgeRefused
from factcheck.keywords import (
    CardCase,
    CardDataset,
    DatasetResult,
    aevaluate_dataset,
    evaluate_dataset,
)
from tests.keywords.naive import Card, expected_card

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


async def later(case: CardCase) -> list[Card]:
    """The output of a case, asynchronously."""
    await asyncio.sleep(0)
    return OUTPUTS[case.id]


@pytest.mark.parametrize(
    "outputs",
    [OUTPUTS, list(OUTPUTS.values()), by_id, later],
    ids=["mapping", "list", "function", "coroutine"],
)
def test_outputs_may_be_given_or_made(outputs: Any) -> None:
    run = evaluate_dataset(DATASET, outputs)
    assert run.case_scores == {"one": 2 / 3, "two": 2 / 3, "none": 1.0}
    assert run.failures == ()
    assert (run.name, run.version) == ("cells", "2")


def raising(case: CardCase) -> list[Card]:
    """Fails for one case."""
    if case.id == "two":
        raise ValueError("no luck\nsecond line")
    return OUTPUTS[case.id]


def raising_late(case: CardCase) -> Iterator[Card]:
    """Fails for one case, in the middle."""
    yield GOOD
    if case.id == "two":
        raise ValueError("no luck")


@pytest.mark.parametrize(
    ("outputs", "code", "message"),
    [
        (raising, "callable", "ValueError: no luck"),
        (raising_late, "callable", "ValueError: no luck"),
        (OUTPUTS | {"two": None}, "input", "expected a list of cards, got null"),
        (OUTPUTS | {"two": "text"}, "input", "expected a list of cards, got str 'text'"),
        (OUTPUTS | {"two": [{"front": "a"}]}, "input", "has no 'back'"),
        (OUTPUTS | {"two": [3]}, "input", "generated card 1 (int 3) has no 'front'"),
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
    assert run.micro is not None


def test_without_a_scored_case_there_is_no_score() -> None:
    run = evaluate_dataset(DATASET, {})
    assert run.macro is None
    assert run.micro is None
    assert run.intervals() == {}
    assert DatasetResult.from_dict(run.to_dict()) == run


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (None, "outputs: expected a mapping from case id, or a list, got NoneType"),
        ("text", "got str"),
        (3, "got int"),
        ([[], []], "outputs: 2 for 3 cases; give one for each"),
        ({"thre": []}, "outputs: 1 for unknown cases: 'thre'"),
    ],
)
def test_outputs_that_cannot_be_used_as_a_whole_are_refused(outputs: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate_dataset(DATASET, outputs)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"threshold": 2}, "threshold must be a finite number"),
        ({"weights": {"front": 1}}, "case 'one': .*'back' has no weight"),
        ({"dataset": []}, r"expected a CardDataset.*got list"),
        *(
            ({"concurrency": n}, "concurrency must be an integer of at least 1")
            for n in (0, 1.5, True)
        ),
    ],
)
def test_settings_that_cannot_be_used_are_refused(settings: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate_dataset(**{"dataset": DATASET, "outputs": by_id, **settings})


def over_cases(function: Any, n: int) -> list[Any]:
    """The failures of a dataset whose outputs a function makes from the number of the case."""
    dataset = CardDataset(tuple(CardCase(str(k), "", ()) for k in range(n)))
    run = evaluate_dataset(dataset, lambda case: function(int(case.id)), concurrency=4)
    return [replace(failure, subject="") for failure in run.failures]


def test_ordinary_functions_run_in_concurrent_threads_with_context() -> None:
    """Each call waits until all four have started; one after the other they would hang."""
    together = threading.Barrier(4, timeout=30)
    user: contextvars.ContextVar[str] = contextvars.ContextVar("user")
    user.set("me")
    found = []

    def call(_: int) -> list[Card]:
        together.wait()
        found.append(user.get("nobody"))
        return []

    assert over_cases(call, 4) == []
    assert found == ["me"] * 4


def test_concurrency_is_limited() -> None:
    running, most = 0, 0

    async def call(_: int) -> list[Card]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        return []

    assert over_cases(call, 30) == []
    assert most == 4


class Unprintable(Exception):
    """An error without a message."""

    def __str__(self) -> str:
        raise ValueError("no words")


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (JudgeRefused("not this one"), "refused", "not this one"),
        (KeyError(), "callable", "KeyError"),
        (SystemExit(3), "callable", "SystemExit: 3"),
        (StopIteration(), "callable", "StopIteration"),
        (KeyboardInterrupt(), "callable", "KeyboardInterrupt"),
        (BaseException("x"), "callable", "BaseException"),
        (Unprintable(), "callable", "Unprintable"),
    ],
)
def test_errors_are_values_and_the_other_results_are_kept(
    error: BaseException, code: str, message: str
) -> None:
    def call(number: int) -> list[Card]:
        if number == 1:
            raise error
        return []

    [failure] = over_cases(call, 3)
    assert failure.code == code
    assert failure.message.startswith(message)


def test_an_asynchronous_callable_runs_in_the_loop_of_the_caller() -> None:
    loops = []

    async def output(case: CardCase) -> list[Card]:
        loops.append(asyncio.get_running_loop())
        return OUTPUTS[case.id]

    async def main() -> bool:
        run = await aevaluate_dataset(DATASET, output)
        return run == evaluate_dataset(DATASET, OUTPUTS) and set(loops) == {
            asyncio.get_running_loop()
        }

    assert asyncio.run(main())
    assert len(loops) == 3
