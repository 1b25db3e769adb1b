"""Faults of a provider for the local server."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from factcheck.testing import Reply, Request

AnswerT = TypeVar("AnswerT")
Step = Reply | str | Callable[[Request], AnswerT]
"""A step of `sequence`: a reply, or a function that answers."""


def rate_limited(retry_after: float | str | None = None, header: str = "retry-after") -> Reply:
    """Refuse with HTTP 429, too many requests, and say when to ask again."""
    headers = {} if retry_after is None else {header: str(retry_after)}
    return Reply(status=429, error={"message": "Rate limit reached"}, headers=headers)


def unauthorized() -> Reply:
    """Refuse with HTTP 401: the key is invalid."""
    return Reply(status=401, error={"message": "Incorrect API key provided."})


def bad_request(code: str = "context_length_exceeded") -> Reply:
    """Refuse with HTTP 400, not retryable: the request is invalid."""
    return Reply(status=400, error={"message": f"Bad request: {code}", "code": code})


def truncated(content: str) -> Reply:
    """Return a completion truncated by the token limit after half of `content`."""
    return Reply(content[: len(content) // 2], finish_reason="length")


def sequence(
    *steps: Step[AnswerT], then: Callable[[Request], AnswerT]
) -> Callable[[Request], AnswerT | Reply | str]:
    """Answer by one step per request, in order of arrival, and then by `then`."""

    def answer(request: Request) -> AnswerT | Reply | str:
        step = steps[request.index] if request.index < len(steps) else then
        if isinstance(step, (Reply, str)):
            return step
        return step(request)

    return answer
