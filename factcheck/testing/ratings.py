"""A rater that says what its script says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from factcheck.errors import InputError
from factcheck.facts import Usage
from factcheck.judges.ports import Ledger, Rating, RatingFailure, RatingResult

ScriptedRating = int | Rating | RatingFailure | Exception
"""What a script says about a summary; an exception is raised instead."""
RateScript = Mapping[str, ScriptedRating] | Callable[[str, str], ScriptedRating]
"""By summary, or a function of source and summary."""


@dataclass(frozen=True, slots=True)
class RateCall:
    """One call of `ScriptedRater.rate`."""

    source: str
    summary: str


class ScriptedRater:
    """A `Rater` that gives what its script gives.

    Args:
        script: The rating of a summary.
        name: The rater's name in ratings and in the score signature.
        usage: Booked for each call.

    Example:
        >>> import asyncio
        >>> rater = ScriptedRater({"It rained.": 5})
        >>> asyncio.run(rater.rate("It rained in Oslo.", "It rained.", Ledger())).value
        5
        >>> rater.calls
        (RateCall(source='It rained in Oslo.', summary='It rained.'),)
    """

    def __init__(
        self, script: RateScript, *, name: str = "scripted", usage: Usage | None = None
    ) -> None:
        self._script = script
        self._name = name
        self._usage = usage
        self._calls: list[RateCall] = []

    @property
    def identity(self) -> Mapping[str, str]:
        """The name, as the entry `judge`."""
        return {"judge": self._name}

    @property
    def calls(self) -> tuple[RateCall, ...]:
        """Everything that was asked, in order."""
        return tuple(self._calls)

    async def rate(self, source: str, summary: str, ledger: Ledger) -> RatingResult:
        """What the script has for this summary.

        Raises:
            InputError: The summary is not in the script, or its number is no rating.
            Exception: What the script has instead of a rating.
        """
        self._calls.append(RateCall(source, summary))
        if self._usage is not None:
            ledger.book(self._usage)
        scripted = self._look_up(source, summary)
        if isinstance(scripted, Exception):
            raise scripted
        if isinstance(scripted, (Rating, RatingFailure)):
            return scripted
        return Rating(scripted, "scripted", self._name)

    def _look_up(self, source: str, summary: str) -> ScriptedRating:
        if callable(self._script):
            return self._script(source, summary)
        if summary not in self._script:
            raise InputError(f"the script of {self._name!r} has no rating for {summary!r}")
        return self._script[summary]
