"""Prices, and caps on spending, which are enforced before anything is sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from factcheck.errors import BudgetExceeded
from factcheck.facts import Usage
from factcheck.runtime.loop import PerProcess
from factcheck.settings import require_integer, require_number

_MILLION = 1_000_000
_UNITS = {"max_calls": "requests", "max_tokens": "tokens", "max_cost_usd": "US dollars"}
"""Unit of each cap, for messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Caps on the spending of one session; `None` is no cap.

    Raises:
        InputError: A cap is negative, not finite or of the wrong type.
    """

    max_calls: int | None = None
    """Requests sent, retries included."""
    max_tokens: int | None = None
    """Prompt and completion tokens together."""
    max_cost_usd: float | None = None
    """US dollars; only for models whose price is known."""

    def __post_init__(self) -> None:
        for name in ("max_calls", "max_tokens"):
            if getattr(self, name) is not None:
                require_integer(name, getattr(self, name), 0)
        if self.max_cost_usd is not None:
            require_number("max_cost_usd", self.max_cost_usd, 0)


@dataclass(slots=True)
class _Amount:
    max_calls: int = 0
    max_tokens: int = 0
    max_cost_usd: float = 0.0

    def add(self, usage: Usage, sign: int = 1) -> None:
        self.max_calls += sign
        self.max_tokens += sign * (usage.prompt_tokens + usage.completion_tokens)
        self.max_cost_usd += sign * (usage.cost_usd or 0.0)


class BudgetTracker:
    """Tracks what is left of a budget for all models of a session, in the background loop.

    A request reserves an upper bound of its cost until the cost is known. One that would fit if the
    others turn out cheaper waits for them, so upper bounds never end a run early. A cost that never
    becomes known counts with its upper bound.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self._budget = budget or Budget()
        self._spent = _Amount()
        self._held = PerProcess(_Amount)
        self._waiting: PerProcess[list[asyncio.Future[None]]] = PerProcess(list)

    @property
    def capped_by_usd(self) -> bool:
        return self._budget.max_cost_usd is not None

    @asynccontextmanager
    async def reserve(self, most: Usage) -> AsyncIterator[list[Usage]]:
        """Reserve the upper bound of a cost; the caller appends the actual cost to the list."""
        while (cap := self._passed_by(most)) is not None:
            if cap == self._passed_by(most, held=False) or not self._held().max_calls:
                raise _exceeded(cap, getattr(self._budget, cap))
            await self._change()
        held = self._held()
        held.add(most)
        actual: list[Usage] = []
        try:
            yield actual
        finally:
            held.add(most, -1)
            self._spent.add(actual[0] if actual else most)
            self._wake()

    def _passed_by(self, most: Usage, *, held: bool = True) -> str | None:
        """Name of a cap that a request could pass, if any."""
        added = _Amount()
        added.add(most)
        for name in _UNITS:
            cap = getattr(self._budget, name)
            total = getattr(self._spent, name) + getattr(added, name)
            total += getattr(self._held(), name) if held else 0
            if cap is not None and total > cap:
                return name
        return None

    async def _change(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting().append(turn)
        await turn

    def _wake(self) -> None:
        waiting = self._waiting()
        while waiting:
            turn = waiting.pop()
            if not turn.done():
                turn.set_result(None)


def _exceeded(name: str, cap: float) -> BudgetExceeded:
    return BudgetExceeded(
        f"the budget of {cap:g} {_UNITS[name]} does not allow another request; "
        "raise it and run again: responses so far are in the cache"
    )


class Price(NamedTuple):
    """US dollars per million tokens."""

    prompt: float
    cached: float
    completion: float

    def cost_usd(self, prompt_tokens: int, cached_tokens: int, completion_tokens: int) -> float:
        fresh = max(0, prompt_tokens - cached_tokens)
        total = fresh * self.prompt + cached_tokens * self.cached
        return (total + completion_tokens * self.completion) / _MILLION


def price_of(model: str) -> Price | None:
    """The list price of `"PROVIDER/MODEL"`; `None` if unknown, which is not 0."""
    provider, _, name = model.partition("/")
    numbers = _table().get(provider, {}).get(name)
    return Price(*numbers) if numbers else None


@cache
def _table() -> dict[str, dict[str, list[float]]]:
    data = json.loads((files("factcheck.runtime") / "prices.json").read_text("utf-8"))
    return {provider: models for provider, models in data.items() if isinstance(models, dict)}
