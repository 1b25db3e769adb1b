"""Requests as the local server records them, its answers in OpenAI's JSON, and its faults.

Wrappers of an answer go by a request's place in the order of arrival, so they keep no state.
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


@dataclass(frozen=True, slots=True)
class Request:
    """A request as the server recorded it."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Any
    """The parsed JSON body, or the fields of a form as bytes; `None` without one."""
    index: int
    """Place in the order of arrival, from 0, over all endpoints."""
    in_flight: int
    """Requests awaiting an answer when this one arrived, itself included."""


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
    """An answer, good or bad; the functions below make the bad ones."""

    content: str | Sequence[Any] | None = ""
    """Content of the assistant's message, perhaps in parts."""
    finish_reason: str = "stop"
    refusal: str | None = None
    status: int = 200
    """HTTP status; from 400 on, `error` is sent instead of `content`."""
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)
    delay_s: float = 0.0
    """Seconds before anything is sent."""
    raw_body: bytes | None = None
    """Sent instead of JSON."""
    usage: Mapping[str, Any] | None = field(default=None, hash=False)
    """`prompt_tokens`, `completion_tokens` and details; by default four characters are a token."""
    error: Mapping[str, Any] | None = field(default=None, hash=False)
    """`message`, `type`, `param` and `code` of an error reply; missing ones have defaults."""
    close: bool = False
    """Close the connection instead of answering, after `delay_s`."""


ChatAnswer = Callable[[ChatRequest], Reply | str]
"""Answers a chat request; a plain `str` is a normal completion with that content."""
Step = Reply | str | Callable[[RequestT], AnswerT]
"""A reply, or a function that answers; a step of `sequence`."""
VectorsByIndex = Mapping[int, Sequence[float]]
"""Vectors by the index they are sent under, in the order in which they are sent."""
Vectors = Sequence[Sequence[float]] | VectorsByIndex
"""A vector for each text, in their order, or by index."""
EmbeddingsAnswer = Callable[[EmbeddingsRequest], Reply | Vectors]
"""Answers a request for embeddings."""


def hashed_embeddings(request: EmbeddingsRequest) -> Sequence[Sequence[float]]:
    """Unit vectors of hashed word counts: texts with the same words point the same way."""
    return tuple(map(_hashed_words, request.texts))


def _hashed_words(text: str) -> tuple[float, ...]:
    vector = [0.0] * _EMBEDDING_SIZE
    for word in re.findall(r"\w+", text.casefold()) or [text]:
        vector[zlib.crc32(word.encode()) % _EMBEDDING_SIZE] += 1.0
    length = math.hypot(*vector)
    return tuple(x / length for x in vector)


def chat_reply(request: ChatRequest, answer: Reply | str) -> Reply:
    """A chat completion as it is sent, or the error or the bytes that the answer has."""
    reply = Reply(answer) if isinstance(answer, str) else answer
    usage = reply.usage or {
        "prompt_tokens": _tokens(*(str(message.get("content")) for message in request.messages)),
        "completion_tokens": _tokens(str(reply.content or reply.refusal or "")),
    }
    total = usage["prompt_tokens"] + usage["completion_tokens"]
    message = {"role": "assistant", "content": reply.content, "refusal": reply.refusal}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    completion = {
        "id": f"chatcmpl-{request.index}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request.body["model"],
        "choices": [{**choice, "logprobs": None}],
        "usage": {**usage, "total_tokens": total},
    }
    return json_reply(request, completion, reply)


def embeddings_reply(request: EmbeddingsRequest, answer: Reply | Vectors) -> Reply:
    """Embeddings as they are sent, as numbers or base64 as requested, or the answer's error."""
    if isinstance(answer, Reply):
        return json_reply(request, None, answer)
    items = answer.items() if isinstance(answer, Mapping) else enumerate(answer)

    def encode(vector: Sequence[float]) -> str | list[float]:
        if request.body.get("encoding_format") == "base64":
            return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
        return list(vector)

    n_tokens = _tokens(*request.texts)
    data = [{"object": "embedding", "index": i, "embedding": encode(v)} for i, v in items]
    usage = {"prompt_tokens": n_tokens, "total_tokens": n_tokens}
    result = {"object": "list", "data": data, "model": request.body["model"], "usage": usage}
    return json_reply(request, result)


def error_reply(request: Request, status: int, message: str, code: str) -> Reply:
    """An error of the server's own, as it is sent."""
    kind = "invalid_request_error" if status < 500 else "server_error"  # noqa: PLR2004 - HTTP
    error = {"message": message, "type": kind, "code": code}
    return json_reply(request, None, Reply(status=status, error=error))


def json_reply(request: Request, result: Any, reply: Reply | None = None) -> Reply:
    """The reply with `raw_body` and `headers` as they are sent: its own, else the result's JSON."""
    reply = reply or Reply()
    if reply.status >= 400:  # noqa: PLR2004 - HTTP
        default = {"message": f"HTTP {reply.status}", "type": "error", "param": None, "code": None}
        result = {"error": {**default, **(reply.error or {})}}
    own = {"content-type": "application/json", "x-request-id": f"req_{request.index}"}
    body = json.dumps(result).encode() if reply.raw_body is None else reply.raw_body
    return replace(reply, raw_body=body, headers={**own, **reply.headers})


def _tokens(*texts: str) -> int:
    return math.ceil(sum(map(len, texts)) / _CHARS_PER_TOKEN)


def _error(status: int, message: str, kind: str, code: str | None) -> Reply:
    error = {"message": message, "type": kind, "param": None, "code": code}
    return Reply(status=status, error=error)


def rate_limited(
    retry_after: float | str | None = None, *, retry_after_ms: int | None = None
) -> Reply:
    """HTTP 429: too many requests.

    Args:
        retry_after: Header `retry-after`: seconds, or a date in HTTP's format.
        retry_after_ms: Header `retry-after-ms`: milliseconds, OpenAI's own.
    """
    waits = {"retry-after": retry_after, "retry-after-ms": retry_after_ms}
    headers = {name: str(value) for name, value in waits.items() if value is not None}
    fault = _error(429, "Rate limit reached", "requests", "rate_limit_exceeded")
    return replace(fault, headers=headers)


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
