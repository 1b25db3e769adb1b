"""How one request travels: over the `openai` client, or over another DSPy language model."""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from factcheck.errors import ConfigError, JudgeUnavailable
from factcheck.facts import short_digest
from factcheck.judges.llm.errors import UNREADABLE, from_dspy, from_openai
from factcheck.runtime.forks import PerProcess

if TYPE_CHECKING:
    import dspy
    import openai
    from dspy.lm15 import Request, Response

_REASONING_MODEL = re.compile(r"o\d|gpt-5(?!.*-chat)")
_SHAPE_NOTHING = frozenset({"api_key", "timeout", "num_retries", "cache", "rollout_id", "headers"})
_CHAT = "/chat/completions"
_EFFORT = "low"
_ROOM_TO_THINK = 8192
"""Tokens a reasoning model may spend before its answer; a limit, not a cost."""


class Transport(Protocol):
    """Sends one request once."""

    name: str
    """`PROVIDER/MODEL`."""

    @property
    def identity(self) -> dict[str, str]:
        """What of it shapes an answer."""
        ...

    def room(self, tokens: int) -> int:
        """Completion tokens a request may take that asks for an answer of at most `tokens`."""
        ...

    async def send(self, request: Request) -> Response:
        """The provider's answer, as it came; raises `FactcheckError` where none came."""
        ...

    async def aclose(self) -> None:
        """Close its connections."""
        ...


class OpenAITransport:
    """The official client, for OpenAI and for any server that speaks its Chat Completions."""

    def __init__(
        self, model: str, *, api_key: str | None, base_url: str | None, timeout_s: float
    ) -> None:
        self._model = model
        self.name = f"openai/{model}"
        if api_key is None and base_url is None:
            raise ConfigError(
                f"{self.name!r} needs a key: set OPENAI_API_KEY, "
                "or OPENAI_BASE_URL for a server of your own"
            )
        if not (api_key or "").isascii():
            raise ConfigError("OPENAI_API_KEY holds characters that no key has; check it")
        if base_url is not None:
            require_url(base_url)
        self._reasons = bool(_REASONING_MODEL.match(model))
        self._api_key = api_key or "none"
        self._base_url = base_url
        self._timeout_s = timeout_s
        self._client = PerProcess(self._connect)

    @property
    def identity(self) -> dict[str, str]:
        """Sampling, and the server where it is not OpenAI's own."""
        sampling = {"effort": _EFFORT} if self._reasons else {"temp": "0"}
        if self._base_url is None:
            return sampling
        return {**sampling, "endpoint": endpoint(self._base_url)}

    def room(self, tokens: int) -> int:
        """A reasoning model also needs room to think; without a limit there is none."""
        return tokens + _ROOM_TO_THINK if tokens and self._reasons else tokens

    async def send(self, request: Request) -> Response:
        """One request, no retry, within the time limit."""
        import openai

        try:
            # `post` rather than `chat.completions.create`: the same request without a model object
            # for the reply, which DSPy's reader does not need and which costs more than the rest.
            body = await asyncio.wait_for(
                self._client().post(_CHAT, cast_to=object, body=self.body(request)),
                self._timeout_s,
            )
        except asyncio.TimeoutError:
            raise JudgeUnavailable(
                f"{self.name}: no answer within {self._timeout_s:g} seconds"
            ) from None
        except (openai.OpenAIError, *UNREADABLE) as error:
            raise from_openai(error, self.name) from error
        if not isinstance(body, dict):  # a 200 of another type is handed through as text
            raise JudgeUnavailable(f"{self.name}: the server's answer is not JSON")
        return self.response(body)

    def response(self, body: Any) -> Response:
        """A chat completion in OpenAI's JSON as DSPy's type.

        Raises:
            JudgeUnavailable: It is none.
        """
        from dspy import lm15

        try:
            return lm15.response_from_openai_chat(body, model=self._model)
        except (lm15.LM15Error, ValueError, TypeError, KeyError, AttributeError) as error:
            raise JudgeUnavailable(
                f"{self.name}: the server's answer is not a chat completion ({error})"
            ) from error

    def _connect(self) -> openai.AsyncOpenAI:
        import openai

        return openai.AsyncOpenAI(
            api_key=self._api_key,
            base_url=self._base_url or "https://api.openai.com/v1",
            max_retries=0,
            timeout=self._timeout_s,
            http_client=openai.DefaultAsyncHttpx2Client(),
        )

    def body(self, request: Request) -> dict[str, Any]:
        """What is sent for a request: the JSON body of a Chat Completions call."""
        system = request.system if isinstance(request.system, str) else _texts(request.system)
        messages = [{"role": "system", "content": system}] if system else []
        messages += [{"role": str(m.role), "content": m.text or ""} for m in request.messages]
        config = request.config
        room = self.room(config.max_tokens or 0)
        body: dict[str, Any] = {"model": self._model, "messages": messages}
        if self._reasons:
            body["reasoning_effort"] = _EFFORT
        else:
            body["temperature"] = config.temperature if config.temperature is not None else 0.0
        if room:
            body["max_completion_tokens"] = room
        if config.response_format is not None:
            body["response_format"] = _wire_format(config.response_format)
        return body

    async def aclose(self) -> None:
        """Close the client's connections; the next request opens new ones."""
        client = self._client.take()
        if client is not None:
            await client.close()


class BatchTransport:
    """Base of transports whose requests travel in a batch instead of one by one.

    A batch is written by one run and read by another, so both have to render the same prompts.

    Args:
        inner: Makes the requests and reads the answers; it sends nothing.
        secret: What prompts are rendered with.
    """

    price_share = 0.5
    """The part of the list price that a request in a batch costs."""

    def __init__(self, inner: OpenAITransport, secret: bytes) -> None:
        self.name = inner.name
        self.secret = secret
        self._inner = inner

    @property
    def identity(self) -> dict[str, str]:
        """That of the transport inside: an answer is the same, however it came."""
        return self._inner.identity

    def room(self, tokens: int) -> int:
        """That of the transport inside."""
        return self._inner.room(tokens)

    async def aclose(self) -> None:
        """Close the transport inside."""
        await self._inner.aclose()


class LMTransport:
    """Any other `dspy.BaseLM`, with DSPy's own retries and cache switched off by its owner."""

    def __init__(self, lm: dspy.BaseLM) -> None:
        self._lm = lm
        self.name = lm.model

    @property
    def identity(self) -> dict[str, str]:
        """Sampling and endpoint, and a digest of every other setting that shapes an answer."""
        settings = {k: v for k, v in self._lm.kwargs.items() if k not in _SHAPE_NOTHING and v}
        named = {}
        if (temperature := self._lm.kwargs.get("temperature")) is not None:
            named["temp"] = f"{temperature:g}"
        if base_url := settings.pop("api_base", None) or settings.pop("base_url", None):
            named["endpoint"] = endpoint(base_url)
        settings.pop("temperature", None)
        if settings:
            named["settings"] = short_digest(json.dumps(settings, sort_keys=True, default=repr))
        return named

    def room(self, tokens: int) -> int:
        """What was asked for."""
        return tokens

    async def send(self, request: Request) -> Response:
        """One request through DSPy."""
        import dspy

        try:
            with dspy.context(disable_history=True, trace=None):
                response: Response = await self._lm.acall(request=request)
        except Exception as error:
            raise from_dspy(error, self._lm.model) from error
        return response

    async def aclose(self) -> None:
        """Nothing: a language model that was handed in belongs to whoever made it."""


def require_url(base_url: str) -> None:
    """Refuse an address that cannot be one.

    Raises:
        ConfigError: No scheme, no host, or a port out of range.
    """
    try:
        url = urlsplit(base_url)
        usable = url.scheme in {"http", "https"} and url.hostname and url.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(
            f"OPENAI_BASE_URL is {base_url!r}; give an address such as http://127.0.0.1:8000/v1"
        )


def endpoint(base_url: str) -> str:
    """Host, port and path of a server's address; never a user name, a password or a query."""
    url = urlsplit(base_url)
    port = f":{url.port}" if url.port else ""
    return f"{url.hostname}{port}{url.path.rstrip('/')}"


def _texts(parts: Any) -> str:
    return "".join(part.text for part in parts or ())


def _wire_format(form: dict[str, Any]) -> dict[str, Any]:
    """lm15 keeps the schema flat; the Chat Completions API wants it one level down."""
    if form.get("type") != "json_schema" or "json_schema" in form:
        return form
    return {
        "type": "json_schema",
        "json_schema": {key: value for key, value in form.items() if key != "type"},
    }
