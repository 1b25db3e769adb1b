"""Our engine under `dspy.LM`: limit, retry, book, check that the answer is whole.

DSPy renders the prompt and parses the reply; everything between is here, so that there is one
retry loop, one limiter and one ledger. All requests run in the background loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from factcheck.errors import JudgeOutputError, JudgeRefused, JudgeTruncated
from factcheck.facts import Usage
from factcheck.judges.ports import Ledger
from factcheck.runtime.loop import background
from factcheck.runtime.retry import RetryPolicy

if TYPE_CHECKING:
    from dspy.lm15 import Request, Response

    from factcheck.judges.llm.transports import Transport

_ledger: ContextVar[Ledger | None] = ContextVar("factcheck_ledger", default=None)


@contextmanager
def booking(ledger: Ledger) -> Iterator[None]:
    """Book the requests of this task or thread on `ledger`."""
    token = _ledger.set(ledger)
    try:
        yield
    finally:
        _ledger.reset(token)


class _Capabilities:
    """What DSPy asks an engine about; unknown to it means not sent."""

    supports_response_schema = True
    supports_reasoning = False
    supports_function_calling = False
    supported_params = frozenset({"temperature", "max_tokens", "response_format"})


class AsyncEngine(_Capabilities):
    """Answers DSPy's requests; the one place where money is spent."""

    def __init__(self, transport: Transport, *, concurrency: int, retry: RetryPolicy) -> None:
        self.transport = transport
        self._retry = retry
        self._concurrency = concurrency
        self._slots: asyncio.Semaphore | None = None

    async def complete(self, request: Request) -> Response:
        """The whole answer to a request.

        Raises:
            JudgeError: None came, or it is cut off, refused or empty.
        """
        return await background.hop(self._complete(request, _ledger.get()))

    async def _complete(self, request: Request, ledger: Ledger | None) -> Response:
        response = await self._retry.run(lambda: self._send(request, ledger))
        _require_whole(response, request.model)
        return response

    async def _send(self, request: Request, ledger: Ledger | None) -> Response:
        if self._slots is None:  # created here, in the loop that will use it
            self._slots = asyncio.Semaphore(self._concurrency)
        async with self._slots:
            started = time.perf_counter()
            response: Response | None = None
            try:
                response = await self.transport.send(request)
            finally:
                if ledger is not None:
                    ledger.book(_usage(response, time.perf_counter() - started))
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await background.hop(self.transport.aclose())


class SyncEngine(_Capabilities):
    """The same engine for DSPy's synchronous calls."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    def complete(self, request: Request) -> Response:
        """The whole answer to a request; see `AsyncEngine.complete`."""
        return background.run(self._engine._complete(request, _ledger.get()))  # noqa: SLF001


def _usage(response: Response | None, seconds: float) -> Usage:
    """The cost of one attempt. Prices are not known here, nor what a failed attempt cost."""
    tokens = response.usage if response is not None else None
    return Usage(
        calls=1,
        prompt_tokens=(tokens.input_tokens or 0) if tokens else 0,
        completion_tokens=(tokens.output_tokens or 0) if tokens else 0,
        cost_usd=None,
        seconds=seconds,
    )


def _require_whole(response: Response, model: str) -> None:
    if response.finish_reason == "length":
        raise JudgeTruncated(f"{model}: the reply was cut off at the token limit")
    if response.finish_reason == "content_filter" or _refused(response):
        raise JudgeRefused(f"{model}: the model or its content filter declined to answer")
    if not (response.text or "").strip():
        raise JudgeOutputError(f"{model}: the reply is empty")


def _refused(response: Response) -> bool:
    return any(part.type == "refusal" for part in response.message.parts)
