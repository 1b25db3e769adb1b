"""Every kind of server gets its facts decided, at the price of two requests once at most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from factcheck import FactCoverage, Verdict
from factcheck.judges.llm.language_model import remembered
from factcheck.runtime.session import Session
from factcheck.settings import Settings
from factcheck.testing import (
    SERVER_KINDS,
    ChatRequest,
    FactModel,
    LocalOpenAIServer,
    Reply,
    ServerKind,
)
from factcheck.testing.kinds import FACTS, LABELS, TEXT, thinking
from tests.runtime.cache.stores import MemoryCache


def labels(base_url: str, facts: Sequence[str], text: str) -> list[str | None]:
    session = Session(cache="off", settings=Settings(openai_base_url=base_url))
    with session, FactCoverage("openai/tiny", session=session) as scorer:
        results = scorer.check(facts, text)
    return [result.label if isinstance(result, Verdict) else None for result in results]


@pytest.mark.parametrize("kind", SERVER_KINDS, ids=str)
def test_every_fact_is_decided(kind: ServerKind) -> None:
    trial = kind.try_judge(labels)
    assert trial.labels == list(LABELS)
    assert trial.is_right
    assert trial.extra_requests <= 2
    assert trial.requests_again == 1


@pytest.mark.parametrize("kind", SERVER_KINDS[1:], ids=str)
def test_no_kind_is_as_harmless_as_the_first(kind: ServerKind) -> None:
    """Each turns down or changes what a judge sees that sends everything and trims nothing."""
    schema = {"strict": True, "schema": {"additionalProperties": False}}
    body = {
        "messages": [
            {"role": "system", "content": "S" * 600},
            {"role": "user", "content": "U" * 900},
        ],
        "temperature": 0.0,
        "reasoning_effort": "low",
        "max_tokens": 200,
        "max_completion_tokens": 200,
        "response_format": {"type": "json_schema", "json_schema": schema},
    }
    plain = Reply('{"f1": "neutral"}')
    reply = kind.around(lambda _: plain)(ChatRequest("POST", "/v1", {}, body, 0, 1))
    assert isinstance(reply, Reply)
    assert reply.status in {400, 422} or replace(reply, usage=None) != plain


def test_answers_are_kept_under_what_was_learned() -> None:
    kind = next(kind for kind in SERVER_KINDS if kind.name == "no temperature")
    cache = MemoryCache()
    with LocalOpenAIServer(kind.around(FactModel())) as server:
        for _ in range(2):
            session = Session(cache=cache, settings=Settings(openai_base_url=server.base_url))
            with session, FactCoverage("openai/tiny", session=session) as scorer:
                report = scorer.score(TEXT, TEXT)
                assert report.score == 1.0
                assert "temp:default" in str(report.signature)
            remembered.take()
        assert len(server.requests) == 3


@pytest.mark.parametrize("thought", [0, 100, 1_000, 4_000, 8_000])
def test_room_to_think_is_found_with_one_more_request_and_never_shrinks(thought: int) -> None:
    kind = ServerKind("thinks", thinking(thought, reported=False))
    with LocalOpenAIServer(kind.around(FactModel())) as server:
        for fact in FACTS:
            assert labels(server.base_url, [fact], TEXT) != [None]
        limits = [request.body["max_completion_tokens"] for request in server.requests]
    assert len(limits) <= len(FACTS) + 1
    assert limits == sorted(limits)
