"""List prices of models we know; of any other the price is unknown, which is not 0."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import NamedTuple

_MILLION = 1_000_000


class Price(NamedTuple):
    """US dollars for a million tokens."""

    prompt: float
    cached: float
    completion: float

    def cost_usd(self, prompt_tokens: int, cached_tokens: int, completion_tokens: int) -> float:
        """What these tokens cost; `cached_tokens` are among the `prompt_tokens`."""
        fresh = max(0, prompt_tokens - cached_tokens)
        total = fresh * self.prompt + cached_tokens * self.cached
        return (total + completion_tokens * self.completion) / _MILLION


def price_of(model: str) -> Price | None:
    """The list price of `"PROVIDER/MODEL"`, or `None` where it is not known."""
    provider, _, name = model.partition("/")
    numbers = _table().get(provider, {}).get(name)
    return Price(*numbers) if numbers else None


@cache
def _table() -> dict[str, dict[str, list[float]]]:
    data = json.loads((files("factcheck.runtime") / "prices.json").read_text("utf-8"))
    return {provider: models for provider, models in data.items() if isinstance(models, dict)}
