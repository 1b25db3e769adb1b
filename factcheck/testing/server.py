"""An OpenAI-compatible HTTP server on the loopback interface, with scripted answers."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from factcheck.testing.batches import BatchPlan, BatchService
from factcheck.testing.replies import (
    ChatAnswer,
    ChatRequest,
    EmbeddingsAnswer,
    EmbeddingsRequest,
    Request,
    chat_response,
    embeddings_response,
    error_response,
    hashed_embeddings,
    models_response,
)
from factcheck.testing.wire import Connection, HttpRequest, HttpResponse, parse_form

if TYPE_CHECKING:
    from typing_extensions import Self

_BACKLOG = 1024


class LocalOpenAIServer:
    """A real HTTP server that answers as it is told, and remembers what it was asked.

    Serves `POST /v1/chat/completions`, `POST /v1/embeddings`, `GET /v1/models` and batches of
    chat requests (`/v1/files`, `/v1/batches`) from a thread of its own, and stops when the block
    ends. Streaming and `n > 1` are refused, not ignored.

    Args:
        answer: Answers chat requests. Called in the server's thread, so it must not block; use
            `Reply.delay_s` to take time.
        embed: Answers requests for embeddings.
        models: Names listed as models. Requests may name any model.
        batches: What becomes of batches. Their requests are answered by `answer`, but do not
            count among `requests`.

    Raises:
        RuntimeError: On leaving the block, if `answer` or `embed` raised; the client got HTTP 500.

    Example:
        >>> with LocalOpenAIServer(lambda request: "Yes.") as server:
        ...     server.base_url.startswith("http://127.0.0.1:")
        True
    """

    def __init__(
        self,
        answer: ChatAnswer,
        *,
        embed: EmbeddingsAnswer = hashed_embeddings,
        models: Sequence[str] = ("local-model",),
        batches: BatchPlan | None = None,
    ) -> None:
        self._service = _OpenAIService(answer, embed, models, batches or BatchPlan())
        self._loop: asyncio.AbstractEventLoop | None = None
        self._port = 0

    @property
    def base_url(self) -> str:
        """The `base_url` to give to a client."""
        if self._loop is None:
            raise RuntimeError("the server is not running; use it as a context manager")
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def requests(self) -> tuple[Request, ...]:
        """Everything that was asked, in order of arrival."""
        return tuple(self._service.requests)

    @property
    def max_in_flight(self) -> int:
        """The largest number of requests that waited for an answer at the same time."""
        return self._service.max_in_flight

    @property
    def in_flight(self) -> int:
        """Requests that wait for an answer now; those whose client has left do not count."""
        return self._service.in_flight

    @property
    def n_connections(self) -> int:
        """Connections opened so far; less than `len(requests)` where they were used again."""
        return self._service.n_connections

    def clear(self) -> None:
        """Forget all requests and count from 0 again."""
        self._service.clear()

    def __enter__(self) -> Self:
        self._loop = loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=loop.run_forever, name="local-openai-server", daemon=True
        )
        self._thread.start()
        try:
            self._listener = asyncio.run_coroutine_threadsafe(self._listen(loop), loop).result()
        except BaseException:
            self._stop_loop()
            raise
        self._port = self._listener.sockets[0].getsockname()[1]
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._loop is None:
            raise RuntimeError("the server is not running")
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._stop_loop()
        if exc is None and self._service.errors:
            raise RuntimeError("an answer of the server raised") from self._service.errors[0]

    async def _listen(self, loop: asyncio.AbstractEventLoop) -> asyncio.Server:
        return await loop.create_server(
            lambda: Connection(self._service, loop), "127.0.0.1", 0, backlog=_BACKLOG
        )

    async def _close(self) -> None:
        # asyncio forgets a connection that it accepted but could not announce before the close
        while accepting := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.gather(*accepting)
        self._listener.close()
        for connection in tuple(self._service.connections):
            connection.abort()
        while self._service.connections:  # noqa: ASYNC110 - one turn of the loop, no polling
            await asyncio.sleep(0)
        await self._listener.wait_closed()

    def _stop_loop(self) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._loop = None


class _Route(NamedTuple):
    """What an endpoint is asked, and who answers it."""

    kind: type[Request]
    respond: Callable[[Any], HttpResponse]


class _OpenAIService:
    """Routes requests to answers and keeps the record; lives in the server's thread."""

    def __init__(
        self,
        answer: ChatAnswer,
        embed: EmbeddingsAnswer,
        models: Sequence[str],
        batches: BatchPlan,
    ) -> None:
        self._answer = answer
        self._embed = embed
        self._models = tuple(models)
        self._batches = BatchService(batches, self._chat)
        self._routes: Mapping[tuple[str, str], _Route] = {
            ("POST", "/v1/chat/completions"): _Route(ChatRequest, self._chat),
            ("POST", "/v1/embeddings"): _Route(EmbeddingsRequest, self._embeddings),
            ("GET", "/v1/models"): _Route(Request, self._list_models),
        }
        self.connections: set[Connection] = set()
        self.errors: list[Exception] = []
        self.in_flight = 0
        self.n_connections = 0
        self.clear()

    def clear(self) -> None:
        self.requests: list[Request] = []
        self.max_in_flight = 0

    def connected(self, connection: Connection) -> None:
        self.n_connections += 1
        self.connections.add(connection)

    def disconnected(self, connection: Connection) -> None:
        self.connections.discard(connection)

    def done(self) -> None:
        self.in_flight -= 1

    def answer(self, request: HttpRequest) -> HttpResponse:
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        route = self._route(request)
        recorded = self._record(route.kind, request)
        try:
            return route.respond(recorded)
        except Exception as error:  # noqa: BLE001 - told to the client, and raised again on exit
            self.errors.append(error)
            return error_response(recorded, 500, f"the answer raised {error!r}", "answer_raised")

    def _route(self, request: HttpRequest) -> _Route:
        route = self._routes.get((request.method, request.path))
        if route is not None:
            return route
        respond = self._batches.responder(request.method, request.path)
        return _NO_ROUTE if respond is None else _Route(Request, respond)

    def _record(self, kind: type[Request], request: HttpRequest) -> Request:
        recorded = kind(
            method=request.method,
            path=request.path,
            headers=request.headers,
            body=_parse_body(request),
            index=len(self.requests),
            in_flight=self.in_flight,
        )
        self.requests.append(recorded)
        return recorded

    def _chat(self, request: ChatRequest) -> HttpResponse:
        problem = _problem(request.body, "messages")
        if problem is not None:
            return error_response(request, 400, problem, "invalid_body")
        return chat_response(request, self._answer(request))

    def _embeddings(self, request: EmbeddingsRequest) -> HttpResponse:
        problem = _problem(request.body, "input")
        if problem is not None:
            return error_response(request, 400, problem, "invalid_body")
        return embeddings_response(request, self._embed(request))

    def _list_models(self, request: Request) -> HttpResponse:
        return models_response(request, self._models)


def _unknown_url(request: Request) -> HttpResponse:
    message = f"Unknown request URL: {request.method} {request.path}"
    return error_response(request, 404, message, "unknown_url")


_NO_ROUTE = _Route(Request, _unknown_url)


def _parse_body(request: HttpRequest) -> Any:
    form = parse_form(request)
    if form is not None:
        return form
    try:
        return json.loads(request.body)
    except ValueError:
        return None


def _problem(body: Any, required: str) -> str | None:
    """What is wrong with a body, as far as the API itself would refuse it."""
    if not isinstance(body, dict):
        return "the body is not a JSON object"
    if not isinstance(body.get("model"), str):
        return "you must provide a model parameter"
    if not body.get(required):
        return f"{required!r} is missing or empty"
    if body.get("stream") or body.get("n", 1) != 1:
        return "this server neither streams nor gives more than one choice"
    return None
