"""Our engine under `dspy.LM`: budget, limit, retry, book, check that the answer is whole.

DSPy renders the prompt and parses the reply; everything between is here, so that there is one
retry loop, one limiter and one ledger. All requests run in the background loop.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

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
from factcheck.judges.ports import Ledger
from factcheck.runtime.forks import PerProcess
from factcheck.runtime.limiter import Limiter
from factcheck.runtime.loop import background
from factcheck.runtime.prices import Price
from factcheck.runtime.tracing import note, span

if TYPE_CHECKING:
    from dspy.lm15 import Request, Response

    from factcheck.judges.llm.transports import Transport
    from factcheck.runtime.session import Session

_WORTH_A_LOOK_S = 0.02
"""Seconds of waiting after which an answer is looked up again before it is paid for."""
_log = logging.getLogger("factcheck.judge")


IsKnown = Callable[[], Awaitable[bool]]


class Account(NamedTuple):
    """On which ledger, and under which stage, requests are booked."""

    ledger: Ledger
    stage: str
    is_known: IsKnown | None = None
    """Whether another process has come to know the answer."""


@dataclass(slots=True)
class Queue:
    """What has become of one request so far."""

    seconds: float = 0.0
    """How long its attempts waited for their turn."""
    sent: int = 0
    """Attempts that went out."""


_is_known: ContextVar[IsKnown | None] = ContextVar("factcheck_is_known", default=None)
_account: ContextVar[Account | None] = ContextVar("factcheck_account", default=None)


@contextmanager
def looking_again(is_known: IsKnown) -> Iterator[None]:
    """Ask `is_known` before a request of this task is sent that had to wait for its turn.

    If it is, nothing is sent, and the request ends in `JudgeNotAsked`.
    """
    token = _is_known.set(is_known)
    try:
        yield
    finally:
        _is_known.reset(token)


@contextmanager
def booking(ledger: Ledger, stage: str) -> Iterator[None]:
    """Book the requests of this task or thread on `ledger`."""
    token = _account.set(Account(ledger, stage, _is_known.get()))
    try:
        yield
    finally:
        _account.reset(token)


class _Capabilities:
    """What DSPy asks an engine about; unknown to it means not sent."""

    supports_response_schema = True
    supports_reasoning = False
    supports_function_calling = False
    supported_params = frozenset({"temperature", "max_tokens", "response_format"})


class AsyncEngine(_Capabilities):
    """Answers DSPy's requests; the one place where money is spent.

    Args:
        transport: Sends one request once.
        session: Budget, concurrency and retries.
        price: What tokens cost, or `None` where that is not known.

    Raises:
        ConfigError: The budget is in dollars and the price is not known.
    """

    def __init__(self, transport: Transport, session: Session, price: Price | None) -> None:
        if session.budget.capped_by_usd and price is None:
            raise ConfigError(
                f"the price of {transport.name} is not known, so a budget in dollars cannot be "
                "kept; cap calls or tokens instead"
            )
        self.transport = transport
        self._retry = session.retry
        self._budget = session.budget
        self._price = price
        self._limiter = PerProcess(lambda: Limiter(session.concurrency))

    async def complete(self, request: Request) -> Response:
        """The whole answer to a request.

        Raises:
            JudgeError: None came, or it is cut off, refused or empty.
        """
        return await background.hop(self.answer(request, _account.get()))

    async def answer(self, request: Request, account: Account | None) -> Response:
        """`complete`, to be run in the background loop."""
        account = account or Account(Ledger(), "")
        queue = Queue()
        with span(f"{account.stage} {request.model}", gen_ai_request_model=request.model) as trace:
            response = await self._retry.run(
                lambda: self._attempt(request, account, queue), lambda: queue.seconds
            )
            note(
                trace,
                gen_ai_usage_input_tokens=response.usage.input_tokens or 0,
                gen_ai_usage_output_tokens=response.usage.output_tokens or 0,
            )
            _require_whole(response, request.model)
        return response

    async def _attempt(self, request: Request, account: Account, queue: Queue) -> Response:
        asked = time.perf_counter()
        limiter = self._limiter()
        async with (
            self._budget.reserve(self._most(request)) as spent,
            limiter.slot() as number,
        ):
            started = time.perf_counter()
            queue.seconds += started - asked
            if await _known_by_now(account, queue):
                spent.append(Usage())
                raise JudgeNotAsked(f"{request.model}: another run has the answer by now")
            usage = Usage(calls=int(queue.sent == 0), attempts=1, cost_usd=None)
            try:
                response = await self.transport.send(request)
                usage = self._usage(request, response, usage)
                spent.append(usage)
            except JudgeNotAsked:
                usage = Usage()
                raise
            except FactcheckError as error:
                if isinstance(error, (JudgeRateLimited, JudgeRejected)):
                    spent.append(Usage())
                self._slow_down(limiter, number, error)
                raise
            finally:
                queue.sent += usage.attempts
                if usage.attempts:
                    seconds = time.perf_counter() - started
                    self._book(account, replace(usage, seconds=seconds))
            limiter.answered()
            return response

    def _slow_down(self, limiter: Limiter, number: int, error: FactcheckError) -> None:
        """A provider that says it is too much, or says nothing, is asked for less at a time."""
        if not isinstance(error, (JudgeRateLimited, JudgeUnavailable)):
            return
        pause_s = self._retry.shared_wait_s(error)
        limiter.overloaded(number, pause_s)
        _log.info("%s; at most %d requests at a time now", error.code, limiter.limit)

    def _most(self, request: Request) -> Usage:
        """The most an attempt can cost."""
        prompt = most_tokens(prompt_of(request))
        completion = self.transport.room(request.config.max_tokens or 0)
        return Usage(
            prompt_tokens=prompt,
            completion_tokens=completion,
            cost_usd=self._cost_usd(prompt, 0, completion),
        )

    def _usage(self, request: Request, response: Response, asked: Usage) -> Usage:
        """The cost of an attempt; estimated where the server does not say, which is not 0."""
        tokens = response.usage
        prompt, completion = tokens.input_tokens, tokens.output_tokens
        if prompt is None:
            prompt = likely_tokens(prompt_of(request))
        if completion is None:
            completion = likely_tokens(response.text or "")
        cached = tokens.cache_read_tokens or 0
        return replace(
            asked,
            prompt_tokens=prompt,
            cached_tokens=cached,
            completion_tokens=completion,
            cost_usd=self._cost_usd(prompt, cached, completion),
        )

    def _cost_usd(self, prompt: int, cached: int, completion: int) -> float | None:
        return self._price.cost_usd(prompt, cached, completion) if self._price else None

    def _book(self, account: Account, usage: Usage) -> None:
        account.ledger.book(usage, model=self.transport.name, stage=account.stage)

    async def aclose(self) -> None:
        """Close the connections."""
        await background.hop(self.transport.aclose())


class SyncEngine(_Capabilities):
    """The same engine for DSPy's synchronous calls."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    def complete(self, request: Request) -> Response:
        """The whole answer to a request; see `AsyncEngine.complete`."""
        return background.run(self._engine.answer(request, _account.get()))


async def _known_by_now(account: Account, queue: Queue) -> bool:
    """Whether it was worth looking again, and the answer is there."""
    if account.is_known is None or queue.sent or queue.seconds < _WORTH_A_LOOK_S:
        return False
    return await account.is_known()


def most_tokens(text: str) -> int:
    """No tokenizer in use makes more tokens of a text than it has bytes; a few frame a message."""
    return len(text.encode("utf-8", "surrogatepass")) + 16


def likely_tokens(text: str) -> int:
    """About how many tokens a text has: four bytes each, as English prose has."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


def prompt_of(request: Request) -> str:
    """All text of a request."""
    system = request.system if isinstance(request.system, str) else ""
    return system + "".join(message.text or "" for message in request.messages)


def _require_whole(response: Response, model: str) -> None:
    if response.finish_reason == "length":
        raise JudgeTruncated(f"{model}: the reply was cut off at the token limit")
    if response.finish_reason == "content_filter" or _refused(response):
        raise JudgeRefused(f"{model}: the model or its content filter declined to answer")
    if not (response.text or "").strip():
        raise JudgeOutputError(f"{model}: the reply is empty")


def _refused(response: Response) -> bool:
    return any(part.type == "refusal" for part in response.message.parts)
