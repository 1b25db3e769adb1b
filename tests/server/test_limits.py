"""Requests that are not admitted cost no call of a judge."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from factcheck import Model
from factcheck.errors import ConfigError
from factcheck.server import ServerConfig, create_app
from factcheck.testing import FactModel, LocalOpenAIServer
from tests.server.conftest import Judge, api_key, serving

KEY, OTHER = "a-secret-key", "another-key"
CHECK = {"facts": ["Rome is old."], "text": "Rome is old."}
UNPRICED = Model("openai/scripted", base_url="http://127.0.0.1:9/v1", api_key="none")


@pytest.fixture
def judge() -> Judge:
    return Judge()


CHAT = {"model": "main", "messages": [{"role": "user", "content": "Document: A.\nClaim: A."}]}


def raw(content: Any) -> dict[str, Any]:
    return {"content": content, "headers": {"content-type": "application/json"}}


def sent(**headers: str) -> dict[str, Any]:
    return {"json": CHECK, "headers": {key.replace("_", "-"): one for key, one in headers.items()}}


def fact(**others: Any) -> dict[str, Any]:
    return {"facts": [{"text": "A.", **others}]}


CHECKS: dict[str, Any] = {
    "text too long": {"text": "a" * 200_001},
    "keys too long": {"a" * 200_001: 1},
    "too many facts": {"facts": ["A."] * 501},
    "no facts": {"facts": []},
    "blank fact": {"facts": [" "]},
    "fact with a word as weight": fact(weight="2"),
    "unknown key of a fact": fact(wait=2),
    "wrong type": {"text": 1},
    "unknown judge": {"judge": "openai/gpt-5"},
    "a replay": {"judge": "replay:/etc/passwd"},
    "an endpoint": {"base_url": "http://10.0.0.1"},
}
INVALID: dict[str, tuple[str, Any]] = {
    "a list": ("check", [CHECK]),
    "too many documents": ("facts", {"source": [{"text": "A."}] * 501}),
    "blank source": ("facts", {"source": " "}),
    "unknown key of a pair": ("equivalence", {"pairs": [{"gold": "", "extracted": "", "a": ""}]}),
    "number as text": ("coverage", {"source": "A.", "summary": 1}),
    "a chat model": ("chat/completions", {**CHAT, "model": "gpt-5"}),
    "a stream": ("chat/completions", {**CHAT, "stream": True}),
}
OTHERS: dict[str, tuple[str, dict[str, Any], int, str]] = {
    "announced too large": ("check", raw(b" " * 2_000_001), 413, "too_large"),
    "too large": ("check", raw([b" " * 100_000] * 21), 413, "too_large"),
    "not JSON": ("check", raw(b"{"), 422, "input"),
    "not UTF-8": ("check", raw(b'{"text": "\xff"}'), 422, "input"),
    "two keys": ("check", raw(b'{"text": "", "text": ""}'), 422, "input"),
    "nested": ("check", raw(b"[" * 2_000 + b"]" * 2_000), 422, "input"),
    "form": ("check", {"data": {"text": "a"}}, 415, "unsupported_media_type"),
    "no type": ("check", {"content": b"{}"}, 415, "unsupported_media_type"),
    "compressed": ("check", sent(Content_Encoding="gzip"), 415, "unsupported_media_type"),
    "deadline": ("check", sent(Factcheck_Deadline_Ms="0"), 422, "input"),
    "endless deadline": ("check", sent(Factcheck_Deadline_Ms="9" * 400), 422, "input"),
    "slash": ("check/", {"json": CHECK}, 404, "not_found"),
    "former route": ("keywords", {"json": CHECK}, 404, "not_found"),
    "no jobs": ("jobs", raw(b"{}"), 404, "not_found"),
}
REFUSED = {
    **{case: ("check", {"json": {**CHECK, **one}}, 422, "input") for case, one in CHECKS.items()},
    **{case: (path, {"json": body}, 422, "input") for case, (path, body) in INVALID.items()},
    **OTHERS,
}


def test_what_is_beyond_a_limit_is_refused_before_any_call(judge: Judge) -> None:
    with serving(judge) as client:
        for case, (path, request, status, code) in REFUSED.items():
            reply = client.post(f"/v1/{path}", **request)
            found = reply.status_code, reply.json()["code"], reply.headers["content-type"]
            assert found == (status, code, "application/problem+json"), (case, reply.text)
            assert len(reply.json()["detail"]) <= 300
        assert judge.n_calls == 0
        assert client.post("/v1/check", json=CHECK).status_code == 200  # it is still there


def test_without_a_known_key_nothing_is_answered(judge: Judge) -> None:
    with serving(judge, keys=[api_key(KEY)], host="0.0.0.0") as client:  # noqa: S104
        unknown: list[Any] = ["Bearer wrong", f"Bearer {KEY[:-1]}", f"Basic {KEY}", b"Bearer \xff"]
        for headers in ({}, {"X-Api-Key": KEY}, *({"Authorization": one} for one in unknown)):
            replies = [
                client.post("/v1/check", json=CHECK, headers=headers),
                client.post("/v1/check", content=b"{", headers=headers),
                client.post("/v1/nothing", headers=headers),
                client.get("/metrics", headers=headers),
            ]
            found = [(one.status_code, one.json()["code"]) for one in replies]
            assert found == [(401, "unauthorised")] * 4
            assert replies[0].headers["www-authenticate"] == "Bearer"
        for path in ("", "docs", "healthz", "readyz", "openapi.json"):
            assert client.get(f"/{path}").status_code == 200
        bearer = {"Authorization": f"bearer {KEY}"}
        assert client.post("/v1/check", json=CHECK, headers=bearer).status_code == 200
    assert judge.n_calls == 1


@pytest.mark.parametrize("host", ["x/healthz?", "x/healthz#", "x/openapi.json?", "/readyz?"])
def test_the_host_that_a_caller_names_opens_no_route(judge: Judge, host: str) -> None:
    """Older versions of Starlette read the path of `request.url` from it."""
    with serving(judge, keys=[api_key(KEY)]) as client:
        named = {"Host": host}
        assert client.post("/v1/check", json=CHECK, headers=named).status_code == 401
        assert client.get("/metrics", headers=named).status_code == 401
        too_large = {**named, "Authorization": f"Bearer {KEY}", "Content-Length": "9000000"}
        assert client.post("/v1/check", content=b"{}", headers=too_large).status_code == 413
    assert judge.n_calls == 0


def test_the_budget_of_a_key_is_its_own() -> None:
    keys = [api_key(KEY, max_calls=1), api_key(OTHER, "others", max_calls=5)]
    with LocalOpenAIServer(FactModel()) as server:
        model = Model("openai/scripted", base_url=server.base_url, api_key="none")
        with serving(model, keys=keys) as client:

            def ask(key: str, text: str, path: str = "check") -> Any:
                body = {"source": text} if path == "facts" else {**CHECK, "text": text}
                headers = {"Authorization": f"Bearer {key}"}
                return client.post(f"/v1/{path}", json=body, headers=headers)

            first, second = ask(KEY, "Rome is old."), ask(KEY, "Rome is big.")
            extracted = ask(KEY, "Rome is big.", "facts")
            n_sent = len(server.requests)
            others = ask(OTHER, "Rome is new.")

    assert first.json()["results"][0]["label"] == "entailed"
    assert second.json()["results"][0]["code"] == "budget"
    assert (extracted.status_code, extracted.json()["code"]) == (429, "budget")
    assert n_sent == 1
    assert others.json()["results"][0]["label"] == "neutral"


def test_at_most_so_many_requests_are_in_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("factcheck.server.service._MAX_IN_FLIGHT", 2)
    free = threading.Event()
    judge = Judge(lambda *_: free.wait(20) and "entailed")
    replies: list[int] = []
    with serving(judge) as client:

        def ask() -> None:
            replies.append(client.post("/v1/check", json=CHECK).status_code)

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        while client.app.state.service.n_in_flight < 2:
            pass
        busy = client.post("/v1/check", json=CHECK)
        free.set()
        for thread in threads:
            thread.join()
        after = client.post("/v1/check", json=CHECK)

    assert (busy.status_code, busy.json()["code"]) == (503, "busy")
    assert busy.headers["retry-after"] == "1"
    assert replies == [200, 200]
    assert after.status_code == 200
    assert judge.n_calls == 3


def test_a_web_page_cannot_use_a_service_without_keys(judge: Judge) -> None:
    with serving(judge) as client:
        statuses = [
            client.post("/v1/check", json=CHECK, headers={"Origin": origin}).status_code
            for origin in ("https://example.com", "null", "http://[", "http://localhost:3000")
        ]

    assert statuses == [401, 401, 401, 200]
    assert judge.n_calls == 1


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *((host, 200) for host in ("127.0.0.1", "localhost:1", "[::1]:8000")),
        *((host, 401) for host in ("rebound.example:8000", "", "127.0.0.1.x", "a@localhost")),
    ],
)
def test_a_page_that_rebinds_its_name_reads_nothing(judge: Judge, host: str, status: int) -> None:
    """A browser then sends GET requests without an origin; with keys, the host does not matter."""
    named = {"Host": host}
    with serving(judge) as client:
        for path in ("/", "/docs", "/metrics", "/openapi.json", "/healthz"):
            assert client.get(path, headers=named).status_code == status
        assert client.post("/v1/check", json=CHECK, headers=named).status_code == status
    with serving(judge, keys=[api_key(KEY)]) as client:
        bearer = {"Authorization": f"Bearer {KEY}"}
        assert client.get("/metrics", headers={**named, **bearer}).status_code == 200


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"host": ""}, "can be reached from outside"),
        ({"judges": {}}, "no judges"),
        ({"keys": [api_key(KEY), api_key(OTHER)]}, "two API keys have the name 'team'"),
        ({"keys": [api_key(KEY), api_key(KEY, "others")]}, "two API keys have the sha256"),
        (
            {"judges": {"main": UNPRICED}, "keys": [api_key(KEY, max_cost_usd=1.0)]},
            "the price of openai/scripted is not known",
        ),
    ],
)
def test_a_service_that_could_not_work_does_not_start(config: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        create_app(ServerConfig(**config))
