"""`factcheck doctor` and the batch commands, against a local server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from factcheck.testing import LocalOpenAIServer
from tests.cli.conftest import Folder, Run, refused


@pytest.mark.usefixtures("server")
def test_a_model_that_answers_is_described(run: Run) -> None:
    shown = run("doctor", "openai/tiny")
    assert shown.code == 0
    assert "4 of 4 facts decided" in shown.out
    assert "asked for    JSON schema" in shown.out


def test_a_model_that_decides_nothing_exits_with_4(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LocalOpenAIServer(lambda _: "I would rather not.") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        outcome = run("doctor", "openai/tiny")
    assert outcome.code == 4
    assert "no fact was decided" in outcome.err


def test_options_of_a_judge_go_out_and_what_cannot_be_one_is_said_in_one_line(
    run: Run, server: LocalOpenAIServer, tmp_path: Path
) -> None:
    desk = Folder(tmp_path)
    source, summary = desk.put("s.txt", "It rained."), desk.put("t.txt", "It rained.")
    score = ("score", source, summary, "--judge", "openai/tiny", "--judge-option")
    options = ("temperature=0.5", "--judge-option", "verdict=quote")
    done = run(*score, *options, "--format", "json")
    assert run("doctor", "openai/tiny", "--judge-option", "seed=7").code == 0
    assert done.code == 0, done.err
    assert "temp:0.5" in json.loads(done.out)["signature"]
    assert server.requests[0].body["temperature"] == 0.5
    assert server.requests[-1].body["seed"] == 7
    refused(run(*score, "temprature=1"), "--judge-option: unknown settings: temprature; use", 3)
    refused(run(*score[:4], "local", "--judge-option", "seed=1"), "not for 'local'", 3)
    cascade = "cascade(local, openai/tiny)"
    refused(run(*score[:4], cascade, "--judge-option", "seed=1"), "judges.yaml#NAME", 3)


PAIRS = [
    {"id": "a", "source": "The kiln is hot. It is red.", "summary": "The kiln is hot."},
    {"id": "b", "source": "The well is dry. It is old.", "summary": "The well is old."},
]


@pytest.fixture
def records(tmp_path: Path) -> str:
    return Folder(tmp_path).lines("pairs.jsonl", PAIRS)


def test_two_batches_later_an_ordinary_run_asks_nothing(
    records: str, run: Run, server: LocalOpenAIServer
) -> None:
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
