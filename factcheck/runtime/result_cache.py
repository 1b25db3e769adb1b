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
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from factcheck.errors import InputError
from factcheck.runtime.cache import DiskCache
from factcheck.runtime.loop import PerProcess, together

if TYPE_CHECKING:
    from factcheck.runtime.cache import AnswerCache

T = TypeVar("T")
Ask = Callable[[Sequence[str]], Awaitable[Sequence[T]]]
"""Asks for some keys; gives a result for each, in their order."""

LEASE_S = 60.0
"""Seconds after which an answer is asked for although another process may be waiting for it."""
_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 1.0
_log = logging.getLogger("factcheck.cache")


@dataclass(slots=True)
class Claim(Generic[T]):
    """Keys to ask for, and those that others are asking for already."""

    keys: list[str]
    """Keys that this caller has to ask for and settle."""
    others: set[Future[Mapping[str, T]]]
    settled: dict[str, T] = field(default_factory=dict)
    """Results for everybody who waits for them."""

    async def results(self) -> dict[str, T]:
        """All results, those of others too; without those that the others gave up on."""
        results = dict(self.settled)
        for other in self.others:
            await asyncio.wait([asyncio.wrap_future(other)])  # does not cancel it if cancelled
            results.update(other.result())
        return results


class SingleFlight(Generic[T]):
    """Results in flight, by the key of their question."""

    def __init__(self) -> None:
        self._table: PerProcess[tuple[threading.Lock, dict[str, Future[Mapping[str, T]]]]] = (
            PerProcess(lambda: (threading.Lock(), {}))
        )

    @contextmanager
    def claim(self, keys: Sequence[str]) -> Iterator[Claim[T]]:
        """Claim the keys that nobody asks for; what is unsettled in the end, others ask for."""
        lock, in_flight = self._table()
        ended: Future[Mapping[str, T]] = Future()
        with lock:
            others = {in_flight[key] for key in keys if key in in_flight}
            claim: Claim[T] = Claim([key for key in keys if key not in in_flight], others)
            in_flight.update(dict.fromkeys(claim.keys, ended))
        try:
            yield claim
            if len(claim.settled) < len(claim.keys):
                raise AssertionError("asked for keys that were never settled")
        finally:
            with lock:
                for key in claim.keys:
                    del in_flight[key]
            ended.set_result(claim.settled)

    async def resolve(self, keys: Sequence[str], ask: Ask[T]) -> dict[str, T]:
        """The results for all distinct keys; `ask` is called for those that nobody asks for yet.

        Whatever it raises is raised here; other callers that waited ask for themselves.
        """
        results: dict[str, T] = {}
        while missing := [key for key in keys if key not in results]:
            with self.claim(missing) as claim:
                if claim.keys:
                    claim.settled |= zip(claim.keys, await ask(claim.keys), strict=True)
            results.update(await claim.results())
        return results


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
        self._cache = cache
        self._labels = labels
        self._encode = encode
        self._decode = decode

    async def results(
        self,
        keys: Sequence[str],
        batches: Callable[[Sequence[str]], Sequence[Sequence[str]]],
        ask: Ask[T],
        book_hits: Callable[[int], None],
        *,
        mend: Callable[[dict[str, T]], Awaitable[None]] | None = None,
        keys_now: Callable[[], Mapping[str, str]] = dict,
    ) -> list[T]:
        """A result for each key, in their order: cached ones, and those asked for in batches.

        `book_hits` is called with the number of results found, and `mend` may change results before
        they are kept. `keys_now` gives other keys to keep them under, if an answer has shown that
        theirs are not right.
        """
        found = await self._known(keys)
        if found:
            book_hits(len(found))
        while missing := [key for key in dict.fromkeys(keys) if key not in found]:
            with self.claim(missing) as claim:

                async def settle(batch: Sequence[str]) -> None:
                    async with self._lease(batch) as received:
                        results: dict[str, T] = {}
                        if rest := [key for key in batch if key not in received]:
                            results = dict(zip(rest, await ask(rest), strict=True))
                            if mend is not None:
                                await mend(results)
                            now = keys_now()
                            await self._keep({now.get(key, key): results[key] for key in rest})
                    if received:
                        book_hits(len(received))
                    claim.settled.update({**results, **received})

                work = [settle(batch) for batch in batches(claim.keys)]
                await (work[0] if len(work) == 1 else together(work))
            found |= await claim.results()
        return [found[key] for key in keys]

    async def _known(self, keys: Sequence[str]) -> dict[str, T]:
        """The cached results of these keys; unreadable ones are missing, with a warning."""
        if self._cache is None:
            return {}
        return self._decoded(await asyncio.to_thread(self._cache.get_many, keys))

    def _decoded(self, found: Mapping[str, str]) -> dict[str, T]:
        read = {key: self._read(text) for key, text in found.items()}
        return {key: result for key, result in read.items() if result is not None}

    def _read(self, text: str) -> T | None:
        try:
            return self._decode(json.loads(text)["answer"])
        except (InputError, ValueError, KeyError, TypeError) as error:
            _log.warning("a cached response cannot be read and is asked for again: %s", error)
            return None

    async def _keep(self, results: Mapping[str, T]) -> None:
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

    @asynccontextmanager
    async def _lease(self, keys: Sequence[str]) -> AsyncIterator[dict[str, T]]:
        """Be the one process that asks for these keys; gives what another one has received.

        Another process that wants the first of them waits until this one has its answer, is dead,
        or has had the lease for too long.
        """
        cache, first, pause_s = self._shared, keys[0], _FIRST_PAUSE_S
        if cache is None:
            yield {}
            return

        def take() -> dict[str, str] | None:
            return cache.get_many(keys) if cache.lease(first, LEASE_S) else None

        while (found := await asyncio.to_thread(take)) is None:
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        try:
            yield self._decoded(found)
        finally:
            if first in cache.leased:
                await asyncio.to_thread(cache.release, first)
