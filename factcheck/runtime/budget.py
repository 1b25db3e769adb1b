"""A cap on what a run may spend, kept before anything is sent."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from factcheck.errors import BudgetExceeded, InputError
from factcheck.facts import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Caps for one scorer; `None` is no cap.

    Raises:
        InputError: A cap is negative.
    """

    max_calls: int | None = None
    """Requests sent, retries included."""
    max_tokens: int | None = None
    """Prompt and completion tokens together."""
    max_usd: float | None = None
    """US dollars; only for models whose price is known."""

    def __post_init__(self) -> None:
        for name in ("max_calls", "max_tokens", "max_usd"):
            cap = getattr(self, name)
            if cap is not None and not cap >= 0:
                raise InputError(f"{name} must be 0 or more, not {cap!r}")


class Purse:
    """What is left of a budget; shared by all models of a scorer, from any thread.

    A request reserves the most it can cost before it is sent, and gives back what it did not
    spend. Estimates are upper bounds, so a cap is never passed; a run may stop a little short.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self._budget = budget or Budget()
        self._lock = threading.Lock()
        self._calls = 0
        self._tokens = 0
        self._usd = 0.0

    @property
    def capped_by_usd(self) -> bool:
        """Whether every request needs a known price."""
        return self._budget.max_usd is not None

    @contextmanager
    def reserve(self, most: Usage) -> Iterator[list[Usage]]:
        """Hold the most a request can cost; put what it did cost into the list it gives.

        Raises:
            BudgetExceeded: It could pass a cap. Nothing is reserved then.
        """
        tokens = most.prompt_tokens + most.completion_tokens
        usd = most.cost_usd or 0.0
        with self._lock:
            self._require("max_calls", self._calls + 1, "requests")
            self._require("max_tokens", self._tokens + tokens, "tokens")
            self._require("max_usd", self._usd + usd, "US dollars")
            self._add(1, tokens, usd)
        actual: list[Usage] = []
        try:
            yield actual
        finally:
            if actual:
                spent = actual[0].prompt_tokens + actual[0].completion_tokens
                with self._lock:
                    self._add(0, spent - tokens, (actual[0].cost_usd or 0.0) - usd)

    def _require(self, name: str, wanted: float, unit: str) -> None:
        cap = getattr(self._budget, name)
        if cap is not None and wanted > cap:
            raise BudgetExceeded(
                f"the budget of {cap:g} {unit} does not allow another request; "
                "raise it and run again, what was paid for is kept"
            )

    def _add(self, calls: int, tokens: int, usd: float) -> None:
        self._calls += calls
        self._tokens += tokens
        self._usd += usd
