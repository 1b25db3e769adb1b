"""The engine below every language model: budget, rate limit, retries, usage, and the dialect.

There is one retry loop, one limiter and one ledger. All requests run in the background loop.
"""

from __future__ import annotations

import asyncio
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
    JudgeRejected,
    JudgeTruncated,
    JudgeUnavailable,
)
from factcheck.facts import Usage
from factcheck.judges.llm.dialect import Dialect, Memory
from factcheck.judges.llm.errors import NoAccess, RequestRefused
from factcheck.judges.llm.request import Prompt, Reply
from factcheck.judges.llm.transports import (
    Answer,
    BatchTransport,
    Body,
    Transport,
    WrappedTransport,
)
from factcheck.judges.ports import Ledger
from factcheck.runtime.budget import Price, price_of
from factcheck.runtime.loop import PerProcess, background
from factcheck.runtime.retry import Limiter

if TYPE_CHECKING:
    from factcheck.runtime.session import Session
    from factcheck.settings import Model

_RECHECK_AFTER_S = 0.02
"""Seconds of queueing after which the cache is checked again before a request is paid for."""
_LOCKED_S = 60.0
"""Seconds for which nothing is sent after a key, an account or a model was turned down."""
_BYTES_PER_TOKEN = 4
_MOST_STEPS = 8
"""Requests for one prompt, while the dialect is still being learned."""
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
        self.limiter = PerProcess(lambda: Limiter(session.concurrency, session.rpm, session.tpm))
        self._locked_until = 0.0
        self._locked_because = ""

    async def run(
        self,
        send: Callable[[], Awaitable[R]],
        account: Account,
        *,
        upper_bound: Usage,
        tokens_of: Callable[[R], Usage],
        waited_s: float = 0.0,
    ) -> R:
        queued_s = waited_s
        n_sent = 0

        async def attempt() -> R:
            nonlocal queued_s, n_sent
            asked = time.perf_counter()
            limiter = self.limiter()
            estimate = upper_bound.prompt_tokens // _BYTES_PER_TOKEN
            async with (
                self._budget.reserve(self._priced(upper_bound)) as spent,
                limiter.slot(estimate) as number,
            ):
                started = time.perf_counter()
                queued_s += started - asked
                if n_sent == 0 and queued_s >= _RECHECK_AFTER_S and await _is_cached(account):
                    spent.append(Usage())
                    raise JudgeNotAsked(f"{self.name}: another run has received the response")
                if self._locked_until > started:
                    spent.append(Usage())
                    raise NoAccess(self._locked_because)
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
                    if isinstance(error, NoAccess):
                        self._locked_until = started + _LOCKED_S
                        self._locked_because = str(error)
                    self._slow_down(limiter, number, error)
                    raise
                finally:
                    if usage is not None:
                        seconds = time.perf_counter() - started
                        usage = replace(usage, calls=int(n_sent == 0), attempts=1, seconds=seconds)
                        account.ledger.book(usage, model=self.name, stage=account.stage)
                        n_sent += 1
                limiter.answered(usage.prompt_tokens + usage.completion_tokens - estimate)
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


class AsyncEngine:
    """Sends prompts in the dialect of the model, which it learns.

    The first request goes alone, so that what is refused is refused once. Everything else waits
    for it, until an answer comes or the first attempt fails.
    """

    def __init__(
        self,
        model: Model,
        transport: Transport,
        session: Session,
        price: Price | None,
        dialect: Dialect,
    ) -> None:
        self._model = model
        self._transport = transport
        self._runner: RequestRunner[Answer] = RequestRunner(transport.name, session, price)
        self._memory = Memory(transport.name, transport.endpoint or "", session.cache)
        self._default = dialect
        self._known: Dialect | None = None
        self._pilot: PerProcess[list[asyncio.Event]] = PerProcess(list)
        self._form_is_known = False
        self.learned: list[str] = []
        """What the server refused or needed, in the order it was learned."""
        self._trial: Dialect | None = None
        """The next form, while it is tried."""

    @property
    def dialect(self) -> Dialect:
        """What is known of how the model wants to be asked."""
        return self._recall()

    def _recall(self) -> Dialect:
        if self._known is None:
            found = self._memory.recall()
            travels_in_a_batch = isinstance(self._transport, BatchTransport)
            self._form_is_known = found is not None or travels_in_a_batch
            self._known = found or self._default
        return self._known

    async def ask(self, prompt: Prompt[R]) -> R:
        """The value of the reply to a prompt; raises what sending or reading it raises."""
        work = self._in_turn(self._model, prompt, _account.get() or Account(Ledger(), ""))
        return await (work if background.is_current else background.hop(work))

    async def _in_turn(self, model: Model, prompt: Prompt[R], account: Account) -> R:
        self._recall()
        pilot = self._pilot()
        if self._form_is_known or pilot:
            asked = time.perf_counter()
            if pilot:
                await pilot[0].wait()
            waited_s = time.perf_counter() - asked
            return await self._negotiate(model, prompt, account, waited_s)
        pilot.append(asyncio.Event())
        try:
            return await self._negotiate(model, prompt, account, 0.0)
        finally:
            pilot[0].set()

    async def _negotiate(
        self, model: Model, prompt: Prompt[R], account: Account, waited_s: float
    ) -> R:
        """Ask until the server takes the request.

        A reply that cannot be read, while no reply in this form ever was, has the next request go
        out in the next form. If that one is read, the form stays; if not, the first one does.
        """
        dialect = self._trial or self.dialect
        for _ in range(_MOST_STEPS):
            body = dialect.body(model, prompt)
            try:
                reply = await self._reply(body, dialect, account, waited_s)
            except RequestRefused as error:
                changed = dialect.without(error, body)
                if changed is None:
                    raise
                dialect = await self._learn(dialect, changed)
            except _NeedsRoom as error:
                dialect = await self._learn(dialect, error.dialect)
            else:
                try:
                    value = prompt.read(reply)
                except JudgeOutputError:
                    self._doubt(dialect)
                    raise
                self._trial, self._form_is_known = None, True
                if dialect.form != self.dialect.form:
                    await self._learn(self.dialect, dialect)
                return value
        raise JudgeRejected(
            f"{self._transport.name}: {_MOST_STEPS} ways of asking were turned down; "
            f"run `factcheck doctor {self._transport.name}`"
        )

    def _doubt(self, dialect: Dialect) -> None:
        """A reply in this dialect cannot be read."""
        if self._form_is_known:
            return
        if self._trial is None:
            self._trial = dialect.next_form()
        elif dialect.form == self._trial.form:
            self._trial = None
        self._form_is_known = self._trial is None

    async def _learn(self, known: Dialect, changed: Dialect) -> Dialect:
        """Make a change known to all, and give the dialect to go on with."""
        if self._trial is not None:
            self._trial = changed
            return changed
        if self.dialect not in {known, changed}:
            return self.dialect  # another request has learned something in the meantime
        if self.dialect != changed:
            what = self.dialect.difference(changed)
            self.learned += [what] if what else []
            _log.info("%s: %s", self._transport.name, what)
            self._known = changed
            await self._memory.keep(changed)
        return changed

    async def _reply(
        self, body: Body, dialect: Dialect, account: Account, waited_s: float
    ) -> Reply:
        """The whole reply to a body.

        Raises:
            _NeedsRoom: It was cut off while the model thought.
            JudgeError: There is none, or it is not whole.
        """
        text = prompt_of(body)
        limit = limit_of(body)
        answer = await self._runner.run(
            lambda: self._send(body),
            account,
            upper_bound=Usage(prompt_tokens=most_tokens(text), completion_tokens=limit),
            tokens_of=lambda answer: _tokens(answer, text),
            waited_s=waited_s,
        )
        if refused := [name for name in answer.unsent if name in body]:
            changed = replace(dialect, refused=tuple({*dialect.refused, *refused}))
            dialect = await self._learn(dialect, changed)
        try:
            answer.require_whole(self._transport.name)
        except JudgeTruncated as error:
            roomier = dialect.after_cut(limit, _hidden(answer, limit))
            if roomier is None or self._model.max_tokens is not None:
                raise
            if roomier.room > dialect.room:
                raise _NeedsRoom(str(error), roomier) from error
            await self._learn(dialect, roomier)
            raise
        thought = self.dialect.after_thought(answer.reasoning_tokens)
        await self._learn(self.dialect, thought)
        return Reply(answer.text, dialect.form, _tokens(answer, text), answer.logprobs)

    async def _send(self, body: Body) -> Answer:
        try:
            return await self._transport.send(body)
        except RequestRefused:
            raise
        except FactcheckError:
            for event in self._pilot():
                event.set()
            raise

    async def aclose(self) -> None:
        await background.hop(self._transport.aclose())


class _NeedsRoom(JudgeTruncated):
    """A reply was cut off while the model thought; it fits into another dialect."""

    def __init__(self, message: str, dialect: Dialect) -> None:
        super().__init__(message)
        self.dialect = dialect


def _hidden(answer: Answer, limit: int) -> int:
    """How many tokens of a reply that was cut off do not show: a lower bound."""
    shown = answer.text
    if "<think>" in shown and "</think>" not in shown:
        shown = shown.partition("<think>")[0]
    taken = answer.completion_tokens or limit
    return max(answer.reasoning_tokens, taken - len(shown.encode("utf-8", "surrogatepass")) // 2)


def most_tokens(text: str) -> int:
    """Upper bound: no tokenizer makes more tokens than bytes; a few frame a message."""
    return len(text.encode("utf-8", "surrogatepass")) + 16


def likely_tokens(text: str) -> int:
    """Estimate: four bytes per token, as in English prose."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)


def prompt_of(body: Body) -> str:
    """All that a request says."""
    return "".join(message["content"] for message in body["messages"])


def limit_of(body: Body) -> int:
    """The most tokens that a request asks for; 0 if it does not say."""
    limit: int = body.get("max_completion_tokens") or body.get("max_tokens") or 0
    return limit


def _tokens(answer: Answer, prompt: str) -> Usage:
    """The tokens of an exchange; estimated where the server does not say, which is not 0."""
    given, taken = answer.prompt_tokens, answer.completion_tokens
    return Usage(
        prompt_tokens=likely_tokens(prompt) if given is None else given,
        cached_tokens=answer.cached_tokens,
        completion_tokens=likely_tokens(answer.text) if taken is None else taken,
    )


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

    async def send(self, body: Body) -> Answer:
        price = price_of(self.name) if self.endpoint is None else None
        prompt = likely_tokens(prompt_of(body))
        completion = limit_of(body)
        self._meter.usage += Usage(
            calls=1,
            prompt_tokens=prompt,
            completion_tokens=completion,
            cost_usd=price.cost_usd(prompt, 0, completion) if price else None,
        )
        raise JudgeNotAsked(f"{self.name}: counted, not sent")

    async def aclose(self) -> None:
        pass
