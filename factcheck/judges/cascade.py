"""Two judges in a row: the second is asked only where the first is not sure."""

from __future__ import annotations

from collections.abc import Sequence

from factcheck.errors import Failure, InputError, JudgeError, JudgeOutputError, JudgeRejected
from factcheck.judges.ports import Ledger, PairJudge, PairResult, ValuePair

LOW = 0.05
"""Probability up to which a first judge is taken to be sure that two values differ. The embedded
judge goes so low only for a number, date, negation or the like that differs."""
HIGH = 0.9
"""Probability from which on it is taken to be sure that they mean the same. `benchmarks/pairs`
shows what both limits cost and miss."""


class CascadePairJudge:
    """Asks a cheap judge about all pairs, and another one about those it is not sure of.

    A verdict of the first judge stands unless its probability lies strictly between `low` and
    `high`; one without a probability stands, too. What the first judge has no verdict on is the
    second's to decide. A failure of the second is a failure: what the first was not sure of
    never takes its place.

    Args:
        first: Asked about every pair.
        second: Asked about the rest.
        low: Lower end of the range in which the second is asked.
        high: Upper end.

    Raises:
        InputError: The ends are not in [0, 1], or in the wrong order.
    """

    def __init__(
        self, first: PairJudge, second: PairJudge, *, low: float = LOW, high: float = HIGH
    ) -> None:
        if not 0.0 <= low <= high <= 1.0:
            raise InputError(f"low and high must be 0 <= low <= high <= 1, not {low} and {high}")
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

    async def compare(self, pairs: Sequence[ValuePair], ledger: Ledger) -> tuple[PairResult, ...]:
        """One result per pair, in their order, of whichever judge has the last word on it."""
        try:
            results = await _counted(self._first, pairs, ledger)
        except JudgeError as error:
            results = _failures(error, pairs)
        places = [place for place, result in enumerate(results) if self._is_open(result)]
        rest = [pairs[place] for place in places]
        if rest:
            later = await self._last_word(rest, len(pairs), ledger)
            for place, result in zip(places, later, strict=True):
                results[place] = result
        return tuple(results)

    def _is_open(self, result: PairResult) -> bool:
        if isinstance(result, Failure):
            return True
        return not (
            result.probability is None
            or result.probability <= self._low
            or result.probability >= self._high
        )

    async def _last_word(
        self, rest: Sequence[ValuePair], n_pairs: int, ledger: Ledger
    ) -> list[PairResult]:
        try:
            return await _counted(self._second, rest, ledger)
        except JudgeError as error:
            if isinstance(error, JudgeRejected) and len(rest) == n_pairs:
                raise
            return _failures(error, rest)


async def _counted(
    judge: PairJudge, pairs: Sequence[ValuePair], ledger: Ledger
) -> list[PairResult]:
    """The results of one judge; none is used where it is not clear which pair it is about."""
    results = list(await judge.compare(pairs, ledger))
    if len(results) != len(pairs):
        raise JudgeOutputError(
            f"{type(judge).__name__} gave {len(results)} results for {len(pairs)} pairs"
        )
    return results


def _failures(error: JudgeError, pairs: Sequence[ValuePair]) -> list[PairResult]:
    return [Failure.of(pair, error) for pair in pairs]
