"""Rate limiting: the number of requests in flight, one limiter per model.

The limit starts at its ceiling, is halved when the provider says it is too much, and creeps back
up while answers come (additive increase, multiplicative decrease, as in TCP). One 429 closes the
gate for everybody. Lives in the background loop; nothing here is thread-safe, nothing needs to be.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Limiter:
    """Gives out slots for single attempts; a pause between attempts holds none."""

    def __init__(self, ceiling: int) -> None:
        self._ceiling = ceiling
        self._limit = float(ceiling)
        self._under_way = 0
        self._not_before = 0.0
        self._started = 0
        self._cut_at = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def limit(self) -> int:
        """Requests that may be in flight now; from 1 to the ceiling."""
        return int(self._limit)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[int]:
        """Wait until a request may be sent, and hold its slot; gives its number in order."""
        await self._admission()
        self._under_way += 1
        self._started += 1
        try:
            yield self._started
        finally:
            self._under_way -= 1
            self._wake()

    async def _admission(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            closed_s = self._not_before - loop.time()
            if closed_s > 0.0:
                await asyncio.sleep(closed_s)
            elif self._under_way < self.limit:
                return
            else:
                await self._turn(loop.create_future())

    async def _turn(self, turn: asyncio.Future[None]) -> None:
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._wake()  # the turn came, and is passed on
            raise

    def _wake(self) -> None:
        free = self.limit - self._under_way
        while free > 0 and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1

    def answered(self) -> None:
        """An answer came: allow a little more, one more for each full round of answers."""
        self._limit = min(float(self._ceiling), self._limit + 1.0 / self._limit)

    def overloaded(self, number: int, pause_s: float = 0.0) -> None:
        """The provider has too much to do: halve the limit, and close the gate for a while.

        Requests sent before the last cut do not cut again: they met the load that caused it.
        """
        if number > self._cut_at:
            self._limit = max(1.0, self._limit / 2.0)
            self._cut_at = self._started
        until = asyncio.get_running_loop().time() + pause_s
        self._not_before = max(self._not_before, until)
