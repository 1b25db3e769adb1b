"""Faults of a provider, as replies and as wrappers of an answer.

Wrappers go by a request's place in the order of arrival, so they keep no state: the same order of
requests meets the same faults.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from email.utils import formatdate
from typing import TypeVar

from factcheck.testing.replies import (
    EmbeddingsAnswer,
    EmbeddingsRequest,
    Reply,
    Request,
    VectorsByIndex,
)

RequestT = TypeVar("RequestT", bound=Request)
AnswerT = TypeVar("AnswerT")
Step = Reply | str | Callable[[RequestT], AnswerT]
"""A reply, or a function that answers."""


def _error(status: int, message: str, kind: str, code: str | None) -> Reply:
    error = {"message": message, "type": kind, "param": None, "code": code}
    return Reply(status=status, error=error)


def rate_limited(
    retry_after: float | str | None = None, *, retry_after_ms: int | None = None
) -> Reply:
    """HTTP 429: too many requests.

    Args:
        retry_after: Header `retry-after`: seconds, or a date such as `http_date(2)`.
        retry_after_ms: Header `retry-after-ms`: milliseconds, OpenAI's own.
    """
    waits = {"retry-after": retry_after, "retry-after-ms": retry_after_ms}
    headers = {name: str(value) for name, value in waits.items() if value is not None}
    fault = _error(429, "Rate limit reached", "requests", "rate_limit_exceeded")
    return Reply(status=fault.status, error=fault.error, headers=headers)


def http_date(seconds_from_now: float) -> str:
    """A moment in HTTP's format, for `rate_limited`; whole seconds."""
    return formatdate(time.time() + seconds_from_now, usegmt=True)


def quota_exceeded() -> Reply:
    """HTTP 429 that no waiting helps: the quota is used up."""
    message = "You exceeded your current quota, please check your plan and billing details."
    return _error(429, message, "insufficient_quota", "insufficient_quota")


def server_error(status: int = 500) -> Reply:
    """HTTP 5xx: the provider failed."""
    return _error(status, "The server had an error", "server_error", None)


def unauthorized() -> Reply:
    """HTTP 401: the key is wrong."""
    return _error(401, "Incorrect API key provided.", "invalid_request_error", "invalid_api_key")


def bad_request(code: str = "context_length_exceeded") -> Reply:
    """HTTP 400: this request will never succeed."""
    return _error(400, f"Bad request: {code}", "invalid_request_error", code)


def garbage(body: bytes = b"<html>Bad gateway</html>", content_type: str = "text/html") -> Reply:
    """HTTP 200 with a body that is not a completion, as from a broken proxy."""
    return Reply(raw_body=body, headers={"content-type": content_type})


def truncated(content: str, keep: float = 0.5) -> Reply:
    """A completion cut off by the token limit after the share `keep` of `content`."""
    return Reply(content[: int(len(content) * keep)], finish_reason="length")


def refused(refusal: str = "I cannot help with that.") -> Reply:
    """A model that declines to answer."""
    return Reply(None, refusal=refusal)


def hang(seconds: float) -> Reply:
    """Silence, then a closed connection."""
    return Reply(delay_s=seconds, close=True)


def dropped() -> Reply:
    """A connection closed without an answer."""
    return Reply(close=True)


def sequence(
    *steps: Step[RequestT, AnswerT], then: Callable[[RequestT], AnswerT]
) -> Callable[[RequestT], AnswerT | Reply | str]:
    """An answer that takes one step per request, in order of arrival, and then `then`."""

    def answer(request: RequestT) -> AnswerT | Reply | str:
        step = steps[request.index] if request.index < len(steps) else then
        return step if isinstance(step, (Reply, str)) else step(request)

    return answer


def out_of_order(answer: EmbeddingsAnswer) -> EmbeddingsAnswer:
    """An answer that sends its vectors from last to first, each under its right index."""
    return _changed(answer, lambda vectors: dict(reversed(list(vectors.items()))))


def without_vectors(answer: EmbeddingsAnswer, *places: int) -> EmbeddingsAnswer:
    """An answer without the vectors of some texts, by their places from 0."""
    return _changed(
        answer, lambda vectors: {at: v for at, v in vectors.items() if at not in places}
    )


def with_vector(
    answer: EmbeddingsAnswer, place: int, vector: Sequence[float] | Callable[..., Sequence[float]]
) -> EmbeddingsAnswer:
    """An answer with another vector for one text: too short, NaN, anything.

    Args:
        answer: Answers for the other texts.
        place: Of the text in the request, from 0; requests with fewer texts are not changed.
        vector: The vector to send, or a function of the right one.
    """

    def change(vectors: VectorsByIndex) -> VectorsByIndex:
        if place not in vectors:
            return vectors
        return {**vectors, place: vector(vectors[place]) if callable(vector) else vector}

    return _changed(answer, change)


def _changed(
    answer: EmbeddingsAnswer, change: Callable[[VectorsByIndex], VectorsByIndex]
) -> EmbeddingsAnswer:
    def changed(request: EmbeddingsRequest) -> Reply | VectorsByIndex:
        given = answer(request)
        if isinstance(given, Reply):
            return given
        return change(dict(given.items() if isinstance(given, Mapping) else enumerate(given)))

    return changed
