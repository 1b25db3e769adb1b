"""The scripted model in a process of its own, so that it takes no time from what is measured.

    python -m benchmarks.runtime.server --latency 0.2

Prints its address, then answers commands on standard input with one line of JSON each:
`count`, `log` (what was asked, and when), `bodies` (requests as they came) and `clear`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.runtime.workload import facts_of, label_of
from factcheck.testing import ChatRequest, FactModel, LocalOpenAIServer, Reply, parse_prompt

if TYPE_CHECKING:
    from typing_extensions import Self

ROOT = Path(__file__).parents[2]


class Asked(NamedTuple):
    """One request that arrived."""

    question: str
    """Digest of the text and the facts: equal for the same question, whatever its ids."""
    kind: str
    """`extract` or `check`."""
    arrived: float
    """`time.monotonic()`, which all processes of a machine share."""


class ModelProcess:
    """A server in a process of its own; a context manager.

    Args:
        latency_s: Seconds before each answer is sent.
    """

    def __init__(self, latency_s: float) -> None:
        self.latency_s = latency_s
        self.base_url = ""

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "benchmarks.runtime.server"]
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            [*command, "--latency", str(self.latency_s)],
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

    def log(self) -> list[Asked]:
        """Requests that arrived, in order."""
        return [Asked(*asked) for asked in self._command("log")]

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


class _Journal:
    """Answers and remembers when each request came."""

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s
        self._model = FactModel(label_of, facts_of)
        self.arrivals: list[float] = []

    def __call__(self, request: ChatRequest) -> Reply:
        self.arrivals.append(time.monotonic())
        return Reply(self._model(request), delay_s=self._latency_s)


def asked(body: Any, arrived: float) -> Asked:
    """What a request asks, apart from the ids and numbers that change with every call."""
    prompt = parse_prompt(body)
    question = json.dumps([prompt.kind, prompt.text, list(prompt.facts.values())])
    return Asked(hashlib.sha256(question.encode()).hexdigest()[:16], prompt.kind, arrived)


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(description="A scripted model on the loopback interface.")
    parser.add_argument("--latency", type=float, required=True, metavar="SECONDS")
    journal = _Journal(parser.parse_args().latency)
    with LocalOpenAIServer(journal) as server:
        print(server.base_url, flush=True)
        for command in map(str.strip, sys.stdin):
            answer: Any = None
            if command == "count":
                answer = len(journal.arrivals)
            elif command == "bodies":
                answer = [request.body for request in server.requests]
            elif command == "log":
                requests = server.requests
                answer = [
                    asked(r.body, t) for r, t in zip(requests, journal.arrivals, strict=False)
                ]
            elif command == "clear":
                server.clear()
                journal.arrivals.clear()
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
