"""The application in process: routes, errors, limits."""

from __future__ import annotations

from fastapi.testclient import TestClient

from factcheck.server import ServerConfig, create_app
from factcheck.testing import ScriptedChecker


def test_check_returns_one_result_per_fact() -> None:
    judge = ScriptedChecker({"Rome is big.": "entailed", "Oslo is dry.": "neutral"})
    with TestClient(create_app(ServerConfig(judges={"scripted": judge}))) as client:
        reply = client.post(
            "/v1/check", json={"facts": ["Rome is big.", "Oslo is dry."], "text": "Rome is big."}
        )

    assert reply.status_code == 200
    assert [one["label"] for one in reply.json()["results"]] == ["entailed", "neutral"]


def test_an_error_is_a_problem_with_a_code() -> None:
    judge = ScriptedChecker({})
    with TestClient(create_app(ServerConfig(judges={"scripted": judge}))) as client:
        reply = client.post("/v1/check", json={"facts": ["A."], "text": "A.", "judge": "replay:x"})

    assert reply.status_code == 422
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json() == {
        "type": "about:blank",
        "title": reply.json()["title"],
        "status": 422,
        "detail": "unknown judge 'replay:x'; use one of scripted",
        "code": "input",
    }
    assert judge.calls == ()
