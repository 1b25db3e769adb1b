"""JSON over HTTP, with a size limit, a timeout and no redirects."""

from __future__ import annotations

import asyncio
import json
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies

from factcheck.errors import FactcheckError, InputError, JudgeRejected, JudgeUnavailable
from factcheck.judges.llm.errors import UNREADABLE, from_status, hide, redacted, retry_after_s
from factcheck.runtime.loop import PerProcess, background

if TYPE_CHECKING:
    import aiohttp

    from factcheck.judges.llm.providers import Access

T = TypeVar("T")
_MIB = 2**20
LARGEST_REPLY = 16 * _MIB
"""Maximum size of a chat completion in bytes, decompressed."""
LARGEST_VECTORS = 256 * _MIB
"""Maximum size of an embedding response in bytes: 2,048 vectors of 8,192 numbers."""
_LARGEST_ERROR = 64 * 2**10
_ERROR = 400
_REDIRECT = 300
_EXCERPT = 200
"""Maximum number of characters quoted from an error page that is not JSON."""


class JsonClient:
    """Connections to one server; responses of more than `largest` bytes are rejected."""

    def __init__(self, access: Access, timeout_s: float, largest: int = LARGEST_REPLY) -> None:
        self.access = access
        self.name = access.name
        self.endpoint = None if access.is_default else access.endpoint
        """Host, port and path of the server; `None` for the provider's default."""
        self._timeout_s = timeout_s
        self._largest = largest
        self._session = PerProcess(self._connect)
        self._headers = {"Content-Type": "application/json", **dict(access.headers)}
        if access.key is not None:
            self._headers["Authorization"] = f"Bearer {access.key}"
            hide(access.key)

    async def post(
        self, path: str, body: Mapping[str, Any], read: Callable[[dict[str, Any]], T]
    ) -> T:
        """Send a JSON body and return the response object as parsed by `read`.

        Raises:
            JudgeUnavailable: The response is missing, late, too large, or not a JSON object.
            JudgeError: The server returned an error.
            InputError: The body contains invalid Unicode.
        """
        import aiohttp

        name, url = self.name, f"{self.access.base_url}{path}"
        data = as_utf8(body, name)
        try:
            async with self._session().post(
                url, data=data, headers=self._headers, allow_redirects=False
            ) as response:
                if response.status >= _ERROR:
                    raise self._error(response, await _read(response, _LARGEST_ERROR))
                if response.status >= _REDIRECT:
                    raise self._redirected(response.headers.get("Location", ""))
                text = await _read(response, self._largest)
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
        if len(text) > self._largest:
            raise JudgeUnavailable(
                f"{name}: the server's answer exceeds {self._largest // _MIB} MiB"
            )
        try:
            answer = json.loads(text)
        except UNREADABLE:
            raise JudgeUnavailable(f"{name}: the server's answer is not JSON") from None
        if not isinstance(answer, dict):
            raise JudgeUnavailable(f"{name}: the server's answer is not a JSON object")
        return read(answer)

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

    def _redirected(self, location: str) -> JudgeRejected:
        access = self.access
        return JudgeRejected(
            f"{access.name}: {access.host} redirects to {urlsplit(location).hostname or 'nowhere'},"
            f" which is not followed; set {access.provider.address} to the right address"
        )

    def _error(self, response: aiohttp.ClientResponse, text: bytes) -> FactcheckError:
        found = _error_in_text(text)
        status, provider = response.status, self.access.provider
        return from_status(
            status,
            f"{self.access.name}: HTTP {status}: {found.message or response.reason or ''}",
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


def as_utf8(body: Mapping[str, Any], name: str) -> bytes:
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
    if isinstance(body, list) and body:  # Google's
        body = body[0]
    error = body.get("error", body) if isinstance(body, Mapping) else body
    if not isinstance(error, Mapping):
        return ServerError(redacted(error or ""))
    detail = error.get("detail")
    if isinstance(detail, list):  # FastAPI's
        message = "; ".join(_detail(item) for item in detail)
    else:
        message = str(error.get("message") or detail or error.get("error") or "")
    code, param = str(error.get("code") or ""), str(error.get("param") or "")
    shown = redacted(message) + (f" ({code})" if code and code not in message else "")
    kinds = (code, str(error.get("type") or ""))
    return ServerError(shown, kinds, f"{param} {message}" if param else message)


def _error_in_text(text: bytes) -> ServerError:
    try:
        return error_in(json.loads(text))
    except UNREADABLE:
        excerpt = text.decode("utf-8", "replace")[:_EXCERPT]
        is_page = excerpt.lstrip().startswith("<")
        return ServerError("a web page, not JSON" if is_page else redacted(excerpt))


def _detail(item: Any) -> str:
    if not isinstance(item, Mapping):
        return str(item)
    where = item.get("loc")
    place = ".".join(str(part) for part in where) if isinstance(where, list) else ""
    return f"{place}: {item.get('msg', '')}".removeprefix(": ")
