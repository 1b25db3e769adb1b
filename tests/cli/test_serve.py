"""`factcheck serve`: refusals before anything listens, and a service with keys."""

from __future__ import annotations

import hashlib
import socket
import sqlite3
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from factcheck.cli.serve import _listen
from tests.cli.conftest import Folder, Run, refused
from tests.server.conftest import Start

DIGEST = hashlib.sha256(b"secret").hexdigest()


@pytest.mark.parametrize(
    ("options", "message", "code"),
    [
        ("--judge main=nonsense", "unknown judge 'nonsense'; use 'local', ", 3),
        ("--judge openai/tiny", "OPENAI_API_KEY", 3),
        ("--judge a=local --judge a=local-fast", "--judge: two judges have the name 'a'", 3),
        ("--host 0.0.0.0", "0.0.0.0 can be reached from outside; listen on 127.0.0.1, or add", 3),
        ("--host 192.0.2.1 --keys keys.yaml", "cannot listen on 192.0.2.1, port 0: ", 2),
        ("--jobs-db nowhere/jobs.sqlite", "folder nowhere does not exist", 2),
        ("--keys nowhere.yaml", "nowhere.yaml does not exist", 2),
    ],
)
def test_refusals(run: Run, folder: Folder, options: str, message: str, code: int) -> None:
    folder.put("keys.yaml", f"- {{name: ann, sha256: {DIGEST}}}\n")
    judge = () if "--judge" in options else ("--judge", "local-fast")
    port = () if "--port" in options else ("--port", "0")

    refused(run("serve", *judge, *port, *options.split()), message, code)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("", "keys.yaml: expected a list of keys, each with name and sha256"),
        ("[]\n", "keys.yaml names no keys; add one, or start without --keys"),
        (f'- {{name: "a\\nb", sha256: {DIGEST}}}\n', "the name is blank, or has control char"),
        ("- ann\n", "keys.yaml, line 1: key: expected an object"),
        (f"- name: ann\n  sha256: {DIGEST}\n- name: bob\n", "line 3: key: 'sha256' is missing"),
        (f"- name: ann\n  sha256: {DIGEST}\n  max_cost: 3\n", "line 1: 'max_cost' is not one of"),
        (f"- {{name: ann, sha256: {DIGEST}, max_calls: -1}}\n", "max_calls must be an integer"),
    ],
)
def test_a_file_of_bad_keys(run: Run, folder: Folder, keys: str, message: str) -> None:
    folder.put("keys.yaml", keys)
    outcome = run("serve", "--judge", "local-fast", "--port", "0", "--keys", "keys.yaml")

    refused(outcome, message, outcome.code)
    assert outcome.code in {2, 3}
    assert "secret" not in outcome.err.replace("sha256: secret", "")


@pytest.mark.parametrize("package", ["uvicorn", "fastapi"])
def test_a_missing_package(run: Run, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    for name in [name for name in sys.modules if name.startswith("factcheck.server")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)

    message = f"the service needs {package}; install it: pip install '.[server]' in a checkout"
    refused(run("serve", "--judge", "local-fast", "--port", "0"), message, 3)


def test_jobs_that_another_service_keeps(
    run: Run, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("factcheck.server.job_store._LOCK_WAIT_S", 0.1)
    other = sqlite3.connect(folder.path("jobs.sqlite"))
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("CREATE TABLE t (x)")
    outcome = run("serve", "--judge", "local-fast", "--port", "0", "--jobs-db", "jobs.sqlite")
    other.close()

    message = "jobs.sqlite is in use by another service; stop it, or name another file"
    refused(outcome, message, 3)


def test_a_service_with_keys_and_several_judges(start: Start, folder: Folder) -> None:
    folder.put("keys.yaml", f"- name: ann\n  sha256: {DIGEST}\n  max_calls: 100\n")
    keys = str(Path("keys.yaml").absolute())
    judges = ("--judge", "main=cascade(local-fast, local, low=0.1)", "--judge", "of/Lynx-8B=local")
    service = start("--host", "::", "--keys", keys, *judges)
    url = service.url.replace("[::]", "[::1]")
    body = {"facts": ["Rome is big."], "text": "Rome is big.", "judge": "of/Lynx-8B"}

    def check(**headers: str) -> Any:
        return httpx.post(f"{url}/v1/check", json=body, headers=headers)

    assert service.judges == "main, of/Lynx-8B"
    assert check().status_code == check(Authorization="Bearer x").status_code == 401
    answer = check(Authorization="Bearer secret")
    assert answer.json()["results"][0]["label"] == "entailed"
    code, log = service.stop()
    assert code == 0
    assert "POST /v1/check 200" in log
    assert "ann" in log
    assert "Rome" not in log
    assert "secret" not in log


def test_answers_are_not_held_back_for_an_acknowledgement() -> None:
    with _listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
