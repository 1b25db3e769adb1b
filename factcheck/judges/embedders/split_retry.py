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
    failed_alone: list[Failure[None]] = []
    answered = False

    async def results(part: Sequence[str]) -> list[EmbeddingResult]:
        nonlocal answered
        if len(failed_alone) >= _ENOUGH and not answered:
            return [failed_alone[-1]] * len(part)
        try:
            found = list(await ask(part))
        except SpoiltRequest as error:
            if len(part) == 1:
                failed_alone.append(error.failure)
                return [error.failure]
            middle = len(part) // 2
            return [*await results(part[:middle]), *await results(part[middle:])]
        answered = True
        return found

    return await results(texts)
