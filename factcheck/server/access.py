"""Configuration and admission: judges, API keys, limits of requests, and how they are refused.

Every error of the service is problem details (RFC 9457): JSON with a stable code.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import math
import re
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from factcheck.documents import json_text
from factcheck.errors import (
    BudgetExceeded,
    ConfigError,
    DeadlineExceeded,
    FactcheckError,
    InputError,
    JudgeError,
    located,
    shorten_middle,
)
from factcheck.facts import digest
from factcheck.runtime.budget import Budget, BudgetTracker
from factcheck.settings import LOCAL

if TYPE_CHECKING:
    from factcheck.judges.ports import JudgeSpec
    from factcheck.runtime.cache import CacheSpec

MEDIA_TYPE = "application/problem+json"
_STATUS_OF: tuple[tuple[type[FactcheckError], int], ...] = (
    (InputError, 422),
    (BudgetExceeded, 429),
    (DeadlineExceeded, 503),
    (JudgeError, 502),
)
_SCHEMA = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What is wrong, and what to do."},
        "code": {"type": "string", "description": "Stable code, such as `input` or `busy`."},
    },
}
RESPONSES: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "Problem details of an error.",
        "content": {MEDIA_TYPE: {"schema": _SCHEMA}},
    }
}
"""Documentation of the errors of any route."""
_log = logging.getLogger("factcheck.server")


class Problem(HTTPException):
    """An error to answer a request with; `detail` must hold no text, key or trace."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        retry_after_s: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        retry = {} if retry_after_s is None else {"Retry-After": str(math.ceil(retry_after_s))}
        super().__init__(status, shorten_middle(detail), {**(headers or {}), **retry})
        self.code = code

    @property
    def details(self) -> dict[str, Any]:
        title = HTTPStatus(self.status_code).phrase
        data = {"type": "about:blank", "title": title, "status": self.status_code}
        return {**data, "detail": self.detail, "code": self.code}

    def response(self) -> Response:
        return Response(json_text(self.details), self.status_code, self.headers, MEDIA_TYPE)


def problem_of(error: BaseException) -> Problem:
    """Convert any exception; the message of an unexpected one is neither returned nor logged."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return Problem(422, InputError.code, f"{place}: {first['msg']}")
    if isinstance(error, HTTPException):
        code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
        return Problem(error.status_code, code, str(error.detail), headers=error.headers)
    for kind, status in _STATUS_OF:
        if isinstance(error, kind):
            return Problem(status, error.code, str(error))
    if isinstance(error, asyncio.CancelledError):
        return Problem(503, "busy", "the service is stopping", retry_after_s=1)
    frames = "".join(traceback.format_tb(error.__traceback__))
    _log.error("%s in a request\n%s", type(error).__name__, frames)
    code = error.code if isinstance(error, FactcheckError) else "internal"
    return Problem(500, code, "the service failed; its log names the place")


async def answer_problem(_: Request, error: Exception) -> Response:
    """Exception handler of the application."""
    return problem_of(error).response()


PUBLIC = frozenset({"/", "/docs", "/healthz", "/readyz", "/openapi.json"})
"""Paths that need no API key."""
_GONE = 499
"""Status in logs and metrics of a request whose client has disconnected."""
_READ_S = 30.0
"""Maximum number of seconds for a body to arrive."""
MAX_BODY_BYTES = 2_000_000
"""Maximum size of the body of a request, and of a line of a job."""
_MAX_JOB_BYTES = 50 * MAX_BODY_BYTES
_MAX_TEXT_CHARS = 200_000
"""Maximum number of characters in a request, all its strings together."""
_MAX_ITEMS = 500
"""Maximum number of items in any list of a request: facts, pairs, records."""
_JOBS = "/v1/jobs"
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
"""Addresses that need no API keys."""
_LOCAL_HOST = re.compile(r"(127\.0\.0\.1|\[::1\]|localhost)(:\d+)?")
"""Values of `Host` that need no API keys; any other may be a page's name for this machine."""
_LOCAL_PAGE = re.compile(rf"https?://{_LOCAL_HOST.pattern}")
"""Origins of web pages that need no API keys."""
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """An API key, known only by its digest, and the limits of its holder."""

    name: str
    """Holder, for logs and jobs."""
    sha256: str
    """SHA-256 of the key, as 64 lower-case hexadecimal digits."""
    max_calls: int | None = None
    """Maximum number of requests to language models, while the service runs."""
    max_cost_usd: float | None = None
    """Maximum cost in US dollars, while the service runs; only for models with a known price."""

    def __post_init__(self) -> None:
        with located(f"API key {self.name!r:.60}", ConfigError):
            if not self.name.strip() or not self.name.isprintable():
                raise InputError("the name is blank, or has control characters")
            if not _SHA256.fullmatch(self.sha256):
                raise InputError("sha256 must be the digest of the key: 64 digits 0-9, a-f")
            Budget(max_calls=self.max_calls, max_cost_usd=self.max_cost_usd)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig:
    """Configuration of the service."""

    judges: Mapping[str, JudgeSpec] = field(default_factory=lambda: {LOCAL: LOCAL})
    """Judges by the names that callers use; the first is the default."""
    cache: CacheSpec = None
    budget: Budget | None = None
    concurrency: int = 32
    rpm: int | None = None
    host: str = "127.0.0.1"
    """Address the service listens on."""
    keys: Sequence[ApiKey] = ()
    """API keys; required unless the host is a loopback address."""
    jobs_path: str | None = None
    """SQLite file of the jobs; `None`: no jobs."""
    ui: bool = True
    """Whether there are pages for people: `/` and `/docs`."""

    def __post_init__(self) -> None:
        if not self.judges:
            raise ConfigError("the service has no judges; name at least one")
        for what in ("name", "sha256"):
            for value, count in Counter(getattr(key, what) for key in self.keys).items():
                if count > 1:
                    raise ConfigError(f"two API keys have the {what} {value!r:.60}")
        if self.host not in LOOPBACK and not self.keys:
            raise ConfigError(
                f"{self.host} can be reached from outside; listen on 127.0.0.1, or add API keys"
            )


def require_bounded(data: Any) -> None:
    """Raise `InputError` if parsed JSON has too many characters or too long a list."""
    n_chars, left = 0, [data]
    while left:
        value = left.pop()
        if isinstance(value, str):
            n_chars += len(value)
        elif isinstance(value, dict):
            left += value.keys()
            left += value.values()
        elif isinstance(value, list):
            if len(value) > _MAX_ITEMS:
                raise InputError(
                    f"a list has {len(value):,} items; at most {_MAX_ITEMS:,} are allowed: "
                    "split the request, or use a job"
                )
            left += value
    if n_chars > _MAX_TEXT_CHARS:
        raise InputError(
            f"the texts have {n_chars:,} characters; at most {_MAX_TEXT_CHARS:,} are "
            "allowed: split them"
        )


class Caller:
    """The holder of an API key, or anyone if the service has none."""

    def __init__(self, key: ApiKey | None = None) -> None:
        self.name = "" if key is None else key.name
        self.owner = "" if key is None else key.sha256
        """Whose jobs this caller sees: a new key of the same name does not inherit those of the
        former."""
        caps = Budget(max_calls=key.max_calls, max_cost_usd=key.max_cost_usd) if key else None
        self.budget = BudgetTracker(caps)


def _require_local(request: Request) -> None:
    """Raise `Problem` if a web page of another host may have sent a request."""
    if not _LOCAL_HOST.fullmatch(request.headers.get("host", "")):
        detail = "without API keys, the service is used as 127.0.0.1, [::1] or localhost"
        raise Problem(401, "unauthorised", detail)
    if not _LOCAL_PAGE.fullmatch(request.headers.get("origin", "http://localhost")):
        raise Problem(401, "unauthorised", "web pages of other hosts need an API key")


class Gate:
    """ASGI middleware in front of the application, which sees only admitted requests.

    Callers are the holders of API keys, by the digests of the keys; without any, anyone is
    admitted. `observe` is called after every request with its route, status and seconds.
    """

    def __init__(
        self,
        app: ASGIApp,
        callers: Mapping[str, Caller],
        observe: Callable[[str, int, float], None],
    ) -> None:
        self._app, self._observe, self._callers = app, observe, callers
        self._anyone = Caller()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status, caller = time.perf_counter(), 0, self._anyone

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            try:
                caller = self._admitted(Request(scope))
                scope.setdefault("state", {})["caller"] = caller
                await self._app(scope, self._bounded(scope["path"], receive), watched)
            except ClientDisconnect:
                status = _GONE
            except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - answered
                response = problem_of(error).response()
                if not status:
                    await response(scope, receive, watched)
        finally:
            seconds = time.perf_counter() - started
            route = getattr(scope.get("route"), "path", "-")
            self._observe(route, status, seconds)
            facts = (scope["method"], route, status, 1_000 * seconds, caller.name or "-")
            _log.info("%s %s %d %.0f ms %s", *facts)

    def _admitted(self, request: Request) -> Caller:
        """Return the caller of a request before any of its body is read."""
        path, caller = request.scope["path"], self._anyone
        if not self._callers:
            _require_local(request)
        if path in PUBLIC:
            return caller
        if self._callers:
            scheme, _, key = request.headers.get("authorization", "").partition(" ")
            given = digest(key)
            found = [one for own, one in self._callers.items() if hmac.compare_digest(own, given)]
            if not found or scheme.lower() != "bearer":
                detail = "the API key is missing or unknown; send 'Authorization: Bearer KEY'"
                raise Problem(401, "unauthorised", detail, headers={"WWW-Authenticate": "Bearer"})
            caller = found[0]
        if request.headers.get("content-encoding", "identity").lower() != "identity":
            detail = "compressed bodies are not read; send the body without Content-Encoding"
            raise Problem(415, "unsupported_media_type", detail, headers={"Connection": "close"})
        announced = request.headers.get("content-length", "")
        if announced.isdecimal():
            self._require_size(path, int(announced))
        return caller

    def _require_size(self, path: str, n_bytes: int) -> None:
        most = _MAX_JOB_BYTES if path == _JOBS else MAX_BODY_BYTES
        if n_bytes > most:
            detail = f"the body is larger than the limit of {most:,} bytes; split it"
            raise Problem(413, "too_large", detail, headers={"Connection": "close"})

    def _bounded(self, path: str, receive: Receive) -> Receive:
        """Return `receive` with a limit on the size of the body and the time it takes to arrive."""
        n_bytes, ends, is_whole = 0, time.monotonic() + _READ_S, False

        async def bounded() -> Message:
            nonlocal n_bytes, is_whole
            if is_whole:
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), ends - time.monotonic())
            except asyncio.TimeoutError:
                detail = f"the body did not arrive within {_READ_S:g} s"
                raise Problem(408, "timeout", detail, headers={"Connection": "close"}) from None
            n_bytes += len(message.get("body", b""))
            self._require_size(path, n_bytes)
            is_whole = not message.get("more_body", False)
            return message

        return bounded
