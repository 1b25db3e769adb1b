"""The two questions a judge answers, as protocols. Any object with these methods is a judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from factcheck.facts import AtomicFact, CheckResult, FactSet, Usage


class Ledger:
    """Collects what the answers to one request cost, as they come in."""

    def __init__(self) -> None:
        self.usage = Usage()
        """The sum of everything booked so far."""

    def book(self, usage: Usage) -> None:
        """Add one cost; called before the reply is looked at, so that bad replies count too."""
        self.usage = self.usage + usage


@runtime_checkable
class Extractor(Protocol):
    """Lists the atomic facts of a text."""

    @property
    def identity(self) -> Mapping[str, str]:
        """Names and versions that shape its answers, as entries for the score signature."""
        ...

    async def extract(self, source: str, ledger: Ledger) -> FactSet:
        """The facts of `source`, in its order; empty if it states none.

        Raises:
            JudgeError: The facts could not be had. A partial list is never returned.
        """
        ...


@runtime_checkable
class Checker(Protocol):
    """Labels facts by what a text says about them."""

    @property
    def identity(self) -> Mapping[str, str]:
        """Names and versions that shape its answers, as entries for the score signature."""
        ...

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> Sequence[CheckResult]:
        """One result per fact, in fact order: a verdict, or a failure where none could be had."""
        ...
