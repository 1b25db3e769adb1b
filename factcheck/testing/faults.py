"""What goes wrong with a provider, as replies and as wrappers of an answer.

Wrappers decide by a request's place in the order of arrival, so they keep no state: the same
order of requests meets the same faults.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from email.utils import formatdate
from typing import TypeVar

from factcheck.errors import InputError
from factcheck.testing.replies import Reply, Request

RequestT = TypeVar("RequestT", bound=Request)
AnswerT = TypeVar("AnswerT")
Step = Reply | str | Callable[[RequestT], AnswerT]
"""A reply, or an answer that is asked for one."""


def http_date(seconds_from_now: float) -> str:
    """A moment as HTTP writes it, for `rate_limited`; whole seconds."""
    return formatdate(time.time() + seconds_from_now, usegmt=True)


def rate_limited(
    retry_after: float | str | None = None, *, retry_after_ms: int | None = None
) -> Reply:
    """HTTP 429: too many requests.

    Args:
        retry_after: Header `retry-after`: seconds, or a text such as `http_date(2)`.
        retry_after_ms: Header `retry-after-ms`: milliseconds, OpenAI's own.
    """
    waits = {"retry-after": retry_after, "retry-after-ms": retry_after_ms}
    headers = {name: str(value) for name, value in waits.items() if value is not None}
    return _error(429, "Rate limit reached", "requests", "rate_limit_exceeded", headers)


def quota_exceeded() -> Reply:
    """HTTP 429 that no waiting helps: there is no money left."""
    message = "You exceeded your current quota, please check your plan and billing details."
    return _error(429, message, "insufficient_quota", "insufficient_quota")


def server_error(status: int = 500) -> Reply:
    """HTTP 5xx: the provider failed."""
    return _error(status, "The server had an error", "server_error", None)


def unauthorized() -> Reply:
    """HTTP 401: the key is wrong."""
    message = "Incorrect API key provided."
    return _error(401, message, "invalid_request_error", "invalid_api_key")


def bad_request(code: str = "context_length_exceeded") -> Reply:
    """HTTP 400: this request will never be answered."""
    return _error(400, f"Bad request: {code}", "invalid_request_error", code)


def garbage(body: bytes = b"<html>Bad gateway</html>", content_type: str = "text/html") -> Reply:
    """HTTP 200 with a body that is no completion, as a broken proxy sends it."""
    return Reply(raw_body=body, headers={"content-type": content_type})


def truncated(content: str, keep: float = 0.5) -> Reply:
    """A completion cut off by the token limit: the first part of `content`, `keep` of it."""
    return Reply(content[: int(len(content) * keep)], finish_reason="length")


def refused(refusal: str = "I cannot help with that.") -> Reply:
    """A model that declines to answer."""
    return Reply(None, refusal=refusal)


def hang(seconds: float) -> Reply:
    """Silence, and then a closed connection."""
    return Reply(delay_s=seconds, close=True)


def dropped() -> Reply:
    """A connection closed without an answer."""
    return Reply(close=True)


def sequence(
    *steps: Step[RequestT, AnswerT], then: Callable[[RequestT], AnswerT]
) -> Callable[[RequestT], AnswerT | Reply | str]:
    """An answer that takes the steps in order of arrival, one for each request, and then `then`."""

    def answer(request: RequestT) -> AnswerT | Reply | str:
        if request.index >= len(steps):
            return then(request)
        step = steps[request.index]
        return step if isinstance(step, (Reply, str)) else step(request)

    return answer


def every(
    n: int, fault: Reply, answer: Callable[[RequestT], AnswerT]
) -> Callable[[RequestT], AnswerT | Reply]:
    """An answer that every `n`-th request (the `n`-th to arrive, the `2n`-th, ...) fails to get."""
    if n < 1:
        raise InputError(f"every {n!r}-th request cannot fail; use a whole number >= 1")
    return lambda request: fault if (request.index + 1) % n == 0 else answer(request)


def random_faults(
    answer: Callable[[RequestT], AnswerT], rates: Mapping[Reply, float], *, seed: int
) -> Callable[[RequestT], AnswerT | Reply]:
    """An answer that fails at random, with the same faults at the same places for the same seed.

    Args:
        answer: What is given otherwise.
        rates: Share of requests that meets each fault, in [0, 1]; together at most 1.
        seed: Chooses the places.

    Raises:
        InputError: A rate below 0, or more than 1 together.
    """
    if any(rate < 0 for rate in rates.values()) or sum(rates.values()) > 1:
        raise InputError(f"rates of faults must be >= 0 and at most 1 together: {rates!r}")

    def faulty(request: RequestT) -> AnswerT | Reply:
        drawn = random.Random(f"{seed}:{request.index}").random()  # noqa: S311 - no secret
        for fault, rate in rates.items():
            if drawn < rate:
                return fault
            drawn -= rate
        return answer(request)

    return faulty


def _error(
    status: int,
    message: str,
    kind: str,
    code: str | None,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    error = {"message": message, "type": kind, "param": None, "code": code}
    return Reply(status=status, error=error, headers=headers or {})
