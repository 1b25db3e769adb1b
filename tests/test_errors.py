"""Messages stay one readable line; failures carry the code of their error."""

from __future__ import annotations

import pytest

from factcheck.errors import (
    MAX_MESSAGE_CHARS,
    Failure,
    InputError,
    JudgeRejected,
    describe,
    shorten_middle,
)


def test_a_message_keeps_both_ends_and_loses_its_middle() -> None:
    error = InputError(f"facts.yaml, line 3: expected a string, got {'9' * 1_500_000}; see --help")

    assert len(str(error)) == len(describe(error)) == MAX_MESSAGE_CHARS
    assert str(error).startswith("facts.yaml, line 3: expected a string, got 99")
    assert str(error).endswith("99; see --help")


@pytest.mark.parametrize("text", ["", "short", "x" * MAX_MESSAGE_CHARS])
def test_a_short_text_stays_as_it_is(text: str) -> None:
    assert shorten_middle(text) == text


def test_a_foreign_error_is_described_with_its_type_on_one_line() -> None:
    class Broken(Exception):
        def __str__(self) -> str:
            raise ValueError

    assert describe(KeyError("name")) == "KeyError: 'name'"
    assert describe(ValueError("first\nsecond")) == "ValueError: first"
    assert describe(Broken()) == "Broken"
    assert describe(JudgeRejected()) == "rejected"


def test_a_failure_has_the_code_and_message_of_its_error() -> None:
    assert Failure.of("r1", JudgeRejected("no key")) == Failure("r1", "rejected", "no key")
