"""Many questions of one kind to one model: kept answers first, the rest some at a time.

What did not come back as it should is asked for once more, in a fresh call; then it is a failure.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from factcheck.errors import JudgeRejected
from factcheck.facts import CheckFailure, CheckResult
from factcheck.judges.llm.engine import looking_again
from factcheck.judges.ports import PairFailure, PairResult, RatingFailure, RatingResult
from factcheck.runtime.answers import Answers
from factcheck.runtime.flight import Settle
from factcheck.runtime.loop import together

if TYPE_CHECKING:
    from factcheck.judges.llm.language_model import LanguageModel
    from factcheck.judges.ports import Ledger

_ASK_AGAIN = frozenset({"missing", "duplicate", "invalid", "output", "truncated"})
"""Failures that a fresh call may mend; the others have had their retries."""
_FAILURES = (CheckFailure, PairFailure, RatingFailure)

T = TypeVar("T")
Q = TypeVar("Q")
Result = CheckResult | PairResult | RatingResult
R = TypeVar("R", bound=Result)

AskCall = Callable[[Sequence[Q]], Coroutine[Any, Any, Sequence[R]]]
"""Asks some questions in one call: one result each, in their order. Failures are results, too."""


class Asker(Generic[Q, R]):
    """Asks one model questions of one kind.

    Args:
        model: Who is asked.
        stage: Under which stage answers are booked.
        answers: Where they are kept.
        per_call: Questions in one call, at most.
        parts: Into how many calls the questions of one are divided when it is repeated, by the
            code of what it failed with as a whole; one where a code is not named.
        doubtful: Whether an answer is worth a second call, although it is one.
        alone: Whether a question has a call of its own.
    """

    def __init__(
        self,
        model: LanguageModel,
        stage: str,
        answers: Answers[R],
        *,
        per_call: int,
        parts: Mapping[str, int],
        doubtful: Callable[[R], bool] = lambda _: False,
        alone: Callable[[Q], bool] = lambda _: False,
    ) -> None:
        self._model = model
        self._stage = stage
        self._answers = answers
        self._per_call = per_call
        self._parts = parts
        self._doubtful = doubtful
        self._alone = alone

    async def results(
        self, questions: Mapping[str, Q], ask: AskCall[Q, R], ledger: Ledger
    ) -> Mapping[str, R]:
        """One result per question, by its key; `ask` is called for what is not known."""

        async def ask_in_calls(wanted: Sequence[str], settle: Settle[R]) -> None:
            async def ask_call(keys: Sequence[str]) -> None:
                with looking_again(lambda: self._answers.all_known(keys)):
                    results = await self._ask_twice([questions[key] for key in keys], ask)
                answers = dict(zip(keys, results, strict=True))
                if all(failed_with(result, {"not_asked"}) for result in results):
                    found = await self._answers.known(keys)
                    self._model.book_cache_hits(len(found), ledger, self._stage)
                    answers.update(found)
                await settle(answers)

            single = [key for key in wanted if self._alone(questions[key])]
            others = [key for key in wanted if not self._alone(questions[key])]
            calls = [*([key] for key in single), *batches(others, self._per_call)]
            await together(ask_call(keys) for keys in calls)

        resolved = await self._answers.resolve(list(questions), ask_in_calls)
        self._model.book_cache_hits(len(resolved.known), ledger, self._stage)
        return resolved.answers

    async def _ask_twice(self, questions: Sequence[Q], ask: AskCall[Q, R]) -> list[R]:
        first = await ask(questions)
        again = [place for place, result in enumerate(first) if self._worth_asking_again(result)]
        parts = max((self._parts.get(_code(first[place]), 1) for place in again), default=1)
        calls = batches([questions[place] for place in again], max(1, -(-len(again) // parts)))
        results = chain.from_iterable(await together(ask(call) for call in calls))
        second = dict(zip(again, results, strict=True))
        return [_better(result, second.get(place)) for place, result in enumerate(first)]

    def _worth_asking_again(self, result: R) -> bool:
        if isinstance(result, _FAILURES):
            return result.code in _ASK_AGAIN or result.code in self._parts
        return self._doubtful(result)


def batches(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """The items in as few batches of at most `size` as there can be, of nearly equal length."""
    n, count = len(items), -(-len(items) // size)
    return [items[n * i // count : n * (i + 1) // count] for i in range(count)]


def failed_with(result: Result, codes: set[str]) -> bool:
    """Whether this is a failure of one of these kinds."""
    return _code(result) in codes


def require_one_not_rejected(results: Sequence[Result]) -> None:
    """Let results pass unless every single one was turned down.

    Raises:
        JudgeRejected: There are results, and all say that.
    """
    messages = [
        result.message
        for result in results
        if isinstance(result, _FAILURES) and result.code == JudgeRejected.code
    ]
    if messages and len(messages) == len(results):
        raise JudgeRejected(messages[0])


def _code(result: Result) -> str:
    return result.code if isinstance(result, _FAILURES) else ""


def _better(first: R, second: R | None) -> R:
    """The later answer; a failure never replaces an answer."""
    if second is None or (_code(second) and not _code(first)):
        return first
    return second
