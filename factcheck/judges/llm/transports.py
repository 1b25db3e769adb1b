"""Transports of single requests: our own client, or another DSPy language model.

A request is a body of OpenAI's chat protocol without the name of the model; an answer is what came
back, before anything is decided about it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from factcheck.errors import (
    JudgeOutputError,
    JudgeRefused,
    JudgeTruncated,
    JudgeUnavailable,
)
from factcheck.judges.llm.errors import RequestRefused, from_dspy, said
from factcheck.judges.llm.http import JsonClient
from factcheck.judges.llm.providers import endpoint
from factcheck.judges.llm.replies import Token
from factcheck.runtime.loop import BackgroundLoop, background

if TYPE_CHECKING:
    import dspy

Body = Mapping[str, Any]
_WHOLE = frozenset(
    {
        *("stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete", "completed"),
        *("normal", "finish_reason_stop"),
    }
)
_CUT = frozenset(
    {
        *("length", "max_tokens", "model_length", "max_length", "max_output_tokens", "incomplete"),
        *("model_context_window_exceeded", "finish_reason_max_tokens"),
    }
)
_DECLINED = frozenset(
    {
        *("content_filter", "content_filtered", "refusal", "safety", "recitation", "blocklist"),
        *("prohibited_content", "spii", "guardrail_intervened", "sensitive"),
    }
)
"""Reasons for the end of a reply in lower case, as servers name them. One in no list is a fault."""
_TEXTS = frozenset({"text", "output_text"})


class Answer(NamedTuple):
    """What came back."""

    text: str
    finish_reason: str | None
    """As the server says it; `None` where it says nothing."""
    is_declined: bool = False
    prompt_tokens: int | None = None
    cached_tokens: int = 0
    completion_tokens: int | None = None
    """Thought included."""
    reasoning_tokens: int = 0
    unsent: tuple[str, ...] = ()
    """Parameters that the library below left out."""
    tokens: tuple[Token, ...] = ()
    """Of the text, where the server gives log-probabilities."""

    def require_whole(self, name: str) -> None:
        """Raise a `JudgeError` if this was cut off, declined, or ended for no good reason."""
        reason = str(self.finish_reason).lower()
        if self.is_declined or reason in _DECLINED:
            raise JudgeRefused(f"{name}: the model or its content filter declined to answer")
        if reason in _CUT:
            raise JudgeTruncated(f"{name}: the reply was cut off at the token limit")
        if reason not in _WHOLE:
            ended = "without a reason" if self.finish_reason is None else f"with {reason[:40]!r}"
            raise JudgeOutputError(f"{name}: the reply ended {ended}, so it may not be whole")
        if not self.text.strip():
            raise JudgeOutputError(f"{name}: the reply is empty")


class Transport(Protocol):
    """Sends one request once."""

    @property
    def name(self) -> str: ...

    @property
    def endpoint(self) -> str | None:
        """Host, port and path of the server; `None` for the provider's own."""
        ...

    def send(self, body: Body) -> Awaitable[Answer]:
        """The answer; raises `FactcheckError` if there is none."""
        ...

    async def aclose(self) -> None: ...


class ChatTransport(JsonClient):
    """Chat Completions of an OpenAI-compatible server."""

    def addressed(self, body: Body) -> dict[str, Any]:
        """The body with the name of the model."""
        return {"model": self.access.model, **body}

    def send(self, body: Body) -> Awaitable[Answer]:
        return self.post("/chat/completions", self.addressed(body), self.read)

    def read(self, body: Any) -> Answer:
        """The answer in a chat completion; raises `JudgeUnavailable` if it is none."""
        try:
            return read_completion(body)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            problem = body.get("error") if isinstance(body, Mapping) else None
            if isinstance(problem, Mapping):
                problem = problem.get("message")
            what = said(problem) if problem else f"{type(error).__name__}: {said(error)}"
            raise JudgeUnavailable(
                f"{self.name}: the server's answer is not a chat completion ({what[:120]})"
            ) from error


def read_completion(body: Any) -> Answer:
    """The answer in the JSON of a chat completion; raises `ValueError` and the like if none."""
    choices = body["choices"]
    if not isinstance(choices, list) or len(choices) != 1:
        raise ValueError("it has not one choice")
    choice = choices[0]
    message = choice["message"]
    content, reason = message.get("content"), choice.get("finish_reason")
    if not isinstance(content, (str, list, type(None))):
        raise TypeError("its content is not text")
    usage = body.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    return Answer(
        text=content if isinstance(content, str) else "".join(_texts(content or ())),
        finish_reason=reason if isinstance(reason, str) else None,
        is_declined=bool(message.get("refusal")),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        cached_tokens=_count(_part(usage, "prompt_tokens_details", "cached_tokens")) or 0,
        completion_tokens=_count(usage.get("completion_tokens")),
        reasoning_tokens=_count(_part(usage, "completion_tokens_details", "reasoning_tokens"))
        or _count(usage.get("reasoning_tokens"))
        or 0,
        tokens=_tokens(choice.get("logprobs")),
    )


def _tokens(logprobs: Any) -> tuple[Token, ...]:
    """The tokens of a reply; none unless all of them are as they should be."""
    try:
        return tuple(
            Token(
                str(token["token"]),
                {str(one["token"]): _probability(one["logprob"]) for one in token["top_logprobs"]},
            )
            for token in logprobs["content"]
        )
    except (TypeError, KeyError, ValueError):
        return ()


def _probability(logprob: Any) -> float:
    if type(logprob) in (int, float) and logprob <= 0:  # which NaN is not
        return math.exp(logprob)
    raise ValueError("not a log-probability")


def _texts(parts: Sequence[Any]) -> Iterator[str]:
    """The texts of a content in parts; thought and whatever else there is are left out."""
    for part in parts:
        if isinstance(part, str):
            yield part
        elif isinstance(part, Mapping) and part.get("type", "text") in _TEXTS:
            yield str(part["text"])


def _part(usage: Mapping[str, Any], name: str, key: str) -> Any:
    details = usage.get(name)
    return details.get(key) if isinstance(details, Mapping) else None


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None


class WrappedTransport:
    """Takes the place of another transport and answers in its name, as `answer` says."""

    def __init__(self, inner: Any, answer: Callable[[Any, Body], Answer]) -> None:
        self.name: str = inner.name
        self.endpoint: str | None = inner.endpoint
        self._inner = inner
        self._answer = answer

    async def send(self, body: Body) -> Answer:
        return self._answer(self._inner, body)

    async def aclose(self) -> None:
        await self._inner.aclose()


class BatchTransport(WrappedTransport):
    """Its requests travel in a batch instead of one by one.

    A batch is written by one run and read by another, so requests must not change in between.
    """

    price_share = 0.5
    """The part of the list price that a request in a batch costs."""


class LMTransport:
    """Any other `dspy.BaseLM`, with DSPy's own retries and cache switched off by its owner.

    A class of the user's own runs in a loop of its own, where it may block.
    """

    def __init__(self, lm: dspy.BaseLM, base_url: str | None) -> None:
        import dspy

        self._lm = lm
        self.name: str = lm.model
        self.endpoint = None if base_url is None else endpoint(base_url)
        self._loop = background if type(lm) is dspy.LM else BackgroundLoop("factcheck-model")

    async def send(self, body: Body) -> Answer:
        import dspy
        from dspy import lm15

        json.dumps(body, ensure_ascii=False).encode()  # raises for what is not valid Unicode
        try:
            request = lm15.request_from_openai_chat({"model": self.name, **body})
            with dspy.context(disable_history=True, trace=None):
                response = await self._loop.hop(self._lm.acall(request=request))
        except Exception as error:
            raise from_dspy(error, self.name) from error
        changed = [c for c in response.adaptations if c.action in {"clamped", "substituted"}]
        if changed:
            what = ", ".join(f"{c.field} {c.applied!r} for {c.asked!r}" for c in changed)
            about = " ".join(c.field.removeprefix("config.") for c in changed)
            raise RequestRefused(f"{self.name}: was sent {what}", about=about)
        return _read_response(response)

    async def aclose(self) -> None:
        """End the loop; the language model itself belongs to whoever made it."""
        if self._loop is not background:
            self._loop.stop()


def _read_response(response: Any) -> Answer:
    """The answer in a response of lm15, with the reason for its end as the server said it."""
    usage = response.usage
    return Answer(
        text=response.text or "",
        finish_reason=_raw_reason(response.provider_data) or response.finish_reason,
        is_declined=any(part.type == "refusal" for part in response.message.parts),
        prompt_tokens=usage.input_tokens,
        cached_tokens=usage.cache_read_tokens or 0,
        completion_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens or 0,
        unsent=tuple(
            change.field.removeprefix("config.")
            for change in response.adaptations
            if change.action == "dropped"
        ),
    )


def _raw_reason(data: Any) -> str | None:
    """The reason for a reply's end in the JSON of OpenAI, Anthropic or Gemini."""
    if not isinstance(data, Mapping):
        return None
    places = [data, *data.get("choices", ()), *data.get("candidates", ())]
    for place in (p for p in places if isinstance(p, Mapping)):
        for name in ("finish_reason", "stop_reason", "finishReason"):
            if isinstance(place.get(name), str):
                return str(place[name])
    return None
