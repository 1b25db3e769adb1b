"""Cascade of two judges: the second decides the cases in which the first is unsure."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from factcheck.errors import (
    ConfigError,
    Failure,
    InputError,
    JudgeError,
    JudgeOutputError,
    JudgeRejected,
)
from factcheck.facts import AtomicFact, CheckFailure, CheckResult, Usage, Verdict, match_results
from factcheck.judges.ports import (
    HIGH,
    LOW,
    Cascade,
    Checker,
    Ledger,
    PairJudge,
    PairResult,
    PairVerdict,
    ValuePair,
)

Q = TypeVar("Q")
R = TypeVar("R", CheckResult, PairResult)
_CASCADE = re.compile(
    r"cascade\(\s*([^,]+?)\s*,\s*([^,]+?)\s*((?:,\s*(?:low|high)\s*=\s*\d*\.?\d+\s*)*)\)"
)
_THRESHOLD = re.compile(r"(low|high)\s*=\s*([\d.]+)")


def parse_cascade(name: object) -> Cascade | None:
    """Parse `"cascade(FIRST, SECOND)"` with optional `low=` and `high=`; `None` for other specs.

    Raises `ConfigError` if the cascade is malformed.
    """
    if isinstance(name, Cascade):
        return name
    if not isinstance(name, str) or not name.strip().startswith("cascade("):
        return None
    found = _CASCADE.fullmatch(name.strip())
    if found is None:
        raise ConfigError(
            f"{name!r} does not name two judges as in 'cascade(local, openai/gpt-5-nano)' or "
            "'cascade(local, openai/gpt-5-nano, low=0.1, high=0.8)'"
        )
    thresholds = {key: float(value) for key, value in _THRESHOLD.findall(found[3])}
    return Cascade(found[1], found[2], **thresholds)


class CascadeJudge:
    """A `Checker` or `PairJudge` in which a second judge decides what the first is unsure of.

    A verdict of the first judge is final unless its probability lies strictly between the
    thresholds, which are from 0 to 1; without a probability, it is final, too. The second judge
    decides all other cases; if it fails, so does the cascade, and an unsure verdict is never used
    instead.
    """

    def __init__(self, first: Any, second: Any, *, low: float = LOW, high: float = HIGH) -> None:
        if not 0.0 <= low <= high <= 1.0:
            raise InputError(f"expected 0 <= low <= high <= 1, got low={low} and high={high}")
        self._first = first
        self._second = second
        self._low = low
        self._high = high

    @property
    def identity(self) -> dict[str, str]:
        return {
            "judge": f"cascade({self._low}, {self._high})",
            **{f"first.{name}": value for name, value in self._first.identity.items()},
            **{f"second.{name}": value for name, value in self._second.identity.items()},
        }

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> tuple[CheckResult, ...]:
        async def ask(judge: Checker, some: Sequence[AtomicFact]) -> list[CheckResult]:
            return match_results(some, await judge.check(some, text, ledger))

        return await self._decide(facts, ask, CheckFailure.of, ledger)

    async def compare(self, pairs: Sequence[ValuePair], ledger: Ledger) -> tuple[PairResult, ...]:
        async def ask(judge: PairJudge, some: Sequence[ValuePair]) -> list[PairResult]:
            results = list(await judge.compare(some, ledger))
            if len(results) != len(some):
                raise JudgeOutputError(
                    f"{type(judge).__name__} gave {len(results)} results for {len(some)} pairs"
                )
            return results

        return await self._decide(pairs, ask, Failure.of, ledger)

    async def _decide(
        self,
        questions: Sequence[Q],
        ask: Callable[[Any, Sequence[Q]], Awaitable[list[R]]],
        failure: Callable[[Q, JudgeError], R],
        ledger: Ledger,
    ) -> tuple[R, ...]:
        """Return one result per question, in question order, from the judge that decided it."""
        try:
            results = await ask(self._first, questions)
        except JudgeError as error:
            results = [failure(question, error) for question in questions]
        places = [place for place, result in enumerate(results) if self._is_open(result)]
        n, n_open = len(questions), len(places)
        ledger.book(Usage(kept_in_front=n - n_open))
        rest = [questions[place] for place in places]
        if not rest:
            return tuple(results)
        try:
            later = await ask(self._second, rest)
        except JudgeError as error:
            if isinstance(error, JudgeRejected) and n_open == n:
                raise
            later = [failure(question, error) for question in rest]
        for place, result in zip(places, later, strict=True):
            results[place] = result
        return tuple(results)

    def _is_open(self, result: CheckResult | PairResult) -> bool:
        if not isinstance(result, (Verdict, PairVerdict)):
            return True
        probability = result.probability
        return not (probability is None or probability <= self._low or probability >= self._high)
