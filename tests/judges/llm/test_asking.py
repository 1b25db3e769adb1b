"""A prompt goes out in the form that the server takes, and its reply is read."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from factcheck.errors import JudgeOutputError
from factcheck.judges.llm.language_model import LanguageModel, connect
from factcheck.judges.llm.questions import Question
from factcheck.runtime.loop import background
from factcheck.runtime.session import Session
from factcheck.testing import ChatRequest, LocalOpenAIServer

SCHEMA = {
    "type": "object",
    "properties": {"sky": {"type": "string"}},
    "required": ["sky"],
    "additionalProperties": False,
}


MESSAGES = [{"role": "system", "content": "Reply."}, {"role": "user", "content": "Sky?"}]


def read_sky(data: Any, _judge: str) -> str:
    try:
        return str(data["sky"])
    except KeyError as error:
        raise JudgeOutputError("the reply has no sky") from error


QUESTION = Question({}, SCHEMA, read_sky, max_tokens=100)


def test_a_prompt_carries_its_schema_and_its_reply_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with LocalOpenAIServer(lambda _: '{"sky": "blue"}') as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        model = connect("openai/tiny", Session(cache="off"))
        assert background.run(model.ask(MESSAGES, QUESTION)) == "blue"
        background.run(model.aclose())
    (request,) = server.requests
    assert request.body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert request.body["messages"] == MESSAGES
    assert request.body["max_completion_tokens"] == 100


def deaf_to_schemas(request: ChatRequest) -> str:
    is_schema = request.body["response_format"]["type"] == "json_schema"
    return "It is blue, I think." if is_schema else '{"sky": "blue"}'


def test_one_request_finds_out_that_schemas_are_ignored_and_the_others_profit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def ask_together(model: LanguageModel) -> list[object]:
        asked = (model.ask(MESSAGES, QUESTION) for _ in range(8))
        return list(await asyncio.gather(*asked, return_exceptions=True))

    with LocalOpenAIServer(deaf_to_schemas) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        model = connect("openai/tiny", Session(cache="off"))
        answers = background.run(ask_together(model))
        background.run(model.aclose())
    assert answers == ["blue"] * 8
    assert len(server.requests) == 9
    assert model.identity["form"] == "json_object"
