"""Result cache with single-flight: equal questions asked at the same time are sent once.

Callers may run in different event loops and threads; they share a table of results in flight.
Processes that share a cache with leases share its answers, too.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from factcheck.errors import DeadlineExceeded, InputError
from factcheck.runtime.cache.entries import LeasingCache
from factcheck.runtime.deadline import is_over, remaining_s
from factcheck.runtime.loop import PerProcess, together

if TYPE_CHECKING:
    from factcheck.runtime.cache import AnswerCache

Q = TypeVar("Q")
T = TypeVar("T")

LEASE_S = 60.0
"""Seconds after which a lease expires, and another process may send the same question."""
_FIRST_PAUSE_S = 0.05
_MAX_PAUSE_S = 1.0
_DECODER = json.JSONDecoder()
_ENCODER = json.JSONEncoder(ensure_ascii=False)
_log = logging.getLogger("factcheck.cache")


@dataclass(frozen=True)
class _Claim(Generic[T]):
    """Keys claimed by a caller, and results claimed by others."""

    keys: list[str]
    """Keys that this caller must request and settle."""
    others: set[Future[Mapping[str, T]]]
    settled: dict[str, T]
    """Results of this caller, shared with all that wait for them."""
    late: dict[str, T]
    """Failures by the deadline of this caller, shared with nobody."""


class ResultCache(Generic[Q, T]):
    """Cached results of one kind of question, and those in flight.

    Args:
        cache: The cache, or `None` for single-flight alone.
        labels: Stored with each result, for statistics.
        encode: Converts a result to JSON; `None` for one that must not be cached.
        decode: Inverse of `encode` for a question; raises `InputError` for invalid data.
        leases: Whether processes that share the cache wait for each other's answers.
    """

    def __init__(
        self,
        cache: AnswerCache | None,
        labels: Mapping[str, str],
        encode: Callable[[T], Mapping[str, Any] | None],
        decode: Callable[[Mapping[str, Any], Q], T],
        *,
        leases: bool = False,
    ) -> None:
        self._cache = cache
        self._leases = cache if leases and isinstance(cache, LeasingCache) else None
        self._labels = labels
        self._encode = encode
        self._decode = decode
        self._table: PerProcess[tuple[threading.Lock, dict[str, Future[Mapping[str, T]]]]] = (
            PerProcess(lambda: (threading.Lock(), {}))
        )

    async def results(
        self,
        keys: Sequence[str],
        questions: Mapping[str, Q],
        batches: Callable[[Mapping[str, Q]], Sequence[Sequence[str]]],
        ask: Callable[[Sequence[Q]], Awaitable[Sequence[T]]],
        book_hits: Callable[[int], None],
        *,
        keys_now: Callable[[], Mapping[str, str]] = dict,
    ) -> list[T]:
        """Return one result per key, in key order, requesting those not cached in batches.

        If `ask` raises, so does this call, and other callers that waited ask for themselves.

        Args:
            keys: Keys of the questions; equal questions have equal keys.
            questions: Questions by key.
            batches: Splits some questions into batches of keys.
            ask: Requests the results of one batch, in its order; after the deadline, returns
                failures instead.
            book_hits: Records a number of cache hits.
            keys_now: Maps keys to those to store results under, if an answer has changed them.
        """
        found = await self._known(questions)
        if found:
            book_hits(len(found))
        while missing := {key: q for key, q in questions.items() if key not in found}:
            with self._claim(missing) as claim:

                async def settle(batch: Sequence[str]) -> None:
                    async with self._lease(batch, questions) as received:
                        rest = [key for key in batch if key not in received]
                        answers = await ask([questions[key] for key in rest]) if rest else ()
                        results = dict(zip(rest, answers, strict=True))
                        await self._keep(results, keys_now())
                    if received:
                        book_hits(len(received))
                    claim.settled.update(received)
                    for key, result in results.items():
                        is_late = getattr(result, "code", "") == DeadlineExceeded.code
                        (claim.late if is_late else claim.settled)[key] = result

                work = [settle(batch) for batch in batches({k: questions[k] for k in claim.keys})]
                await (work[0] if len(work) == 1 else together(work))
            found |= claim.settled | claim.late
            for other in claim.others:
                # cancellation is not passed on
                await asyncio.wait([asyncio.wrap_future(other)], timeout=remaining_s())
                found |= other.result() if other.done() else {}
            if is_over() and (left := {k: q for k, q in missing.items() if k not in found}):
                for batch in batches(left):
                    found |= zip(batch, await ask([left[key] for key in batch]), strict=True)
        return [found[key] for key in keys]

    @contextmanager
    def _claim(self, keys: Iterable[str]) -> Iterator[_Claim[T]]:
        """Claim the keys not in flight; other callers take over those left unsettled."""
        lock, in_flight = self._table()
        ended: Future[Mapping[str, T]] = Future()
        with lock:
            others = {in_flight[key] for key in keys if key in in_flight}
            claim: _Claim[T] = _Claim([key for key in keys if key not in in_flight], others, {}, {})
            in_flight.update(dict.fromkeys(claim.keys, ended))
        try:
            yield claim
            if len(claim.settled) + len(claim.late) < len(claim.keys):
                raise AssertionError("claimed keys were never settled")
        finally:
            with lock:
                for key in claim.keys:
                    del in_flight[key]
            ended.set_result(claim.settled)

    async def _known(self, questions: Mapping[str, Q]) -> dict[str, T]:
        """Return the cached results of questions; unreadable ones are skipped with a warning."""
        if self._cache is None or not questions:
            return {}
        found = await asyncio.to_thread(self._cache.get_many, list(questions))
        return self._decoded(found, questions)

    def _decoded(self, found: Mapping[str, str], questions: Mapping[str, Q]) -> dict[str, T]:
        results: dict[str, T] = {}
        for key, text in found.items():
            try:
                entry = _DECODER.decode(text)
                results[key] = self._decode(entry["answer"], questions[key])
            except (InputError, ValueError, KeyError, TypeError) as error:  # noqa: PERF203
                _log.warning("a cached response cannot be read and is requested again: %s", error)
        return results

    async def _keep(self, results: Mapping[str, T], keys_now: Mapping[str, str]) -> None:
        encoded = {key: self._encode(result) for key, result in results.items()}
        labels = {**self._labels, "at": int(time.time())}
        entries = {
            keys_now.get(key, key): _ENCODER.encode({**labels, "answer": data})
            for key, data in encoded.items()
            if data is not None
        }
        if entries and self._cache is not None:
            await asyncio.to_thread(self._cache.set_many, entries)

    @asynccontextmanager
    async def _lease(
        self, keys: Sequence[str], questions: Mapping[str, Q]
    ) -> AsyncIterator[dict[str, T]]:
        """Become the only process that asks for these keys; yields results of an earlier holder.

        The lease is on the first key. Another process that needs it waits until this one has the
        answer or dies, or the lease expires.
        """
        cache, first, pause_s = self._leases, keys[0], _FIRST_PAUSE_S
        if cache is None:
            yield {}
            return

        def take() -> dict[str, str] | None:
            return cache.get_many(keys) if cache.lease(first, LEASE_S) else None

        while (found := await asyncio.to_thread(take)) is None and not is_over():
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _MAX_PAUSE_S)
        try:
            yield self._decoded(found or {}, questions)
        finally:
            if first in cache.leased:
                await asyncio.to_thread(cache.release, first)
