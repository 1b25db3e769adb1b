"""Settings of a model are checked before anything is sent; a model is tried out in one screen."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest

from factcheck import FactCoverage, Model
from factcheck.errors import ConfigError, FactcheckError, JudgeError, JudgeRejected
from factcheck.judges.factory import build_model, read_model
from factcheck.judges.llm.doctor import Diagnosis, examine
from factcheck.judges.llm.errors import from_status
from factcheck.judges.llm.providers import access_to
from factcheck.runtime.loop import background
from factcheck.runtime.retry import RetryPolicy
from factcheck.runtime.session import Session
from factcheck.settings import Settings
from factcheck.testing import ChatAnswer, FactModel, LocalOpenAIServer, Reply, Request
from tests.faults import sequence
from tests.judges.llm.conftest import KEY, serving
from tests.runtime.cache.stores import MemoryCache
from tests.server_kinds import SERVER_KINDS

FILE = """\
careful:
  model: openai/gpt-5-mini
  temperature: null
  reasoning_effort: high
near:
  model: hosted_vllm/qwen3-8b
  base_url: {base_url}
  api_key_env: TEAM_KEY
  seed: 7
  extra_body: {{top_k: 1}}
"""
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "too hot": ({"temperature": 2.5}, "temperature"),
    "a temperature that is none": ({"temperature": "warm"}, "temperature"),
    "a seed that is none": ({"seed": 1.5}, "seed"),
    "no time": ({"timeout_s": 0}, "timeout_s"),
    "blank effort": ({"reasoning_effort": " "}, "reasoning_effort"),
    "a setting twice": ({"extra_body": {"temperature": 1}}, "must not contain temperature"),
    "no JSON": ({"extra_body": {"x": {1, 2}}}, "not JSON"),
}
ADDRESSES = (
    *("http://me:geheim123@127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1?key=geheim123"),
    *("127.0.0.1", "ftp://127.0.0.1/v1", "http://[::1", "http://h:99999/v1"),
)


@pytest.mark.parametrize(("settings", "says"), WRONG.values(), ids=WRONG)
def test_a_setting_that_cannot_be_is_refused(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Model("openai/m", **settings)


def test_an_address_holds_no_secret_and_shows_none() -> None:
    assert "geheim" not in repr(Model("openai/m", api_key="geheim123"))
    for url in ADDRESSES:
        with pytest.raises(ConfigError) as caught:
            access_to(Model("openai/m", base_url=url), Settings())
        assert "geheim" not in str(caught.value)
        with pytest.raises(ConfigError, match="OPENAI_BASE_URL"):
            access_to(Model("openai/m"), Settings(variables={"OPENAI_BASE_URL": url}))
    with pytest.raises(ConfigError, match="OPENAI_API_KEY contains"):
        access_to(Model("openai/m"), Settings(variables={"OPENAI_API_KEY": "schlüssel"}))


def test_requests_to_openai_name_the_organization_and_the_project(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ("openai-organization", "openai-project")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj_2")
    with LocalOpenAIServer(FactModel()) as server:
        for name in ("openai/m", "groq/m"):
            model = Model(name, base_url=server.base_url)
            with FactCoverage(model, cache="off") as scorer:
                scorer.score("It rained.", "It rained.", facts=["It rained."])
    to_openai, to_groq = ([r.headers.get(name) for name in names] for r in server.requests)
    assert (to_openai, to_groq) == (["org-1", "proj_2"], [None, None])


def test_a_file_names_models_with_their_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "judges.yaml"
    with LocalOpenAIServer(FactModel()) as server:
        path.write_text(FILE.format(base_url=server.base_url), "utf-8")
        monkeypatch.setenv("TEAM_KEY", "team-key-1")
        with FactCoverage(f"{path}#near", cache="off") as scorer:
            report = scorer.score("It rained.", "It rained.", facts=["It rained."])
    (request,) = server.requests
    assert report.score == 1.0
    assert request.headers["authorization"] == "Bearer team-key-1"
    assert (request.body["seed"], request.body["top_k"]) == (7, 1)
    assert "seed:7" in str(report.signature)
    careful = read_model(f"{path}#careful", Settings())
    assert (careful.temperature, careful.reasoning_effort) == (None, "high")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: {model: openai/m, temprature: 1}", "line 1: unknown settings: temprature"),
        ("a: {model: openai/m, api_key: geheim123}", "unknown settings: api_key; use api_key_env"),
        ("a: {model: openai/m, api_key_env: NO_SUCH_KEY}", "NO_SUCH_KEY, which is not set"),
        ("a: {temperature: 1}", "model: PROVIDER/MODEL"),
        ("a: {model: openai/m}\nb: {model: openai/n}", "#a, .*#b"),
        ("[1]", "names"),
        ("a: [", "not valid YAML"),
    ],
)
def test_a_file_that_cannot_be_used_says_where_and_why(
    text: str, says: str, tmp_path: Path
) -> None:
    path = tmp_path / "judges.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(FactcheckError, match=says) as caught:
        FactCoverage(str(path), cache="off")
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["temperature"], "'temperature' is not NAME=VALUE, such as temperature=0.5"),
        (["temperature=["], "options, line .: not valid YAML"),
        (["seed=1", "seed=2"], "duplicate|twice"),
    ],
)
def test_an_option_that_cannot_be_says_which_and_why(options: list[str], says: str) -> None:
    with pytest.raises(FactcheckError, match=says):
        read_model("openai/m", Settings(), options)


def test_options_go_before_the_file(tmp_path: Path) -> None:
    path = tmp_path / "judges.yaml"
    path.write_text("a: {model: openai/m, temperature: 1, seed: 7}", "utf-8")
    given = ["temperature=null", "reasoning_effort=none", "extra_body={top_k: 1}"]
    assert read_model(str(path), Settings()).seed == 7
    with pytest.raises(ConfigError, match=r"name one of its models: .*#a"):
        read_model(f"{path}#b", Settings())
    model = read_model(str(path), Settings(), given)
    assert (model.temperature, model.seed, model.reasoning_effort) == (None, 7, "none")
    assert model.extra_body == {"top_k": 1}


ONCE = RetryPolicy(stop_after_attempt=2, wait_multiplier=0.001)


def examined(answer: ChatAnswer) -> tuple[Diagnosis, int]:
    with serving(answer, retry=ONCE) as (server, session):
        diagnosis = background.run(examine(build_model("openai/tiny", session)))
        return diagnosis, len(server.requests)


def test_a_server_that_takes_everything_gets_three_requests_and_nothing_to_learn() -> None:
    diagnosis, requests = examined(FactModel())
    rows = dict(diagnosis.rows)
    assert requests == 3
    assert rows["learned"] == "nothing: it takes everything"
    assert rows["trial"] == "4 of 4 facts decided, 2 right, 3 requests"
    assert "not all verdicts are right: run `factcheck calibrate`" in str(diagnosis)
    assert rows["sent"] == "temp 0"
    assert rows["a call"].endswith("tokens, price not known")


@pytest.mark.parametrize(
    ("name", "learned"),
    [
        ("no temperature", "refused ['temperature']"),
        ("no JSON schema", "form json_object"),
        ("no system role", "system False"),
        ("max_tokens only", "limit max_tokens, refused ['max_completion_tokens']"),
        ("a small limit on tokens", "most 80"),
        ("thinks for 8,000 tokens", "room 16384"),
    ],
)
def test_what_was_learned_is_said(name: str, learned: str) -> None:
    (kind,) = [kind for kind in SERVER_KINDS if kind.name == name]
    diagnosis, _ = examined(kind.around(FactModel()))
    assert dict(diagnosis.rows)["learned"].startswith(learned)
    assert diagnosis.n_decided == 4


def bomb(_: object) -> Reply:
    packed = gzip.compress(b'{"a": "' + b" " * 2**25 + b'"}', 1)
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    return Reply(raw_body=packed, headers=headers)


def echo(_: object) -> Reply:
    return Reply(status=401, error={"message": f"Incorrect API key provided: {KEY}."})


def shrinking(request: Request) -> Reply:
    limit = request.body["max_completion_tokens"]
    return Reply(status=400, error={"message": f"max_tokens: at most {limit - 1}"})


HTML = Reply(raw_body=b"<html>Welcome</html>", headers={"content-type": "text/html"})
ELSEWHERE, NOWHERE = (
    Reply(status=307, raw_body=b"", headers={"location": location})
    for location in ("http://token@example.org/v1?sig=SECRET", "http://[example")
)
BAD: dict[str, tuple[ChatAnswer, str, int]] = {
    "a dead key": (echo, r"OPENAI_API_KEY", 1),
    "a web page": (lambda _: HTML, "not a JSON object", 4),
    "a redirect": (lambda _: ELSEWHERE, r"redirects to example\.org, which", 2),
    "a redirect to no address": (lambda _: NOWHERE, r"redirects to nowhere", 2),
    "a bomb": (bomb, "MiB", 4),
    "a limit that shrinks": (shrinking, "8 request formats were rejected; run `factcheck", 8),
    "a refusal of everything": (
        lambda _: Reply(status=400, error={"message": "response_format is not supported"}),
        "response_format is not supported.*already tried: form ",
        2,
    ),
}


@pytest.mark.parametrize(("answer", "says", "requests"), BAD.values(), ids=BAD)
def test_what_cannot_be_asked_says_why_in_one_line(
    answer: ChatAnswer, says: str, requests: int
) -> None:
    with serving(answer, retry=ONCE) as (server, session):
        try:
            problem = background.run(examine(build_model("openai/tiny", session))).problem
        except JudgeError as error:
            problem = str(error)
        assert len(server.requests) <= requests
    assert re.search(says, problem)
    assert KEY not in problem
    assert "\n" not in problem


def test_nothing_is_kept_of_a_server_that_refuses_everything_for_a_while() -> None:
    message = "response_format, temperature and max_completion_tokens are not supported"
    cache, refusal = MemoryCache(), Reply(status=400, error={"message": message})
    answer = sequence(refusal, refusal, then=FactModel())
    with serving(answer, retry=ONCE, cache=cache) as (server, session):
        with pytest.raises(
            JudgeRejected, match=r"already tried: form .*'temperature'.*; ask whoever"
        ):
            FactCoverage("openai/tiny", session=session).check(["It is deep."], "A text.")
        assert cache.entries == {}
        with Session(settings=session.settings, cache=cache) as later:
            FactCoverage("openai/tiny", session=later).check(["It is deep."], "A text.")
        assert "temperature" in server.requests[-1].body


def test_only_the_first_session_of_a_process_sends_one_request_ahead() -> None:
    def slow(request: Request) -> Reply:
        return Reply(FactModel()(request), delay_s=0.5)

    with serving(slow) as (server, session):
        seen = []
        for one in (session, Session(settings=session.settings, cache="off")):
            server.clear()
            with one:
                scorer = FactCoverage("openai/tiny", batch_size=1, session=one)
                scorer.check([f"It has {n} gates." for n in range(3)], "A text.")
            seen.append([request.in_flight for request in server.requests])
    assert seen == [[1, 1, 2], [1, 2, 3]]


@pytest.mark.parametrize("status", [401, 402, 404])
def test_a_dead_key_or_an_empty_account_is_asked_once(status: int) -> None:
    answer = Reply(status=status, error={"message": "no"})
    with serving(lambda _: answer) as (server, session):
        scorer = FactCoverage("openai/tiny", batch_size=1, session=session)
        with pytest.raises(JudgeRejected):
            scorer.check([f"Fact {n} holds." for n in range(40)], "A text.")
        assert len(server.requests) == 1


def test_a_pause_that_a_503_asks_for_is_kept() -> None:
    error = from_status(503, "busy", retry_after_s=7.0)
    assert RetryPolicy().shared_wait_s(error) == 7.0
    busy = Reply(status=503, error={"message": "busy"}, headers={"retry-after": "0.01"})
    assert examined(sequence(busy, then=FactModel()))[1] == 4
