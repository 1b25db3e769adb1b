"""The form of MiniCheck: a claim is checked by a chat completion, for clients that know it."""

from __future__ import annotations

import math
import re
import time
from typing import Any, Literal
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, StrictBool

from factcheck.errors import InputError
from factcheck.facts import CheckFailure, CheckResult, FactSet
from factcheck.server.judging import SOURCE, SUMMARY
from factcheck.server.routes import Body, JudgedRouter, example
from factcheck.server.service import Service

_QUESTION = re.compile(r"\s*Document:(?P<document>.*)\nClaim:(?P<claim>.*)", re.DOTALL)
_CLAIM = "\nClaim:"
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
    """A question in the form of MiniCheck; other parameters of chat requests are ignored."""

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
    """A chat completion whose content is `Yes`, `No`, or empty with a reason in `refusal`."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[dict[str, Any]]


@router.judged("/v1/chat/completions", ChatAnswer)
async def chat(service: Service, body: ChatRequest) -> Any:
    """Check a claim against a document in the form of MiniCheck, for clients that know it."""
    judge = service.judge(body.model)
    contents = [message.content for message in body.messages if message.role == "user"]
    prompt = _text_of(contents[-1]) if contents else ""
    question = _QUESTION.fullmatch(prompt)
    if question is None or prompt.count(_CLAIM) != 1 or not question["claim"].strip():
        raise InputError(
            "the last user message must be 'Document: ...', a new line and 'Claim: ...', once each"
        )
    facts = FactSet.of([question["claim"].strip()])
    (result,) = await service.check(judge, facts, question["document"].strip())
    return {
        "id": f"chatcmpl-{uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": judge.name,
        "choices": [_choice(result, logprobs=bool(body.logprobs))],
    }


def _text_of(content: Any) -> str:
    """Return the text of a message, its parts one per line; empty if it has other parts."""
    parts = content if isinstance(content, list) else [{"text": content}]
    texts: list[Any] = [part.get("text") if isinstance(part, dict) else None for part in parts]
    return "\n".join(texts) if all(isinstance(text, str) for text in texts) else ""


def _choice(result: CheckResult, *, logprobs: bool) -> dict[str, Any]:
    """Make the choice of a completion; an undecided claim is a refusal."""
    message: dict[str, Any] = {"role": "assistant", "content": "", "refusal": None}
    tokens = None
    if isinstance(result, CheckFailure):
        message["refusal"] = f"{result.code}: {result.message}"
    else:
        message["content"] = "Yes" if result.supported else "No"
        if logprobs and (probability := result.probability) is not None:
            both: list[dict[str, Any]] = [
                {"token": text, "logprob": _logprob(p), "bytes": list(text.encode())}
                for text, p in (("Yes", probability), ("No", 1.0 - probability))
            ]
            token = both[0 if result.supported else 1]
            tops = sorted(both, key=lambda one: -one["logprob"])
            tokens = {"content": [{**token, "top_logprobs": tops}], "refusal": None}
    return {"index": 0, "message": message, "finish_reason": "stop", "logprobs": tokens}


def _logprob(probability: float) -> float:
    return max(math.log(probability), _LEAST_LOGPROB) if probability > 0 else _LEAST_LOGPROB
