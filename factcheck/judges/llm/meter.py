"""A transport that sends nothing: it estimates what a run would ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from factcheck.errors import JudgeNotAsked
from factcheck.facts import Usage
from factcheck.judges.llm.engine import likely_tokens, prompt_of
from factcheck.judges.llm.transports import Transport, WrappedTransport
from factcheck.runtime.budget import price_of

if TYPE_CHECKING:
    from dspy.lm15 import Request, Response


class Meter:
    """Counts the requests of all models whose transports it replaces.

    Prompt tokens are estimated at four bytes each; completion tokens are the most that was asked
    for, so the cost is an upper bound where prompts are in English.
    """

    def __init__(self) -> None:
        self.usage = Usage()
        """Estimated usage of the run."""

    def around(self, transport: Transport) -> Transport:
        return _Metered(transport, self)


class _Metered(WrappedTransport):
    def __init__(self, inner: Transport, meter: Meter) -> None:
        super().__init__(inner)
        self._meter = meter

    async def send(self, request: Request) -> Response:
        price = None if "endpoint" in self.identity else price_of(self.name)
        prompt = likely_tokens(prompt_of(request))
        completion = self.max_tokens(request.config.max_tokens or 0)
        self._meter.usage += Usage(
            calls=1,
            prompt_tokens=prompt,
            completion_tokens=completion,
            cost_usd=price.cost_usd(prompt, 0, completion) if price else None,
        )
        raise JudgeNotAsked(f"{self.name}: counted, not sent")

    async def aclose(self) -> None:
        pass
