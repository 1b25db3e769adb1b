"""The local server, its faults and kinds, seen through clients and judges; scripted judges."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

import openai
import pytest

from factcheck import FactCoverage, Verdict
from factcheck.errors import InputError, JudgeUnavailable
from factcheck.facts import AtomicFact, FactSet, Usage, digest
from factcheck.judges.llm.language_model import remembered
from factcheck.judges.ports import Ledger, PairVerdict, ValuePair
from factcheck.runtime.session import Session
from factcheck.settings import Settings
from factcheck.testing import (
    FactModel,
    LocalOpenAIServer,
    Reply,
    ScriptedChecker,
    ScriptedExtractor,
    ScriptedPairJudge,
    parse_prompt,
)
from factcheck.testing.fakes import Call
from tests.runtime.cache.stores import MemoryCache
from tests.server_kinds import FACTS, LABELS, SERVER_KINDS, TEXT, ServerKind

SILENT = Reply(delay_s=60, close=True)
QUESTION: Any = [{"role": "user", "content": "Do ants have six legs?"}]


def client_of(server: LocalOpenAIServer) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.base_url, api_key="test", max_retries=0)


def test_a_client_that_left_is_not_in_flight() -> None:
    gone = threading.Event()
    with LocalOpenAIServer(lambda _: SILENT) as server:
        with client_of(server) as client, pytest.raises(openai.APITimeoutError):
            client.with_options(timeout=0.2).chat.completions.create(model="m", messages=QUESTION)
        for _ in range(500):
            if server.in_flight == 0:
                break
            gone.wait(0.01)
        assert server.in_flight == 0
        assert len(server.requests) == 1


def test_stop_with_open_requests() -> None:
    body = json.dumps({"model": "m", "messages": QUESTION})
    for _ in range(20):
        with LocalOpenAIServer(lambda _: SILENT) as server:
            connection = http.client.HTTPConnection(urlsplit(server.base_url).netloc, timeout=30)
            connection.request("POST", "/v1/chat/completions", body)
        with pytest.raises(ConnectionError):
            connection.getresponse()
        connection.close()
    assert "local-openai-server" not in {thread.name for thread in threading.enumerate()}


def test_an_answer_that_raises_is_told_to_the_client_and_when_the_server_stops() -> None:
    def ask() -> None:
        with (
            LocalOpenAIServer(lambda request: str(request.body["no key"])) as server,
            client_of(server) as client,
            pytest.raises(openai.InternalServerError, match="no key"),
        ):
            client.chat.completions.create(model="m", messages=QUESTION)

    with pytest.raises(RuntimeError, match="an answer of the server raised") as caught:
        ask()
    assert isinstance(caught.value.__cause__, KeyError)


def labels(base_url: str, facts: Sequence[str], text: str) -> list[str | None]:
    session = Session(cache="off", settings=Settings(variables={"OPENAI_BASE_URL": base_url}))
    with session, FactCoverage("openai/tiny", session=session) as scorer:
        results = scorer.check(facts, text)
    return [result.label if isinstance(result, Verdict) else None for result in results]


@pytest.mark.parametrize("kind", SERVER_KINDS, ids=str)
def test_every_fact_is_decided(kind: ServerKind) -> None:
    with LocalOpenAIServer(kind.around(FactModel())) as server:
        assert labels(server.base_url, FACTS, TEXT) == list(LABELS)
        assert len(server.requests) <= 3
        server.clear()
        assert labels(server.base_url, FACTS, TEXT) == list(LABELS)
        assert len(server.requests) == 1


def test_answers_are_kept_under_what_was_learned() -> None:
    kind = next(kind for kind in SERVER_KINDS if kind.name == "no temperature")
    cache = MemoryCache()
    with LocalOpenAIServer(kind.around(FactModel())) as server:
        for _ in range(2):
            session = Session(
                cache=cache, settings=Settings(variables={"OPENAI_BASE_URL": server.base_url})
            )
            with session, FactCoverage("openai/tiny", session=session) as scorer:
                report = scorer.score(TEXT, TEXT)
                assert report.score == 1.0
                assert "temp:default" in str(report.signature)
            remembered.take()
        assert len(server.requests) == 3


MOSS = AtomicFact("a", "Moss has no roots.", weight=2.0)
OAK = ValuePair("oak", "oak tree")
Ask = Callable[[Any, Ledger], Any]
ASK: dict[Any, tuple[Ask, Call]] = {
    ScriptedChecker: (
        lambda judge, ledger: judge.check([MOSS], "On moss.", ledger),
        Call(facts=(MOSS.text,), text="On moss."),
    ),
    ScriptedExtractor: (lambda judge, ledger: judge.extract("S", ledger), Call(source="S")),
    ScriptedPairJudge: (lambda judge, ledger: judge.compare([OAK], ledger), Call(pairs=(OAK,))),
}


@pytest.mark.parametrize("kind", ASK)
def test_a_call_is_recorded_and_paid_for_even_if_the_script_raises_or_has_no_entry(
    kind: Any,
) -> None:
    ask, call = ASK[kind]
    ledger = Ledger()
    down = kind(lambda *_: JudgeUnavailable("down"), usage=Usage(calls=1, cost_usd=0.5))
    with pytest.raises(JudgeUnavailable, match="down"):
        asyncio.run(ask(down, ledger))
    assert (down.calls, ledger.usage) == ([call], Usage(calls=1, cost_usd=0.5))
    with pytest.raises(InputError, match="the script of 'scripted' has no "):
        asyncio.run(ask(kind({}), ledger))


def test_scripted_facts_know_source_and_maker() -> None:
    extractor = ScriptedExtractor({"On moss.": ["Moss is green.", MOSS]})
    assert asyncio.run(extractor.extract("On moss.", Ledger())) == FactSet(
        (AtomicFact("f1", "Moss is green."), MOSS),
        source_digest=digest("On moss."),
        made_by=(("extractor", "scripted"),),
    )


def test_a_decision_has_no_probability_and_a_number_is_one() -> None:
    for script, probability in ((lambda _: True, None), ({OAK: 0.5}, 0.5)):
        (result,) = asyncio.run(ScriptedPairJudge(script).compare([OAK], Ledger()))
        assert result == PairVerdict(True, probability, "scripted", "scripted")


@pytest.mark.parametrize("prompt", ["Hello.", "<text 1a>\nopen", "<text 1a>\nx\n</text 2b>"])
def test_what_is_no_prompt_of_this_package_is_an_error(prompt: str) -> None:
    with pytest.raises(InputError):
        parse_prompt({"messages": [{"role": "user", "content": prompt}]})
