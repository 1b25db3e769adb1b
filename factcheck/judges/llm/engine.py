"""Our engine under `dspy.LM`: budget, rate limit, retries, usage, and a check for complete replies.

DSPy renders the prompt and parses the reply; everything between is here, so that there is one
retry loop, one limiter and one ledger. All requests run in the background loop.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from factcheck.errors import (
    ConfigError,
    FactcheckError,
    JudgeNotAsked,
    JudgeOutputError,
    JudgeRateLimited,
    JudgeRefused,
    JudgeRejected,
    JudgeTruncated,
    JudgeUnavailable,
)
from factcheck.facts import Usage
from factcheck.judges.llm.request import Prompt, Reply
from factcheck.judges.llm.transports import Transport, WrappedTransport
from factcheck.judges.ports import Ledger
from factcheck.runtime.budget import Price, price_of
from factcheck.runtime.loop import PerProcess, background
from factcheck.runtime.retry import Limiter

if TYPE_CHECKING:
    from dspy.lm15 import Request, Response

    from factcheck.runtime.session import Session

_RECHECK_AFTER_S = 0.02
"""Seconds of queueing after which the cache is checked again before a request is paid for."""
_log = logging.getLogger("factcheck.judge")

Recheck = Callable[[], Awaitable[bool]]
"""Whether the response has come into the cache in the meantime."""
R = TypeVar("R")


class Account(NamedTuple):
    """Where the usage of requests is recorded."""

    ledger: Ledger
    stage: str
    recheck: Recheck | None = None


_account: ContextVar[Account | None] = ContextVar("factcheck_account", default=None)


@contextmanager
def record_usage(
    ledger: Ledger, stage: str, recheck_cache: Recheck | None = None
) -> Iterator[None]:
    """Record the usage of this task's requests on `ledger`.

    Args:
        ledger: Where usage is recorded.
        stage: Under which stage, such as `"check"`.
        recheck_cache: Asked before a request is sent that had to queue. If another process has the
            response by then, nothing is sent, and the request ends in `JudgeNotAsked`.
    """
    token = _account.set(Account(ledger, stage, recheck_cache))
    try:
        yield
    finally:
        _account.reset(token)


class RequestRunner(Generic[R]):
    """Sends the requests of one model; the one place where money is spent."""

    def __init__(self, name: str, session: Session, price: Price | None) -> None:
        if session.budget.capped_by_usd and price is None:
            raise ConfigError(
                f"the price of {name} is not known, so a budget in dollars cannot be enforced; "
                "cap calls or tokens instead"
            )
        self.name = name
        self._price = price
        self._retry = session.retry
        self._budget = session.budget
        self.limiter = PerProcess(lambda: Limiter(session.concurrency))

    async def run(
        self,
        send: Callable[[], Awaitable[R]],
        account: Account,
        *,
        upper_bound: Usage,
        tokens_of: Callable[[R], Usage],
    ) -> R:
        queued_s = 0.0
        n_sent = 0

        async def attempt() -> R:
            nonlocal queued_s, n_sent
            asked = time.perf_counter()
            limiter = self.limiter()
            async with (
                self._budget.reserve(self._priced(upper_bound)) as spent,
                limiter.slot() as number,
            ):
                started = time.perf_counter()
                queued_s += started - asked
                if n_sent == 0 and queued_s >= _RECHECK_AFTER_S and await _is_cached(account):
                    spent.append(Usage())
                    raise JudgeNotAsked(f"{self.name}: another run has received the response")
                usage: Usage | None = Usage(cost_usd=None)
                try:
                    response = await send()
                    usage = self._priced(tokens_of(response))
                    spent.append(usage)
                except JudgeNotAsked:
                    usage = None
                    raise
                except FactcheckError as error:
                    if isinstance(error, (JudgeRateLimited, JudgeRejected)):
                        usage = Usage()  # turned away: it costs nothing
                        spent.append(usage)
                    self._slow_down(limiter, number, error)
                    raise
                finally:
                    if usage is not None:
                        seconds = time.perf_counter() - started
                        usage = replace(usage, calls=int(n_sent == 0), attempts=1, seconds=seconds)
                        account.ledger.book(usage, model=self.name, stage=account.stage)
                        n_sent += 1
                limiter.answered()
                return response

        with _span(account.stage, self.name) as set_usage:
            response: R = await self._retry.retrying(lambda: queued_s)(attempt)
            set_usage(tokens_of(response))
        return response

    def _priced(self, usage: Usage) -> Usage:
        tokens = (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens)
        return replace(usage, cost_usd=self._price.cost_usd(*tokens) if self._price else None)

    def _slow_down(self, limiter: Limiter, number: int, error: FactcheckError) -> None:
        """Send less at a time to a provider that is overloaded or does not answer."""
        if isinstance(error, (JudgeRateLimited, JudgeUnavailable)):
            limiter.overloaded(number, self._retry.shared_wait_s(error))
            _log.info("%s; at most %d requests at a time now", error.code, limiter.limit)


@contextmanager
def _span(stage: str, model: str) -> Iterator[Callable[[Usage], None]]:
    """An OpenTelemetry span, if that package is installed, without texts or keys."""
    tracer = _tracer()
    if tracer is None:
        yield lambda _: None
        return
    named = {"gen_ai.request.model": model}
    with tracer.start_as_current_span(f"{stage} {model}", attributes=named) as span:
        yield lambda usage: span.set_attributes(
            {
                "gen_ai.usage.input_tokens": usage.prompt_tokens,
                "gen_ai.usage.output_tokens": usage.completion_tokens,
            }
        )


@cache
def _tracer() -> Any:
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace.get_tracer("factcheck")


async def _is_cached(account: Account) -> bool:
    return account.recheck is not None and await account.recheck()


class _Capabilities:
    """Capabilities in DSPy's terms; parameters that are not listed are not sent."""

    supports_response_schema = True
    supports_reasoning = False
    supports_function_calling = False
    supported_params = frozenset({"temperature", "max_tokens", "response_format"})


class AsyncEngine(_Capabilities):
    """Answers DSPy's requests."""

    def __init__(self, transport: Transport, session: Session, price: Price | None) -> None:
        self._transport = transport
        self._runner: RequestRunner[Response] = RequestRunner(transport.name, session, price)

    async def complete(self, request: Request) -> Response:
        prompt = prompt_of(request)
        work = self._runner.run(
            lambda: self._transport.send(request),
            _account.get() or Account(Ledger(), ""),
            upper_bound=Usage(
                prompt_tokens=most_tokens(prompt),
                completion_tokens=self._transport.max_tokens(request.config.max_tokens or 0),
            ),
            tokens_of=lambda response: _tokens(response, prompt),
        )
        response = await (work if background.is_current else background.hop(work))
        _require_complete(response, request.model)
        return response

    async def ask(self, prompt: Prompt[R], model: str) -> R:
        """The value of the reply to a prompt; raises what sending or reading it raises."""
        from dspy import lm15

        body: dict[str, Any] = {
            "model": model,
            "messages": [dict(message) for message in prompt.messages("schema")],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "reply", "strict": True, "schema": dict(prompt.schema)},
            },
        }
        if prompt.max_tokens:
            body["max_tokens"] = prompt.max_tokens
        request = lm15.request_from_openai_chat(body)
        response = await self.complete(request)
        usage = _tokens(response, prompt_of(request))
        return prompt.read(Reply(response.text or "", "schema", usage))

    async def aclose(self) -> None:
        await background.hop(self._transport.aclose())


class SyncEngine(_Capabilities):
    """The same engine for DSPy's synchronous calls."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    def complete(self, request: Request) -> Response:
        return background.run(self._engine.complete(request))


def most_tokens(text: str) -> int:
    """Upper bound: no tokenizer makes more tokens than bytes; a few frame a message."""
    return len(text.encode("utf-8", "surrogatepass")) + 16


def likely_tokens(text: str) -> int:
    """Estimate: four bytes per token, as in English prose."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


def prompt_of(request: Request) -> str:
    system = request.system if isinstance(request.system, str) else ""
    return system + "".join(message.text or "" for message in request.messages)


def _tokens(response: Response, prompt: str) -> Usage:
    """The tokens of an exchange; estimated where the server does not say, which is not 0."""
    tokens = response.usage
    given, taken = tokens.input_tokens, tokens.output_tokens
    return Usage(
        prompt_tokens=likely_tokens(prompt) if given is None else given,
        cached_tokens=tokens.cache_read_tokens or 0,
        completion_tokens=likely_tokens(response.text or "") if taken is None else taken,
    )


def _require_complete(response: Response, model: str) -> None:
    if response.finish_reason == "length":
        raise JudgeTruncated(f"{model}: the reply was cut off at the token limit")
    refused = any(part.type == "refusal" for part in response.message.parts)
    if response.finish_reason == "content_filter" or refused:
        raise JudgeRefused(f"{model}: the model or its content filter declined to answer")
    if not (response.text or "").strip():
        raise JudgeOutputError(f"{model}: the reply is empty")


class Meter:
    """Counts the requests of all models whose transports it replaces.

    Prompt tokens are estimated at four bytes each; completion tokens are the most that was asked
    for, so the cost is an upper bound where prompts are in English.
    """

    def __init__(self) -> None:
        self.usage = Usage()
        """Estimated usage of the run."""

    def around(self, transport: Transport) -> Transport:
        return _Metered(transport, self)


class _Metered(WrappedTransport):
    def __init__(self, inner: Transport, meter: Meter) -> None:
        super().__init__(inner)
        self._meter = meter

    async def send(self, request: Request) -> Response:
        price = None if "endpoint" in self.identity else price_of(self.name)
        prompt = likely_tokens(prompt_of(request))
        completion = self.max_tokens(request.config.max_tokens or 0)
        self._meter.usage += Usage(
            calls=1,
            prompt_tokens=prompt,
            completion_tokens=completion,
            cost_usd=price.cost_usd(prompt, 0, completion) if price else None,
        )
        raise JudgeNotAsked(f"{self.name}: counted, not sent")

    async def aclose(self) -> None:
        pass
