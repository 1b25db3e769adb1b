"""Results that are cached, in flight, or have to be asked for: cache and single-flight in one.

Single-flight: the same question asked at the same time is sent once. Callers may sit in different
event loops and threads; what they share is a table of results in flight.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from factcheck.errors import InputError
from factcheck.runtime.loop import PerProcess

if TYPE_CHECKING:
    from factcheck.runtime.cache import AnswerCache

T = TypeVar("T")
Settle = Callable[[Mapping[str, T]], Awaitable[None]]
"""Hands results over, by key, as soon as they are there."""
Ask = Callable[[Sequence[str], Settle[T]], Awaitable[None]]
"""Asks for some keys and settles each of them, sooner or later."""

_log = logging.getLogger("factcheck.cache")


class Claim(Generic[T]):
    """Keys to ask for, and those that others are asking for already."""

    def __init__(self, mine: Mapping[str, Future[T]], others: Mapping[str, Future[T]]) -> None:
        self.keys = list(mine)
        """Keys that this caller has to ask for and settle."""
        self._mine = mine
        self._others = others

    async def settle(self, results: Mapping[str, T]) -> None:
        """Hand results over to everybody who waits for them."""
        for key, result in results.items():
            self._mine[key].set_result(result)

    async def results(self) -> dict[str, T]:
        """All results, those of others too; without those that the others gave up on."""
        for future in self._others.values():
            await asyncio.wait([asyncio.wrap_future(future)])
        futures = {**self._mine, **self._others}
        return {key: future.result() for key, future in futures.items() if not future.cancelled()}


class _Table(Generic[T]):
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.in_flight: dict[str, Future[T]] = {}


class SingleFlight(Generic[T]):
    """Results in flight, by the key of their question."""

    def __init__(self) -> None:
        self._table: PerProcess[_Table[T]] = PerProcess(_Table)

    @contextmanager
    def claim(self, keys: Sequence[str]) -> Iterator[Claim[T]]:
        """Claim the keys that nobody asks for; what is unsettled in the end, others ask for."""
        table = self._table()
        with table.lock:
            others = {key: table.in_flight[key] for key in keys if key in table.in_flight}
            mine: dict[str, Future[T]] = {key: Future() for key in keys if key not in others}
            table.in_flight.update(mine)
        try:
            yield Claim(mine, others)
            if not all(future.done() for future in mine.values()):
                raise AssertionError("asked for keys that were never settled")
        finally:
            with table.lock:
                for key, future in mine.items():
                    del table.in_flight[key]
                    future.cancel()  # does nothing to one that is settled

    async def resolve(self, keys: Sequence[str], ask: Ask[T]) -> dict[str, T]:
        """The results for all keys; `ask` is called for those that nobody asks for yet.

        Args:
            keys: Distinct keys.
            ask: Called at most once for each key, unless the first caller gave up.

        Raises:
            BaseException: Whatever `ask` raises; other callers that waited ask for themselves.
        """
        results: dict[str, T] = {}
        while missing := [key for key in keys if key not in results]:
            with self.claim(missing) as claim:
                if claim.keys:
                    await ask(claim.keys, claim.settle)
            results.update(await claim.results())
        return results


class Resolved(NamedTuple, Generic[T]):
    """Results by key, and which of them were cached."""

    results: Mapping[str, T]
    cached: frozenset[str]


class ResultCache(Generic[T]):
    """The cached results of one kind of question, and those in flight.

    Args:
        cache: Where results are kept, or `None` to keep none.
        labels: Written beside each result, for statistics: `task`, `judge`.
        encode: JSON-ready form of a result, or `None` for one that must not be kept.
        decode: The inverse; raises `InputError` for what it did not write.
    """

    def __init__(
        self,
        cache: AnswerCache | None,
        labels: Mapping[str, str],
        encode: Callable[[T], Mapping[str, Any] | None],
        decode: Callable[[Mapping[str, Any]], T],
    ) -> None:
        self._cache = cache
        self._labels = labels
        self._encode = encode
        self._decode = decode
        self._flight: SingleFlight[T] = SingleFlight()
        self.claim = self._flight.claim

    async def resolve(
        self, keys: Sequence[str], ask: Ask[T], now: Callable[[str], str] | None = None
    ) -> Resolved[T]:
        """The results for all keys, asking only for what is neither cached nor in flight.

        What `ask` settles is cached at once, so a run that is killed loses nothing it has received.
        `now` gives the key that is right once an answer has come, if that can be another one.
        """
        cached = await self.known(keys)

        async def ask_and_keep(missing: Sequence[str], settle: Settle[T]) -> None:
            async def keep(results: Mapping[str, T]) -> None:
                await self.keep({now(k): r for k, r in results.items()} if now else results)
                await settle(results)

            await ask(missing, keep)

        missing = [key for key in keys if key not in cached]
        asked = await self._flight.resolve(missing, ask_and_keep) if missing else {}
        return Resolved({**cached, **asked}, frozenset(cached))

    async def known(self, keys: Sequence[str]) -> dict[str, T]:
        """The cached results of these keys; unreadable ones are missing, with a warning."""
        if self._cache is None:
            return {}
        found = await asyncio.to_thread(self._cache.get_many, keys)
        read = {key: self._read(text) for key, text in found.items()}
        return {key: result for key, result in read.items() if result is not None}

    def _read(self, text: str) -> T | None:
        try:
            return self._decode(json.loads(text)["answer"])
        except (InputError, ValueError, KeyError, TypeError) as error:
            _log.warning("a cached response cannot be read and is asked for again: %s", error)
            return None

    async def keep(self, results: Mapping[str, T]) -> None:
        if self._cache is None:
            return
        entries = {}
        for key, result in results.items():
            data = self._encode(result)
            if data is not None:
                entry = {**self._labels, "at": int(time.time()), "answer": data}
                entries[key] = json.dumps(entry, ensure_ascii=False)
        if entries:
            await asyncio.to_thread(self._cache.set_many, entries)
