"""The one retry loop, on tenacity; the retries of clients and frameworks below it are off."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from factcheck.errors import FactcheckError, JudgeRateLimited
from factcheck.settings import require_integer, require_number

if TYPE_CHECKING:
    from tenacity import AsyncRetrying, RetryCallState


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """When a failed request is repeated: tenacity's policies of the same names.

    A `Retry-After` from the provider takes the place of the random wait.

    Raises:
        InputError: A number is out of range.
    """

    stop_after_attempt: int = 5
    """Maximum number of requests for one response; at least 1."""
    stop_after_delay: float = 120.0
    """Seconds after the first request by which the last wait must end; queueing does not count."""
    wait_max: float = 60.0
    """Longest wait in seconds; a provider that asks for a longer one is given up at once."""
    wait_multiplier: float = 0.5
    """`wait_random_exponential`: seconds up to which the first wait is drawn; doubles each time."""

    def __post_init__(self) -> None:
        require_integer("stop_after_attempt", self.stop_after_attempt, 1)
        for name in ("stop_after_delay", "wait_max", "wait_multiplier"):
            require_number(name, getattr(self, name), 0)

    def retrying(self, queued_s: Callable[[], float] = lambda: 0.0) -> AsyncRetrying:
        """Calls a coroutine function until it succeeds, fails for good, or the policy says stop.

        The last error is raised unchanged.
        """
        from tenacity import AsyncRetrying, retry_if_exception, wait_random_exponential
        from tenacity import stop_after_attempt as after_attempt

        backoff = wait_random_exponential(multiplier=self.wait_multiplier, max=self.wait_max)

        def wait(state: RetryCallState) -> float:
            asked_s = _retry_after_s(state.outcome.exception() if state.outcome else None)
            if asked_s is None:
                return backoff(state)
            return asked_s * random.uniform(1, 1.25)  # noqa: S311 - jitter

        def too_late(state: RetryCallState) -> bool:
            used_s = (state.seconds_since_start or 0.0) - queued_s()
            return used_s + state.upcoming_sleep > self.stop_after_delay

        return AsyncRetrying(
            retry=retry_if_exception(self._is_retryable),
            wait=wait,
            stop=lambda state: after_attempt(self.stop_after_attempt)(state) or too_late(state),
            reraise=True,
        )

    def shared_wait_s(self, error: FactcheckError) -> float:
        """Seconds for which no request should be sent after this error; 0 if others may go on."""
        asked_s = _retry_after_s(error)
        if not isinstance(error, JudgeRateLimited) or (asked_s or 0.0) > self.wait_max:
            return 0.0
        return self.wait_multiplier if asked_s is None else asked_s

    def _is_retryable(self, error: BaseException) -> bool:
        if not isinstance(error, FactcheckError) or not error.retryable:
            return False
        return (_retry_after_s(error) or 0.0) <= self.wait_max


def _retry_after_s(error: BaseException | None) -> float | None:
    return error.retry_after_s if isinstance(error, JudgeRateLimited) else None
