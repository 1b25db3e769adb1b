"""The form of MiniCheck: chat completions that check a claim."""

from __future__ import annotations

import math
import re
import time
from typing import Any, Literal
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, StrictBool

from factcheck.errors import InputError
from factcheck.facts import CheckFailure, CheckResult, FactSet
from factcheck.server.judging import SOURCE, SUMMARY, Body, JudgedRouter, example
from factcheck.server.service import Service

_CLAIM = re.compile(r"\n[ \t]*Claim:")
_LEAST_LOGPROB = -9999.0
"""Log probability of a token with probability 0, as OpenAI reports it."""
router = JudgedRouter()


class Message(Body):
    """A message of a chat."""

    model_config = ConfigDict(extra="ignore")
    role: str
    content: Any = None
    """Text, or a list of text parts; read in the last message of the user only."""


class ChatRequest(Body):
    """A question in the form of MiniCheck; other parameters of chats are ignored."""

    model_config = ConfigDict(
        extra="ignore",
        **example(
            model="local",
            messages=[{"role": "user", "content": f"Document: {SOURCE}\nClaim: {SUMMARY}"}],
            logprobs=True,
        ),
    )
    model: str
    """Name of a judge of the service."""
    messages: list[Message]
    """The last message of the user is `Document: ...`, a new line, and `Claim: ...`."""
    logprobs: StrictBool | None = False
    stream: Literal[False] | None = False
    n: Literal[1] | None = 1


class ChatAnswer(BaseModel):
    """A chat completion; `content` is `Yes` or `No`, or empty with a `refusal` that says why."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[dict[str, Any]]


@router.judged("/v1/chat/completions", ChatAnswer)
async def chat(service: Service, body: ChatRequest) -> Any:
    """Check a claim for clients of MiniCheck."""
    judge = service.judge(body.model)
    contents = [message.content for message in body.messages if message.role == "user"]
    found = _claim_of(_text_of(contents[-1]) if contents else "")
    if found is None:
        raise InputError(
            "the last user message must be 'Document: ...', a new line and 'Claim: ...'"
        )
    document, claim = found
    (result,) = await service.check(judge, FactSet.of([claim]), document)
    return {
        "id": f"chatcmpl-{uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": judge.name,
        "choices": [_choice(result, logprobs=bool(body.logprobs))],
    }


def _claim_of(prompt: str) -> tuple[str, str] | None:
    """Return document and claim of a prompt in MiniCheck's form."""
    head, *claims = _CLAIM.split(prompt)
    document = head.lstrip()
    if not document.startswith("Document:") or len(claims) != 1 or not claims[0].strip():
        return None
    return document.removeprefix("Document:").strip(), claims[0].strip()


def _text_of(content: Any) -> str:
    """Return the text of a message, its parts one per line; empty if it has other parts."""
    parts = content if isinstance(content, list) else [{"text": content}]
    texts: list[Any] = [part.get("text") if isinstance(part, dict) else None for part in parts]
    return "\n".join(texts) if all(isinstance(text, str) for text in texts) else ""


def _choice(result: CheckResult, *, logprobs: bool) -> dict[str, Any]:
    content, refusal, tokens = "", None, None
    if isinstance(result, CheckFailure):
        refusal = f"{result.code}: {result.message}"
    else:
        content = "Yes" if result.supported else "No"
        if logprobs and result.probability is not None:
            tokens = _tokens(content, result.probability)
    message = {"role": "assistant", "content": content, "refusal": refusal}
    return {"index": 0, "message": message, "finish_reason": "stop", "logprobs": tokens}


def _tokens(content: str, probability: float) -> dict[str, Any]:
    """Return the log probabilities of `Yes` and `No`, as OpenAI would."""
    tops: list[dict[str, Any]] = [
        {"token": text, "logprob": _logprob(p), "bytes": list(text.encode())}
        for text, p in (("Yes", probability), ("No", 1.0 - probability))
    ]
    (token,) = (one for one in tops if one["token"] == content)
    tops.sort(key=lambda one: -one["logprob"])
    return {"content": [{**token, "top_logprobs": tops}], "refusal": None}


def _logprob(probability: float) -> float:
    return max(math.log(probability), _LEAST_LOGPROB) if probability > 0 else _LEAST_LOGPROB
