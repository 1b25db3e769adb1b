"""The scripted model in a process of its own, so that it takes no time from what is measured.

    python -m benchmarks.runtime.server --latency 0.2

Prints its address, then answers commands on standard input with one line of JSON each: `count`,
`bodies` (requests as they came) and `clear`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from benchmarks.runtime.workload import facts_of, label_of
from factcheck.testing import FactModel, LocalOpenAIServer, Reply

if TYPE_CHECKING:
    from typing_extensions import Self

ROOT = Path(__file__).parents[2]


class ModelProcess:
    """A server in a process of its own; a context manager.

    Args:
        latency_s: Seconds before each answer is sent.
    """

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s
        self.base_url = ""

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "benchmarks.runtime.server"]
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            [*command, "--latency", str(self._latency_s)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.base_url = self._line()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._process:
            if self._process.stdin is not None:
                self._process.stdin.close()

    def count(self) -> int:
        """Requests that arrived."""
        return int(self._command("count"))

    def bodies(self) -> list[dict[str, Any]]:
        """Requests as they arrived, in order."""
        bodies: list[dict[str, Any]] = self._command("bodies")
        return bodies

    def clear(self) -> None:
        """Forget all requests."""
        self._command("clear")

    def _command(self, name: str) -> Any:
        if self._process.stdin is None:
            raise RuntimeError("the server has no standard input")
        self._process.stdin.write(f"{name}\n")
        self._process.stdin.flush()
        return json.loads(self._line())

    def _line(self) -> str:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise RuntimeError("the server has ended")
        return line.rstrip("\n")


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(description="A scripted model on the loopback interface.")
    parser.add_argument("--latency", type=float, required=True, metavar="SECONDS")
    latency_s = parser.parse_args().latency
    model = FactModel(label_of, facts_of)
    with LocalOpenAIServer(lambda request: Reply(model(request), delay_s=latency_s)) as server:
        print(server.base_url, flush=True)
        for command in map(str.strip, sys.stdin):
            answer: Any = None
            if command == "count":
                answer = len(server.requests)
            elif command == "bodies":
                answer = [request.body for request in server.requests]
            elif command == "clear":
                server.clear()
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
