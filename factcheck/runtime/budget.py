"""Prices and spending caps, which are enforced before a request is sent."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from anyio import CancelScope

from factcheck.errors import BudgetExceeded
from factcheck.facts import Usage
from factcheck.runtime.limits import Limits, LocalLimits
from factcheck.settings import require_integer, require_number

_WRITING = 1.25
"""Price of a token that is written to a provider's cache, in prices of the prompt: Anthropic's, and
OpenAI's from GPT-5.6 on."""
_UNITS = {"max_calls": "requests", "max_tokens": "tokens", "max_cost_usd": "US dollars"}
"""Unit of each cap, for messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Caps on the spending of one session; `None` for no cap.

    Raises:
        InputError: A cap is negative, not finite or of the wrong type.
    """

    max_calls: int | None = None
    """Maximum number of requests, including retries."""
    max_tokens: int | None = None
    """Maximum number of prompt and completion tokens, together."""
    max_cost_usd: float | None = None
    """Maximum cost in US dollars; only for models with a known price."""

    def __post_init__(self) -> None:
        for name in ("max_calls", "max_tokens"):
            if getattr(self, name) is not None:
                require_integer(name, getattr(self, name), 0)
        if self.max_cost_usd is not None:
            require_number("max_cost_usd", self.max_cost_usd, 0)


def _amounts(usage: Usage) -> dict[str, float]:
    """Cost of a request, by name of the cap."""
    tokens = usage.prompt_tokens + usage.completion_tokens
    return {"max_calls": 1, "max_tokens": tokens, "max_cost_usd": usage.cost_usd or 0.0}


class BudgetTracker:
    """Tracks the budget of all models of a session, in the background loop.

    A request reserves an upper bound of its cost until the actual cost is known. A request that may
    still fit once others have finished waits for them, so upper bounds never end a run early. If
    the actual cost remains unknown, the upper bound counts.
    """

    def __init__(self, budget: Budget | None = None, limits: Limits | None = None) -> None:
        caps = asdict(budget or Budget())
        self._caps: dict[str, float] = {n: cap for n, cap in caps.items() if cap is not None}
        self._limits = limits or LocalLimits()
        self.capped_by_usd = "max_cost_usd" in self._caps

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Charge the requests made in this block to this budget, besides that of their session."""
        token = _spender.set(self)
        try:
            yield
        finally:
            _spender.reset(token)

    @asynccontextmanager
    async def reserve(self, upper_bound: Usage) -> AsyncIterator[list[Usage]]:
        """Reserve the upper bound of a cost; the caller appends the actual cost to the list.

        It is also reserved in the budget of a surrounding `spending`. Raises `BudgetExceeded` if
        the request may exceed a cap.
        """
        actual: list[Usage] = []
        async with AsyncExitStack() as stack:
            for budget in filter(None, (_spender.get(), self)):
                await stack.enter_async_context(budget.hold(upper_bound, actual))
            yield actual

    @asynccontextmanager
    async def hold(self, upper_bound: Usage, actual: list[Usage]) -> AsyncIterator[None]:
        """Reserve in this budget alone; see `reserve`."""
        if not self._caps:
            yield
            return
        needed = _amounts(upper_bound)
        hold: Any
        hold, refused = await self._limits.reserve(needed, self._caps)
        if refused:
            raise BudgetExceeded(
                f"the budget of {self._caps[refused]:g} {_UNITS[refused]} does not allow another "
                "request; raise it and run again: responses so far are in the cache"
            )
        try:
            yield
        finally:
            with CancelScope(shield=True):
                await self._limits.settle(hold, _amounts(actual[0]) if actual else needed)


_spender: ContextVar[BudgetTracker | None] = ContextVar("_spender", default=None)


class Tokens(NamedTuple):
    """Tokens of a request; `None` where the server does not count them."""

    prompt: int | None = None
    """Includes those read from the provider's cache, and written to it."""
    completion: int | None = None
    """Includes reasoning."""
    cached: int = 0
    written: int = 0
    reasoning: int = 0

    @classmethod
    def counted(
        cls,
        prompt: int | None,
        completion: int | None,
        total: int | None = None,
        *,
        cached: int = 0,
        written: int = 0,
        reasoning: int = 0,
    ) -> Tokens:
        """Read the counters of a server, some of which leave reasoning out of the completion.

        A prompt or completion of 0 was not counted, nor was more in the cache than there was.
        """
        prompt, completion, total = prompt or 0, completion or 0, total or 0
        outside = reasoning if reasoning > completion else 0
        if prompt:
            outside = max(outside, total - prompt - completion)
        cached = cached if 0 <= cached <= prompt else 0
        written = written if 0 <= written <= prompt - cached else 0
        reasoning = max(reasoning, outside)
        return cls(prompt or None, completion + outside or None, cached, written, reasoning)

    def or_at_most(self, bound: Tokens) -> Tokens:
        """Return these tokens, with those of a bound for what was not counted."""
        prompt = bound.prompt if self.prompt is None else self.prompt
        completion = bound.completion if self.completion is None else self.completion
        return self._replace(prompt=prompt, completion=completion)


class Price(NamedTuple):
    """US dollars per million tokens."""

    prompt: float
    cached: float
    completion: float

    def cost_usd(self, tokens: Tokens) -> float:
        prompt = (tokens.prompt or 0) + (_WRITING - 1.0) * tokens.written - tokens.cached
        total = prompt * self.prompt + tokens.cached * self.cached
        return (total + (tokens.completion or 0) * self.completion) / 1e6


def price_of(model: str) -> Price | None:
    """Return the list price of `"PROVIDER/MODEL"`; `None` if unknown."""
    known = _known(model)
    return Price(*known[:3]) if known else None


def least_effort(model: str) -> str | None:
    """Return the least effort that a model takes; `None` unless it is known to think by default."""
    known = _known(model)
    return known[3] if len(known) > len(Price._fields) else None


def _known(model: str) -> list[Any]:
    provider, _, name = model.partition("/")
    return _table().get(provider, {}).get(name, [])


@cache
def _table() -> dict[str, dict[str, list[Any]]]:
    data = json.loads((files("factcheck.runtime") / "prices.json").read_text("utf-8"))
    return {provider: models for provider, models in data.items() if isinstance(models, dict)}
