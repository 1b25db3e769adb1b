"""The forms of MiniCheck and Lynx: chat completions that check a claim, or an answer."""

from __future__ import annotations

import math
import re
import time
from typing import Any, Literal
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, StrictBool

from factcheck.documents import json_text
from factcheck.errors import InputError
from factcheck.facts import CheckFailure, CheckResult, FactSet
from factcheck.server.judging import SOURCE, SUMMARY, Body, JudgedRouter, example
from factcheck.server.service import Judge, Service

_CLAIM = re.compile(r"\n[ \t]*Claim:")
_QUESTION = re.compile(r"^QUESTION[^\n]*:$", re.MULTILINE)
_DOCUMENT, _ANSWER, _END = "\n--\nDOCUMENT:\n", "\n--\nANSWER:\n", "\n--\n"
_LEAST_LOGPROB = -9999.0
"""Log probability of a token with probability 0, as OpenAI reports it."""
_PASSED = "The document supports every fact of the answer."
router = JudgedRouter()


class Message(Body):
    """A message of a chat."""

    model_config = ConfigDict(extra="ignore")
    role: str
    content: Any = None
    """Text, or a list of text parts; read in the last message of the user only."""


class ChatRequest(Body):
    """A question in the form of MiniCheck or Lynx; other parameters of chats are ignored."""

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
    """The last message of the user is `Document: ...`, a new line, and `Claim: ...`, or has
    Lynx's sections `QUESTION`, `DOCUMENT` and `ANSWER`, each after a line `--`."""
    logprobs: StrictBool | None = False
    stream: Literal[False] | None = False
    n: Literal[1] | None = 1


class ChatAnswer(BaseModel):
    """A chat completion; `content` is `Yes` or `No`, or Lynx's JSON with `PASS` or `FAIL`.

    It is empty if the judge is undecided; `refusal` says why.
    """

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[dict[str, Any]]


@router.judged("/v1/chat/completions", ChatAnswer)
async def chat(service: Service, body: ChatRequest) -> Any:
    """Check a claim, or the facts of an answer, for clients of MiniCheck or Lynx."""
    judge = service.judge(body.model)
    contents = [message.content for message in body.messages if message.role == "user"]
    prompt = _text_of(contents[-1]) if contents else ""
    if found := _claim_of(prompt):
        document, claim = found
        (result,) = await service.check(judge, FactSet.of([claim]), document)
        choice = _minicheck(result, logprobs=bool(body.logprobs))
    elif found := _answer_of(prompt):
        choice = await _lynx(service, judge, *found)
    else:
        raise InputError(
            "the last user message must be 'Document: ...', a new line and 'Claim: ...', or have "
            "Lynx's sections QUESTION, DOCUMENT and ANSWER, once each"
        )
    return {
        "id": f"chatcmpl-{uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": judge.name,
        "choices": [choice],
    }


def _claim_of(prompt: str) -> tuple[str, str] | None:
    """Return document and claim of a prompt in MiniCheck's form."""
    head, *claims = _CLAIM.split(prompt)
    document = head.lstrip()
    if not document.startswith("Document:") or len(claims) != 1 or not claims[0].strip():
        return None
    return document.removeprefix("Document:").strip(), claims[0].strip()


def _answer_of(prompt: str) -> tuple[str, str] | None:
    """Return document and answer of a prompt in Lynx's form.

    A mark of a section may occur only once, so that no text passes for another.
    """
    lines = f"{prompt}\n".replace("\r\n", "\n")
    question, _, rest = lines.partition(_DOCUMENT)
    document, _, rest = rest.partition(_ANSWER)
    answer, _, _ = rest.rpartition(_END)
    after = f"\n{document}\n{rest}"
    if not _QUESTION.search(question) or not answer.strip():
        return None
    if _ANSWER in question or _DOCUMENT in after or _ANSWER in f"\n{rest}":
        return None
    return document.strip(), answer.strip()


def _text_of(content: Any) -> str:
    """Return the text of a message, its parts one per line; empty if it has other parts."""
    parts = content if isinstance(content, list) else [{"text": content}]
    texts: list[Any] = [part.get("text") if isinstance(part, dict) else None for part in parts]
    return "\n".join(texts) if all(isinstance(text, str) for text in texts) else ""


async def _lynx(service: Service, judge: Judge, document: str, answer: str) -> dict[str, Any]:
    """Check the facts of an answer: one that the document does not support is enough to fail."""
    facts = await judge.scorer.aextract(answer)
    results = await service.check(judge, facts, document)
    unsupported = [
        one for one in results if not isinstance(one, CheckFailure) and not one.supported
    ]
    undecided = [one for one in results if isinstance(one, CheckFailure)]
    if undecided and not unsupported:
        return _choice(refusal=_refusal(undecided[0]))
    reasons = [f"{one.fact.text} ({one.reason or one.label})" for one in unsupported]
    score = "FAIL" if unsupported else "PASS"
    return _choice(json_text({"REASONING": reasons or [_PASSED], "SCORE": score}))


def _minicheck(result: CheckResult, *, logprobs: bool) -> dict[str, Any]:
    if isinstance(result, CheckFailure):
        return _choice(refusal=_refusal(result))
    tokens = None
    if logprobs and (probability := result.probability) is not None:
        both: list[dict[str, Any]] = [
            {"token": text, "logprob": _logprob(p), "bytes": list(text.encode())}
            for text, p in (("Yes", probability), ("No", 1.0 - probability))
        ]
        token = both[0 if result.supported else 1]
        tops = sorted(both, key=lambda one: -one["logprob"])
        tokens = {"content": [{**token, "top_logprobs": tops}], "refusal": None}
    return _choice("Yes" if result.supported else "No", tokens)


def _choice(
    content: str = "", logprobs: dict[str, Any] | None = None, refusal: str | None = None
) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, "refusal": refusal}
    return {"index": 0, "message": message, "finish_reason": "stop", "logprobs": logprobs}


def _refusal(failure: CheckFailure) -> str:
    return f"{failure.code}: {failure.message}"


def _logprob(probability: float) -> float:
    return max(math.log(probability), _LEAST_LOGPROB) if probability > 0 else _LEAST_LOGPROB
