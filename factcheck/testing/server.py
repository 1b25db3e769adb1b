"""An OpenAI-compatible HTTP server on the loopback interface, with scripted answers."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from factcheck.testing.replies import (
    ChatAnswer,
    ChatRequest,
    EmbeddingsAnswer,
    EmbeddingsRequest,
    Reply,
    Request,
    body_of,
    chat_reply,
    embeddings_reply,
    error_reply,
    hashed_embeddings,
)

if TYPE_CHECKING:
    from aiohttp import web
    from typing_extensions import Self

_BACKLOG = 1024
_MAX_BODY = 2**30
_SHUTDOWN_S = 0.01
"""Seconds for open requests to finish when the server stops."""
_KINDS = {"/v1/chat/completions": ChatRequest, "/v1/embeddings": EmbeddingsRequest}
Respond = Callable[..., Reply]


class LocalOpenAIServer:
    """A real HTTP server that answers from a script and records its requests.

    Serves `POST /v1/chat/completions` and `POST /v1/embeddings` from a separate thread, and stops
    when the block ends. Any model name is accepted. Streaming and `n > 1` are rejected.

    Args:
        answer: Answers chat requests. It is called in the server's thread and must not block; use
            `Reply.delay_s` for delays.
        embed: Answers requests for embeddings.

    Raises:
        RuntimeError: On leaving the block, if `answer` or `embed` raised; the client got HTTP 500.

    Example:
        >>> with LocalOpenAIServer(lambda request: "Yes.") as server:
        ...     server.base_url.startswith("http://127.0.0.1:")
        True
    """

    def __init__(self, answer: ChatAnswer, *, embed: EmbeddingsAnswer = hashed_embeddings) -> None:
        self._answer = answer
        self._embed = embed
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
            await web.TCPSite(runner, "127.0.0.1", 0, backlog=_BACKLOG).start()
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

        app = web.Application(client_max_size=_MAX_BODY)
        for method, path, respond in (*self.routes(), ("*", "/{rest:.*}", _unknown_url)):
            app.router.add_route(method, path, self._handler(respond))
        return app

    def routes(self) -> Sequence[tuple[str, str, Respond]]:
        """Return method, path and answer of each endpoint; a subclass may add some."""
        return (
            ("POST", "/v1/chat/completions", self.chat),
            ("POST", "/v1/embeddings", self._embeddings),
        )

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
        kind = _KINDS.get(request.path, Request)
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
        return _refusal(request, "messages") or chat_reply(request, self._answer(request))

    def _embeddings(self, request: EmbeddingsRequest) -> Reply:
        return _refusal(request, "input") or embeddings_reply(request, self._embed(request))


def _unknown_url(request: Request, _path: str) -> Reply:
    return error_reply(404, f"Unknown request URL: {request.method} {request.path}", "unknown_url")


async def _body(request: web.Request) -> Any:
    """Return parsed JSON, or the fields of a form as bytes; `None` for anything else."""
    if request.content_type == "multipart/form-data":
        form = await request.post()
        return {
            name: field.encode() if isinstance(field, str) else field.file.read()
            for name, field in form.items()
            if not isinstance(field, (bytes, bytearray))
        }
    try:
        return json.loads(await request.read())
    except ValueError:
        return None


def _refusal(request: Request, required: str) -> Reply | None:
    """Refuse a body that the API would reject, or that this server does not support."""
    body = request.body
    if not isinstance(body, dict):
        problem = "the body is not a JSON object"
    elif not isinstance(body.get("model"), str):
        problem = "you must provide a model parameter"
    elif not body.get(required):
        problem = f"{required!r} is missing or empty"
    elif body.get("stream") or body.get("n", 1) != 1:
        problem = "this server supports neither streaming nor n > 1"
    else:
        return None
    return error_reply(400, problem, "invalid_body")
