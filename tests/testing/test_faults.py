"""Each fault, as the official client sees it over HTTP."""

from __future__ import annotations

import asyncio
import json
import math
from email.utils import parsedate_to_datetime
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
    http_date,
    out_of_order,
    quota_exceeded,
    rate_limited,
    refused,
    sequence,
    server_error,
    truncated,
    unauthorized,
    with_vector,
    without_vectors,
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


@pytest.mark.parametrize(
    ("fault", "raised", "status", "kind", "code"),
    [
        (rate_limited(), openai.RateLimitError, 429, "requests", "rate_limit_exceeded"),
        (
            quota_exceeded(),
            openai.RateLimitError,
            429,
            "insufficient_quota",
            "insufficient_quota",
        ),
        (server_error(), openai.InternalServerError, 500, "server_error", None),
        (server_error(503), openai.InternalServerError, 503, "server_error", None),
        (
            unauthorized(),
            openai.AuthenticationError,
            401,
            "invalid_request_error",
            "invalid_api_key",
        ),
        (
            bad_request("model_not_found"),
            openai.BadRequestError,
            400,
            "invalid_request_error",
            "model_not_found",
        ),
    ],
)
def test_error_replies(
    fault: Reply, raised: type[openai.APIStatusError], status: int, kind: str, code: str | None
) -> None:
    with pytest.raises(raised) as caught:
        ask_once(fault)
    assert (caught.value.status_code, caught.value.type, caught.value.code) == (status, kind, code)
    assert caught.value.request_id == "req_0"


def test_retry_after() -> None:
    date = http_date(90)
    for fault, name, value in (
        (rate_limited(2.5), "retry-after", "2.5"),
        (rate_limited(date), "retry-after", date),
        (rate_limited(retry_after_ms=250), "retry-after-ms", "250"),
    ):
        with pytest.raises(openai.RateLimitError) as caught:
            ask_once(fault)
        assert caught.value.response.headers[name] == value
    seconds = (parsedate_to_datetime(date) - parsedate_to_datetime(http_date(0))).total_seconds()
    assert seconds in {89, 90}


def test_rate_limited_without_a_wait() -> None:
    with pytest.raises(openai.RateLimitError) as caught:
        ask_once(rate_limited())
    assert "retry-after" not in caught.value.response.headers


def test_html_instead_of_json() -> None:
    assert ask_once(garbage()) == "<html>Bad gateway</html>"


def test_broken_json() -> None:
    with pytest.raises(json.JSONDecodeError):
        ask_once(garbage(b'{"id": "chatcmpl-0", "choi', "application/json"))


def test_truncated() -> None:
    choice = ask_once(truncated('{"facts": ["Rain is wet."]}', keep=0.5)).choices[0]
    assert (choice.message.content, choice.finish_reason) == ('{"facts": ["R', "length")


def test_refused() -> None:
    message = ask_once(refused("No.")).choices[0].message
    assert (message.content, message.refusal) == (None, "No.")


def test_dropped() -> None:
    with pytest.raises(openai.APIConnectionError) as caught:
        ask_once(dropped())
    assert not isinstance(caught.value, openai.APITimeoutError)


def test_hang() -> None:
    with pytest.raises(openai.APITimeoutError):
        ask_once(hang(60), timeout_s=0.2)
    with pytest.raises(openai.APIConnectionError):
        ask_once(hang(0.05))


def test_connection_after_an_error() -> None:
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


def test_sequence() -> None:
    fault = server_error()
    answer = sequence(fault, "second", lambda request: f"step {request.index}", then=fine)
    requests = [ChatRequest("POST", "/v1/chat/completions", {}, {}, n, 1) for n in range(5)]
    assert list(map(answer, requests)) == [fault, "second", "step 2", "fine 3", "fine 4"]


TEXTS = ["a", "b", "c"]


def answered(answer: EmbeddingsAnswer) -> list[tuple[int, Any]]:
    with (
        LocalOpenAIServer(lambda _: "", embed=answer) as server,
        openai.OpenAI(base_url=server.base_url, api_key="test", max_retries=0) as client,
    ):
        data = client.embeddings.create(model="m", input=TEXTS).data
    return [(item.index, item.embedding) for item in data]


def test_vectors_may_come_in_any_order_under_their_index() -> None:
    in_order = answered(hashed_embeddings)

    assert [index for index, _ in in_order] == [0, 1, 2]
    assert answered(out_of_order(hashed_embeddings)) == in_order[::-1]


def test_vectors_may_be_left_out() -> None:
    assert answered(without_vectors(hashed_embeddings, 0, 2)) == answered(hashed_embeddings)[1:2]


def test_one_vector_may_be_another() -> None:
    items = answered(with_vector(hashed_embeddings, 1, [2.0, math.inf]))
    shortened = answered(with_vector(hashed_embeddings, 1, lambda vector: vector[:3]))

    assert items[1] == (1, [2.0, math.inf])
    assert [len(vector) for _, vector in shortened] == [64, 3, 64]
    assert answered(with_vector(hashed_embeddings, 3, [1.0])) == answered(hashed_embeddings)


def test_faults_of_another_kind_pass_through() -> None:
    with pytest.raises(openai.InternalServerError):
        answered(out_of_order(lambda _: server_error()))
