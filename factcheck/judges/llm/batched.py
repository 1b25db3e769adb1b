"""Many questions of one kind to one model: cached results first, the rest in batches.

A missing, duplicate or invalid result is asked for once more, in a request of its own; then it is
a failure.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from factcheck.errors import JudgeRejected
from factcheck.judges.llm.engine import record_usage
from factcheck.runtime.loop import together
from factcheck.runtime.result_cache import Claim, ResultCache

if TYPE_CHECKING:
    from factcheck.judges.llm.language_model import LanguageModel
    from factcheck.judges.ports import Ledger

_REPEAT = frozenset({"missing", "duplicate", "invalid", "output", "truncated"})
"""Failures that another request may mend; the others have had their retries."""

T = TypeVar("T")
Q = TypeVar("Q")
R = TypeVar("R")
AskBatch = Callable[[Sequence[Q]], Awaitable[Sequence[R]]]
"""Asks some questions in one request: one result each, in their order. Failures are results."""


class BatchedRequests(Generic[Q, R]):
    """Asks one model questions of one kind.

    Args:
        model: The model.
        stage: Under which stage usage is recorded.
        cache: The results that are known or in flight.
        batch_size: Maximum number of questions in one request.
        parts: Into how many requests the questions of one are divided when it is repeated, by the
            code of its failure as a whole; one for a code that is not listed.
        is_doubtful: Whether a result is worth a second request, although it is one.
        is_alone: Whether a question gets a request of its own.
    """

    def __init__(
        self,
        model: LanguageModel,
        stage: str,
        cache: ResultCache[R],
        *,
        batch_size: int,
        parts: Mapping[str, int],
        is_doubtful: Callable[[R], bool] = lambda _: False,
        is_alone: Callable[[Q], bool] = lambda _: False,
    ) -> None:
        self._model = model
        self._stage = stage
        self._cache = cache
        self._batch_size = batch_size
        self._parts = parts
        self._is_doubtful = is_doubtful
        self._is_alone = is_alone

    async def results(
        self, questions: Mapping[str, Q], ask: AskBatch[Q, R], ledger: Ledger
    ) -> Mapping[str, R]:
        """One result per question, by its key; `ask` is called for what is not known."""
        results = await self._cache.known(list(questions))
        self._model.record_cache_hits(len(results), ledger, self._stage)
        while missing := [key for key in questions if key not in results]:
            with self._cache.claim(missing) as claim:
                batches = self._batches({key: questions[key] for key in claim.keys})
                if len(batches) == 1:
                    await self._ask_batch(batches[0], ask, ledger, claim)
                else:
                    await together(self._ask_batch(b, ask, ledger, claim) for b in batches)
            results.update(await claim.results())
        return results

    def _batches(self, questions: Mapping[str, Q]) -> list[dict[str, Q]]:
        single = [key for key in questions if self._is_alone(questions[key])]
        others = [key for key in questions if not self._is_alone(questions[key])]
        batches = [[key] for key in single] + even_batches(others, self._batch_size)
        return [{key: questions[key] for key in batch} for batch in batches]

    async def _ask_batch(
        self, questions: Mapping[str, Q], ask: AskBatch[Q, R], ledger: Ledger, claim: Claim[R]
    ) -> None:
        keys = list(questions)

        async def is_cached() -> bool:
            return len(await self._cache.known(keys)) == len(keys)

        with record_usage(ledger, self._stage, is_cached):
            results = dict(zip(keys, await ask(list(questions.values())), strict=True))
            await self._repeat(questions, results, ask)
        await self._cache.keep(results)
        if all(failed_with(result, {"not_asked"}) for result in results.values()):
            found = await self._cache.known(keys)
            self._model.record_cache_hits(len(found), ledger, self._stage)
            results.update(found)
        await claim.settle(results)

    async def _repeat(
        self, questions: Mapping[str, Q], results: dict[str, R], ask: AskBatch[Q, R]
    ) -> None:
        """Ask again for what failed or is doubtful; a failure never replaces a result."""
        keys = [key for key, result in results.items() if self._is_worth_repeating(result)]
        if not keys:
            return
        parts = max(self._parts.get(_code(results[key]), 1) for key in keys)
        calls = even_batches(keys, max(1, -(-len(keys) // parts)))

        async def ask_again(call: Sequence[str]) -> None:
            for key, result in zip(call, await ask([questions[k] for k in call]), strict=True):
                if _code(results[key]) or not _code(result):
                    results[key] = result

        await together(ask_again(call) for call in calls)

    def _is_worth_repeating(self, result: R) -> bool:
        code = _code(result)
        return code in _REPEAT or code in self._parts if code else self._is_doubtful(result)


def even_batches(items: Sequence[T], size: int) -> list[list[T]]:
    """The items in as few batches of at most `size` as possible, of nearly equal length."""
    n, count = len(items), -(-len(items) // size)
    return [list(items[n * i // count : n * (i + 1) // count]) for i in range(count)]


def failed_with(result: Any, codes: set[str]) -> bool:
    return _code(result) in codes


def require_one_not_rejected(results: Sequence[Any]) -> None:
    if results and all(failed_with(result, {JudgeRejected.code}) for result in results):
        raise JudgeRejected(results[0].message)


def _code(result: Any) -> str:
    """The code of a failure; empty for any other result, which has none."""
    code: str = getattr(result, "code", "")
    return code
