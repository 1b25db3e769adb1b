"""A language model as the LLM judges use it: DSPy above, our engine below."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

# DSPy and LiteLLM fetch a price table from the network on first use unless told not to.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")

import dspy

from factcheck.errors import FactcheckError, InputError
from factcheck.facts import Usage
from factcheck.judges.llm.engine import AsyncEngine, SyncEngine, booking
from factcheck.judges.llm.errors import from_dspy
from factcheck.judges.llm.fences import kept_secret
from factcheck.judges.llm.transports import (
    BatchTransport,
    LMTransport,
    OpenAITransport,
    Transport,
)
from factcheck.runtime.prices import Price, price_of

if TYPE_CHECKING:
    from factcheck.judges.ports import Ledger
    from factcheck.runtime.session import Session

_OPENAI = "openai/"
_DSPY_VERSION = version("dspy")


class LanguageModel:
    """One model: one set of connections, one limit of concurrent requests, one store of answers.

    Args:
        transport: Sends its requests.
        session: Cache, budget, limits and retries.
        keep: Whether its answers may be kept: not where two models could share a name.
        price: What its tokens cost, or `None` where that is not known.
    """

    def __init__(
        self, transport: Transport, session: Session, *, keep: bool, price: Price | None
    ) -> None:
        if session.transport is not None:
            transport = session.transport(transport)
        self.name = transport.name
        self.cache = session.cache if keep else None
        self._transport = transport
        self._engine = AsyncEngine(transport, session, _price_by(transport, price))
        self._lm = dspy.LM(
            self.name,
            engine=SyncEngine(self._engine),
            async_engine=self._engine,
            cache=False,
            num_retries=0,
        )

    @property
    def shape(self) -> dict[str, str]:
        """What shapes its answers besides the prompt: name, sampling, endpoint."""
        return {"name": self.name, **self._transport.identity}

    @property
    def identity(self) -> dict[str, str]:
        """Entries for the score signature, besides its name."""
        return {**self._transport.identity, "dspy": _DSPY_VERSION}

    def book_cache_hits(self, count: int, ledger: Ledger, stage: str) -> None:
        """Book answers that were paid for earlier."""
        if count:
            ledger.book(Usage(cache_hits=count), model=self.name, stage=stage)

    async def ask(
        self, module: dspy.Module, ledger: Ledger, stage: str, **inputs: Any
    ) -> dspy.Prediction:
        """Run a DSPy module on this model and book what it costs.

        Raises:
            JudgeError: No usable reply.
            InputError: The text cannot be sent to any provider.
        """
        try:
            with self._rendering(), booking(ledger, stage), dspy.context(lm=self._lm):
                return await module.acall(**inputs)
        except FactcheckError:
            raise
        except ValueError as error:  # DSPy's answer to text that is not valid Unicode
            raise InputError(f"{self.name}: {error}") from error
        except Exception as error:
            raise from_dspy(error, self.name) from error

    def _rendering(self) -> AbstractContextManager[None]:
        if isinstance(self._transport, BatchTransport):
            return kept_secret(self._transport.secret)
        return nullcontext()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._engine.aclose()


def connect(judge: str | dspy.BaseLM, session: Session) -> LanguageModel:
    """The language model a judge's name or a DSPy object stands for.

    Args:
        judge: `"openai/MODEL"` for OpenAI or the server at `OPENAI_BASE_URL`,
            `"PROVIDER/MODEL"` for what DSPy reaches, or a `dspy.BaseLM`.
        session: Keys, addresses, and how it is called.

    Raises:
        ConfigError: A key is missing, or a price that a budget needs.
    """
    if isinstance(judge, str) and judge.startswith(_OPENAI):
        transport = OpenAITransport(
            judge[len(_OPENAI) :],
            api_key=session.settings.openai_api_key,
            base_url=session.settings.openai_base_url,
            timeout_s=session.timeout_s,
        )
        at_openai = session.settings.openai_base_url is None
        price = price_of(judge) if at_openai else None
        return LanguageModel(transport, session, keep=True, price=price)
    lm: dspy.BaseLM = judge
    if isinstance(judge, str):
        lm = dspy.LM(judge, timeout=session.timeout_s, temperature=0.0)
    elsewhere = lm.kwargs.get("api_base") or lm.kwargs.get("base_url")
    return LanguageModel(
        LMTransport(_without_retries_and_cache(lm)),
        session,
        keep=type(lm) is dspy.LM,
        price=None if elsewhere else price_of(lm.model),
    )


def _price_by(transport: Transport, price: Price | None) -> Price | None:
    if price is None or not isinstance(transport, BatchTransport):
        return price
    return Price(*(transport.price_share * number for number in price))


def _without_retries_and_cache(lm: dspy.BaseLM) -> dspy.BaseLM:
    """A copy that leaves both to us; a language model of the user's own making stays as it is."""
    if type(lm) is not dspy.LM:
        return lm
    copy = lm.copy(cache=False)
    copy.num_retries = 0
    return copy
