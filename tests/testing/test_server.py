"""The local server, its faults and its batches, seen through the official client."""

from __future__ import annotations

import asyncio
import http.client
import json
import math
import threading
import urllib.request
from collections.abc import Sequence
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import urlsplit

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
    choice = completion.choices[0]
    assert (choice.message.content, choice.message.refusal) == ("Yes, six.", None)
    assert (choice.finish_reason, completion.model) == ("stop", "m1")
    assert completion._request_id == "req_0"


@pytest.mark.parametrize(
    ("answer", "counts"),
    [
        ("Yes, six.", (6, 3, 9)),  # four characters are a token, rounded up
        (Reply("Yes.", usage={"prompt_tokens": 700, "completion_tokens": 20}), (700, 20, 720)),
    ],
)
def test_usage_is_counted_roughly_unless_the_reply_has_it(
    answer: str | Reply, counts: tuple[int, int, int]
) -> None:
    with LocalOpenAIServer(lambda _: answer) as server, client_of(server) as client:
        usage = client.chat.completions.create(model="m", messages=QUESTION).usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == counts


def test_embeddings() -> None:
    with LocalOpenAIServer(lambda _: "") as server, client_of(server) as client:
        texts = ["Ants dig tunnels.", "tunnels dig ants", "Rain fell on Tuesday."]
        result = client.embeddings.create(model="m", input=texts)
        as_floats = client.embeddings.create(model="m", input=texts, encoding_format="float")
    first, same, other = (item.embedding for item in result.data)
    assert sum(x * x for x in first) == pytest.approx(1.0, abs=1e-6)
    assert first == same
    assert first != other
    assert as_floats.data[2].embedding == pytest.approx(other, abs=1e-6)


@pytest.mark.parametrize("path", ["/nothing", "/v1/completions", "/v1/batches/a/b"])
def test_unknown_path(path: str) -> None:
    with LocalOpenAIServer(lambda _: "") as server:
        with pytest.raises(HTTPError) as caught:
            urllib.request.urlopen(server.base_url.removesuffix("/v1") + path)  # noqa: S310 - http
        with caught.value as response:
            error = json.loads(response.read())["error"]
    assert (caught.value.code, error["code"]) == (404, "unknown_url")
    assert error["type"] == "invalid_request_error"


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
    for _ in range(50):
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


def ask_once(fault: Reply, *, timeout_s: float = 30.0) -> Any:
    with LocalOpenAIServer(lambda _: fault) as server, client_of(server) as client:
        asked = client.with_options(timeout=timeout_s).chat.completions
        return asked.create(model="m", messages=QUESTION)


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
    answer = sequence(server_error(), dropped(), then=lambda request: f"fine {request.index}")
    with LocalOpenAIServer(answer) as server, client_of(server) as client:
        for _ in range(2):
            with pytest.raises(openai.APIError):
                client.chat.completions.create(model="m", messages=QUESTION)
        completion = client.chat.completions.create(model="m", messages=QUESTION)
        assert completion.choices[0].message.content == "fine 2"
        assert server.n_connections == 2


TEXTS = ["a", "b", "c"]


def answered(answer: EmbeddingsAnswer) -> list[tuple[int, Any]]:
    with LocalOpenAIServer(lambda _: "", embed=answer) as server, client_of(server) as client:
        data = client.embeddings.create(model="m", input=TEXTS).data
    return [(item.index, item.embedding) for item in data]


def test_vectors_may_be_out_of_order_left_out_or_replaced() -> None:
    in_order = answered(hashed_embeddings)
    odd = answered(lambda request: {2: hashed_embeddings(request)[2], 1: [2.0, math.inf]})
    assert [index for index, _ in in_order] == [0, 1, 2]
    assert odd == [in_order[2], (1, [2.0, math.inf])]
    with pytest.raises(openai.InternalServerError):
        answered(lambda _: server_error())


URL: Final = "/v1/chat/completions"


def line(name: str, model: str = "m", url: str = URL) -> dict[str, Any]:
    body = {"model": model, "messages": QUESTION}
    return {"custom_id": name, "method": "POST", "url": url, "body": body}


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([line("a"), line("a")], "unique"),
        ([line("a", model="m"), line("b", model="n")], "same model"),
        ([line("a", url="/v1/embeddings")], "those of the batch"),
        ([{**line("a"), "body": None}], "no body"),
        (["a"], "not a JSON object"),
    ],
)
def test_a_file_that_the_endpoint_would_refuse_fails_with_the_reason(
    lines: Sequence[Any], problem: str
) -> None:
    content = "\n".join(map(json.dumps, lines)).encode()
    with LocalOpenAIServer(lambda _: "Yes.") as server, client_of(server) as client:
        file = client.files.create(file=content, purpose="batch")
        made = client.batches.create(input_file_id=file.id, endpoint=URL, completion_window="24h")
        batch = client.batches.retrieve(made.id)
    assert (batch.status, batch.output_file_id) == ("failed", None)
    assert batch.errors is not None
    assert batch.errors.data is not None
    assert problem in str(batch.errors.data[0].message)


def test_what_is_not_there_is_not_found() -> None:
    with LocalOpenAIServer(lambda _: "Yes.") as server, client_of(server) as client:
        with pytest.raises(openai.NotFoundError):
            client.batches.retrieve("batch_9")
        with pytest.raises(openai.NotFoundError):
            client.files.content("file-9")
        with pytest.raises(openai.BadRequestError):
            client.batches.create(input_file_id="file-9", endpoint=URL, completion_window="24h")
        with pytest.raises(openai.BadRequestError):
            client.files.create(file=b"{}", purpose="evals")
