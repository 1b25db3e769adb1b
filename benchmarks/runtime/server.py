"""The scripted model in a process of its own, so that it takes no time from what is measured."""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from benchmarks.runtime.workload import facts_of, label_of
from factcheck.testing import FactModel, LocalOpenAIServer, Reply

if TYPE_CHECKING:
    from typing_extensions import Self

_SPAWN = multiprocessing.get_context("spawn")


class ModelProcess:
    """A server in a process of its own; a context manager.

    Args:
        latency_s: Seconds before each answer is sent.
    """

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s
        self.base_url = ""

    def __enter__(self) -> Self:
        self._connection, other = _SPAWN.Pipe()
        self._process = _SPAWN.Process(target=serve, args=(other, self._latency_s))
        self._process.start()
        self.base_url = self._connection.recv()
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.send("end")
        self._process.join()

    def bodies(self) -> list[dict[str, Any]]:
        """Requests as they arrived since they were last forgotten, in order."""
        self._connection.send("bodies")
        bodies: list[dict[str, Any]] = self._connection.recv()
        return bodies

    def clear(self) -> None:
        """Forget all requests."""
        self._connection.send("clear")
        self._connection.recv()


def serve(connection: Connection, latency_s: float) -> None:
    """Send the address, then do what is asked until the end."""
    model = FactModel(label_of, facts_of)
    with LocalOpenAIServer(lambda request: Reply(model(request), delay_s=latency_s)) as server:
        connection.send(server.base_url)
        while (command := connection.recv()) != "end":
            if command == "bodies":
                connection.send([request.body for request in server.requests])
            else:
                server.clear()
                connection.send(None)
