"""A language model as the LLM judges use it: DSPy above, our engine below."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

# DSPy and LiteLLM fetch a price table from the network on first use unless told not to.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")

import dspy

from factcheck.errors import FactcheckError, InputError
from factcheck.judges.llm.engine import AsyncEngine, SyncEngine, booking
from factcheck.judges.llm.errors import from_dspy
from factcheck.judges.llm.transports import LMTransport, OpenAITransport, Transport

if TYPE_CHECKING:
    from factcheck.judges.ports import Ledger
    from factcheck.runtime.retry import RetryPolicy
    from factcheck.settings import Settings

_OPENAI = "openai/"


class LanguageModel:
    """One model, one set of connections, one limit of concurrent requests."""

    def __init__(
        self, name: str, transport: Transport, *, concurrency: int, retry: RetryPolicy
    ) -> None:
        self.name = name
        self._transport = transport
        self._engine = AsyncEngine(transport, concurrency=concurrency, retry=retry)
        self._lm = dspy.LM(
            name,
            engine=SyncEngine(self._engine),
            async_engine=self._engine,
            cache=False,
            num_retries=0,
        )

    @property
    def identity(self) -> dict[str, str]:
        """What shapes its answers besides its name and the prompt."""
        return {**self._transport.identity, "dspy": version("dspy")}

    async def ask(self, module: dspy.Module, ledger: Ledger, **inputs: Any) -> dspy.Prediction:
        """Run a DSPy module on this model and book what it costs.

        Raises:
            JudgeError: No usable reply.
            InputError: The text cannot be sent to any provider.
        """
        try:
            with booking(ledger), dspy.context(lm=self._lm):
                return await module.acall(**inputs)
        except FactcheckError:
            raise
        except ValueError as error:  # DSPy's answer to text that is not valid Unicode
            raise InputError(f"{self.name}: {error}") from error
        except Exception as error:
            raise from_dspy(error, self.name) from error

    async def aclose(self) -> None:
        """Close the connections."""
        await self._engine.aclose()


def connect(
    judge: str | dspy.BaseLM,
    settings: Settings,
    *,
    concurrency: int,
    timeout_s: float,
    retry: RetryPolicy,
) -> LanguageModel:
    """The language model a judge's name or a DSPy object stands for.

    Args:
        judge: `"openai/MODEL"` for OpenAI or the server at `OPENAI_BASE_URL`,
            `"PROVIDER/MODEL"` for what DSPy reaches, or a `dspy.BaseLM`.
        settings: Where keys and addresses come from.
        concurrency: Requests under way at most.
        timeout_s: Seconds one request may take.
        retry: How often a request is tried.

    Raises:
        ConfigError: A key is missing.
    """
    transport: Transport
    if isinstance(judge, str) and judge.startswith(_OPENAI):
        transport = OpenAITransport(
            judge[len(_OPENAI) :],
            api_key=settings.openai_api_key,
            base_url=settings.openai_base_url,
            timeout_s=timeout_s,
        )
        name = judge
    else:
        lm = dspy.LM(judge, timeout=timeout_s) if isinstance(judge, str) else judge
        name = lm.model
        transport = LMTransport(_without_retries_and_cache(lm))
    return LanguageModel(name, transport, concurrency=concurrency, retry=retry)


def _without_retries_and_cache(lm: dspy.BaseLM) -> dspy.BaseLM:
    """A copy that leaves both to us; a language model of the user's own making stays as it is."""
    if type(lm) is not dspy.LM:
        return lm
    copy = lm.copy(cache=False)
    copy.num_retries = 0
    return copy
