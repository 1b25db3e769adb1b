"""Transports of single requests: the built-in HTTP client, or any DSPy language model.

A request is a body of OpenAI's chat protocol without the model name; an answer is the response
before validation.
"""

from __future__ import annotations

import asyncio
import json
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias
from urllib.parse import urlsplit
from urllib.request import getproxies

from factcheck.errors import (
    FactcheckError,
    InputError,
    JudgeOutputError,
    JudgeRefused,
    JudgeTruncated,
    JudgeUnavailable,
)
from factcheck.judges.llm.errors import (
    UNREADABLE,
    RequestRefused,
    from_dspy,
    from_status,
    hide,
    redacted,
    retry_after_s,
)
from factcheck.judges.llm.providers import endpoint
from factcheck.runtime.budget import Tokens
from factcheck.runtime.loop import BackgroundLoop, PerProcess, background

if TYPE_CHECKING:
    import aiohttp
    import dspy

    from factcheck.judges.llm.providers import Access

Body = Mapping[str, Any]
Transport: TypeAlias = "ChatTransport | LMTransport | WrappedTransport"
MIB = 2**20
_LARGEST_ERROR = 64 * 2**10
_EXCERPT = 200
"""Maximum number of characters quoted from an error page that is not JSON, or an address."""
_FINISHED = frozenset(
    {
        *("stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete", "completed"),
        *("normal", "finish_reason_stop"),
    }
)
_TRUNCATED = frozenset(
    {
        *("length", "max_tokens", "model_length", "max_length", "max_output_tokens", "incomplete"),
        *("model_context_window_exceeded", "finish_reason_max_tokens"),
    }
)
_REFUSED = frozenset(
    {
        *("content_filter", "content_filtered", "refusal", "safety", "recitation", "blocklist"),
        *("prohibited_content", "spii", "guardrail_intervened", "sensitive"),
    }
)
"""Finish reasons in lower case, as servers name them; any other is an error."""
_DECLINED = "refusal"
"""Finish reason of a message in which the model declines."""
_TEXT_TYPES = frozenset({"text", "output_text"})
_APART = {"input_tokens", "cache_read_input_tokens"}
"""Counts of Anthropic, whose input leaves out what its cache is used for."""
_LEAST_SHARED = 4_096
"""Characters in 1,024 tokens, the least that Anthropic caches."""


class Answer(NamedTuple):
    """The response to a request, not validated."""

    text: str
    finish_reason: str | None
    """As reported by the server, or `None`; `refusal` if the model declined."""
    tokens: Tokens = Tokens()
    unsent: tuple[str, ...] = ()
    """Parameters that the underlying library dropped."""
    model: str = ""
    """Name of the model that answered, if the server says so."""

    @property
    def is_truncated(self) -> bool:
        return str(self.finish_reason).lower() in _TRUNCATED

    def least_reasoning_tokens(self, limit: int) -> int:
        """Lower bound of the reasoning tokens in a reply that was truncated at `limit`."""
        visible = self.text
        if "<think>" in visible and "</think>" not in visible:
            visible = visible.partition("<think>")[0]
        n_visible = len(visible.encode("utf-8", "surrogatepass")) // 2
        return max(self.tokens.reasoning, (self.tokens.completion or limit) - n_visible)

    def require_whole(self, name: str) -> None:
        """Raise a `JudgeError` if the reply is truncated, refused, empty, or ended abnormally."""
        reason = str(self.finish_reason).lower()
        if reason in _REFUSED:
            raise JudgeRefused(f"{name}: the model or its content filter declined to answer")
        if self.is_truncated:
            raise JudgeTruncated(f"{name}: the reply was cut off at the token limit")
        if reason not in _FINISHED:
            ended = "without a reason" if self.finish_reason is None else f"with {reason[:40]!r}"
            raise JudgeOutputError(f"{name}: the reply ended {ended}, so it may be incomplete")
        if not self.text.strip():
            raise JudgeOutputError(f"{name}: the reply is empty")


def prompt_of(body: Body) -> str:
    """Concatenated message contents of a request."""
    return "".join(message["content"] for message in body["messages"])


def limit_of(body: Body) -> int:
    """Completion token limit of a request; 0 if it has none."""
    limit: int = body.get("max_completion_tokens") or body.get("max_tokens") or 0
    return limit


class JsonClient:
    """Connections to one server; requests have a timeout, and redirects are not followed."""

    largest: ClassVar = 16 * MIB
    """Maximum size of a response in bytes, decompressed."""

    def __init__(self, access: Access, timeout_s: float) -> None:
        self.access = access
        self.name = access.name
        self.endpoint = None if access.is_default else endpoint(access.base_url)
        """Host, port and path of the server; `None` for the provider's default."""
        self._timeout_s = timeout_s
        self._session = PerProcess(self._connect)
        self._headers = {"Content-Type": "application/json", **dict(access.headers)}
        if access.key is not None:
            self._headers["Authorization"] = f"Bearer {access.key}"
            hide(access.key)

    async def post(self, path: str, body: Body) -> dict[str, Any]:
        """Send a JSON body and return the response object.

        Raises:
            JudgeUnavailable: The response is missing, late, too large, or not a JSON object.
            JudgeError: The server returned an error.
            InputError: The body contains invalid Unicode.
        """
        import aiohttp

        name, url = self.name, f"{self.access.base_url}{path}"
        data = _as_utf8(body, name)
        try:
            async with self._session().post(
                url, data=data, headers=self._headers, allow_redirects=False
            ) as response:
                if response.status >= HTTPStatus.MULTIPLE_CHOICES:
                    raise self._error(response, await _read(response, _LARGEST_ERROR))
                text = await _read(response, self.largest)
        except asyncio.TimeoutError as error:
            raise JudgeUnavailable(
                f"{name}: no answer within {self._timeout_s:g} seconds; a slow server needs "
                f"a larger timeout_s, such as --judge-option timeout_s={5 * self._timeout_s:g}"
            ) from error
        except (aiohttp.ClientError, OSError) as error:
            raise JudgeUnavailable(
                f"{name}: cannot reach {self.access.host} "
                f"({redacted(getattr(error, 'os_error', error))}); "
                f"check the network and {self.access.provider.address}"
            ) from error
        if len(text) > self.largest:
            raise JudgeUnavailable(f"{name}: the server's answer exceeds {self.largest // MIB} MiB")
        answer = _json_or_none(text)
        if not isinstance(answer, dict):
            raise JudgeUnavailable(f"{name}: the server's answer is not a JSON object")
        return answer

    async def aclose(self) -> None:
        session = self._session.take()
        if session is not None:
            await background.hop(session.close())

    def _connect(self) -> aiohttp.ClientSession:
        import aiohttp
        import httpx2

        is_secure = urlsplit(self.access.base_url).scheme == "https"
        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0, ssl=httpx2.create_ssl_context() if is_secure else True
            ),
            timeout=aiohttp.ClientTimeout(total=self._timeout_s),
            trust_env=bool(getproxies()),  # otherwise every request starts a thread to look
        )
        weakref.finalize(self, _close_in, asyncio.get_running_loop(), session)
        return session

    def _error(self, response: aiohttp.ClientResponse, text: bytes) -> FactcheckError:
        found = error_in(_json_or_none(text) or text.decode("utf-8", "replace")[:_EXCERPT])
        status, provider = response.status, self.access.provider
        message = found.message or response.reason
        if status < HTTPStatus.BAD_REQUEST and (location := response.headers.get("Location")):
            where = _host(location) or "nowhere"
            message = f"redirects to {where}, which is not followed; check {provider.address}"
        return from_status(
            status,
            f"{self.access.name}: HTTP {status}: {message}",
            kinds=found.kinds,
            about=found.about,
            retry_after_s=retry_after_s(response.headers),
            key=provider.key,
            address=provider.address,
        )


def _close_in(loop: asyncio.AbstractEventLoop, session: aiohttp.ClientSession) -> None:
    """Close a session that was left open, if its loop is still running."""
    if not session.closed and loop.is_running():
        asyncio.run_coroutine_threadsafe(session.close(), loop)


def _host(address: str) -> str:
    """Return the host of an address, without what may be secret; empty if it has none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _as_utf8(body: Body, name: str) -> bytes:
    """Serialise the body of a request to `name`; raises `InputError` for invalid Unicode."""
    try:
        return json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{name}: {error}") from error


async def _read(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """Read the decompressed body, stopping soon after `limit` bytes."""
    parts = bytearray()
    async for chunk in response.content.iter_chunked(64 * 2**10):
        parts += chunk
        if len(parts) > limit:
            break
    return bytes(parts)


def _json_or_none(text: bytes) -> Any:
    try:
        return json.loads(text)
    except UNREADABLE:
        return None


def at(value: Any, *path: str) -> Any:
    """Return what JSON has at a path of keys; `None` if there is nothing."""
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def count_at(value: Any, *path: str) -> int:
    """Return the count at a path; 0 if there is none."""
    found = at(value, *path)
    return found if type(found) is int and found > 0 else 0


class ServerError(NamedTuple):
    """Contents of an error body, as far as they are known."""

    message: str
    """On one line, with secrets redacted."""
    kinds: tuple[str, ...] = ()
    """Code and type of the error."""
    about: str = ""
    """Name of the offending parameter, if given, and the full message."""


def error_in(body: Any) -> ServerError:
    """Read the body of an error; a string is an excerpt of one that is not JSON."""
    if isinstance(body, list) and body:  # Google's
        body = body[0]
    error = at(body, "error") or body
    if not isinstance(error, Mapping):
        text = str(error or "")
        is_page = text.lstrip().startswith("<")
        return ServerError("a web page, not JSON" if is_page else redacted(text))
    detail = error.get("detail")
    if isinstance(detail, list):  # FastAPI's
        message = "; ".join(_detail(item) for item in detail)
    else:
        message = str(error.get("message") or detail or error.get("error") or "")
    code, param = str(error.get("code") or ""), str(error.get("param") or "")
    shown = redacted(message) + (f" ({code})" if code and code not in message else "")
    kinds = (code, str(error.get("type") or ""))
    return ServerError(shown, kinds, f"{param} {message}" if param else message)


def _detail(item: Any) -> str:
    where = at(item, "loc")
    place = ".".join(str(part) for part in where) if isinstance(where, list) else ""
    return f"{place}: {at(item, 'msg') or item}"


class ChatTransport(JsonClient):
    """Chat Completions of an OpenAI-compatible server; `send` sends a request once."""

    def addressed(self, body: Body) -> dict[str, Any]:
        """Return the body with the model name."""
        return {"model": self.access.model, **body}

    async def send(self, body: Body) -> Answer:
        return self.read(await self.post("/chat/completions", self.addressed(body)))

    def read(self, body: Any) -> Answer:
        """Parse a chat completion; raises `JudgeUnavailable` if it is malformed or has an error."""
        try:
            require_no_error(body, self.name)
            return read_completion(body)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise JudgeUnavailable(
                f"{self.name}: the server's answer is not a chat completion "
                f"({type(error).__name__}: {redacted(error)[:120]})"
            ) from error


def require_no_error(body: Any, name: str) -> None:
    """Raise `JudgeUnavailable` for an answer with an error, whatever else it says."""
    choices = at(body, "choices")
    parts = [body, *choices] if isinstance(choices, list) else [body]
    parts += [at(part, "message") for part in parts]
    for part in parts:
        if at(part, "error") not in (None, "", False):
            what = error_in(part).message[:120] or "no reason given"
            raise JudgeUnavailable(f"{name}: the server's answer has an error ({what})")


def read_completion(body: Any) -> Answer:
    """Parse the JSON of a chat completion; raises `ValueError` and the like if malformed."""
    choices = body["choices"]
    if not isinstance(choices, list) or len(choices) != 1:
        raise ValueError("expected exactly one choice")
    choice = choices[0]
    message = choice["message"]
    content = message.get("content")
    reason = _DECLINED if message.get("refusal") else choice.get("finish_reason")
    if not isinstance(content, (str, list, type(None))):
        raise TypeError("the content is not text")
    return Answer(
        text=content if isinstance(content, str) else "".join(_texts(content or ())),
        finish_reason=reason if isinstance(reason, str) else None,
        tokens=Tokens.counted(
            count_at(body, "usage", "prompt_tokens"),
            count_at(body, "usage", "completion_tokens"),
            count_at(body, "usage", "total_tokens"),
            cached=count_at(body, "usage", "prompt_tokens_details", "cached_tokens"),
            written=count_at(body, "usage", "prompt_tokens_details", "cache_write_tokens"),
            reasoning=count_at(body, "usage", "completion_tokens_details", "reasoning_tokens")
            or count_at(body, "usage", "reasoning_tokens"),
        ),
        model=model if isinstance(model := body.get("model"), str) else "",
    )


def _texts(parts: Sequence[Any]) -> Iterator[str]:
    """Texts of a message in parts; reasoning and other kinds of parts are ignored."""
    for part in parts:
        if isinstance(part, str):
            yield part
        elif isinstance(part, Mapping) and part.get("type", "text") in _TEXT_TYPES:
            yield str(part["text"])


class WrappedTransport:
    """Impersonates another transport and answers with the result of `answer`."""

    def __init__(
        self, inner: Any, answer: Callable[[Any, Body], Answer], price_share: float = 1.0
    ) -> None:
        self.name: str = inner.name
        self.endpoint: str | None = inner.endpoint
        self.price_share = price_share
        """Price of a request as a fraction of the list price."""
        self._inner = inner
        self._answer = answer

    async def send(self, body: Body) -> Answer:
        return self._answer(self._inner, body)

    async def aclose(self) -> None:
        await self._inner.aclose()


class LMTransport:
    """Sends requests through a `dspy.BaseLM` whose retries and cache are disabled.

    User-defined classes run in a separate event loop, which they may block.
    """

    def __init__(self, lm: dspy.BaseLM, base_url: str | None) -> None:
        import dspy

        self._lm = lm
        self.name: str = lm.model
        self.endpoint = None if base_url is None else endpoint(base_url)
        self._loop = background if type(lm) is dspy.LM else BackgroundLoop("factcheck-model")
        is_anthropic = type(lm) is dspy.LM and lm.model.startswith("anthropic/")
        self._marks_cache = is_anthropic and "prompt_cache" not in lm.kwargs

    async def send(self, body: Body) -> Answer:
        import dspy
        from dspy import lm15

        _as_utf8(body, self.name)
        try:
            request = lm15.request_from_openai_chat(self.addressed(body))
            if self._marks_cache and (mark := _shared(body["messages"])):
                config = replace(request.config, cache=lm15.CacheConfig(**mark))
                request = replace(request, config=config)
            with dspy.context(disable_history=True, trace=None):
                response = await self._loop.hop(self._lm.acall(request=request))
        except (Exception, SystemExit) as error:
            raise from_dspy(error, self.name) from error
        if changed := " ".join(changed_in(response.adaptations, "clamped", "substituted")):
            raise RequestRefused(f"{self.name}: takes no {changed} as set", about=changed)
        return self.read(response)

    def addressed(self, body: Body) -> dict[str, Any]:
        """Return the body with the model name."""
        return {"model": self.name, **body}

    def read(self, response: Any) -> Answer:
        """Convert an lm15 response; raises `JudgeUnavailable` if it has an error."""
        require_no_error(response.provider_data, self.name)
        return _read_response(response)

    async def aclose(self) -> None:
        """Stop the event loop; the language model belongs to the caller."""
        if self._loop is not background:
            self._loop.stop()


def _shared(messages: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Return the setting that marks what all requests of a program begin with for a cache.

    That is everything before the last message; empty if it is too short to be cached.
    """
    if len(prompt_of({"messages": messages[:-1]})) < _LEAST_SHARED:
        return {}
    n_shown = sum(message["role"] != "system" for message in messages[:-1])
    return {"prefix_until_index": n_shown - 1} if n_shown else {"prefix": "stable"}


def _read_response(response: Any) -> Answer:
    """Convert an lm15 response, with the server's finish reason where it is known."""
    usage = response.usage
    cached, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    prompt = usage.input_tokens
    counts = at(response.provider_data, "usage")
    if isinstance(counts, Mapping) and counts.keys() >= _APART:
        prompt = (prompt or 0) + cached + written
    reason = _raw_reason(response.provider_data) or response.finish_reason
    is_declined = any(part.type == "refusal" for part in response.message.parts)
    return Answer(
        text=response.text or "",
        finish_reason=_DECLINED if is_declined else reason,
        tokens=Tokens.counted(
            prompt,
            usage.output_tokens,
            usage.total_tokens,
            cached=cached,
            written=written,
            reasoning=usage.reasoning_tokens or 0,
        ),
        unsent=changed_in(response.adaptations, "dropped"),
    )


def changed_in(adaptations: Iterable[Any], *actions: str) -> tuple[str, ...]:
    """Return the settings with which lm15 has done one of these actions."""
    return tuple(c.field.removeprefix("config.") for c in adaptations if c.action in actions)


def _raw_reason(data: Any) -> str | None:
    """Finish reason in a raw response of OpenAI, Anthropic or Gemini."""
    for place in (data, *(at(data, "choices") or ()), *(at(data, "candidates") or ())):
        for name in ("finish_reason", "stop_reason", "finishReason"):
            if isinstance(reason := at(place, name), str):
                return reason
    return None
