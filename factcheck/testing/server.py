"""An OpenAI-compatible HTTP server on the loopback interface, with scripted answers."""

from __future__ import annotations

import asyncio
import json
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aiohttp import web
    from typing_extensions import Self

FIRST_ERROR = 400
"""Lowest HTTP status of an error."""
_CHARS_PER_TOKEN = 4
_SHUTDOWN_S = 0.01
"""Seconds for open requests to finish when the server stops."""
_CHAT = "/v1/chat/completions"


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


@dataclass(frozen=True, slots=True)
class ChatRequest(Request):
    """A request for a chat completion."""

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
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


ChatAnswer = Callable[[ChatRequest], Reply | str]
"""Answers a chat request; a `str` is a normal completion with that content."""


def chat_reply(request: ChatRequest, answer: Reply | str) -> Reply:
    """Render a chat completion; an error or a raw body is returned as it is."""
    reply = Reply(answer) if isinstance(answer, str) else answer
    if reply.status >= FIRST_ERROR or reply.raw_body is not None:
        return reply
    usage = reply.usage or {
        "prompt_tokens": _tokens(*(str(message.get("content")) for message in request.messages)),
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
    return replace(reply, raw_body=json.dumps(completion).encode())


def body_of(reply: Reply) -> bytes:
    """Return the raw body of a reply, or else its error as JSON."""
    default = {"message": f"HTTP {reply.status}", "type": "error", "param": None, "code": None}
    error = json.dumps({"error": {**default, **(reply.error or {})}}).encode()
    return error if reply.raw_body is None else reply.raw_body


def _tokens(*texts: str) -> int:
    return math.ceil(sum(map(len, texts)) / _CHARS_PER_TOKEN)


def error_reply(
    status: int, message: str, code: str | None, kind: str = "invalid_request_error"
) -> Reply:
    """Return an error reply in OpenAI's format."""
    error = {"message": message, "type": kind, "param": None, "code": code}
    return Reply(status=status, error=error)


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
        started: Future[tuple[int, Callable[[], object]]] = Future()

        def serve() -> None:
            asyncio.run(self._serve(started))

        self._thread = threading.Thread(target=serve, name="local-openai-server", daemon=True)
        self._thread.start()
        self._port, self._stop = started.result()
        return self

    def __exit__(self, raised: object, *_: object) -> None:
        self._stop()
        self._thread.join()
        self._port = None
        if raised is None and self._errors:
            raise RuntimeError("an answer of the server raised") from self._errors[0]

    async def _serve(self, started: Future[tuple[int, Callable[[], object]]]) -> None:
        """Serve until stopped; `started` receives the port and a function that stops the server."""
        from aiohttp import web

        loop, stopped = asyncio.get_running_loop(), asyncio.Event()
        runner = web.AppRunner(
            self._app(), access_log=None, handler_cancellation=True, shutdown_timeout=_SHUTDOWN_S
        )
        try:
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
        except BaseException as error:  # noqa: BLE001 - raised where the server is entered
            started.set_exception(error)
            return
        started.set_result((runner.addresses[0][1], lambda: loop.call_soon_threadsafe(stopped.set)))
        await stopped.wait()
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
        return (("POST", _CHAT, self.chat),)

    def _handler(self, respond: Respond) -> Callable[..., Any]:
        from aiohttp import web

        async def handle(request: web.Request) -> web.Response:
            body = await _body(request)
            self._connections.add(request.protocol)
            self.in_flight += 1
            try:
                recorded = self._record(request, body)
                reply = self._reply(respond, recorded, request)
                if reply.delay_s:
                    await asyncio.sleep(reply.delay_s)
            finally:
                self.in_flight -= 1
            if reply.close and request.transport is not None:
                request.transport.close()
            headers = {"content-type": "application/json", "x-request-id": f"req_{recorded.index}"}
            return web.Response(
                status=reply.status, headers={**headers, **reply.headers}, body=body_of(reply)
            )

        return handle

    def _record(self, request: web.Request, body: Any) -> Request:
        kind = ChatRequest if request.path == _CHAT else Request
        headers = {name.lower(): value for name, value in request.headers.items()}
        place = len(self._requests)
        recorded = kind(request.method, request.path, headers, body, place, self.in_flight)
        self._requests.append(recorded)
        return recorded

    def _reply(self, respond: Respond, recorded: Request, request: web.Request) -> Reply:
        try:
            return respond(recorded, *request.match_info.values())
        except Exception as error:  # noqa: BLE001 - sent to the client, and raised on exit
            self._errors.append(error)
            return error_reply(500, f"the answer raised {error!r}", "answer_raised", "server_error")

    def chat(self, request: ChatRequest) -> Reply:
        """Answer a chat request."""
        return chat_reply(request, self._answer(request))


async def _body(request: web.Request) -> Any:
    """Return parsed JSON, or the bytes of anything else."""
    body = await request.read()
    try:
        return json.loads(body)
    except ValueError:
        return body
