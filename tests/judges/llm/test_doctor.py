"""A model is tried out in one screen; what cannot be asked says why in one line."""

from __future__ import annotations

import gzip
import re

import pytest

from factcheck import FactCoverage
from factcheck.errors import JudgeError, JudgeRejected
from factcheck.judges.factory import build_model
from factcheck.judges.llm.doctor import Diagnosis, examine
from factcheck.judges.llm.errors import from_status
from factcheck.runtime.loop import background
from factcheck.runtime.retry import RetryPolicy
from factcheck.testing import (
    SERVER_KINDS,
    ChatAnswer,
    ChatRequest,
    FactModel,
    Reply,
    sequence,
)
from tests.judges.llm.conftest import KEY, serving

ONCE = RetryPolicy(stop_after_attempt=2, wait_multiplier=0.001)


def examined(answer: ChatAnswer) -> tuple[Diagnosis, int]:
    with serving(answer, retry=ONCE) as (server, session):
        diagnosis = background.run(examine(build_model("openai/tiny", session)))
        return diagnosis, len(server.requests)


def kind(name: str) -> ChatAnswer:
    return next(k for k in SERVER_KINDS if k.name == name).around(FactModel())


def test_a_server_that_takes_everything_gets_two_requests_and_nothing_to_learn() -> None:
    diagnosis, requests = examined(FactModel())
    assert requests == diagnosis.requests == 2
    assert diagnosis.learned == ()
    assert (diagnosis.n_decided, diagnosis.n_right) == (4, 2)
    assert diagnosis.sampling == {"temp": "0"}
    assert diagnosis.usd_per_1000_pairs is None
    assert Diagnosis.from_dict(diagnosis.to_dict()) == diagnosis


@pytest.mark.parametrize(
    ("name", "learned"),
    [
        ("no temperature", "no temperature"),
        ("no JSON schema", "no JSON schema"),
        ("no system role", "no system role"),
        ("max_tokens only", "no max_completion_tokens"),
        ("a small limit on tokens", "at most 80 tokens in a reply"),
        ("thinks for 8,000 tokens", "it thinks, so 16,384 more tokens are allowed"),
    ],
)
def test_what_was_learned_is_said(name: str, learned: str) -> None:
    diagnosis, _ = examined(kind(name))
    assert diagnosis.learned == (learned,)
    assert learned in str(diagnosis)
    assert diagnosis.n_decided == 4


def bomb(_: object) -> Reply:
    packed = gzip.compress(b'{"a": "' + b" " * 2**26 + b'"}')
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    return Reply(raw_body=packed, headers=headers)


def echo(_: object) -> Reply:
    return Reply(status=401, error={"message": f"Incorrect API key provided: {KEY}."})


def shrinking(request: ChatRequest) -> Reply:
    limit = request.body["max_completion_tokens"]
    return Reply(status=400, error={"message": f"max_tokens: at most {limit - 1}"})


HTML = Reply(raw_body=b"<html>Welcome</html>", headers={"content-type": "text/html"})
ELSEWHERE = Reply(status=307, raw_body=b"", headers={"location": "http://example.org/v1"})
BAD: dict[str, tuple[ChatAnswer, str, int]] = {
    "a dead key": (echo, r"OPENAI_API_KEY", 1),
    "a web page": (lambda _: HTML, "not JSON", 4),
    "a redirect": (lambda _: ELSEWHERE, r"redirects to example\.org", 2),
    "a bomb": (bomb, "MiB", 4),
    "a limit that shrinks": (shrinking, "8 request formats were rejected; run `factcheck", 8),
    "a refusal of everything": (
        lambda _: Reply(status=400, error={"message": "response_format is not supported"}),
        "response_format is not supported.*already tried: no response_format",
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
    assert examined(sequence(busy, then=FactModel()))[1] == 3
