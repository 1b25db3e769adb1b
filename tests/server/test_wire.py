"""The application behind uvicorn on the loopback: slow, lost and known clients, and any request."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi import checks

from factcheck import Model
from factcheck.testing import FactModel, LocalOpenAIServer, Reply, Request
from tests.server.conftest import Judge, api_key, app_of, running

CHECK = {"facts": ["Rome is old."], "text": "Rome is old."}
BODY = json.dumps(CHECK).encode()
KEY = "a-secret-key"


def connected(url: str) -> socket.socket:
    host, port = url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=20)


def head(length: int, *more: str) -> bytes:
    lines = ("POST /v1/check HTTP/1.1", "Host: localhost", "Content-Type: application/json")
    return "\r\n".join((*lines, f"Content-Length: {length}", *more, "", "")).encode()


def until(condition: Any, seconds: float = 10) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.02)


def test_a_body_that_drips_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("factcheck.server.access._READ_S", 0.5)
    judge = Judge()
    started = time.monotonic()
    with running(app_of(judge)) as url, connected(url) as client:
        client.sendall(head(1_000))
        client.settimeout(0.1)
        answer = b""
        while b"}" not in answer:
            assert time.monotonic() - started < 10
            try:
                answer += client.recv(4_096)
            except TimeoutError:
                client.sendall(b" ")
        client.settimeout(5)
        with suppress(ConnectionResetError):  # a space was on its way
            assert client.recv(1) == b""  # the connection is closed
        assert httpx.post(f"{url}/v1/check", json=CHECK).status_code == 200

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["code"] == "timeout"
    assert judge.n_calls == 1


def served(model: LocalOpenAIServer) -> Any:
    return app_of(Model("openai/scripted", base_url=model.base_url, api_key="none"))


def test_a_lost_reader_of_a_stream_cancels_its_work() -> None:
    with LocalOpenAIServer(lambda _: Reply("", delay_s=60)) as server:
        app = served(server)
        body = {"source": "", "summary": "Rome is old.", "facts": CHECK["facts"]}
        with running(app) as url:
            with httpx.stream("POST", f"{url}/v1/coverage/stream", json=body) as reply:
                lines = reply.iter_lines()
                assert "facts" in json.loads(next(lines))
                until(lambda: server.in_flight == 1)
            until(lambda: server.in_flight == 0)
            until(lambda: app.state.service.n_in_flight == 0)


def test_a_lost_client_cancels_its_work_and_is_answered_when_it_comes_back() -> None:
    answer = FactModel()

    def first_is_slow(request: Request) -> Reply:
        return Reply(answer(request), delay_s=0 if request.index else 60)

    with LocalOpenAIServer(first_is_slow) as server:
        app = served(server)
        with running(app) as url:
            with connected(url) as client:
                client.sendall(head(len(BODY)) + BODY)
                until(lambda: server.in_flight == 1)
            until(lambda: server.in_flight == 0)
            until(lambda: app.state.service.n_in_flight == 0)
            metrics = httpx.get(f"{url}/metrics").text
            reply = httpx.post(f"{url}/v1/check", json=CHECK)

    assert 'factcheck_requests_total{route="/v1/check",status="499"} 1.0' in metrics
    assert reply.json()["results"][0]["label"] == "entailed"


def test_a_client_that_leaves_before_its_body_is_complete_is_no_fault_of_the_service(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "factcheck.server")
    with LocalOpenAIServer(FactModel()) as server, running(served(server)) as url:
        with connected(url) as client:
            client.sendall(head(len(BODY)) + BODY[:1])
        until(lambda: "POST /v1/check 499" in caplog.text)
    assert "ClientDisconnect" not in caplog.text


@pytest.mark.parametrize(("seconds", "status"), [(1, 200), (60, 503)])
def test_work_in_flight_at_a_shutdown_is_finished(
    seconds: float, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Or, if it takes longer than the service waits, is refused."""
    answer = FactModel()
    replies: list[httpx.Response] = []
    with LocalOpenAIServer(lambda request: Reply(answer(request), delay_s=seconds)) as server:
        with running(served(server)) as url:
            post = threading.Thread(
                target=lambda: replies.append(httpx.post(f"{url}/v1/check", json=CHECK, timeout=30))
            )
            post.start()
            until(lambda: server.in_flight == 1)
        post.join()

    assert replies[0].status_code == status
    assert "Traceback" not in caplog.text


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    jobs = str(tmp_path_factory.mktemp("jobs") / "jobs.db")
    with running(app_of("local-fast", keys=[api_key(KEY)], jobs_path=jobs)) as url:
        yield schemathesis.openapi.from_url(f"{url}/openapi.json")


@schemathesis.serializer("application/x-ndjson")
def as_lines(_context: Any, value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


@pytest.mark.parametrize("mode", GenerationMode)
def test_no_request_breaks_the_service_or_its_schema(mode: GenerationMode, document: Any) -> None:
    """Valid requests may state no fact, invalid ones may differ in a header that is ignored."""
    headers = {"Authorization": f"Bearer {KEY}", "Factcheck-Deadline-Ms": "60000"}
    excluded = [checks.positive_data_acceptance, checks.negative_data_rejection]
    operations = [found.ok() for found in document.get_all_operations()]
    assert len(operations) > 10
    for operation in operations:
        if mode is GenerationMode.NEGATIVE and not operation.body:
            continue

        @given(operation.as_strategy(generation_mode=mode))
        @settings(max_examples=6, derandomize=True, phases=[Phase.generate])
        def ask(case: schemathesis.Case[Any]) -> None:
            # starlette's `Allow` names the methods of one route
            case.call_and_validate(
                headers=headers, excluded_checks=[*excluded, checks.unsupported_method]
            )

        ask()
