"""Applications and their judges, and the service as a process of its own."""

from __future__ import annotations

import asyncio
import hashlib
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi.testclient import TestClient

from factcheck.server import ApiKey, ServerConfig, create_app
from factcheck.testing import (
    FactModel,
    LocalOpenAIServer,
    Reply,
    ScriptedChecker,
    ScriptedExtractor,
)

ROOT = Path(__file__).resolve().parents[2]
LATENCY_S = 0.02
Start = Callable[..., "Service"]


class Judge(ScriptedExtractor):
    """Lists the sentences of a text, and judges facts by a script, each check after a pause."""

    def __init__(self, script: Any = lambda *_: "entailed", delay_s: float = 0.0) -> None:
        super().__init__(lambda text: [f"{one}." for one in text.rstrip(".").split(". ")])
        self.checker = ScriptedChecker(script)
        self.delay_s = delay_s

    async def check(self, *arguments: Any) -> Any:
        await asyncio.sleep(self.delay_s)
        return await self.checker.check(*arguments)

    @property
    def n_calls(self) -> int:
        return len(self.calls) + len(self.checker.calls)


def app_of(judge: Any, **config: Any) -> Any:
    """An application with this judge, as `main`, or these."""
    judges = judge if isinstance(judge, dict) else {"main": judge}
    return create_app(ServerConfig(judges=judges, **{"cache": "off", **config}))


def client_of(app: Any, **headers: str) -> TestClient:
    """A client in this process, which names the host as a service without keys expects."""
    return TestClient(app, base_url="http://127.0.0.1", headers=headers)


def serving(judge: Any = "local-fast", **config: Any) -> TestClient:
    """A client of an application with this judge."""
    return client_of(app_of(judge, **config))


def api_key(key: str, name: str = "team", **limits: Any) -> ApiKey:
    return ApiKey(name, hashlib.sha256(key.encode()).hexdigest(), **limits)


class Service:
    """`factcheck serve` on a free port, with these options, after some code."""

    def __init__(self, *options: str, patch: str = "") -> None:
        code = f"{patch}\nfrom factcheck.cli import main\nmain()"
        self.process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-c", code, "serve", "--port", "0", *options],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        first = self.process.stderr.readline()
        found = re.fullmatch(r"Serving (.+) on (http://.+)\n", first)
        assert found is not None, first + self.process.stderr.read()
        self.judges, self.url = found.groups()

    def job(self, lines: Iterable[str], **query: str) -> str:
        """Submit a job and return its address."""
        body = "".join(f"{line}\n" for line in lines)
        answer = httpx.post(f"{self.url}/v1/jobs", content=body, params=query)
        assert answer.status_code == 202, answer.text
        return f"/v1/jobs/{answer.json()['id']}"

    def get(self, path: str) -> Any:
        answer = httpx.get(f"{self.url}{path}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def wait(self, job: str, n_rows: int | None = None) -> Any:
        """The status of a job once it has so many rows; by default, once it has ended."""
        while True:
            status = self.get(job)
            if status["state"] not in {"queued", "running"}:
                return status
            if n_rows is not None and status["rows"] >= n_rows:
                return status
            time.sleep(0.02)

    def rows(self, job: str) -> str:
        return httpx.get(f"{self.url}{job}/rows").text

    def stop(self, how: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """The exit code, and what was logged."""
        self.process.send_signal(how)
        _, log = self.process.communicate(timeout=60)
        return self.process.returncode, log


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts services, which end with the test."""
    started: list[Service] = []

    def serve(*options: str, patch: str = "") -> Service:
        started.append(Service(*options, patch=patch))
        return started[-1]

    yield serve
    for service in started:
        if service.process.poll() is None:
            service.stop(signal.SIGKILL)
        if service.process.stderr is not None:
            service.process.stderr.close()


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalOpenAIServer]:
    """A scripted model that takes 20 ms, as `openai/NAME`."""
    answer = FactModel()
    with LocalOpenAIServer(lambda request: Reply(answer(request), delay_s=LATENCY_S)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield server


@contextmanager
def running(app: Any) -> Iterator[str]:
    """Serve an application from a thread; yields its address."""
    config = uvicorn.Config(app, port=0, log_config=None, timeout_graceful_shutdown=5)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        host, port = server.servers[0].sockets[0].getsockname()
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture
def serve() -> Iterator[Callable[[Any], str]]:
    """Serves applications until the test ends, and returns their addresses."""
    with ExitStack() as stack:
        yield lambda app: stack.enter_context(running(app))
