"""Requests for vectors on their way to an OpenAI-compatible server, and what is kept to on it.

Budget, limit, retries and ledger are those of the runtime, as for language models.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from factcheck.errors import (
    ConfigError,
    FactcheckError,
    JudgeRateLimited,
    JudgeRejected,
    JudgeUnavailable,
)
from factcheck.facts import Usage
from factcheck.judges.llm.engine import Queue, likely_tokens, most_tokens
from factcheck.judges.llm.errors import UNREADABLE, from_openai
from factcheck.judges.llm.transports import OpenAITransport, endpoint
from factcheck.runtime.forks import PerProcess
from factcheck.runtime.limiter import Limiter
from factcheck.runtime.loop import background
from factcheck.runtime.tracing import note, span

if TYPE_CHECKING:
    from factcheck.judges.ports import Ledger
    from factcheck.runtime.prices import Price
    from factcheck.runtime.session import Session

STAGE = "embed"
"""Under which stage vectors are booked and kept."""
_PATH = "/embeddings"
_TEXTS_AT_FAULT = (400, 413, 422)
"""HTTP statuses for which fewer or shorter texts may fare better."""


class TextsRejected(JudgeRejected):
    """The request was turned down, and one of its texts may be why."""


class EmbeddingsTransport(OpenAITransport):
    """The same official client as for chat, for the endpoint that gives vectors."""

    @property
    def identity(self) -> dict[str, str]:
        """The server, where it is not OpenAI's own."""
        return {} if self._base_url is None else {"endpoint": endpoint(self._base_url)}

    async def embed(self, texts: Sequence[str]) -> Mapping[str, Any]:
        """The server's answer to one request, as it came; no retry, within the time limit.

        Raises:
            TextsRejected: A text may be at fault.
            JudgeError: None came.
        """
        import openai

        body = {"model": self._model, "input": list(texts), "encoding_format": "base64"}
        try:
            answer = await asyncio.wait_for(
                self._client().post(_PATH, cast_to=object, body=body), self._timeout_s
            )
        except asyncio.TimeoutError:
            raise JudgeUnavailable(
                f"{self.name}: no answer within {self._timeout_s:g} seconds"
            ) from None
        except (openai.OpenAIError, *UNREADABLE) as error:
            mapped = from_openai(error, self.name)
            if getattr(error, "status_code", None) in _TEXTS_AT_FAULT:
                raise TextsRejected(str(mapped)) from error
            raise mapped from error
        if not isinstance(answer, dict) or not isinstance(answer.get("data"), list):
            raise JudgeUnavailable(f"{self.name}: the server's answer holds no list of vectors")
        return answer


class Requests:
    """Sends requests for vectors; the one place of this room where money is spent.

    Args:
        transport: Sends one request once.
        session: Budget, concurrency and retries.
        price: What tokens cost, or `None` where that is not known.

    Raises:
        ConfigError: The budget is in dollars and the price is not known.
    """

    def __init__(
        self, transport: EmbeddingsTransport, session: Session, price: Price | None
    ) -> None:
        if session.budget.capped_by_usd and price is None:
            raise ConfigError(
                f"the price of {transport.name} is not known, so a budget in dollars cannot be "
                "kept; cap calls or tokens instead"
            )
        self._transport = transport
        self._retry = session.retry
        self._budget = session.budget
        self._price = price
        self._limiter = PerProcess(lambda: Limiter(session.concurrency))

    async def send(self, texts: Sequence[str], ledger: Ledger) -> Mapping[str, Any]:
        """The answer to one request, tried as often as the policy says.

        Raises:
            JudgeError: None came.
        """
        return await background.hop(self._send(texts, ledger))

    async def _send(self, texts: Sequence[str], ledger: Ledger) -> Mapping[str, Any]:
        queue = Queue()
        name = self._transport.name
        with span(f"{STAGE} {name}", gen_ai_request_model=name) as trace:
            answer = await self._retry.run(
                lambda: self._attempt(texts, ledger, queue), lambda: queue.seconds
            )
            note(trace, gen_ai_usage_input_tokens=_tokens(answer, texts))
        return answer

    async def _attempt(
        self, texts: Sequence[str], ledger: Ledger, queue: Queue
    ) -> Mapping[str, Any]:
        asked = time.perf_counter()
        limiter = self._limiter()
        most = self._usage(sum(map(most_tokens, texts)))
        async with self._budget.reserve(most) as spent, limiter.slot() as number:
            started = time.perf_counter()
            queue.seconds += started - asked
            usage = Usage(cost_usd=None)
            try:
                answer = await self._transport.embed(texts)
                usage = self._usage(_tokens(answer, texts))
                spent.append(usage)
            except FactcheckError as error:
                if isinstance(error, (JudgeRateLimited, JudgeRejected)):
                    usage = Usage()
                    spent.append(usage)
                self._slow_down(limiter, number, error)
                raise
            finally:
                sent = replace(usage, calls=int(queue.sent == 0), attempts=1)
                seconds = time.perf_counter() - started
                ledger.book(replace(sent, seconds=seconds), model=self._transport.name, stage=STAGE)
                queue.sent += 1
            limiter.answered()
            return answer

    def _slow_down(self, limiter: Limiter, number: int, error: FactcheckError) -> None:
        """A provider that says it is too much, or says nothing, is asked for less at a time."""
        if isinstance(error, (JudgeRateLimited, JudgeUnavailable)):
            limiter.overloaded(number, self._retry.shared_wait_s(error))

    def _usage(self, tokens: int) -> Usage:
        cost = self._price.cost_usd(tokens, 0, 0) if self._price else None
        return Usage(prompt_tokens=tokens, cost_usd=cost)

    async def aclose(self) -> None:
        """Close the connections; the next request opens new ones."""
        await background.hop(self._transport.aclose())


def _tokens(answer: Mapping[str, Any], texts: Sequence[str]) -> int:
    """What the server counted; estimated where it does not say, which is not 0."""
    usage = answer.get("usage")
    counted = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    if type(counted) is int and counted >= 0:
        return counted
    return sum(map(likely_tokens, texts))
