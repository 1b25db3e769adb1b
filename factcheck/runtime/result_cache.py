"""Result cache with single-flight: equal questions asked at the same time are sent once.

The key of a question is that of its entries in the cache (`answer_key`), followed by what tells
apart the questions that are kept together: for a verdict, the fact. A request adds one entry per
key, with all of its results, so one look finds every verdict on a text, whichever request it is of.

Callers may run in different event loops and threads; they share a table of results in flight.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from factcheck.errors import DeadlineExceeded
from factcheck.runtime.cache.disk import DiskCache
from factcheck.runtime.cache.entries import KEY_DIGITS
from factcheck.runtime.deadline import is_over, remaining_s
from factcheck.runtime.loop import PerProcess, together

if TYPE_CHECKING:
    from factcheck.runtime.cache import JSON, AnswerCache

Q = TypeVar("Q")
T = TypeVar("T")

_DECODER = json.JSONDecoder()
_ENCODER = json.JSONEncoder(ensure_ascii=False)
_log = logging.getLogger("factcheck.cache")


@contextmanager
def _warns_if_unreadable() -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        _log.warning("a cached response cannot be read and is requested again: %s", error)


def _answers_in(texts: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield name and data of answers; an entry that is unreadable is skipped with a warning."""
    for text in texts:
        answers: Mapping[str, Any] = {}
        with _warns_if_unreadable():
            answers = dict(_DECODER.decode(text)["answers"].items())
        yield from answers.items()


def _is_late(result: object) -> bool:
    """Whether a result is a failure by the deadline of whoever asked, which others do not share."""
    return getattr(result, "code", "") == DeadlineExceeded.code


class ResultCache(Generic[Q, T]):
    """Cached results of one kind of question, and those in flight; without a cache, these alone.

    `encode` returns `None` for a result that must not be cached; `decode` raises `InputError` for
    data that is not one of a question.
    """

    def __init__(
        self,
        cache: AnswerCache | None,
        encode: Callable[[T], JSON],
        decode: Callable[[Any, Q], T],
    ) -> None:
        self._cache = cache
        self._encode = encode
        self._decode = decode
        self._table: PerProcess[tuple[threading.Lock, dict[str, Future[Mapping[str, T]]]]] = (
            PerProcess(lambda: (threading.Lock(), {}))
        )

    async def results(
        self,
        asked: Sequence[Q],
        keys_of: Callable[[Sequence[Q]], list[str]],
        batches: Callable[[Mapping[str, Q]], Sequence[Sequence[str]]],
        ask: Callable[[Sequence[Q]], Awaitable[Sequence[T]]],
        book_hits: Callable[[int], None],
    ) -> list[T]:
        """Return one result per question, in order, requesting those not cached in batches.

        Equal questions have equal keys, which an answer may change: its results are stored under
        the new ones. `ask` requests the results of one batch, in its order; after the deadline, it
        returns failures instead. If it raises, so does this call, and other callers that waited ask
        for themselves.
        """
        keys = keys_of(asked)
        questions = dict(zip(keys, asked, strict=True))
        found = await self._known(questions)
        if found:
            book_hits(len(found))
        while missing := {key: q for key, q in questions.items() if key not in found}:
            with self._claim(missing) as (claimed, others, settled):

                async def settle(batch: Sequence[str]) -> None:
                    sent = [questions[key] for key in batch]
                    answers = await ask(sent)
                    await self._keep(keys_of(sent), answers)
                    settled.update(zip(batch, answers, strict=True))

                await together(map(settle, batches({k: questions[k] for k in claimed})))
            found |= settled
            for other in others:
                # cancellation is not passed on
                await asyncio.wait([asyncio.wrap_future(other)], timeout=remaining_s())
                found |= other.result() if other.done() else {}
            if is_over() and (left := {k: q for k, q in missing.items() if k not in found}):
                for batch in batches(left):
                    found |= zip(batch, await ask([left[key] for key in batch]), strict=True)
        return [found[key] for key in keys]

    @contextmanager
    def _claim(
        self, keys: Iterable[str]
    ) -> Iterator[tuple[list[str], set[Future[Mapping[str, T]]], dict[str, T]]]:
        """Claim the keys that are not in flight.

        Yields them, the results of other callers, and a dictionary for those of this one. Whoever
        waits for a key that is not in it in the end, or late, takes it over.
        """
        lock, in_flight = self._table()
        ended: Future[Mapping[str, T]] = Future()
        settled: dict[str, T] = {}
        with lock:
            others = {in_flight[key] for key in keys if key in in_flight}
            claimed = [key for key in keys if key not in in_flight]
            in_flight.update(dict.fromkeys(claimed, ended))
        try:
            yield claimed, others, settled
        finally:
            with lock:
                for key in claimed:
                    del in_flight[key]
            ended.set_result({key: one for key, one in settled.items() if not _is_late(one)})

    async def _known(self, questions: Mapping[str, Q]) -> dict[str, T]:
        """Return the cached results of questions; unreadable ones are skipped with a warning."""
        results: dict[str, T] = {}
        if self._cache is None:
            return results
        keys = list(dict.fromkeys(key[:KEY_DIGITS] for key in questions))
        if isinstance(self._cache, DiskCache) and self._cache.is_open:
            found = self._cache.get_many(keys)  # a change of threads takes longer than a read
        else:
            found = await asyncio.to_thread(self._cache.get_many, keys)
        for shared, texts in found.items():
            for name, data in _answers_in(texts):
                key = shared + name
                if key in questions and key not in results:
                    with _warns_if_unreadable():
                        results[key] = self._decode(data, questions[key])
        return results

    async def _keep(self, keys: Sequence[str], results: Sequence[T]) -> None:
        answers: dict[str, dict[str, JSON]] = {}
        for key, result in zip(keys, results, strict=True):
            data = self._encode(result)
            if data is not None:
                answers.setdefault(key[:KEY_DIGITS], {})[key[KEY_DIGITS:]] = data
        entries = {key: _ENCODER.encode({"answers": of_key}) for key, of_key in answers.items()}
        if entries and self._cache is not None:
            await asyncio.to_thread(self._cache.add_many, entries)
