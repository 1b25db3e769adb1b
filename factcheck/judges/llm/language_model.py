"""A language model as the LLM judges use it: DSPy above, our engine below."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, TypeVar

# DSPy and LiteLLM fetch a price table from the network on first use unless told not to.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")

import dspy

from factcheck.errors import FactcheckError, InputError
from factcheck.facts import Usage
from factcheck.judges.llm.engine import AsyncEngine, SyncEngine
from factcheck.judges.llm.errors import from_dspy
from factcheck.judges.llm.request import Prompt
from factcheck.judges.llm.transports import BatchTransport, ChatTransport, LMTransport, Transport
from factcheck.runtime.budget import Price, price_of

if TYPE_CHECKING:
    from factcheck.judges.ports import Ledger
    from factcheck.runtime.session import Session

T = TypeVar("T")
_OPENAI = "openai/"
_DSPY_VERSION = version("dspy")


class LanguageModel:
    """One model: its connections, rate limit and cache."""

    def __init__(
        self, transport: Transport, session: Session, *, keep: bool, price: Price | None
    ) -> None:
        if session.transport is not None:
            transport = session.transport(transport)
        if price is not None and isinstance(transport, BatchTransport):
            price = Price(*(transport.price_share * number for number in price))
        self.name = transport.name
        self.cache = session.cache if keep else None
        self._transport = transport
        self._engine = AsyncEngine(transport, session, price)
        self._lm = dspy.LM(
            self.name,
            engine=SyncEngine(self._engine),
            async_engine=self._engine,
            cache=False,
            num_retries=0,
        )

    @property
    def shape(self) -> dict[str, str]:
        """Everything that shapes its answers besides the prompt: name, sampling, endpoint."""
        return {"name": self.name, **self._transport.identity}

    @property
    def identity(self) -> dict[str, str]:
        return {**self._transport.identity, "dspy": _DSPY_VERSION}

    def record_cache_hits(self, count: int, ledger: Ledger, stage: str) -> None:
        """Record responses that were paid for earlier."""
        if count:
            ledger.book(Usage(cache_hits=count), model=self.name, stage=stage)

    async def ask(self, prompt: Prompt[T]) -> T:
        """The value of the reply to a prompt, whose usage goes to the account of this task.

        Raises:
            JudgeError: It was not sent, not answered, or answered with what cannot be read.
            InputError: It holds text that is not valid Unicode.
        """
        try:
            return await self._engine.ask(prompt, self.name)
        except FactcheckError:
            raise
        except ValueError as error:
            raise InputError(f"{self.name}: {error}") from error

    @contextmanager
    def context(self) -> Iterator[None]:
        """Run DSPy modules on this model; DSPy's errors become ours."""
        try:
            with dspy.context(lm=self._lm):
                yield
        except FactcheckError:
            raise
        except ValueError as error:  # DSPy's answer to text that is not valid Unicode
            raise InputError(f"{self.name}: {error}") from error
        except Exception as error:
            raise from_dspy(error, self.name) from error

    async def aclose(self) -> None:
        await self._engine.aclose()


def connect(judge: str | dspy.BaseLM, session: Session) -> LanguageModel:
    """The language model that a judge's name or a DSPy object stands for.

    Args:
        judge: `"openai/MODEL"` for OpenAI or the server at `OPENAI_BASE_URL`,
            `"PROVIDER/MODEL"` for what DSPy reaches, or a `dspy.BaseLM`.
        session: Keys, addresses, cache, budget, limits and retries.

    Raises:
        ConfigError: A key is missing, or a price that a budget needs.
    """
    if isinstance(judge, str) and judge.startswith(_OPENAI):
        settings = session.settings
        transport = ChatTransport(judge.removeprefix(_OPENAI), settings, session.timeout_s)
        price = price_of(judge) if settings.openai_base_url is None else None
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


def _without_retries_and_cache(lm: dspy.BaseLM) -> dspy.BaseLM:
    """A copy that leaves both to us; a language model of the user's own making stays as it is."""
    if type(lm) is not dspy.LM:
        return lm
    copy = lm.copy(cache=False)
    copy.num_retries = 0
    return copy
