"""HTTP/1.1 on one connection, as much of it as an API client uses. Knows nothing of OpenAI."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import NamedTuple, Protocol, cast


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request, read to its end."""

    method: str
    path: str
    """Without the query."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    keep_alive: bool
    """Whether the client wants to use the connection again."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """What goes back, and when."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    delay_s: float = 0.0
    """Seconds to wait before anything is sent."""
    close: bool = False
    """Close the connection instead of answering."""


class MalformedRequest(ValueError):
    """The bytes are not an HTTP/1.1 request."""


class Parsed(NamedTuple):
    """A request and the number of bytes it took."""

    request: HttpRequest
    length: int


class Service(Protocol):
    """What a connection tells, and asks for answers; all calls come from the loop's thread."""

    def connected(self, connection: Connection) -> None:
        """A client has connected."""

    def disconnected(self, connection: Connection) -> None:
        """A connection is gone, whoever closed it."""

    def answer(self, request: HttpRequest) -> HttpResponse:
        """The answer to a request that has just arrived."""
        ...

    def done(self) -> None:
        """A request was answered, or its client has left."""


class Connection(asyncio.Protocol):
    """Answers the requests of one connection, in order and one at a time."""

    _transport: asyncio.Transport

    def __init__(self, service: Service, loop: asyncio.AbstractEventLoop) -> None:
        self._service = service
        self._loop = loop
        self._buffer = bytearray()
        self._waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the event loop."""
        self._transport = cast("asyncio.Transport", transport)
        self._service.connected(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's name
        """Called by the event loop; a client that left is not waited for."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
            self._service.done()
        self._service.disconnected(self)

    def data_received(self, data: bytes) -> None:
        """Called by the event loop."""
        self._buffer += data
        self._answer_buffered()

    def abort(self) -> None:
        """Close at once, whatever is under way."""
        self._transport.abort()

    def _answer_buffered(self) -> None:
        while self._waiting is None and not self._transport.is_closing():
            try:
                parsed = parse_request(self._buffer)
            except MalformedRequest as error:
                refusal = HttpResponse(400, {"content-type": "text/plain"}, str(error).encode())
                self._write(refusal, keep_alive=False)
                return
            if parsed is None:
                return
            request, length = parsed
            del self._buffer[:length]
            response = self._service.answer(request)
            if response.delay_s > 0:
                self._waiting = self._loop.call_later(
                    response.delay_s, self._answer_late, response, request.keep_alive
                )
            else:
                self._finish(response, keep_alive=request.keep_alive)

    def _answer_late(self, response: HttpResponse, keep_alive: bool) -> None:  # noqa: FBT001 - call_later has no keywords
        self._waiting = None
        self._finish(response, keep_alive=keep_alive)
        self._answer_buffered()

    def _finish(self, response: HttpResponse, *, keep_alive: bool) -> None:
        self._service.done()
        if response.close:
            self._transport.close()
        else:
            self._write(response, keep_alive=keep_alive)

    def _write(self, response: HttpResponse, *, keep_alive: bool) -> None:
        self._transport.write(render(response, keep_alive=keep_alive))
        if not keep_alive:
            self._transport.close()


def render(response: HttpResponse, *, keep_alive: bool) -> bytes:
    """The bytes of a response."""
    lines = [f"HTTP/1.1 {response.status} {_phrase(response.status)}"]
    lines += [f"{name}: {value}" for name, value in response.headers.items()]
    lines.append(f"content-length: {len(response.body)}")
    lines.append(f"connection: {'keep-alive' if keep_alive else 'close'}")
    return "\r\n".join((*lines, "", "")).encode("latin-1") + response.body


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


def parse_request(data: bytes | bytearray) -> Parsed | None:
    """The first request in `data`, or `None` as long as it is not complete.

    Raises:
        MalformedRequest: No more bytes can make it a request.
    """
    head_end = data.find(b"\r\n\r\n")
    if head_end < 0:
        return None
    first, *lines = data[:head_end].decode("latin-1").split("\r\n")
    try:
        method, target, version = first.split(" ")
    except ValueError:
        raise MalformedRequest(f"not a request line: {first!r}") from None
    headers = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(":") for line in lines)
    }
    body = _read_body(data, head_end + 4, headers)
    if body is None:
        return None
    keep_alive = version == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
    path = target.partition("?")[0]
    return Parsed(HttpRequest(method, path, headers, body.content, keep_alive), body.end)


class _Body(NamedTuple):
    content: bytes
    end: int


def _read_body(data: bytes | bytearray, start: int, headers: Mapping[str, str]) -> _Body | None:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return _read_chunks(data, start)
    end = start + _size(headers.get("content-length", "0"), 10)
    return _Body(bytes(data[start:end]), end) if len(data) >= end else None


def _read_chunks(data: bytes | bytearray, start: int) -> _Body | None:
    chunks: list[bytes] = []
    while (line_end := data.find(b"\r\n", start)) >= 0:
        size = _size(data[start:line_end].decode("latin-1").partition(";")[0], 16)
        if size == 0:
            return _after_trailers(data, line_end, b"".join(chunks))
        begin, end = line_end + 2, line_end + 2 + size
        if len(data) < end + 2:
            return None
        chunks.append(bytes(data[begin:end]))
        start = end + 2
    return None


def _after_trailers(data: bytes | bytearray, last_line_end: int, content: bytes) -> _Body | None:
    end = data.find(b"\r\n\r\n", last_line_end)
    return _Body(content, end + 4) if end >= 0 else None


def _size(digits: str, base: int) -> int:
    try:
        size = int(digits, base)
    except ValueError:
        size = -1
    if size < 0:
        raise MalformedRequest(f"not a length: {digits!r}")
    return size


def parse_form(request: HttpRequest) -> dict[str, bytes] | None:
    """The fields of a `multipart/form-data` body by name; `None` for any other body."""
    kind, _, parameters = request.headers.get("content-type", "").partition(";")
    boundary = parameters.partition("boundary=")[2].strip('" ')
    if kind.strip().lower() != "multipart/form-data" or not boundary:
        return None
    fields = {}
    for part in request.body.split(b"--" + boundary.encode())[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        name = re.search(rb'[; ]name="([^"]*)"', head)
        if name is not None:
            fields[name[1].decode("latin-1")] = content.removesuffix(b"\r\n")
    return fields
