"""The one retry loop. Clients and frameworks below it have theirs switched off."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from factcheck.errors import FactcheckError, InputError, JudgeRateLimited

if TYPE_CHECKING:
    import tenacity

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how long a request is tried."""

    attempts: int = 5
    """Requests sent at most for one answer; at least 1."""
    deadline_s: float = 120.0
    """No pause is started that would end later than this many seconds after the first request."""
    longest_pause_s: float = 60.0
    """A provider that asks for more than this is given up at once."""
    first_pause_s: float = 0.5
    """Upper end of the first random pause; it doubles with each attempt."""

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise InputError(f"attempts must be at least 1, not {self.attempts}")

    async def run(
        self, ask: Callable[[], Awaitable[T]], queued_s: Callable[[], float] = lambda: 0.0
    ) -> T:
        """Await `ask()` until it answers, fails for good, or the policy says stop.

        Args:
            ask: Sends one request.
            queued_s: Seconds the requests had to wait for their turn so far; they do not count
                against the deadline.

        Raises:
            FactcheckError: The last error, unchanged.
        """
        from tenacity import AsyncRetrying, retry_if_exception

        def stop(state: tenacity.RetryCallState) -> bool:
            if state.attempt_number >= self.attempts:
                return True
            used_s = (state.seconds_since_start or 0.0) - queued_s()
            return used_s + state.upcoming_sleep > self.deadline_s

        retrying = AsyncRetrying(
            retry=retry_if_exception(self._worth_a_retry),
            wait=self._pause_s,
            stop=stop,
            reraise=True,
        )
        async for attempt in retrying:
            with attempt:
                return await ask()
        raise AssertionError("tenacity ended without an outcome")

    def shared_pause_s(self, error: FactcheckError) -> float:
        """Seconds for which nobody should ask after this error; 0 if only the asker should wait."""
        asked = _asked_pause_s(error)
        if not isinstance(error, JudgeRateLimited) or (asked or 0.0) > self.longest_pause_s:
            return 0.0
        return self.first_pause_s if asked is None else asked

    def _worth_a_retry(self, error: BaseException) -> bool:
        if not isinstance(error, FactcheckError) or not error.retryable:
            return False
        return (_asked_pause_s(error) or 0.0) <= self.longest_pause_s

    def _pause_s(self, state: tenacity.RetryCallState) -> float:
        """What the provider asked for and up to a quarter more, else full jitter."""
        asked = _asked_pause_s(state.outcome.exception() if state.outcome else None)
        if asked is not None:
            return asked * (1 + 0.25 * random.random())  # noqa: S311 - jitter
        ceiling = min(self.longest_pause_s, self.first_pause_s * 2 ** (state.attempt_number - 1))
        return random.uniform(0, ceiling)  # noqa: S311 - jitter


def _asked_pause_s(error: BaseException | None) -> float | None:
    return error.retry_after_s if isinstance(error, JudgeRateLimited) else None
