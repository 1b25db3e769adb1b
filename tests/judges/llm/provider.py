"""A server for the protocols of other providers than OpenAI."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar


class Provider(ThreadingHTTPServer):
    """Answers requests, and keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: list[dict[str, Any]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, path: str, body: Any) -> Any:
        """Return what is answered: JSON, text, or the status of an error."""
        raise NotImplementedError


class _Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.bodies.append(body)
        self._send(self.server.answer(self.path, body))

    def do_GET(self) -> None:
        self._send(self.server.answer(self.path, None))

    def _send(self, answer: Any) -> None:
        data = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
        self.send_response(answer if isinstance(answer, int) else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


P = TypeVar("P", bound=Provider)


@contextmanager
def providing(server: P) -> Iterator[P]:
    """Run a server in a block."""
    with server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()
