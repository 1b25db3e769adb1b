"""Every error of the libraries below has a translation."""

from __future__ import annotations

import inspect
import json

import openai
import pytest

from factcheck.errors import (
    FactcheckError,
    JudgeError,
    JudgeRefused,
    JudgeRejected,
    JudgeUnavailable,
)
from factcheck.judges.llm.errors import (
    UNREADABLE,
    dspy_classes,
    from_dspy,
    from_openai,
    from_status,
)


def dspy_errors() -> list[type[object]]:
    from dspy.utils import exceptions

    return [
        cls
        for _, cls in inspect.getmembers(exceptions, inspect.isclass)
        if issubclass(cls, exceptions.LMError) and cls is not exceptions.LMError
    ]


@pytest.mark.parametrize("theirs", dspy_errors(), ids=lambda cls: cls.__name__)
def test_every_error_of_a_dspy_model_is_mapped(theirs: type[object]) -> None:
    assert any(issubclass(theirs, mapped) for mapped, _ in dspy_classes())


def test_more_special_classes_come_before_their_parents() -> None:
    classes = [theirs for theirs, _ in dspy_classes()]
    for place, theirs in enumerate(classes):
        assert not any(issubclass(later, theirs) for later in classes[place + 1 :])


def test_our_own_error_comes_out_of_whatever_wraps_it() -> None:
    ours = JudgeUnavailable("no answer")
    try:
        try:
            raise ours
        except FactcheckError as error:
            raise RuntimeError("wrapped") from error
    except RuntimeError as error:
        assert from_dspy(error, "m") is ours


def test_an_error_nobody_knows_is_still_one_of_ours() -> None:
    assert type(from_dspy(RuntimeError("odd"), "m")) is JudgeError
    assert isinstance(from_openai(openai.OpenAIError("odd"), "m"), FactcheckError)


@pytest.mark.parametrize("body", [b"<html>", b'{"a":"\xff"}', b"[" * 100_000])
def test_a_body_that_cannot_be_read_is_no_answer(body: bytes) -> None:
    with pytest.raises(UNREADABLE) as caught:
        json.loads(body)
    with pytest.raises(JudgeUnavailable, match="not JSON"):
        raise from_openai(caught.value, "m")


@pytest.mark.parametrize(
    ("status", "advice"),
    [(401, "OPENAI_API_KEY"), (403, "OPENAI_API_KEY"), (404, "model's name"), (400, "said$")],
)
def test_a_request_that_is_turned_down_says_what_to_check(status: int, advice: str) -> None:
    error = from_status(status, "said")
    assert isinstance(error, JudgeRejected)
    with pytest.raises(JudgeRejected, match=advice):
        raise error


@pytest.mark.parametrize("kind", ["content_filter", "content_policy_violation"])
def test_a_request_that_a_content_filter_turns_down_is_refused(kind: str) -> None:
    assert isinstance(from_status(400, "said", kinds=(kind, None)), JudgeRefused)
