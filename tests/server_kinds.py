"""Kinds of OpenAI-compatible servers found in practice.

Each kind rejects a parameter or decorates its replies, as real servers do. A judge decides every
fact with all of them, at little more than the cost of a server that accepts everything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from factcheck.testing import ChatAnswer, Reply, Request

TEXT = "The kiln in Faenza reached 900 degrees. Anna glazed 31 bowls on Tuesday."
FACTS = ("Anna glazed 31 bowls.", "The bowls were sold in May.", "The kiln reached 900 degrees.")
LABELS = ("entailed", "neutral", "entailed")
"""Labels of `FACTS` by `FactModel`."""

Change = Callable[[Mapping[str, Any], Reply], Reply]
"""Changes the reply to a request body that a server which accepts everything gives."""
_ERROR, _UNPROCESSABLE = 400, 422
_SMALL_LIMIT = 80
_CONTEXT = 400
_CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class ServerKind:
    """One kind of server."""

    name: str
    change: Change

    def __str__(self) -> str:
        return self.name

    def around(self, answer: ChatAnswer) -> ChatAnswer:
        """Wrap an answer for `LocalOpenAIServer`, so that the server is of this kind."""

        def change(request: Request) -> Reply:
            reply = answer(request)
            return self.change(request.body, Reply(reply) if isinstance(reply, str) else reply)

        return change


def _rejecting(
    rejects: str | Callable[[Mapping[str, Any]], bool],
    message: str,
    *,
    param: str | None = None,
    loc: Sequence[str] = (),
) -> Change:
    """A server that rejects a parameter or some bodies like OpenAI or, with `loc`, FastAPI."""

    def change(body: Mapping[str, Any], reply: Reply) -> Reply:
        if not (rejects in body if isinstance(rejects, str) else rejects(body)):
            return reply
        if loc:
            detail = {"type": "extra_forbidden", "loc": ["body", *loc], "msg": message}
            raw = json.dumps({"detail": [{**detail, "input": "..."}]}).encode()
            return Reply(status=_UNPROCESSABLE, raw_body=raw)
        error = {"message": message.format(**body), "param": param, "code": None}
        return Reply(status=_ERROR, error=error)

    return change


def _decorated(decorate: Callable[[str], str | Sequence[Any]]) -> Change:
    """A server that decorates the content of its replies."""
    return lambda _, reply: (
        reply if reply.status >= _ERROR else replace(reply, content=decorate(str(reply.content)))
    )


def _limit(body: Mapping[str, Any]) -> int:
    return int(body.get("max_completion_tokens") or body.get("max_tokens") or 0)


def thinking(tokens: int, *, reported: bool) -> Change:
    """A model whose reasoning counts towards the limit; if that is too low, the reply is empty."""

    def change(body: Mapping[str, Any], reply: Reply) -> Reply:
        needed = tokens + len(reply.content or "") // _CHARS_PER_TOKEN
        limit = _limit(body) or needed
        prompt = sum(len(message["content"]) for message in body["messages"]) // _CHARS_PER_TOKEN
        usage: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": min(limit, needed)}
        if reported:
            usage["completion_tokens_details"] = {"reasoning_tokens": min(limit, tokens)}
        if needed <= limit:
            return replace(reply, usage=usage)
        return Reply("", finish_reason="length", usage=usage)

    return change


def _small_context(body: Mapping[str, Any], reply: Reply) -> Reply:
    prompt = sum(len(message["content"]) for message in body["messages"]) // _CHARS_PER_TOKEN
    limit = _limit(body)
    if prompt + limit <= _CONTEXT:
        return reply
    message = (
        f"This model's maximum context length is {_CONTEXT} tokens. However, you requested "
        f"{prompt + limit} tokens ({prompt} in the messages, {limit} in the completion)."
    )
    return Reply(status=_ERROR, error={"message": message, "param": "messages"})


def _format(body: Mapping[str, Any]) -> str:
    return str((body.get("response_format") or {}).get("type", ""))


def _schema(body: Mapping[str, Any]) -> Mapping[str, Any]:
    schema: Mapping[str, Any] = (body.get("response_format") or {}).get("json_schema") or {}
    return schema


_REASONING = "<think>\nThe first fact stands in line 2.\n</think>\n\n"
_REASONING_WITH_JSON = (
    '<think>\nPerhaps {"f1": "neutral", "f2": "neutral", "f3": "neutral"}?\n</think>\n'
)

_EXTRA = "Extra inputs are not permitted"
_KINDS: Mapping[str, Change] = {
    "takes everything": lambda _, reply: reply,
    "no JSON schema": _rejecting(
        lambda body: _format(body) == "json_schema",
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this "
        "model.",
        param="response_format",
    ),
    "no response format": _rejecting(
        "response_format", "Unrecognized request argument supplied: response_format"
    ),
    "no response format, said by FastAPI": _rejecting(
        "response_format", _EXTRA, loc=("response_format",)
    ),
    "no JSON object either": _rejecting(
        lambda body: _format(body) not in {"", "text"},
        "This response_format type is unavailable now",
    ),
    "no strict schema": _rejecting(
        lambda body: "strict" in _schema(body),
        _EXTRA,
        loc=("response_format", "json_schema", "strict"),
    ),
    "no additionalProperties": _rejecting(
        lambda body: "additionalProperties" in json.dumps(_schema(body)),
        'Invalid JSON payload received. Unknown name "additionalProperties" at '
        "'generation_config.response_schema': Cannot find field.",
    ),
    "max_tokens only": _rejecting("max_completion_tokens", _EXTRA, loc=("max_completion_tokens",)),
    "max_completion_tokens only": _rejecting(
        "max_tokens",
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead.",
        param="max_tokens",
    ),
    "no limit on tokens": _rejecting(
        lambda body: bool(_limit(body)), "unknown field: max_tokens, max_completion_tokens"
    ),
    "no temperature but 1": _rejecting(
        lambda body: body.get("temperature", 1) != 1,
        "Unsupported value: 'temperature' does not support {temperature} with this model. Only "
        "the default (1) value is supported.",
        param="temperature",
    ),
    "no temperature": _rejecting("temperature", "`temperature` is deprecated for this model."),
    "no temperature, said by FastAPI": _rejecting("temperature", _EXTRA, loc=("temperature",)),
    "no system role": _rejecting(
        lambda body: any(message["role"] == "system" for message in body["messages"]),
        "System role not supported",
    ),
    "no reasoning effort": _rejecting(
        "reasoning_effort", "Unrecognized request argument supplied: reasoning_effort"
    ),
    "a small limit on tokens": _rejecting(
        lambda body: _limit(body) > _SMALL_LIMIT,
        "max_tokens is too large: 5000. This model supports at most "
        f"{_SMALL_LIMIT} completion tokens, whereas you provided 5000.",
        param="max_tokens",
    ),
    "a small context": _small_context,
    "thought before the JSON": _decorated(lambda reply: _REASONING + reply),
    "JSON within the thought": _decorated(lambda reply: _REASONING_WITH_JSON + reply),
    "thought beside the content": lambda _, reply: replace(
        reply, message={"reasoning_content": 'I weigh {"f1": "contradicted"} first.'}
    ),
    "prose around": _decorated(
        lambda reply: f"Here are my verdicts: {reply}\nLet me know if I can help."
    ),
    "code fence": _decorated(lambda reply: f"```json\n{reply}\n```"),
    "prose and code fence": _decorated(lambda reply: f"Sure!\n\n```\n{reply}\n```\nDone."),
    "labels in other case": _decorated(
        lambda reply: re.sub(
            r"\b(?:yes|no|entailed|contradicted|neutral)\b", lambda word: word[0].upper(), reply
        )
    ),
    "byte order mark and blank lines": _decorated(lambda reply: f"\ufeff\n\n{reply}\n\n"),
    "content in parts": _decorated(
        lambda reply: [
            {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
            {"type": "text", "text": reply[:5]},
            {"type": "text", "text": reply[5:]},
        ]
    ),
    "deaf to schemas": lambda body, reply: (
        Reply("All of this seems fine to me.") if _format(body) == "json_schema" else reply
    ),
    "thinks for 300 tokens": thinking(300, reported=True),
    "thinks and does not say so": thinking(2_000, reported=False),
    "thinks for 8,000 tokens": thinking(8_000, reported=True),
}
SERVER_KINDS = tuple(ServerKind(name, change) for name, change in _KINDS.items())
"""All kinds; the first accepts everything."""
