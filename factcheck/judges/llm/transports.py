"""Transports of single requests: the `openai` client, or another DSPy language model."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar
from urllib.parse import urlsplit

from factcheck.errors import ConfigError, FactcheckError, JudgeRejected, JudgeUnavailable
from factcheck.facts import short_digest
from factcheck.judges.llm.errors import UNREADABLE, from_dspy, from_openai
from factcheck.runtime.loop import BackgroundLoop, PerProcess, background

if TYPE_CHECKING:
    import dspy
    import openai
    from dspy.lm15 import Request, Response

    from factcheck.settings import Settings

OPENAI_URL = "https://api.openai.com/v1"
_REASONING_MODEL = re.compile(r"o\d|gpt-5(?!.*-chat)")
_IRRELEVANT = frozenset({"api_key", "timeout", "num_retries", "cache", "rollout_id", "headers"})
"""Settings of a language model that do not shape its answers."""
_EFFORT = "low"
_REASONING_TOKENS = 8192
"""Tokens a reasoning model may spend before its answer; a limit, not a cost."""
_TEXTS_AT_FAULT = (400, 413, 422)
"""HTTP statuses for which fewer or shorter texts may fare better."""

Q = TypeVar("Q")
A = TypeVar("A")


class OpenAITransport(Generic[Q, A]):
    """Base: the official client, for one endpoint of OpenAI or of any compatible server."""

    path: ClassVar[str]

    def __init__(self, model: str, settings: Settings, timeout_s: float) -> None:
        self._model = model
        self.name = f"openai/{model}"
        require_access(self.name, settings)
        self._settings = settings
        self._timeout_s = timeout_s
        self._client = PerProcess(lambda: connect_openai(settings, timeout_s))

    @property
    def identity(self) -> dict[str, str]:
        base_url = self._settings.openai_base_url
        return {} if base_url is None else {"endpoint": endpoint(base_url)}

    def body(self, request: Q) -> dict[str, Any]:
        raise NotImplementedError

    def response(self, body: Any) -> A:
        """A response from its JSON; raises `JudgeUnavailable` if it is not one."""
        raise NotImplementedError

    def translated(self, error: Exception) -> FactcheckError:
        return from_openai(error, self.name)

    async def send(self, request: Q) -> A:
        import openai

        try:
            # `post` rather than `chat.completions.create`: the same request without a model object
            # for the response, which nobody needs and which costs more than the rest.
            body = await asyncio.wait_for(
                self._client().post(self.path, cast_to=object, body=self.body(request)),
                self._timeout_s,
            )
        except asyncio.TimeoutError:
            raise JudgeUnavailable(
                f"{self.name}: no answer within {self._timeout_s:g} seconds"
            ) from None
        except (openai.OpenAIError, *UNREADABLE) as error:
            raise self.translated(error) from error
        if not isinstance(body, dict):  # a 200 of another type is handed through as text
            raise JudgeUnavailable(f"{self.name}: the server's answer is not JSON")
        return self.response(body)

    async def aclose(self) -> None:
        client = self._client.take()
        if client is not None:
            await client.close()


class ChatTransport(OpenAITransport["Request", "Response"]):
    """Chat Completions."""

    path = "/chat/completions"

    def __init__(self, model: str, settings: Settings, timeout_s: float) -> None:
        super().__init__(model, settings, timeout_s)
        self._reasons = bool(_REASONING_MODEL.match(model))

    @property
    def identity(self) -> dict[str, str]:
        return {**({"effort": _EFFORT} if self._reasons else {"temp": "0"}), **super().identity}

    def max_tokens(self, tokens: int) -> int:
        """A reasoning model needs tokens to think, too; 0 is no limit."""
        return tokens + _REASONING_TOKENS if tokens and self._reasons else tokens

    def body(self, request: Request) -> dict[str, Any]:
        system = request.system
        if not isinstance(system, str):
            system = "".join(part.text for part in system or ())
        messages = [{"role": "system", "content": system}] if system else []
        messages += [{"role": str(m.role), "content": m.text or ""} for m in request.messages]
        config = request.config
        body: dict[str, Any] = {"model": self._model, "messages": messages}
        if self._reasons:
            body["reasoning_effort"] = _EFFORT
        else:
            body["temperature"] = config.temperature if config.temperature is not None else 0.0
        if limit := self.max_tokens(config.max_tokens or 0):
            body["max_completion_tokens"] = limit
        if config.response_format is not None:
            body["response_format"] = _wire_format(config.response_format)
        return body

    def response(self, body: Any) -> Response:
        from dspy import lm15

        try:
            return lm15.response_from_openai_chat(body, model=self._model)
        except (lm15.LM15Error, ValueError, TypeError, KeyError, AttributeError) as error:
            raise JudgeUnavailable(
                f"{self.name}: the server's answer is not a chat completion ({error})"
            ) from error


class TextsRejected(JudgeRejected):
    """A request for vectors was turned down, and one of its texts may be why."""


class EmbeddingsTransport(OpenAITransport[Sequence[str], Mapping[str, Any]]):
    """Embeddings: texts in, the server's JSON out."""

    path = "/embeddings"

    def body(self, request: Sequence[str]) -> dict[str, Any]:
        return {"model": self._model, "input": list(request), "encoding_format": "base64"}

    def response(self, body: Any) -> Mapping[str, Any]:
        if not isinstance(body.get("data"), list):
            raise JudgeUnavailable(f"{self.name}: the server's answer has no list of vectors")
        vectors: Mapping[str, Any] = body
        return vectors

    def translated(self, error: Exception) -> FactcheckError:
        translated = super().translated(error)
        at_fault = getattr(error, "status_code", None) in _TEXTS_AT_FAULT
        return TextsRejected(str(translated)) if at_fault else translated


class WrappedTransport:
    """Base of transports that take the place of another one, and answer in its name."""

    def __init__(self, inner: Any) -> None:
        self.name: str = inner.name
        self._inner = inner

    @property
    def identity(self) -> dict[str, str]:
        identity: dict[str, str] = self._inner.identity
        return identity

    def max_tokens(self, tokens: int) -> int:
        limit: int = self._inner.max_tokens(tokens)
        return limit

    async def send(self, request: Request) -> Response:
        raise NotImplementedError

    async def aclose(self) -> None:
        await self._inner.aclose()


class BatchTransport(WrappedTransport):
    """Base of transports whose requests travel in a batch instead of one by one.

    A batch is written by one run and read by another, so both have to render the same prompts.
    """

    price_share = 0.5
    """The part of the list price that a request in a batch costs."""

    def __init__(self, inner: ChatTransport, secret: bytes) -> None:
        super().__init__(inner)
        self.secret = secret


class LMTransport:
    """Any other `dspy.BaseLM`, with DSPy's own retries and cache switched off by its owner.

    A class of the user's own runs in a loop of its own, where it may block.
    """

    def __init__(self, lm: dspy.BaseLM) -> None:
        import dspy

        self._lm = lm
        self.name = lm.model
        self._loop = background if type(lm) is dspy.LM else BackgroundLoop("factcheck-model")

    @property
    def identity(self) -> dict[str, str]:
        """Sampling and endpoint, and a digest of every other setting that shapes an answer."""
        settings = {k: v for k, v in self._lm.kwargs.items() if k not in _IRRELEVANT and v}
        named = {}
        if (temperature := self._lm.kwargs.get("temperature")) is not None:
            named["temp"] = f"{temperature:g}"
        if base_url := settings.pop("api_base", None) or settings.pop("base_url", None):
            named["endpoint"] = endpoint(base_url)
        settings.pop("temperature", None)
        if settings:
            named["settings"] = short_digest(json.dumps(settings, sort_keys=True, default=repr))
        return named

    def max_tokens(self, tokens: int) -> int:
        return tokens

    async def send(self, request: Request) -> Response:
        import dspy

        try:
            with dspy.context(disable_history=True, trace=None):
                response: Response = await self._loop.hop(self._lm.acall(request=request))
        except Exception as error:
            raise from_dspy(error, self._lm.model) from error
        return response

    async def aclose(self) -> None:
        """End the loop; the language model itself belongs to whoever made it."""
        if self._loop is not background:
            self._loop.stop()


Transport: TypeAlias = ChatTransport | LMTransport | WrappedTransport
"""Sends one chat request once; raises `FactcheckError` if there is no response."""


def require_access(name: str, settings: Settings) -> None:
    """Refuse settings with which no OpenAI-compatible server can be reached."""
    key, base_url = settings.openai_api_key, settings.openai_base_url
    if key is None and base_url is None:
        raise ConfigError(
            f"{name!r} needs a key: set OPENAI_API_KEY, or OPENAI_BASE_URL for your own server"
        )
    if not (key or "").isascii():
        raise ConfigError("OPENAI_API_KEY has characters that no key has; check it")
    try:
        url = urlsplit(base_url or OPENAI_URL)
        usable = url.scheme in {"http", "https"} and url.hostname and url.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(
            f"OPENAI_BASE_URL is {base_url!r}; give an address such as http://127.0.0.1:8000/v1"
        )


def connect_openai(settings: Settings, timeout_s: float) -> openai.AsyncOpenAI:
    import openai

    return openai.AsyncOpenAI(
        api_key=settings.openai_api_key or "none",
        base_url=settings.openai_base_url or OPENAI_URL,
        max_retries=0,
        timeout=timeout_s,
        http_client=openai.DefaultAsyncHttpx2Client(),
    )


def endpoint(base_url: str | None) -> str:
    """Host, port and path of a server's address; never a user name, a password or a query."""
    url = urlsplit(base_url or OPENAI_URL)
    port = f":{url.port}" if url.port else ""
    return f"{url.hostname}{port}{url.path.rstrip('/')}"


def _wire_format(form: dict[str, Any]) -> dict[str, Any]:
    """lm15 keeps the schema flat; the Chat Completions API wants it one level down."""
    if form.get("type") != "json_schema" or "json_schema" in form:
        return form
    return {
        "type": "json_schema",
        "json_schema": {key: value for key, value in form.items() if key != "type"},
    }
