"""An OpenAI-compatible HTTP server on the loopback interface, with scripted answers."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from anyio.from_thread import start_blocking_portal

if TYPE_CHECKING:
    from aiohttp import web
    from typing_extensions import Self

_CHARS_PER_TOKEN = 4
_SHUTDOWN_S = 0.01
"""Seconds for open requests to finish when the server stops."""


@dataclass(frozen=True, slots=True)
class Request:
    """A recorded request."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Headers by lower-case name."""
    body: Any
    """The parsed JSON body, or the bytes of any other."""
    index: int
    """Position in the order of arrival over all endpoints, from 0."""
    in_flight: int
    """Number of requests in flight on arrival, including this one."""

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        """Messages of a request for a chat completion."""
        return tuple(self.body["messages"])


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply, good or faulty."""

    content: str | Sequence[Any] | None = ""
    """Content of the assistant's message, as a string or in parts."""
    finish_reason: str = "stop"
    refusal: str | None = None
    status: int = 200
    """HTTP status; from 400, `error` is sent instead of `content`."""
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)
    delay_s: float = 0.0
    """Seconds before anything is sent."""
    raw_body: bytes | None = None
    """Sent instead of JSON."""
    usage: Mapping[str, Any] | None = field(default=None, hash=False)
    """`prompt_tokens`, `completion_tokens` and details; by default, a quarter of the characters."""
    error: Mapping[str, Any] | None = field(default=None, hash=False)
    """`message`, `type`, `param` and `code` of an error reply; missing ones have defaults."""
    message: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Further keys of the assistant's message."""
    close: bool = False
    """Close the connection instead of answering, after `delay_s`."""


ChatAnswer = Callable[[Request], Reply | str]
"""Answers a chat request; a `str` is a normal completion with that content."""


def _completion(request: Request, reply: Reply) -> bytes:
    """Return a chat completion as JSON."""
    prompts = [str(message.get("content")) for message in request.messages]
    usage = reply.usage or {
        "prompt_tokens": _tokens(*prompts),
        "completion_tokens": _tokens(str(reply.content or reply.refusal or "")),
    }
    total = usage["prompt_tokens"] + usage["completion_tokens"]
    message = {"role": "assistant", "content": reply.content, "refusal": reply.refusal}
    choice = {"index": 0, "message": {**message, **reply.message}, "logprobs": None}
    completion = {
        "id": f"chatcmpl-{request.index}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request.body["model"],
        "choices": [{**choice, "finish_reason": reply.finish_reason}],
        "usage": {**usage, "total_tokens": total},
    }
    return json.dumps(completion).encode()


def body_of(reply: Reply) -> bytes:
    """Return the raw body of a reply, or else its error as JSON."""
    default = {"message": f"HTTP {reply.status}", "type": "error", "param": None, "code": None}
    error = json.dumps({"error": {**default, **(reply.error or {})}}).encode()
    return error if reply.raw_body is None else reply.raw_body


def _tokens(*texts: str) -> int:
    return math.ceil(sum(map(len, texts)) / _CHARS_PER_TOKEN)


Respond = Callable[..., Reply]


class LocalOpenAIServer:
    """A real HTTP server that answers from a script and records its requests.

    Serves `POST /v1/chat/completions` from a separate thread, and stops when the block ends. Any
    model name is accepted; nothing is streamed.

    Args:
        answer: Answers chat requests. It is called in the server's thread and must not block; use
            `Reply.delay_s` for delays.

    Raises:
        RuntimeError: On leaving the block, if `answer` raised; the client got HTTP 500.

    Example:
        >>> with LocalOpenAIServer(lambda request: "Yes.") as server:
        ...     server.base_url.startswith("http://127.0.0.1:")
        True
    """

    def __init__(self, answer: ChatAnswer) -> None:
        self._answer = answer
        self._port: int | None = None
        self._stack = ExitStack()
        self._connections: set[object] = set()
        self._errors: list[Exception] = []
        self.in_flight = 0
        """Current number of requests in flight, without those whose client has disconnected."""
        self.clear()

    @property
    def base_url(self) -> str:
        """Base URL for clients."""
        if self._port is None:
            raise RuntimeError("the server is not running; use it as a context manager")
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def requests(self) -> tuple[Request, ...]:
        return tuple(self._requests)

    @property
    def n_connections(self) -> int:
        """Number of connections that sent a request; less than `len(requests)` if reused."""
        return len(self._connections)

    def clear(self) -> None:
        """Clear the recorded requests and restart their index at 0."""
        self._requests: list[Request] = []

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            portal = stack.enter_context(start_blocking_portal(name="local-openai-server"))
            serving = portal.wrap_async_context_manager(self._serving())
            self._port = stack.enter_context(serving)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, raised: object, *_: object) -> None:
        self._stack.close()
        self._port = None
        if raised is None and self._errors:
            raise RuntimeError("an answer of the server raised") from self._errors[0]

    @asynccontextmanager
    async def _serving(self) -> AsyncIterator[int]:
        """Serve on a free port, which is yielded."""
        from aiohttp import web

        runner = web.AppRunner(
            self._app(), access_log=None, handler_cancellation=True, shutdown_timeout=_SHUTDOWN_S
        )
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
        yield runner.addresses[0][1]
        # asyncio leaks a connection accepted but not yet announced when the server closes
        while accepting := {t for t in asyncio.all_tasks() if "_accept" in repr(t.get_coro())}:
            await asyncio.gather(*accepting)
        await runner.cleanup()

    def _app(self) -> web.Application:
        from aiohttp import web

        app = web.Application(client_max_size=2**30)
        for method, path, respond in self.routes():
            app.router.add_route(method, path, self._handler(respond))
        return app

    def routes(self) -> Sequence[tuple[str, str, Respond]]:
        """Return method, path and answer of each endpoint; a subclass may add some."""
        return (("POST", "/v1/chat/completions", self.chat),)

    def _handler(self, respond: Respond) -> Callable[..., Any]:
        from aiohttp import web

        async def handle(request: web.Request) -> web.Response:
            body = await _body(request)
            self._connections.add(request.protocol)
            self.in_flight += 1
            headers = {name.lower(): value for name, value in request.headers.items()}
            place = len(self._requests)
            recorded = Request(request.method, request.path, headers, body, place, self.in_flight)
            self._requests.append(recorded)
            try:
                reply = respond(recorded, *request.match_info.values())
                if reply.delay_s:
                    await asyncio.sleep(reply.delay_s)
            except Exception as error:  # noqa: BLE001 - sent to the client, and raised on exit
                self._errors.append(error)
                message = f"the answer raised {error!r}"
                reply = Reply(status=500, error={"message": message, "type": "server_error"})
            finally:
                self.in_flight -= 1
            if reply.close and request.transport is not None:
                request.transport.close()
            headers = {"content-type": "application/json", "x-request-id": f"req_{place}"}
            return web.Response(
                status=reply.status, headers={**headers, **reply.headers}, body=body_of(reply)
            )

        return handle

    def chat(self, request: Request) -> Reply:
        """Answer a chat request; an error or a raw body is sent as it is."""
        answer = self._answer(request)
        reply = Reply(answer) if isinstance(answer, str) else answer
        if reply.status >= HTTPStatus.BAD_REQUEST or reply.raw_body is not None:
            return reply
        return replace(reply, raw_body=_completion(request, reply))


async def _body(request: web.Request) -> Any:
    """Return parsed JSON, or the bytes of anything else."""
    body = await request.read()
    try:
        return json.loads(body)
    except ValueError:
        return body
