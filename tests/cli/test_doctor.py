"""`factcheck doctor` prints one screen or JSON, and its exit code says how it went."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from factcheck.testing import FactModel, LocalOpenAIServer, unauthorized
from tests.cli.conftest import Outcome, refused

Run = Callable[..., Outcome]


def test_a_model_that_answers_is_described(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with LocalOpenAIServer(FactModel()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        shown = run("doctor", "openai/tiny")
        data = json.loads(run("doctor", "openai/tiny", "--format", "json").out)
    assert shown.code == 0
    assert "4 of 4 facts decided" in shown.out
    assert (data["model"], data["form"], data["learned"]) == ("openai/tiny", "JSON schema", [])


def test_a_model_that_decides_nothing_exits_with_4(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LocalOpenAIServer(lambda _: "I would rather not.") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        outcome = run("doctor", "openai/tiny")
    assert outcome.code == 4
    assert "no fact was decided" in outcome.err


def test_a_dead_key_and_a_name_that_is_none_are_said_in_one_line(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LocalOpenAIServer(lambda _: unauthorized()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        refused(run("doctor", "openai/tiny"), "check OPENAI_API_KEY", 4)
    refused(run("doctor", "local"), "names no language model", 3)
