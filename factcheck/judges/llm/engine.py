"""Request engine: budget, rate limit, retries and usage accounting.

There is one retry loop, one limiter and one ledger. All requests run in the background loop.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, TypeVar

from factcheck.errors import (
    ConfigError,
    FactcheckError,
    JudgeNotAsked,
    JudgeRateLimited,
    JudgeRejected,
    JudgeUnavailable,
)
from factcheck.facts import Usage
from factcheck.judges.llm.errors import NoAccess, RequestRefused
from factcheck.judges.llm.transports import (
    Answer,
    Body,
    Transport,
    WrappedTransport,
    limit_of,
    prompt_of,
)
from factcheck.runtime.budget import Price, Tokens, price_of
from factcheck.runtime.loop import PerProcess
from factcheck.runtime.retry import Limiter

if TYPE_CHECKING:
    from factcheck.judges.ports import Ledger
    from factcheck.runtime.session import Session

_LOCKED_S = 60.0
"""Seconds without requests after a key, account or model was rejected."""
_RUN = re.compile(r"(\s|[^\w\s])\1{2,}")
"""Repeated characters, which are few tokens."""
_LEAST_CONTEXT = 1_024
_LEAST_CUT = 200
"""Tokens by which a short prompt may be overestimated."""
_UNLIMITED = 32_768
"""Tokens reserved for a reply to a model that accepts no limit."""
_log = logging.getLogger("factcheck.judge")

R = TypeVar("R")


class RequestRunner(Generic[R]):
    """Sends the requests of one model; the only place where money is spent.

    `on_failure` is called when a request fails for a reason other than its format.

    Raises:
        ConfigError: The budget is in dollars and the price is unknown.
    """

    def __init__(
        self,
        name: str,
        session: Session,
        price: Price | None,
        on_failure: Callable[[], None] = lambda: None,
    ) -> None:
        if session.budget.capped_by_usd and price is None:
            raise ConfigError(
                f"the price of {name} is not known, so a budget in dollars cannot be enforced; "
                "cap calls or tokens instead"
            )
        self.name = name
        self._price = price
        self._retry = session.retry
        self._budget = session.budget
        self._on_failure = on_failure
        self.limiter = PerProcess(
            lambda: Limiter(session.concurrency, session.rpm, session.shared, name)
        )
        self._locked_until = 0.0
        self._locked_because = ""

    async def run(
        self,
        send: Callable[[], Awaitable[R]],
        ledger: Ledger,
        *,
        upper_bound: Tokens,
        tokens_of: Callable[[R], Tokens],
    ) -> R:
        """Return the result of `send`, retrying as the session allows.

        It sends the request once. `upper_bound` is reserved from the budget, and booked for what
        the server did not count.
        """
        limiter, n_sent = self.limiter(), 0
        queued_s: list[float] = []
        reserved = self._usage(upper_bound._replace(written=upper_bound.prompt or 0))

        async for attempt in self._retry.attempts(lambda: sum(queued_s)):
            with attempt:
                queued = time.perf_counter()
                async with (
                    self._budget.reserve(reserved) as spent,
                    limiter.slot() as number,
                ):
                    started = time.perf_counter()
                    queued_s.append(started - queued)
                    if self._locked_until > started:
                        spent.append(Usage())
                        raise NoAccess(self._locked_because)
                    usage: Usage | None = None
                    try:
                        response = await send()
                        usage = self._usage(tokens_of(response).or_at_most(upper_bound))
                        spent.append(usage)
                    except JudgeNotAsked:
                        raise
                    except BaseException as error:
                        usage = self._failed(error, limiter, number, spent)
                        raise
                    finally:
                        if usage is not None:
                            seconds = time.perf_counter() - started
                            usage = replace(
                                usage, calls=int(not n_sent), attempts=1, seconds=seconds
                            )
                            ledger.book(usage)
                            n_sent += 1
                    limiter.answered()
                    return response
        raise AssertionError("the last attempt returns or raises")

    def _failed(
        self, error: BaseException, limiter: Limiter, number: int, spent: list[Usage]
    ) -> Usage:
        """Return the cost of a failed request and adjust the limiter; may block later requests."""
        if isinstance(error, FactcheckError) and not isinstance(error, RequestRefused):
            self._on_failure()
        if isinstance(error, NoAccess):
            self._locked_until = time.perf_counter() + _LOCKED_S
            self._locked_because = str(error)
        if isinstance(error, (JudgeRateLimited, JudgeUnavailable)):
            limiter.overloaded(number, self._retry.shared_wait_s(error))
            _log.info("%s; at most %d requests at a time now", error.code, limiter.limit)
        if isinstance(error, (JudgeRateLimited, JudgeRejected)):
            spent.append(Usage())  # rejected requests are free
            return Usage()
        return Usage(cost_usd=None)

    def _usage(self, tokens: Tokens) -> Usage:
        return Usage(
            prompt_tokens=tokens.prompt or 0,
            completion_tokens=tokens.completion or 0,
            cached_tokens=tokens.cached,
            cost_usd=self._price.cost_usd(tokens) if self._price else None,
        )


def most_tokens(text: str) -> int:
    """Upper bound of the tokens in a text: one per byte, plus a few that frame a message."""
    return len(text.encode("utf-8", "surrogatepass")) + 16


def likely_tokens(text: str) -> int:
    """Estimate the tokens in a text at four bytes per token, as in English prose."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


def is_cut(prompt: str, n_read: int, context: int) -> bool:
    """Whether a server read so few tokens of a prompt that it must have cut it.

    That is less than half of an estimate, or just what it read of another prompt that it cut. A
    power of two is the likely size of a context.
    """
    if n_read == context:
        return True
    likely = len(_RUN.sub(r"\1", prompt)) // 4
    is_full = n_read >= _LEAST_CONTEXT and n_read & (n_read - 1) == 0
    return likely > 2 * n_read + _LEAST_CUT or (is_full and likely > 1.2 * n_read)


def most_in_reply(body: Body) -> int:
    """Upper bound of the tokens in the reply to a request; a guess if it has no limit."""
    return limit_of(body) or _UNLIMITED


class Meter:
    """Dry-run estimator: counts the requests of the transports it wraps.

    Replies are at most that long, apart from thought.
    """

    def __init__(self) -> None:
        self.usage = Usage()
        """Estimated usage of the run."""
        self.models: set[str] = set()

    def around(self, transport: Transport) -> Transport:
        return WrappedTransport(transport, self._count)

    def _count(self, transport: Transport, body: Body) -> Answer:
        price = price_of(transport.name) if transport.endpoint is None else None
        prompt, completion = likely_tokens(prompt_of(body)), most_in_reply(body)
        cost_usd = price.cost_usd(Tokens(prompt, completion)) if price else None
        self.usage += Usage(1, prompt, completion, cost_usd)
        self.models.add(transport.name)
        raise JudgeNotAsked(f"{transport.name}: counted, not sent")
