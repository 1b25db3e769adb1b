"""Requests as the local server records them, and its answers in OpenAI's JSON."""

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
from typing import Any

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
        """The messages, as sent."""
        return tuple(self.body["messages"])


@dataclass(frozen=True, slots=True)
class EmbeddingsRequest(Request):
    """A request for embeddings."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts to embed."""
        texts = self.body["input"]
        return (texts,) if isinstance(texts, str) else tuple(texts)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, good or bad; `factcheck.testing.faults` makes the bad ones."""

    content: str | None = ""
    """Content of the assistant's message."""
    finish_reason: str = "stop"
    refusal: str | None = None
    status: int = 200
    """HTTP status; from 400 on, `error` is sent instead of `content`."""
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)
    delay_s: float = 0.0
    """Seconds before anything is sent."""
    raw_body: bytes | None = None
    """Sent instead of JSON."""
    usage: Mapping[str, int] | None = field(default=None, hash=False)
    """`prompt_tokens` and `completion_tokens`; by default estimated at four characters each."""
    error: Mapping[str, Any] | None = field(default=None, hash=False)
    """`message`, `type`, `param` and `code` of an error reply; missing ones have defaults."""
    close: bool = False
    """Close the connection instead of answering, after `delay_s`."""


ChatAnswer = Callable[[ChatRequest], Reply | str]
"""Answers a chat request; a plain `str` is a normal completion with that content."""
VectorsByIndex = Mapping[int, Sequence[float]]
"""Vectors by the index they are sent under, in the order in which they are sent."""
Vectors = Sequence[Sequence[float]] | VectorsByIndex
"""A vector for each text, in their order, or by index."""
EmbeddingsAnswer = Callable[[EmbeddingsRequest], Reply | Vectors]
"""Answers a request for embeddings."""


def hashed_embeddings(request: EmbeddingsRequest) -> Sequence[Sequence[float]]:
    """Unit vectors of hashed word counts: texts with the same words point the same way."""
    size = request.body.get("dimensions") or _EMBEDDING_SIZE
    return tuple(_hashed_words(text, size) for text in request.texts)


def _hashed_words(text: str, size: int) -> tuple[float, ...]:
    vector = [0.0] * size
    for word in re.findall(r"\w+", text.casefold()) or [text]:
        vector[zlib.crc32(word.encode()) % size] += 1.0
    length = math.hypot(*vector)
    return tuple(x / length for x in vector)


def chat_reply(request: ChatRequest, answer: Reply | str) -> Reply:
    """A chat completion as it is sent, or the error or the bytes that the answer has."""
    reply = Reply(answer) if isinstance(answer, str) else answer
    usage = reply.usage or {
        "prompt_tokens": _tokens(*(str(message.get("content")) for message in request.messages)),
        "completion_tokens": _tokens(reply.content or reply.refusal or ""),
    }
    message = {"role": "assistant", "content": reply.content, "refusal": reply.refusal}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    completion = {
        "id": f"chatcmpl-{request.index}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request.body["model"],
        "choices": [{**choice, "logprobs": None}],
        "usage": {**usage, "total_tokens": sum(usage.values())},
    }
    return json_reply(request, completion, reply)


def embeddings_reply(request: EmbeddingsRequest, answer: Reply | Vectors) -> Reply:
    """Embeddings as they are sent, as numbers or base64 as requested, or the answer's error."""
    if isinstance(answer, Reply):
        return json_reply(request, None, answer)
    items = answer.items() if isinstance(answer, Mapping) else enumerate(answer)
    encode = _base64 if request.body.get("encoding_format") == "base64" else list
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


def _base64(vector: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
