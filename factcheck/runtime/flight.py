"""Single-flight: the same question asked at the same time is sent once.

Callers may sit in different event loops and threads; what they share is a table of answers that
are on their way.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

from factcheck.runtime.forks import PerProcess

T = TypeVar("T")

Settle = Callable[[Mapping[str, T]], Awaitable[None]]
"""Hands answers over as soon as they are there, by key."""
Ask = Callable[[Sequence[str], Settle[T]], Awaitable[None]]
"""Asks for some keys and settles each of them, sooner or later."""


class _Table(Generic[T]):
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.coming: dict[str, Future[T]] = {}


class SingleFlight(Generic[T]):
    """Answers that are on their way, by the key of their question."""

    def __init__(self) -> None:
        self._table: PerProcess[_Table[T]] = PerProcess(_Table)

    async def resolve(self, keys: Sequence[str], ask: Ask[T]) -> dict[str, T]:
        """The answers to all keys; `ask` is called for those that nobody is asking for yet.

        Args:
            keys: Distinct keys.
            ask: Called at most once for each key, unless whoever asked first gave up.

        Raises:
            BaseException: Whatever `ask` raises; other callers that waited ask for themselves.
        """
        answers: dict[str, T] = {}
        while open_keys := [key for key in keys if key not in answers]:
            mine, others = self._claim(open_keys)
            if mine:
                await self._lead(mine, ask)
            answers.update({key: future.result() for key, future in mine.items()})
            for key, future in others.items():
                if await _settled(future):
                    answers[key] = future.result()
        return answers

    def _claim(self, keys: Sequence[str]) -> tuple[dict[str, Future[T]], dict[str, Future[T]]]:
        mine: dict[str, Future[T]] = {}
        others: dict[str, Future[T]] = {}
        table = self._table()
        with table.lock:
            for key in keys:
                if key in table.coming:
                    others[key] = table.coming[key]
                else:
                    mine[key] = table.coming[key] = Future()
        return mine, others

    async def _lead(self, mine: Mapping[str, Future[T]], ask: Ask[T]) -> None:
        async def settle(answers: Mapping[str, T]) -> None:
            for key, answer in answers.items():
                mine[key].set_result(answer)

        try:
            await ask(list(mine), settle)
            if not all(future.done() for future in mine.values()):
                raise AssertionError("asked for keys that were never settled")
        finally:
            table = self._table()
            with table.lock:
                for key, future in mine.items():
                    del table.coming[key]
                    future.cancel()  # does nothing to one that is settled


async def _settled(future: Future[T]) -> bool:
    """Wait for somebody else's answer; `False` if whoever asked gave up."""
    await asyncio.wait([asyncio.wrap_future(future)])
    return not future.cancelled()
