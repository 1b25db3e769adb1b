"""A language model as the LLM judges use it, from a name, its settings or an object of DSPy."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import TYPE_CHECKING, TypeVar

# DSPy and LiteLLM fetch a price table from the network on first use unless told not to.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")

import dspy

from factcheck.errors import ConfigError, FactcheckError, InputError
from factcheck.facts import Usage
from factcheck.judges.llm.dialect import Dialect
from factcheck.judges.llm.engine import AsyncEngine
from factcheck.judges.llm.errors import hide
from factcheck.judges.llm.providers import access_to, check_address, provider_of, require_packages
from factcheck.judges.llm.request import Prompt
from factcheck.judges.llm.transports import BatchTransport, ChatTransport, LMTransport, Transport
from factcheck.runtime.budget import Price, price_of
from factcheck.settings import Model, VerdictForm

if TYPE_CHECKING:
    from factcheck.judges.ports import Ledger
    from factcheck.runtime.session import Session

T = TypeVar("T")
_DSPY_VERSION = version("dspy")
_OPENAI = "openai"
_OWN_SETTINGS = ("temperature", "top_p", "seed", "reasoning_effort")
_NOT_SENT = frozenset({"timeout", "num_retries", "cache", "rollout_id", "prompt_cache"})
"""Settings of a `dspy.LM` that are no part of a request."""
_CONNECTION = frozenset(
    {
        *("headers", "extra_headers", "organization", "project", "api_version", "extra_query"),
        *("azure_ad_token_provider", "custom_llm_provider", "prompt_cache"),
    }
)
"""Settings that only DSPy's own client knows what to do with."""


class LanguageModel:
    """One model: its connections, rate limit and cache."""

    def __init__(
        self,
        model: Model,
        transport: Transport,
        session: Session,
        *,
        dialect: Dialect,
        keep: bool,
        price: Price | None,
    ) -> None:
        if session.transport is not None:
            transport = session.transport(transport)
        if price is not None and isinstance(transport, BatchTransport):
            price = Price(*(transport.price_share * number for number in price))
        self.name = transport.name
        self.cache = session.cache if keep else None
        self.price = price
        self._model = model
        self._transport = transport
        self.engine = AsyncEngine(model, transport, session, price, dialect)

    @property
    def shape(self) -> dict[str, str]:
        """Everything that shapes its answers besides the prompt: name, sampling, endpoint."""
        return {"name": self.name, **self._sent}

    @property
    def identity(self) -> dict[str, str]:
        return {**self._sent, "dspy": _DSPY_VERSION}

    @property
    def _sent(self) -> dict[str, str]:
        """What is on the wire with every request, which is not always what was set."""
        sent = self.engine.dialect.identity(self._model)
        endpoint = self._transport.endpoint
        return sent if endpoint is None else {**sent, "endpoint": endpoint}

    @property
    def verdict(self) -> VerdictForm:
        """What it writes about a fact before its answer."""
        return self._model.verdict

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
            return await self.engine.ask(prompt)
        except FactcheckError:
            raise
        except ValueError as error:
            raise InputError(f"{self.name}: {error}") from error

    async def aclose(self) -> None:
        await self.engine.aclose()


def connect(
    judge: str | Model | dspy.BaseLM, session: Session, *, keep: bool = True
) -> LanguageModel:
    """The language model that a judge's name or a DSPy object stands for.

    Args:
        judge: `"PROVIDER/MODEL"`, the same with settings, or a `dspy.BaseLM`. Providers with
            OpenAI's protocol are asked directly, the others through DSPy.
        session: Keys, addresses, cache, budget, limits and retries.
        keep: Whether answers are kept in the cache.

    Raises:
        ConfigError: A key is missing, a setting cannot be one, or a price that a budget needs.
    """
    lm: dspy.BaseLM | None = None
    if isinstance(judge, dspy.BaseLM):
        lm, model = judge, _settings_of(judge)
    else:
        model = judge if isinstance(judge, Model) else Model(judge)
        if not all(model.name.partition("/")):
            raise ConfigError(f"a model is named 'PROVIDER/MODEL', not {model.name!r}")
    hide(model.api_key)
    if provider_of(model.name) is not None and (lm is None or _is_plain(lm)):
        access = access_to(model, session.settings)
        is_openai = model.name.startswith(f"{_OPENAI}/")
        return LanguageModel(
            model,
            ChatTransport(access, session.timeout_s),
            session,
            dialect=Dialect() if is_openai else Dialect(limit="max_tokens"),
            keep=keep,
            price=price_of(model.name) if access.is_default else None,
        )
    require_packages(model.name)
    if model.base_url is not None:
        check_address("base_url", model.base_url)
    lm = _lm_of(model, session.timeout_s) if lm is None else _without_retries_and_cache(lm)
    return LanguageModel(
        model,
        LMTransport(lm, model.base_url),
        session,
        dialect=Dialect(),
        keep=keep and type(lm) is dspy.LM,
        price=price_of(model.name) if model.base_url is None else None,
    )


def _settings_of(lm: dspy.BaseLM) -> Model:
    """The settings that a language model of DSPy sends along; those of its client stay with it."""
    given = {k: v for k, v in lm.kwargs.items() if v is not None and k not in _NOT_SENT}
    own = {name: given.pop(name, None) for name in _OWN_SETTINGS}
    base_url = given.pop("api_base", None) or given.pop("base_url", None)
    limits = [given.pop(name, None) for name in ("max_completion_tokens", "max_tokens")]
    body = dict(given.pop("extra_body", {}))
    key = given.pop("api_key", None)
    return Model(
        lm.model,
        **own,
        max_tokens=next(filter(None, limits), None),
        extra_body={**{k: v for k, v in given.items() if k not in _CONNECTION}, **body},
        base_url=base_url,
        api_key=key if isinstance(key, str) else None,
    )


def _is_plain(lm: dspy.BaseLM) -> bool:
    """Whether a model of DSPy does nothing that our own client would not do."""
    return (
        type(lm) is dspy.LM
        and lm.model_type == "chat"
        and _has_own_engine(lm)
        and not lm.callbacks
        and not _CONNECTION & lm.kwargs.keys()
        and isinstance(lm.kwargs.get("api_key", ""), str)
    )


def _has_own_engine(lm: dspy.LM) -> bool:
    """Whether DSPy chooses the client. One that it was given is saved as an object, if at all."""
    try:
        return isinstance(lm.dump_state().get("engine", "auto"), str)
    except TypeError:
        return False


def _lm_of(model: Model, timeout_s: float) -> dspy.LM:
    given = {"api_base": model.base_url, "api_key": model.api_key}
    return dspy.LM(
        model.name,
        timeout=timeout_s,
        cache=False,
        num_retries=0,
        **{name: value for name, value in given.items() if value is not None},
    )


def _without_retries_and_cache(lm: dspy.BaseLM) -> dspy.BaseLM:
    """A copy that leaves both to us; a language model of the user's own making stays as it is."""
    if type(lm) is not dspy.LM:
        return lm
    copy = lm.copy(cache=False)
    copy.num_retries = 0
    return copy
