"""Language models for the LLM judges, from a name, settings or a DSPy object."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeVar

# Keep LiteLLM from fetching a price table from the network on first use.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")

import dspy

from factcheck.errors import (
    ConfigError,
    ContextExceeded,
    InputError,
    JudgeError,
    JudgeOutputError,
    JudgeRejected,
    JudgeTruncated,
)
from factcheck.judges.llm.dialect import SAMPLING, Dialect, is_overflow
from factcheck.judges.llm.engine import (
    RequestRunner,
    likely_tokens,
    most_in_reply,
    most_tokens,
)
from factcheck.judges.llm.errors import RequestRefused, hide, redacted
from factcheck.judges.llm.modules import Message, Question
from factcheck.judges.llm.providers import (
    access_to,
    check_address,
    provider_of,
)
from factcheck.judges.llm.transports import (
    Answer,
    Body,
    ChatTransport,
    LMTransport,
    Transport,
    prompt_of,
)
from factcheck.runtime.budget import Price, Tokens, least_effort, price_of
from factcheck.runtime.cache import answer_key
from factcheck.runtime.loop import PerProcess
from factcheck.settings import Model

if TYPE_CHECKING:
    from factcheck.judges.ports import Ledger
    from factcheck.runtime.session import Session

T = TypeVar("T")
_DSPY_VERSION = version("dspy")
_MAX_ATTEMPTS = 8
"""Maximum number of requests for one prompt while its dialect is being learned."""
_DIALECTS = 1
"""Version of dialects in the cache; increment it when the meaning changes."""
LONGER = "use a model that reads more, or raise the context that its server is started with"
_CHARACTERS_PER_TOKEN = 3
"""Of a text that has to fit into a context: less than in English."""
_log = logging.getLogger("factcheck.judge")
_NOT_SENT = frozenset(
    {"timeout", "num_retries", "cache", "rollout_id", "prompt_cache", "logprobs", "top_logprobs"}
)
"""Settings of a `dspy.LM` that are not sent."""
_CONNECTION = frozenset(
    {
        *("headers", "extra_headers", "organization", "project", "api_version", "extra_query"),
        *("azure_ad_token_provider", "custom_llm_provider", "prompt_cache"),
    }
)
"""Settings that only DSPy's own client supports."""


remembered: PerProcess[dict[str, Dialect]] = PerProcess(dict)
"""Dialects that led to an answer in this process."""


class LanguageModel:
    """A model with its transport, rate limit, cache and dialect.

    While the dialect is unknown, the first request is a pilot: all others wait until it is answered
    or its first attempt fails, so that unsupported options are refused only once.
    """

    def __init__(
        self, model: Model, transport: Transport, session: Session, dialect: Dialect, *, keep: bool
    ) -> None:
        price = price_of(model.name) if transport.endpoint is None else None
        if session.transport is not None:
            transport = session.transport(transport)
        share = getattr(transport, "price_share", 1.0)
        if price is not None:
            price = Price(*(share * number for number in price))
        self.name = transport.name
        self.cache = session.cache if keep else None
        self.learned: list[str] = []
        """Changes to the dialect, in order."""
        self.settings = model
        self._transport = transport
        self._runner: RequestRunner[Answer] = RequestRunner(
            self.name, session, price, self._release_waiting
        )
        self._key = answer_key(
            task="dialect", version=_DIALECTS, model=self.name, endpoint=transport.endpoint or ""
        )
        self._default = dialect
        self._known: Dialect | None = None
        self._has_warned = False
        self._form_is_known = share < 1.0  # in a batch, requests do not depend on replies
        """Whether a reply was parsed, or a trial of the next form failed."""
        self._pilot: PerProcess[list[asyncio.Event]] = PerProcess(list)

    @property
    def dialect(self) -> Dialect:
        """The current dialect, initially the one learned in this process or kept in the cache."""
        if self._known is None:
            found = remembered().get(self._key) or self._cached_dialect()
            if found is not None:
                self._form_is_known = True
                remembered()[self._key] = found
            self._known = found or self._default
        return self._known

    def _cached_dialect(self) -> Dialect | None:
        try:
            found = self.cache.get_many([self._key]) if self.cache is not None else {}
            return Dialect.from_dict(json.loads(found[self._key][-1])["answer"])
        except (KeyError, TypeError, ValueError, InputError):
            return None

    @property
    def sent(self) -> dict[str, str]:
        """Settings as sent, which may differ from those configured, and the endpoint."""
        sent = self.dialect.identity(self.settings)
        endpoint = self._transport.endpoint
        return sent if endpoint is None else {**sent, "endpoint": endpoint}

    @property
    def identity(self) -> dict[str, str]:
        return {**self.sent, "dspy": _DSPY_VERSION}

    async def ask(
        self,
        messages: Sequence[Message],
        question: Question[T],
        ledger: Ledger,
    ) -> T:
        """Send a question, adapting the dialect to refusals, and return the parsed reply.

        Must be awaited in the background loop. If the model's first reply cannot be parsed, the
        next form is tried once, and adopted if that reply can be.

        Raises:
            JudgeError: The request failed, or its reply cannot be parsed.
            InputError: The messages contain invalid Unicode.
        """
        async with self._turn():
            dialect, is_trial = self.dialect, False
            for _ in range(_MAX_ATTEMPTS):
                changed, body = dialect, dialect.body(self.settings, messages, question)
                try:
                    answer = await self._send(body, ledger)
                    self._compare_name(answer.model)
                    changed = dialect.after(answer, body, self.settings)
                    self._learn(dialect, changed)
                    self._require_read(answer, body, changed)
                    answer.require_whole(self.name)
                    value = question.find(answer.text, self.name)
                except RequestRefused as error:
                    changed = dialect.without(error, body)
                    self._learn(dialect, changed)
                    if changed == replace(dialect, context=changed.context):
                        raise self._refused(error) from error
                except JudgeTruncated:
                    if changed.room == dialect.room:
                        raise
                except JudgeOutputError:
                    trial = None if self._form_is_known else changed.next_form()
                    self._form_is_known = True
                    if trial is None:
                        raise
                    changed, is_trial = trial, True
                else:
                    self._form_is_known = True
                    if is_trial:
                        self._learn(self.dialect, changed)
                    await self._remember(changed)
                    return value
                dialect = changed if is_trial else self.dialect
        raise JudgeRejected(
            f"{self.name}: {_MAX_ATTEMPTS} request formats were rejected; "
            f"run `factcheck doctor {self.name}`"
        )

    def _compare_name(self, answered: str) -> None:
        """Warn once if the model that answers has another name; some servers have aliases."""
        asked = self.name.partition("/")[2].lower()
        if asked in answered.lower() or answered.lower() in asked or self._has_warned:
            return
        self._has_warned = True
        _log.warning(
            "%s: the server's answers are by %r; results are kept and shown under the name asked "
            "for, so check that it is the model you mean",
            self.name,
            redacted(answered)[:100],
        )

    def _require_read(self, answer: Answer, body: Body, dialect: Dialect) -> None:
        """Raise `ContextExceeded` if the server read no more of the prompt than its context."""
        n_read = answer.tokens.prompt
        if n_read is not None and n_read == dialect.context:
            raise ContextExceeded(
                f"{self.name}: the server read only {n_read:,} of the prompt's about "
                f"{likely_tokens(prompt_of(body)):,} tokens; {LONGER}"
            )

    def most_characters(self, empty: Callable[[], tuple[Sequence[Message], Question[Any]]]) -> int:
        """Characters that the model reads besides an `empty` request; large if that is unknown."""
        dialect = self.dialect
        if not dialect.context:
            return sys.maxsize
        messages, question = empty()
        others = likely_tokens(prompt_of({"messages": messages}))
        others += dialect.tokens(self.settings, question.max_tokens)
        return _CHARACTERS_PER_TOKEN * (dialect.context - others)

    def _refused(self, error: RequestRefused) -> JudgeError:
        """Return the last refusal, with what was tried before it and what to do."""
        if is_overflow(error):
            return ContextExceeded(f"{error}; {LONGER}")
        if not self.learned:
            return error
        return JudgeRejected(
            f"{error}; already tried: {'; '.join(self.learned)}; ask whoever runs the server what "
            "it takes, and set that (--judge-option extra_body=...)"
        )

    def _send(self, body: Body, ledger: Ledger) -> Awaitable[Answer]:
        text = prompt_of(body)
        return self._runner.run(
            partial(self._transport.send, body),
            ledger,
            upper_bound=Tokens(most_tokens(text), most_in_reply(body)),
            tokens_of=lambda answer: answer.tokens,
        )

    async def aclose(self) -> None:
        await self._transport.aclose()

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Wait for the pilot, or become it."""
        pilot = self._pilot()
        self._known = self.dialect  # also sets _form_is_known
        if not pilot and not self._form_is_known:
            pilot.append(asyncio.Event())
            try:
                yield
            finally:
                self._release_waiting()
        else:
            if pilot:
                await pilot[0].wait()
            yield

    def _release_waiting(self) -> None:
        for event in self._pilot():
            event.set()

    def _learn(self, known: Dialect, changed: Dialect) -> None:
        """Adopt a change of the dialect, unless another request has changed it meanwhile."""
        if changed in (known, self.dialect) or self.dialect != known:
            return
        what = known.difference(changed)
        self.learned += [what] if what else []
        _log.info("%s: %s", self.name, what)
        self._known = changed

    async def _remember(self, dialect: Dialect) -> None:
        """Keep a dialect that led to an answer for other sessions; a learned one in the cache, too.

        Without an answer, a server that refuses everything for a while would leave a crippled one.
        """
        if dialect != self.dialect or dialect == remembered().get(self._key):
            return
        remembered()[self._key] = dialect
        if self.cache is not None and self.learned:
            kept = replace(dialect, context=0)  # a server may be started again with a larger one
            entry = json.dumps({"answer": kept.to_dict()})
            await asyncio.to_thread(self.cache.add_many, {self._key: entry})


def connect(judge: str | Model | dspy.BaseLM, session: Session) -> LanguageModel:
    """Create the language model for a name, settings or a DSPy object.

    Providers with OpenAI's protocol are called directly, all others through DSPy. Nothing is cached
    of classes of one's own, which may share a name.

    Raises:
        ConfigError: A key is missing, a setting is invalid, or the price is unknown and the budget
            is in dollars.
    """
    lm: dspy.BaseLM | None = None
    if isinstance(judge, dspy.BaseLM):
        lm, model = judge, _settings_of(judge)
    else:
        model = judge if isinstance(judge, Model) else Model(judge)
        effort = model.reasoning_effort or least_effort(model.name)
        model = replace(model, reasoning_effort=None if effort == "default" else effort)
        if not all(model.name.partition("/")):
            raise ConfigError(f"a model name has the form 'PROVIDER/MODEL', got {model.name!r}")
    hide(model.api_key)
    transport: Transport
    dialect = Dialect()
    if provider_of(model.name) is not None and (lm is None or _is_plain(lm)):
        needs_key = session.transport is None  # estimates send nothing; batches ask for it
        access = access_to(model, session.settings, needs_key=needs_key)
        transport = ChatTransport(access, model.timeout_s)
        if not model.name.startswith("openai/"):
            dialect = Dialect(limit="max_tokens")
    else:
        transport = _through_dspy(model, lm)
    keep = lm is None or type(lm) is dspy.LM
    return LanguageModel(model, transport, session, dialect, keep=keep)


def _through_dspy(model: Model, lm: dspy.BaseLM | None) -> LMTransport:
    """Return a transport by DSPy, whose own retries and cache are disabled."""
    if model.base_url is not None:
        check_address("base_url", model.base_url)
    if lm is None:
        options = {
            "api_base": model.base_url,
            "api_key": model.api_key,
            "timeout": model.timeout_s,
        }
        lm = dspy.LM(model.name, **{k: v for k, v in options.items() if v is not None})
    if type(lm) is dspy.LM:
        lm = lm.copy(cache=False)
        lm.num_retries = 0
    return LMTransport(lm, model.base_url)


def _settings_of(lm: dspy.BaseLM) -> Model:
    """Extract the request settings of a DSPy language model, without those of its client."""
    options = {k: v for k, v in lm.kwargs.items() if v is not None and k not in _NOT_SENT}
    settings = {name: options.pop(name, None) for name in SAMPLING}
    if type(lm) is dspy.LM and settings["temperature"] is None:
        del settings["temperature"]  # so that it is that of a name
    if isinstance(lm.kwargs.get("timeout"), (int, float)):
        settings["timeout_s"] = lm.kwargs["timeout"]
    base_url = options.pop("api_base", None) or options.pop("base_url", None)
    limits = [options.pop(name, None) for name in ("max_completion_tokens", "max_tokens")]
    body = dict(options.pop("extra_body", {}))
    key = options.pop("api_key", None)
    return Model(
        lm.model,
        **settings,
        max_tokens=next(filter(None, limits), None),
        extra_body={**{k: v for k, v in options.items() if k not in _CONNECTION}, **body},
        base_url=base_url,
        api_key=key if isinstance(key, str) else None,
    )


def _is_plain(lm: dspy.BaseLM) -> bool:
    """Whether the built-in client can replace that of a DSPy language model."""
    return (
        type(lm) is dspy.LM
        and lm.model_type == "chat"
        and _has_own_engine(lm)
        and not lm.callbacks
        and not _CONNECTION & lm.kwargs.keys()
        and isinstance(lm.kwargs.get("api_key", ""), str)
    )


def _has_own_engine(lm: dspy.LM) -> bool:
    """Whether DSPy chooses the client; a custom one is serialised as an object, or not at all."""
    try:
        return isinstance(lm.dump_state().get("engine", "auto"), str)
    except TypeError:
        return False
