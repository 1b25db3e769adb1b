"""The two questions a judge answers, as protocols. Any object with these methods is a judge."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from factcheck.facts import AtomicFact, CheckResult, FactSet, Usage


class Ledger:
    """Collects what answers cost, as they come in; safe to use from several threads.

    Args:
        parent: A ledger that everything is booked on, too.
    """

    def __init__(self, parent: Ledger | None = None) -> None:
        self._parent = parent
        self._lock = threading.Lock()
        self._usage: dict[tuple[str, str], Usage] = {}

    def book(self, usage: Usage, *, model: str = "", stage: str = "") -> None:
        """Add one cost; called before the reply is looked at, so that bad replies count too."""
        with self._lock:
            self._usage[model, stage] = self._usage.get((model, stage), Usage()) + usage
        if self._parent is not None:
            self._parent.book(usage, model=model, stage=stage)

    @property
    def usage(self) -> Usage:
        """The sum of everything booked so far."""
        return sum(self.by_model_and_stage.values(), Usage())

    @property
    def by_model_and_stage(self) -> dict[tuple[str, str], Usage]:
        """The sums for each model and stage (`"extract"`, `"check"`)."""
        with self._lock:
            return dict(self._usage)


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
