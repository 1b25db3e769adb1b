"""A transport that sends nothing: it counts what a run would ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from factcheck.errors import JudgeNotAsked
from factcheck.facts import Usage
from factcheck.judges.llm.engine import likely_tokens, prompt_of
from factcheck.runtime.prices import Price, price_of

if TYPE_CHECKING:
    from dspy.lm15 import Request, Response

    from factcheck.judges.llm.transports import Transport


class Meter:
    """Counts the requests of all models it is put around.

    Prompt tokens are estimated at four bytes each; completion tokens are the most that was asked
    for, so the cost is an upper bound where prompts are in English.
    """

    def __init__(self) -> None:
        self.usage = Usage()

    def around(self, transport: Transport) -> Transport:
        """A transport that counts instead of sending."""
        return _Metered(self, transport)

    def count(self, request: Request, room: int, price: Price | None) -> None:
        """Take one request into account."""
        prompt = likely_tokens(prompt_of(request))
        cost = price.cost_usd(prompt, 0, room) if price else None
        self.usage += Usage(calls=1, prompt_tokens=prompt, completion_tokens=room, cost_usd=cost)


class _Metered:
    def __init__(self, meter: Meter, inner: Transport) -> None:
        self.name = inner.name
        self._meter = meter
        self._inner = inner

    @property
    def identity(self) -> dict[str, str]:
        """That of the transport inside: the cache is looked up as in a real run."""
        return self._inner.identity

    def room(self, tokens: int) -> int:
        """That of the transport inside."""
        return self._inner.room(tokens)

    async def send(self, request: Request) -> Response:
        """Count the request; raises `JudgeNotAsked`, always."""
        price = None if "endpoint" in self.identity else price_of(self.name)
        self._meter.count(request, self.room(request.config.max_tokens or 0), price)
        raise JudgeNotAsked(f"{self.name}: only counted, not asked")

    async def aclose(self) -> None:
        """Nothing was opened."""
