"""Texts asked about together, of which one may spoil it for all: it is found by halving."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from factcheck.errors import Failure
from factcheck.judges.ports import EmbeddingResult

_ENOUGH = 3
"""Texts that fail alone before any answer came: then it is not the texts."""

Ask = Callable[[Sequence[str]], Awaitable[Sequence[EmbeddingResult]]]
"""One result per text, in their order."""


class SpoiltRequest(Exception):
    """A request was turned down, and one of its texts may be why."""

    def __init__(self, failure: Failure[None]) -> None:
        super().__init__(failure.message)
        self.failure = failure


async def ask_in_parts(texts: Sequence[str], ask: Ask) -> list[EmbeddingResult]:
    """One result per text, in their order; one text that cannot be embedded fails alone.

    Args:
        texts: Asked about in one request, and in halves of it where that is turned down.
        ask: Asks once; raises `SpoiltRequest` where fewer texts may fare better.
    """
    return await _SplitRetry(ask).results(texts)


class _SplitRetry:
    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._failed_alone: list[Failure[None]] = []
        self._answered = False

    async def results(self, texts: Sequence[str]) -> list[EmbeddingResult]:
        if len(self._failed_alone) >= _ENOUGH and not self._answered:
            return [self._failed_alone[-1]] * len(texts)
        try:
            results = await self._ask(texts)
        except SpoiltRequest as error:
            if len(texts) == 1:
                self._failed_alone.append(error.failure)
                return [error.failure]
            middle = len(texts) // 2
            return [*await self.results(texts[:middle]), *await self.results(texts[middle:])]
        self._answered = True
        return list(results)
