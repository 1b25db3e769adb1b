"""Each fault, as the official client sees it over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from email.utils import parsedate_to_datetime
from typing import Any

import openai
import pytest

from factcheck.errors import InputError
from factcheck.testing import (
    ChatRequest,
    LocalOpenAIServer,
    Reply,
    bad_request,
    dropped,
    every,
    garbage,
    hang,
    http_date,
    quota_exceeded,
    random_faults,
    rate_limited,
    refused,
    sequence,
    server_error,
    truncated,
    unauthorized,
)

QUESTION: Any = [{"role": "user", "content": "Is rain wet?"}]


def fine(request: ChatRequest) -> str:
    """An answer without a fault, which tells its place."""
    return f"fine {request.index}"


async def ask(base_url: str, *, timeout_s: float = 30.0) -> Any:
    """One completion by the official client, which never tries twice."""
    async with openai.AsyncOpenAI(
        base_url=base_url,
        api_key="test",
        max_retries=0,
        timeout=timeout_s,
        http_client=openai.DefaultAsyncHttpx2Client(),
    ) as client:
        return await client.chat.completions.create(model="m", messages=QUESTION)


def ask_once(fault: Reply, *, timeout_s: float = 30.0) -> Any:
    """What comes of one request to a server with this fault."""
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
    """An error reply becomes the client's exception for it, with type and code."""
    with pytest.raises(raised) as caught:
        ask_once(fault)
    assert (caught.value.status_code, caught.value.type, caught.value.code) == (status, kind, code)
    assert caught.value.request_id == "req_0"


def test_retry_after() -> None:
    """The wait is told in seconds, as a date or in milliseconds, as asked."""
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
    """A provider may ask for a pause without saying how long."""
    with pytest.raises(openai.RateLimitError) as caught:
        ask_once(rate_limited())
    assert "retry-after" not in caught.value.response.headers


def test_html_instead_of_json() -> None:
    """HTTP 200 with a page is handed on by the client as a bare string, without any error."""
    assert ask_once(garbage()) == "<html>Bad gateway</html>"


def test_broken_json() -> None:
    """HTTP 200 with half a JSON document is an error of the JSON parser."""
    with pytest.raises(json.JSONDecodeError):
        ask_once(garbage(b'{"id": "chatcmpl-0", "choi', "application/json"))


def test_truncated() -> None:
    """A truncated reply holds the first part and says that the length ended it."""
    choice = ask_once(truncated('{"facts": ["Rain is wet."]}', keep=0.5)).choices[0]
    assert (choice.message.content, choice.finish_reason) == ('{"facts": ["R', "length")


def test_refused() -> None:
    """A refusal has no content."""
    message = ask_once(refused("No.")).choices[0].message
    assert (message.content, message.refusal) == (None, "No.")


def test_dropped() -> None:
    """A dropped connection is a connection error, and not a timeout."""
    with pytest.raises(openai.APIConnectionError) as caught:
        ask_once(dropped())
    assert not isinstance(caught.value, openai.APITimeoutError)


def test_hang() -> None:
    """A silent server is a timeout for a client with less patience, then a lost connection."""
    with pytest.raises(openai.APITimeoutError):
        ask_once(hang(60), timeout_s=0.2)
    with pytest.raises(openai.APIConnectionError):
        ask_once(hang(0.05))


def test_connection_after_an_error() -> None:
    """An error reply leaves the connection in order; a dropped one is replaced."""
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


def ask_directly(answer: Callable[[ChatRequest], Reply | str], n: int) -> Sequence[Reply | str]:
    """The answers to `n` requests, in order of arrival."""
    return [
        answer(
            ChatRequest(
                method="POST",
                path="/v1/chat/completions",
                headers={},
                body={"model": "m", "messages": QUESTION},
                index=index,
                in_flight=1,
            )
        )
        for index in range(n)
    ]


def test_sequence() -> None:
    """Steps are taken in order, be they replies, strings or answers; then comes the rest."""
    fault = server_error()
    answer = sequence(fault, "second", lambda request: f"step {request.index}", then=fine)
    assert ask_directly(answer, 5) == [fault, "second", "step 2", "fine 3", "fine 4"]


def test_every() -> None:
    """Every third request fails."""
    fault = dropped()
    answers = ask_directly(every(3, fault, fine), 7)
    assert [index for index, answer in enumerate(answers) if answer is fault] == [2, 5]
    assert answers[3] == "fine 3"


def test_random_faults_repeat() -> None:
    """The same seed puts the same faults at the same places, another seed elsewhere."""
    rates = {dropped(): 0.2, rate_limited(1): 0.3}
    first = ask_directly(random_faults(fine, rates, seed=1), 200)
    assert ask_directly(random_faults(fine, rates, seed=1), 200) == first
    assert ask_directly(random_faults(fine, rates, seed=2), 200) != first


def test_random_faults_keep_their_rates() -> None:
    """Over many requests each fault comes about as often as its rate says."""
    drop, limit = dropped(), rate_limited(1)
    answers = ask_directly(random_faults(fine, {drop: 0.2, limit: 0.3}, seed=1), 4000)
    assert answers.count(drop) == pytest.approx(800, rel=0.1)
    assert answers.count(limit) == pytest.approx(1200, rel=0.1)


@pytest.mark.parametrize("rates", [{dropped(): -0.1}, {dropped(): 0.6, server_error(): 0.6}])
def test_impossible_rates(rates: dict[Reply, float]) -> None:
    """Rates that are no shares are refused when the answer is made."""
    with pytest.raises(InputError, match="rates of faults"):
        random_faults(fine, rates, seed=1)


def test_every_zeroth() -> None:
    """There is no zeroth request."""
    with pytest.raises(InputError, match="every 0-th"):
        every(0, dropped(), fine)
