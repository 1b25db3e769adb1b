"""Faults of a provider for the local server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from factcheck.testing import Reply, Request

RequestT = TypeVar("RequestT", bound=Request)
AnswerT = TypeVar("AnswerT")
Step = Reply | str | Callable[[RequestT], AnswerT]
"""A step of `sequence`: a reply, or a function that answers."""


def error_reply(
    status: int, message: str, code: str | None, kind: str = "invalid_request_error"
) -> Reply:
    """Return an error reply in OpenAI's format."""
    return Reply(status=status, error={"message": message, "type": kind, "code": code})


def rate_limited(
    retry_after: float | str | None = None, *, retry_after_ms: int | None = None
) -> Reply:
    """Refuse with HTTP 429, too many requests, and say when to ask again."""
    waits = {"retry-after": retry_after, "retry-after-ms": retry_after_ms}
    headers = {name: str(value) for name, value in waits.items() if value is not None}
    fault = error_reply(429, "Rate limit reached", "rate_limit_exceeded", "requests")
    return replace(fault, headers=headers)


def unauthorized() -> Reply:
    """Refuse with HTTP 401: the key is invalid."""
    return error_reply(401, "Incorrect API key provided.", "invalid_api_key")


def bad_request(code: str = "context_length_exceeded") -> Reply:
    """Refuse with HTTP 400, not retryable: the request is invalid."""
    return error_reply(400, f"Bad request: {code}", code)


def garbage(body: bytes = b"<html>Bad gateway</html>", content_type: str = "text/html") -> Reply:
    """Answer HTTP 200 with a body that is not a completion, as from a broken proxy."""
    return Reply(raw_body=body, headers={"content-type": content_type})


def truncated(content: str, keep: float = 0.5) -> Reply:
    """Return a completion truncated by the token limit after the fraction `keep` of `content`."""
    return Reply(content[: int(len(content) * keep)], finish_reason="length")


def refused(refusal: str = "I cannot help with that.") -> Reply:
    """Return a completion in which the model declines to answer."""
    return Reply(None, refusal=refusal)


def hang(seconds: float) -> Reply:
    """Give no answer, and close the connection after `seconds`."""
    return Reply(delay_s=seconds, close=True)


def sequence(
    *steps: Step[RequestT, AnswerT], then: Callable[[RequestT], AnswerT]
) -> Callable[[RequestT], AnswerT | Reply | str]:
    """Answer by one step per request, in order of arrival, and then by `then`."""

    def answer(request: RequestT) -> AnswerT | Reply | str:
        step = steps[request.index] if request.index < len(steps) else then
        if isinstance(step, (Reply, str)):
            return step
        return step(request)

    return answer
