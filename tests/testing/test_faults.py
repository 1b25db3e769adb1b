"""Each fault, as the official client sees it over HTTP."""

from __future__ import annotations

import asyncio
import json
import math
from typing import Any

import openai
import pytest

from factcheck.testing import (
    ChatRequest,
    EmbeddingsAnswer,
    LocalOpenAIServer,
    Reply,
    bad_request,
    dropped,
    garbage,
    hang,
    hashed_embeddings,
    quota_exceeded,
    rate_limited,
    refused,
    sequence,
    server_error,
    truncated,
    unauthorized,
)

QUESTION: Any = [{"role": "user", "content": "Is rain wet?"}]


def fine(request: ChatRequest) -> str:
    return f"fine {request.index}"


async def ask(base_url: str, *, timeout_s: float = 30.0) -> Any:
    async with openai.AsyncOpenAI(
        base_url=base_url,
        api_key="test",
        max_retries=0,
        timeout=timeout_s,
        http_client=openai.DefaultAsyncHttpx2Client(),
    ) as client:
        return await client.chat.completions.create(model="m", messages=QUESTION)


def ask_once(fault: Reply, *, timeout_s: float = 30.0) -> Any:
    with LocalOpenAIServer(lambda _: fault) as server:
        return asyncio.run(ask(server.base_url, timeout_s=timeout_s))


INVALID = "invalid_request_error"


@pytest.mark.parametrize(
    ("fault", "raised", "status", "kind", "code"),
    [
        (rate_limited(), openai.RateLimitError, 429, "requests", "rate_limit_exceeded"),
        (quota_exceeded(), openai.RateLimitError, 429, *["insufficient_quota"] * 2),
        (server_error(), openai.InternalServerError, 500, "server_error", None),
        (server_error(503), openai.InternalServerError, 503, "server_error", None),
        (unauthorized(), openai.AuthenticationError, 401, INVALID, "invalid_api_key"),
        (bad_request("no_model"), openai.BadRequestError, 400, INVALID, "no_model"),
    ],
)
def test_an_error_reply_becomes_the_exception_of_the_client(
    fault: Reply, raised: type[openai.APIStatusError], status: int, kind: str, code: str | None
) -> None:
    with pytest.raises(raised) as caught:
        ask_once(fault)
    assert (caught.value.status_code, caught.value.type, caught.value.code) == (status, kind, code)
    assert caught.value.request_id == "req_0"


@pytest.mark.parametrize(
    ("fault", "timeout_s", "raised"),
    [
        (garbage(b'{"id": "chatcmpl-0", "choi', "application/json"), 30, json.JSONDecodeError),
        (dropped(), 30, openai.APIConnectionError),
        (hang(60), 0.2, openai.APITimeoutError),
        (hang(0.05), 30, openai.APIConnectionError),
    ],
    ids=["half a document", "dropped", "silent", "silent, then dropped"],
)
def test_what_is_no_reply_is_an_error_of_its_kind(
    fault: Reply, timeout_s: float, raised: type[Exception]
) -> None:
    with pytest.raises(raised) as caught:
        ask_once(fault, timeout_s=timeout_s)
    assert type(caught.value) is raised


def test_a_truncated_reply_holds_the_first_part_and_a_refusal_nothing() -> None:
    choice = ask_once(truncated('{"facts": ["Rain is wet."]}', keep=0.5)).choices[0]
    message = ask_once(refused("No.")).choices[0].message
    assert (choice.message.content, choice.finish_reason) == ('{"facts": ["R', "length")
    assert (message.content, message.refusal) == (None, "No.")


def test_an_error_reply_leaves_the_connection_open_and_a_dropped_one_is_replaced() -> None:
    answer = sequence(server_error(), dropped(), then=fine)

    async def ask_thrice(base_url: str) -> str | None:
        async with openai.AsyncOpenAI(base_url=base_url, api_key="test", max_retries=0) as client:
            for _ in range(2):
                with pytest.raises(openai.APIError):
                    await client.chat.completions.create(model="m", messages=QUESTION)
            completion = await client.chat.completions.create(model="m", messages=QUESTION)
            return completion.choices[0].message.content

    with LocalOpenAIServer(answer) as server:
        assert asyncio.run(ask_thrice(server.base_url)) == "fine 2"
        assert server.n_connections == 2


TEXTS = ["a", "b", "c"]


def answered(answer: EmbeddingsAnswer) -> list[tuple[int, Any]]:
    with (
        LocalOpenAIServer(lambda _: "", embed=answer) as server,
        openai.OpenAI(base_url=server.base_url, api_key="test", max_retries=0) as client,
    ):
        data = client.embeddings.create(model="m", input=TEXTS).data
    return [(item.index, item.embedding) for item in data]


def test_vectors_may_be_out_of_order_left_out_or_replaced() -> None:
    in_order = answered(hashed_embeddings)
    odd = answered(lambda request: {2: hashed_embeddings(request)[2], 1: [2.0, math.inf]})
    assert [index for index, _ in in_order] == [0, 1, 2]
    assert odd == [in_order[2], (1, [2.0, math.inf])]
    with pytest.raises(openai.InternalServerError):
        answered(lambda _: server_error())
