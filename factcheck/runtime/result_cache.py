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
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from factcheck.errors import InputError
from factcheck.runtime.cache import DiskCache
from factcheck.runtime.loop import PerProcess

if TYPE_CHECKING:
    from factcheck.runtime.cache import AnswerCache

T = TypeVar("T")
Settle = Callable[[Mapping[str, T]], Awaitable[None]]
"""Hands results over, by key, as soon as they are there."""
Ask = Callable[[Sequence[str], Settle[T]], Awaitable[None]]
"""Asks for some keys and settles each of them, sooner or later."""

LEASE_S = 60.0
"""Seconds after which an answer is asked for although another process may be waiting for it."""
_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 1.0
_log = logging.getLogger("factcheck.cache")


class Claim(Generic[T]):
    """Keys to ask for, and those that others are asking for already."""

    def __init__(self, keys: Sequence[str], others: set[Future[Mapping[str, T]]]) -> None:
        self.keys = keys
        """Keys that this caller has to ask for and settle."""
        self.settled: dict[str, T] = {}
        self.ended: Future[Mapping[str, T]] = Future()
        self._others = others

    async def settle(self, results: Mapping[str, T]) -> None:
        """Hand results over to everybody who waits for them."""
        self.settled.update(results)

    async def results(self) -> dict[str, T]:
        """All results, those of others too; without those that the others gave up on."""
        results = dict(self.settled)
        for future in self._others:
            await asyncio.wait([asyncio.wrap_future(future)])  # does not cancel it if cancelled
            results.update(future.result())
        return results


class _Table(Generic[T]):
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.in_flight: dict[str, Future[Mapping[str, T]]] = {}


class SingleFlight(Generic[T]):
    """Results in flight, by the key of their question."""

    def __init__(self) -> None:
        self._table: PerProcess[_Table[T]] = PerProcess(_Table)

    @contextmanager
    def claim(self, keys: Sequence[str]) -> Iterator[Claim[T]]:
        """Claim the keys that nobody asks for; what is unsettled in the end, others ask for."""
        table = self._table()
        with table.lock:
            others = {table.in_flight[key] for key in keys if key in table.in_flight}
            claim: Claim[T] = Claim([key for key in keys if key not in table.in_flight], others)
            table.in_flight.update(dict.fromkeys(claim.keys, claim.ended))
        try:
            yield claim
            if len(claim.settled) < len(claim.keys):
                raise AssertionError("asked for keys that were never settled")
        finally:
            with table.lock:
                for key in claim.keys:
                    del table.in_flight[key]
            claim.ended.set_result(claim.settled)

    async def resolve(self, keys: Sequence[str], ask: Ask[T]) -> dict[str, T]:
        """The results for all distinct keys; `ask` is called for those that nobody asks for yet.

        Whatever it raises is raised here; other callers that waited ask for themselves.
        """
        results: dict[str, T] = {}
        while missing := [key for key in keys if key not in results]:
            with self.claim(missing) as claim:
                if claim.keys:
                    await ask(claim.keys, claim.settle)
            results.update(await claim.results())
        return {key: results[key] for key in keys}


class ResultCache(SingleFlight[T]):
    """The cached results of one kind of question, and those in flight.

    `labels` are written beside each result, for statistics. `encode` gives the JSON-ready form of
    a result, or `None` for one that must not be kept; `decode` raises `InputError` for what it did
    not write. With `leases`, processes that share a cache on disk wait for each other's answers.
    """

    def __init__(
        self,
        cache: AnswerCache | None,
        labels: Mapping[str, str],
        encode: Callable[[T], Mapping[str, Any] | None],
        decode: Callable[[Mapping[str, Any]], T],
        *,
        leases: bool = False,
    ) -> None:
        super().__init__()
        self._shared = cache if leases and isinstance(cache, DiskCache) else None
        self._leased: set[str] = set()
        self._cache = cache
        self._labels = labels
        self._encode = encode
        self._decode = decode

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
            self._leased.difference_update(entries)

    @asynccontextmanager
    async def lease(self, keys: Sequence[str]) -> AsyncIterator[dict[str, T]]:
        """Be the one process that asks for these keys; gives what another one has received.

        The lease stands in the place of the first answer, which ends it. Another process that
        wants it waits until then, until this one is dead, or until the lease expires.
        """
        cache, first, pause_s = self._shared, keys[0], _FIRST_PAUSE_S
        found: dict[str, T] = {}
        while cache is not None and not await asyncio.to_thread(cache.lease, first, LEASE_S):
            found = await self.known(keys)
            if first in found:
                break
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        else:
            self._leased.add(first)
        try:
            yield found
        finally:
            if cache is not None and first in self._leased:
                await asyncio.to_thread(cache.release, first)
            self._leased.discard(first)
