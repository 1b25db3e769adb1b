"""Recorded requests of the local server, its replies in OpenAI's format, and its faults.

Wrappers of an answer are stateless: they use the index of a request.
"""

from __future__ import annotations

import base64
import json
import math
import re
import struct
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

RequestT = TypeVar("RequestT", bound="Request")
AnswerT = TypeVar("AnswerT")
_CHARS_PER_TOKEN = 4
_EMBEDDING_SIZE = 64
FIRST_ERROR = 400
"""Lowest HTTP status of an error."""


@dataclass(frozen=True, slots=True)
class Request:
    """A recorded request."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Headers by lower-case name."""
    body: Any
    """The parsed JSON body, or the fields of a form as bytes; `None` without one."""
    index: int
    """Position in the order of arrival over all endpoints, from 0."""
    in_flight: int
    """Number of requests in flight on arrival, including this one."""


@dataclass(frozen=True, slots=True)
class ChatRequest(Request):
    """A request for a chat completion."""

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        return tuple(self.body["messages"])


@dataclass(frozen=True, slots=True)
class EmbeddingsRequest(Request):
    """A request for embeddings."""

    @property
    def texts(self) -> tuple[str, ...]:
        texts = self.body["input"]
        return (texts,) if isinstance(texts, str) else tuple(texts)


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply; the functions below create faulty ones."""

    content: str | Sequence[Any] | None = ""
    """Content of the assistant's message, as a string or in parts."""
    finish_reason: str = "stop"
    refusal: str | None = None
    status: int = 200
    """HTTP status; from 400, `error` is sent instead of `content`."""
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)
    delay_s: float = 0.0
    """Seconds before anything is sent."""
    raw_body: bytes | None = None
    """Sent instead of JSON."""
    usage: Mapping[str, Any] | None = field(default=None, hash=False)
    """`prompt_tokens`, `completion_tokens` and details; by default, a quarter of the characters."""
    error: Mapping[str, Any] | None = field(default=None, hash=False)
    """`message`, `type`, `param` and `code` of an error reply; missing ones have defaults."""
    message: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Further keys of the assistant's message."""
    close: bool = False
    """Close the connection instead of answering, after `delay_s`."""


ChatAnswer = Callable[[ChatRequest], Reply | str]
"""Answers a chat request; a `str` is a normal completion with that content."""
Step = Reply | str | Callable[[RequestT], AnswerT]
"""A step of `sequence`: a reply, or a function that answers."""
VectorsByIndex = Mapping[int, Sequence[float]]
"""Vectors by index, in the order of sending."""
Vectors = Sequence[Sequence[float]] | VectorsByIndex
"""One vector per text, in text order or by index."""
EmbeddingsAnswer = Callable[[EmbeddingsRequest], Reply | Vectors]
"""Answers a request for embeddings."""


def hashed_embeddings(request: EmbeddingsRequest) -> Sequence[Sequence[float]]:
    """Embed texts as unit vectors of hashed word counts."""
    vectors = []
    for text in request.texts:
        vector = [0.0] * _EMBEDDING_SIZE
        for word in re.findall(r"\w+", text.casefold()) or [text]:
            vector[zlib.crc32(word.encode()) % _EMBEDDING_SIZE] += 1.0
        length = math.hypot(*vector)
        vectors.append([x / length for x in vector])
    return vectors


def chat_reply(request: ChatRequest, answer: Reply | str) -> Reply:
    """Render a chat completion; an error or a raw body is returned as it is."""
    reply = Reply(answer) if isinstance(answer, str) else answer
    if reply.status >= FIRST_ERROR or reply.raw_body is not None:
        return reply
    usage = reply.usage or {
        "prompt_tokens": _tokens(*(str(message.get("content")) for message in request.messages)),
        "completion_tokens": _tokens(str(reply.content or reply.refusal or "")),
    }
    total = usage["prompt_tokens"] + usage["completion_tokens"]
    message = {"role": "assistant", "content": reply.content, "refusal": reply.refusal}
    choice = {"index": 0, "message": {**message, **reply.message}, "logprobs": None}
    completion = {
        "id": f"chatcmpl-{request.index}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request.body["model"],
        "choices": [{**choice, "finish_reason": reply.finish_reason}],
        "usage": {**usage, "total_tokens": total},
    }
    return replace(reply, raw_body=json.dumps(completion).encode())


def embeddings_reply(request: EmbeddingsRequest, answer: Reply | Vectors) -> Reply:
    """Render embeddings, as numbers or base64 as requested."""
    if isinstance(answer, Reply):
        return answer
    items = answer.items() if isinstance(answer, Mapping) else enumerate(answer)

    def encode(vector: Sequence[float]) -> str | list[float]:
        if request.body.get("encoding_format") == "base64":
            return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
        return list(vector)

    n_tokens = _tokens(*request.texts)
    data = [{"object": "embedding", "index": i, "embedding": encode(v)} for i, v in items]
    usage = {"prompt_tokens": n_tokens, "total_tokens": n_tokens}
    result = {"object": "list", "data": data, "model": request.body["model"], "usage": usage}
    return Reply(raw_body=json.dumps(result).encode())


def body_of(reply: Reply) -> bytes:
    """Return the raw body of a reply, or else its error as JSON."""
    default = {"message": f"HTTP {reply.status}", "type": "error", "param": None, "code": None}
    error = json.dumps({"error": {**default, **(reply.error or {})}}).encode()
    return error if reply.raw_body is None else reply.raw_body


def _tokens(*texts: str) -> int:
    return math.ceil(sum(map(len, texts)) / _CHARS_PER_TOKEN)


def error_reply(
    status: int, message: str, code: str | None, kind: str = "invalid_request_error"
) -> Reply:
    """Return an error reply in OpenAI's format."""
    error = {"message": message, "type": kind, "param": None, "code": code}
    return Reply(status=status, error=error)


def rate_limited(
    retry_after: float | str | None = None, *, retry_after_ms: int | None = None
) -> Reply:
    """Refuse with HTTP 429: too many requests.

    Args:
        retry_after: Header `retry-after`: seconds, or an HTTP date.
        retry_after_ms: Header `retry-after-ms` of OpenAI: milliseconds.
    """
    waits = {"retry-after": retry_after, "retry-after-ms": retry_after_ms}
    headers = {name: str(value) for name, value in waits.items() if value is not None}
    fault = error_reply(429, "Rate limit reached", "rate_limit_exceeded", "requests")
    return replace(fault, headers=headers)


def quota_exceeded() -> Reply:
    """Refuse with HTTP 429, not retryable: the quota is exhausted."""
    message = "You exceeded your current quota, please check your plan and billing details."
    return error_reply(429, message, "insufficient_quota", "insufficient_quota")


def server_error(status: int = 500) -> Reply:
    """Fail with HTTP 5xx: the provider failed."""
    return error_reply(status, "The server had an error", None, "server_error")


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


def dropped() -> Reply:
    """Return a closed connection without an answer."""
    return Reply(close=True)


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
