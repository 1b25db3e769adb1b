"""A prompt goes out in the form that the server takes, and its reply is read."""

from __future__ import annotations

import json

import pytest

from factcheck.errors import JudgeOutputError
from factcheck.judges.llm.language_model import connect
from factcheck.judges.llm.request import Form, Prompt, Reply
from factcheck.runtime.loop import background
from factcheck.runtime.session import Session
from factcheck.testing import LocalOpenAIServer

SCHEMA = {
    "type": "object",
    "properties": {"sky": {"type": "string"}},
    "required": ["sky"],
    "additionalProperties": False,
}


def say(form: Form) -> list[dict[str, str]]:
    return [{"role": "system", "content": f"Reply as {form}."}, {"role": "user", "content": "Sky?"}]


def read_sky(reply: Reply) -> str:
    try:
        return str(json.loads(reply.text)["sky"])
    except (ValueError, KeyError) as error:
        raise JudgeOutputError("the reply has no sky") from error


def test_a_prompt_carries_its_schema_and_its_reply_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with LocalOpenAIServer(lambda _: '{"sky": "blue"}') as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        model = connect("openai/tiny", Session(cache="off"))
        assert background.run(model.ask(Prompt(say, SCHEMA, read_sky, 100))) == "blue"
        background.run(model.aclose())
    (request,) = server.requests
    assert request.body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert request.body["messages"] == say("schema")
    assert request.body["max_completion_tokens"] == 100
