"""The local server, its faults and its batches, seen through the official client."""

from __future__ import annotations

import asyncio
import http.client
import json
import math
import threading
import urllib.request
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit

import openai
import pytest

from factcheck.testing import (
    ChatRequest,
    EmbeddingsRequest,
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
from tests.processes import printed_by_python

QUESTION: Any = [{"role": "user", "content": "Do ants have six legs?"}]


def client_of(server: LocalOpenAIServer) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.base_url, api_key="test", max_retries=0)


def async_client_of(server: LocalOpenAIServer, **options: Any) -> openai.AsyncOpenAI:
    transport = openai.DefaultAsyncHttpx2Client()
    return openai.AsyncOpenAI(
        base_url=server.base_url, api_key="test", max_retries=0, http_client=transport, **options
    )


def connection_to(server: LocalOpenAIServer) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(str(urlsplit(server.base_url).netloc), timeout=30)


def test_a_plain_string_is_a_completion_with_everything_the_client_looks_for() -> None:
    with LocalOpenAIServer(lambda _: "Yes, six.") as server, client_of(server) as client:
        completion = client.chat.completions.create(model="m1", messages=QUESTION)
    choice, usage = completion.choices[0], completion.usage
    assert (choice.message.content, choice.message.refusal) == ("Yes, six.", None)
    assert (choice.finish_reason, completion.model) == ("stop", "m1")
    assert completion._request_id == "req_0"
    assert usage  # four characters are a token, rounded up
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (6, 3, 9)


def test_embeddings_may_be_out_of_order_left_out_or_replaced() -> None:
    def odd(request: EmbeddingsRequest) -> Any:
        vectors = hashed_embeddings(request)
        return vectors if request.index < 2 else {2: vectors[2], 1: [2.0, math.inf]}

    def embedded(**options: Any) -> list[tuple[int, Any]]:
        texts = ["Ants dig tunnels.", "tunnels dig ants", "Rain fell on Tuesday."]
        data = client.embeddings.create(model="m", input=texts, **options).data
        return [(item.index, item.embedding) for item in data]

    server = LocalOpenAIServer(lambda _: "", embed=odd)
    with server, client_of(server) as client:
        (_, first), (_, same), (_, other) = in_order = embedded()
        assert embedded(encoding_format="float")[2][1] == pytest.approx(other, abs=1e-6)
        assert embedded() == [in_order[2], (1, [2.0, math.inf])]
    assert sum(x * x for x in first) == pytest.approx(1.0, abs=1e-6)
    assert first == same != other


INVALID = "invalid_request_error"
JSON = "application/json"
FAULTS: list[tuple[Reply, type[Exception], tuple[Any, ...]]] = [
    (rate_limited(), openai.RateLimitError, (429, "requests", "rate_limit_exceeded")),
    (quota_exceeded(), openai.RateLimitError, (429, *["insufficient_quota"] * 2)),
    (server_error(), openai.InternalServerError, (500, "server_error", None)),
    (server_error(503), openai.InternalServerError, (503, "server_error", None)),
    (unauthorized(), openai.AuthenticationError, (401, INVALID, "invalid_api_key")),
    (bad_request("no_model"), openai.BadRequestError, (400, INVALID, "no_model")),
    (garbage(b'{"id": "chatcmpl-0", "choi', JSON), json.JSONDecodeError, ()),
    (dropped(), openai.APIConnectionError, ()),
    (hang(0.05), openai.APIConnectionError, ()),
    (hang(60), openai.APITimeoutError, ()),
]


def test_faults_are_what_the_official_client_takes_them_for() -> None:
    answer = sequence(*(fault for fault, *_ in FAULTS), then=lambda _: refused("No."))
    with LocalOpenAIServer(answer) as server, client_of(server) as client:
        for _, raised, told in FAULTS:
            with pytest.raises(raised) as caught:
                client.with_options(timeout=1.0).chat.completions.create(
                    model="m", messages=QUESTION
                )
            assert type(caught.value) is raised
            if isinstance(caught.value, openai.APIStatusError):
                error = caught.value
                assert (error.status_code, error.type, error.code) == told
        message = client.chat.completions.create(model="m", messages=QUESTION).choices[0].message
    assert (message.content, message.refusal) == (None, "No.")
    cut = truncated('{"facts": ["Rain is wet."]}', keep=0.5)
    assert (cut.content, cut.finish_reason) == ('{"facts": ["R', "length")


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b'{"messages": [{"role": "user", "content": "x"}]}',
        b'{"model": "m", "messages": []}',
        b'{"model": "m", "messages": [{"role": "user", "content": "x"}], "stream": true}',
        b'{"model": "m", "messages": [{"role": "user", "content": "x"}], "n": 2}',
    ],
)
def test_a_body_the_server_cannot_honour_never_reaches_the_answer(body: bytes) -> None:
    asked: list[ChatRequest] = []
    with LocalOpenAIServer(lambda request: asked.append(request) or "") as server:  # type: ignore[func-returns-value]
        connection = connection_to(server)
        connection.request("POST", "/v1/chat/completions", body)
        assert connection.getresponse().status == 400
        connection.close()
        for path in ("/nothing", "/v1/completions", "/v1/batches/a/b", "/v1/files/f/content"):
            with pytest.raises(HTTPError, match="404"):
                urllib.request.urlopen(server.base_url.removesuffix("/v1") + path)  # noqa: S310
    assert asked == []


def test_requests_are_recorded() -> None:
    with LocalOpenAIServer(lambda _: "") as server, client_of(server) as client:
        client.embeddings.create(model="m", input="Ants.", encoding_format="float")
        client.chat.completions.create(model="m", messages=QUESTION, temperature=0.5)
        first, second = server.requests
        assert (first.method, first.path, first.index) == ("POST", "/v1/embeddings", 0)
        assert (second.path, second.index) == ("/v1/chat/completions", 1)
        assert second.body == {"model": "m", "messages": QUESTION, "temperature": 0.5}
        assert second.headers["authorization"] == "Bearer test"
        assert isinstance(second, ChatRequest)
        assert second.messages[0]["content"] == "Do ants have six legs?"
        assert server.n_connections == 1
        server.clear()
        client.embeddings.create(model="m", input="Ants.")
        assert [request.index for request in server.requests] == [0]


def test_concurrent_requests() -> None:
    def answer(request: ChatRequest) -> Reply:
        return Reply(request.messages[0]["content"], delay_s=1.0)

    async def ask(client: openai.AsyncOpenAI, number: int) -> str | None:
        messages: Any = [{"role": "user", "content": f"number {number}"}]
        completion = await client.chat.completions.create(model="m", messages=messages)
        return completion.choices[0].message.content

    async def ask_all(server: LocalOpenAIServer) -> list[str | None]:
        async with async_client_of(server) as client:
            return await asyncio.gather(*(ask(client, number) for number in range(200)))

    with LocalOpenAIServer(answer) as server:
        answers = asyncio.run(ask_all(server))
        assert answers == [f"number {number}" for number in range(200)]
        assert max(request.in_flight for request in server.requests) > 100
        assert server.in_flight == 0


def test_client_that_left() -> None:
    async def give_up(server: LocalOpenAIServer) -> None:
        async with async_client_of(server, timeout=0.2) as client:
            with pytest.raises(openai.APITimeoutError):
                await client.chat.completions.create(model="m", messages=QUESTION)

    gone = threading.Event()
    with LocalOpenAIServer(lambda _: hang(60)) as server:
        asyncio.run(give_up(server))
        for _ in range(500):
            if server.in_flight == 0:
                break
            gone.wait(0.01)
        assert server.in_flight == 0
        assert len(server.requests) == 1


def test_stop_with_open_requests() -> None:
    body = json.dumps({"model": "m", "messages": QUESTION})
    for _ in range(20):
        with LocalOpenAIServer(lambda _: hang(60)) as server:
            connection = connection_to(server)
            connection.request("POST", "/v1/chat/completions", body)
        with pytest.raises(ConnectionError):
            connection.getresponse()
        connection.close()
    assert "local-openai-server" not in {thread.name for thread in threading.enumerate()}


def test_answer_that_raises() -> None:
    def answer(request: ChatRequest) -> str:
        return str(request.body["no such key"])

    def ask() -> None:
        with LocalOpenAIServer(answer) as server, client_of(server) as client:
            with pytest.raises(openai.InternalServerError) as failed:
                client.chat.completions.create(model="m", messages=QUESTION)
            told.append(str(failed.value))

    told: list[str] = []
    with pytest.raises(RuntimeError, match="an answer of the server raised") as caught:
        ask()
    assert "no such key" in told[0]
    assert isinstance(caught.value.__cause__, KeyError)


def test_import_is_light() -> None:
    code = (
        "import sys; import factcheck.testing;"
        "print(sorted({'openai', 'dspy', 'pytest', 'numpy', 'pydantic'} & set(sys.modules)))"
    )
    assert printed_by_python(code) == "[]"


def test_a_batch_whose_requests_cannot_be_told_apart_is_an_error_of_the_test() -> None:
    request = {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions"}
    line = json.dumps({**request, "body": {"model": "m", "messages": QUESTION}})

    def collect() -> None:
        with LocalOpenAIServer(lambda _: "Yes.") as server, client_of(server) as client:
            file = client.files.create(file=f"{line}\n{line}".encode(), purpose="batch")
            made = client.batches.create(
                input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h"
            )
            with pytest.raises(openai.InternalServerError, match="unique ids"):
                client.batches.retrieve(made.id)

    with pytest.raises(RuntimeError, match="an answer of the server raised"):
        collect()
