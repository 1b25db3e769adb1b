"""The retry loop, which is tenacity's, and the limiter of requests in flight.

Retries of the underlying clients and frameworks are disabled.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anyio import CapacityLimiter

from factcheck.errors import FactcheckError, JudgeRateLimited
from factcheck.runtime.limits import Limits, LocalLimits
from factcheck.settings import require_integer, require_number

if TYPE_CHECKING:
    from tenacity import AsyncRetrying, RetryCallState


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Retry policy for failed requests; the fields are tenacity's policies of the same names.

    A `Retry-After` from the provider replaces the random wait.

    Raises:
        InputError: A number is out of range.
    """

    stop_after_attempt: int = 5
    """Maximum number of requests for one response; at least 1."""
    stop_after_delay: float = 120.0
    """Seconds after the first request by which the last wait must end; queueing does not count."""
    wait_max: float = 60.0
    """Maximum wait in seconds; a provider that asks for a longer one is not retried."""
    wait_multiplier: float = 0.5
    """Upper limit of the first random wait in seconds, which doubles with each attempt."""

    def __post_init__(self) -> None:
        require_integer("stop_after_attempt", self.stop_after_attempt, 1)
        for name in ("stop_after_delay", "wait_max", "wait_multiplier"):
            require_number(name, getattr(self, name), 0)

    def attempts(self, queued_s: Callable[[], float] = lambda: 0.0) -> AsyncRetrying:
        """Return tenacity's loop over the attempts at one response, as this policy allows them.

        It raises the last error unchanged. `stop_after_delay` excludes the seconds spent queueing
        so far.
        """
        from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt
        from tenacity import wait_random_exponential as random_exponential

        is_last = stop_after_attempt(self.stop_after_attempt)
        backoff = random_exponential(multiplier=self.wait_multiplier, max=self.wait_max)

        def wait(state: RetryCallState) -> float:
            asked_s = _retry_after_s(state.outcome.exception() if state.outcome else None)
            return backoff(state) if asked_s is None else asked_s * random.uniform(1, 1.25)  # noqa: S311 - jitter

        def is_too_late(state: RetryCallState) -> bool:
            used_s = (state.seconds_since_start or 0.0) - queued_s()
            return used_s + state.upcoming_sleep > self.stop_after_delay

        return AsyncRetrying(
            retry=retry_if_exception(self._is_retryable),
            wait=wait,
            stop=lambda state: is_last(state) or is_too_late(state),
            reraise=True,
        )

    def shared_wait_s(self, error: FactcheckError) -> float:
        """Return for how long all requests must pause after this error; 0 for none."""
        default_s = self.wait_multiplier if isinstance(error, JudgeRateLimited) else 0.0
        asked_s = _retry_after_s(error)
        if asked_s is None:
            return default_s
        return asked_s if asked_s <= self.wait_max else 0.0

    def _is_retryable(self, error: BaseException) -> bool:
        if not isinstance(error, FactcheckError) or not error.retryable:
            return False
        return (_retry_after_s(error) or 0.0) <= self.wait_max


def _retry_after_s(error: BaseException | None) -> float | None:
    retry_after_s: float | None = getattr(error, "retry_after_s", None)
    return retry_after_s


class Limiter:
    """Limits the requests in flight to one model, and those in a minute, evenly spread.

    The limit starts at its ceiling, is halved when the provider is overloaded, and rises again with
    each answer (additive increase, multiplicative decrease, as in TCP). One 429 pauses all
    requests. Without `limits`, it shares its turns with no other. Runs in the background loop and
    is not thread-safe.
    """

    def __init__(
        self,
        ceiling: int,
        rpm: int | None = None,
        limits: Limits | None = None,
        model: str = "",
    ) -> None:
        self._ceiling = ceiling
        self._s_per_request = 60.0 / rpm if rpm else 0.0
        self._limits, self._model = limits or LocalLimits(), model
        self._limit = float(ceiling)
        self._slots = CapacityLimiter(ceiling)
        self._not_before = 0.0
        self._started = 0
        self._cut_at = 0

    @property
    def limit(self) -> int:
        """Current maximum number of requests in flight; in [1, ceiling]."""
        return int(self._slots.total_tokens)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[int]:
        """Wait for permission to send a request; yields its number."""
        request, loop = object(), asyncio.get_running_loop()
        await self._slots.acquire_on_behalf_of(request)
        while (closed_s := self._not_before - loop.time()) > 0.0:
            self._slots.release_on_behalf_of(request)
            await asyncio.sleep(closed_s)
            await self._slots.acquire_on_behalf_of(request)
        self._started += 1
        try:
            if self._s_per_request:
                await asyncio.sleep(await self._limits.turn(self._model, self._s_per_request))
            yield self._started
        finally:
            self._slots.release_on_behalf_of(request)

    def answered(self) -> None:
        """Raise the limit after an answer, by one per full round of answers."""
        self._allow(min(float(self._ceiling), self._limit + 1.0 / self._limit))

    def overloaded(self, number: int, pause_s: float = 0.0) -> None:
        """Halve the limit after an overload error and pause all requests for `pause_s` seconds.

        Errors of requests sent before the last cut are ignored, because they have the same cause.
        """
        if number > self._cut_at:
            self._allow(max(1.0, self._limit / 2.0))
            self._cut_at = self._started
        until = asyncio.get_running_loop().time() + pause_s
        self._not_before = max(self._not_before, until)

    def _allow(self, limit: float) -> None:
        self._limit = limit
        self._slots.total_tokens = int(limit)
