"""The batch commands: hand in, collect, and an ordinary run that then asks nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from factcheck.testing import FactModel, LocalOpenAIServer
from tests.cli.conftest import Outcome, refused

Run = Callable[..., Outcome]

PAIRS = [
    {"id": "a", "source": "The kiln is hot. It is red.", "summary": "The kiln is hot."},
    {"id": "b", "source": "The well is dry. It is old.", "summary": "The well is old."},
]


@pytest.fixture
def records(tmp_path: Path) -> str:
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(pair) + "\n" for pair in PAIRS), "utf-8")
    return str(path)


def test_two_batches_later_an_ordinary_run_asks_nothing(
    records: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LocalOpenAIServer(FactModel()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        command = ("run", records, "--judge", "openai/tiny")
        for phase, requests in (("facts", 2), ("checks", 2)):
            code, out, err = run(*command, "--batch", "submit")
            assert (code, err) == (0, "")
            assert f"{requests} requests submitted" in out
            code, out, _ = run(*command, "--batch", "collect")
            assert code == 0
            assert f"replies cached: {requests}, unmatched: 0;" in out
            assert ("submit again" in out) == (phase == "facts")

        live = [request for request in server.requests if "chat/completions" in request.path]
        code, out, _ = run(*command, "--format", "json")

    assert live == []
    assert code == 0
    assert json.loads(out)["usage"]["calls"] == 0
    assert json.loads(out)["scored"] == 2


def test_a_batch_needs_a_cache_and_is_collected_after_it_was_submitted(
    records: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused(run("run", records, "--batch", "collect"), "submit a batch first")
    monkeypatch.setenv("FACTCHECK_CACHE", "off")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    command = ("run", records, "--judge", "openai/t", "--batch", "submit")
    refused(run(*command), "FACTCHECK_CACHE=off", 3)
