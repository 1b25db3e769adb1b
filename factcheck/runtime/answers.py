"""Answers that are known, on their way, or have to be asked for: cache and single-flight in one."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from factcheck.errors import InputError
from factcheck.runtime.flight import Ask, Settle, SingleFlight

if TYPE_CHECKING:
    from factcheck.runtime.cache import AnswerCache

T = TypeVar("T")

_log = logging.getLogger("factcheck.cache")


@dataclass(frozen=True, slots=True)
class Resolved(Generic[T]):
    """Answers by key, and which of them were already paid for."""

    answers: Mapping[str, T]
    known: frozenset[str]


class Answers(Generic[T]):
    """One kind of answer to one kind of question.

    Args:
        cache: Where answers are kept, or `None` to keep none.
        labels: Written beside each kept answer, for people: `task`, `judge`.
        encode: JSON-ready form of an answer, or `None` for one that must not be kept.
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

    async def resolve(self, keys: Sequence[str], ask: Ask[T]) -> Resolved[T]:
        """The answers to all keys, asking only for what is neither kept nor on its way.

        What `ask` settles is kept at once, so a run that is killed has lost nothing it was told.
        """
        known = await self.known(keys)

        async def ask_and_keep(wanted: Sequence[str], settle: Settle[T]) -> None:
            async def keep(answers: Mapping[str, T]) -> None:
                await self._keep(answers)
                await settle(answers)

            await ask(wanted, keep)

        rest = [key for key in keys if key not in known]
        asked = await self._flight.resolve(rest, ask_and_keep) if rest else {}
        return Resolved({**known, **asked}, frozenset(known))

    async def all_known(self, keys: Sequence[str]) -> bool:
        """Whether every one of these answers is kept by now."""
        return self._cache is not None and len(await self.known(keys)) == len(keys)

    async def known(self, keys: Sequence[str]) -> dict[str, T]:
        """The kept answers among these keys; one that cannot be read is missing, with a warning."""
        if self._cache is None:
            return {}
        found = await asyncio.to_thread(self._cache.get_many, keys)
        read = ((key, self._read(text)) for key, text in found.items())
        return {key: answer for key, answer in read if answer is not None}

    def _read(self, text: str) -> T | None:
        try:
            return self._decode(json.loads(text)["answer"])
        except (InputError, ValueError, KeyError, TypeError) as error:
            _log.warning("a kept answer cannot be read and is asked for again: %s", error)
            return None

    async def _keep(self, answers: Mapping[str, T]) -> None:
        if self._cache is None:
            return
        entries = {}
        for key, answer in answers.items():
            data = self._encode(answer)
            if data is not None:
                entry = {**self._labels, "at": int(time.time()), "answer": data}
                entries[key] = json.dumps(entry, ensure_ascii=False)
        if entries:
            await asyncio.to_thread(self._cache.set_many, entries)
