"""Prompts that are longer than a server reads: nothing that it says about them is a verdict."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from factcheck.facts import CheckFailure
from factcheck.judges.factory import build_model
from factcheck.judges.llm.doctor import examine
from factcheck.judges.llm.engine import is_cut
from factcheck.runtime.loop import background
from factcheck.runtime.session import Session
from factcheck.settings import Settings
from factcheck.testing import ChatRequest, FactModel, Reply
from tests.judges.llm.conftest import KEY, QUICK, MakeSetup, completion, serving
from tests.runtime.cache.stores import MemoryCache

CONTEXT = 2_048
LINES = [f"On day {n} the ferry left the harbour in the north." for n in range(1, 1_201)]
LAST = "The captain was called Ida Berg."
TEXT = " ".join([*LINES, LAST])
"""About 15,000 tokens."""
FACTS = [LAST, "On day 7 the ferry left the harbour in the north.", "The ferry sank."]


def tokens(request: ChatRequest) -> int:
    return math.ceil(sum(len(message["content"]) for message in request.messages) / 4.2)


def cutting(request: ChatRequest) -> Reply:
    """Reads the first tokens of a prompt, and says `no` to what it did not read, as Ollama does."""
    n = tokens(request)
    if n <= CONTEXT:
        text, usage = FactModel()(request), {"prompt_tokens": n, "completion_tokens": 9}
    else:
        keys = request.body["response_format"]["json_schema"]["schema"]["properties"]
        reply = {key: [] if key == "facts" else "no" for key in keys}
        text, usage = json.dumps(reply), {"prompt_tokens": CONTEXT, "completion_tokens": 9}
    return Reply(raw_body=json.dumps({**completion(text), "usage": usage}).encode())


def refusing(message: str, status: int = 400) -> Any:
    def answer(request: ChatRequest) -> Reply:
        n, limit = tokens(request), request.body.get("max_completion_tokens", 0)
        if n + limit <= CONTEXT:
            return Reply(FactModel()(request))
        error = {"message": message.format(n=n, limit=limit, context=CONTEXT)}
        return Reply(status=status, error=error)

    return answer


REFUSALS = (
    "This model's maximum context length is {context} tokens. However, you requested {n} tokens.",
    "the request exceeds the available context size ({context} tokens), try increasing it",
    "prompt is too long: {n} tokens > {context} maximum",
    "The input token count ({n}) exceeds the maximum number of tokens allowed ({context}).",
    "Requested tokens ({n}) exceed context window of {context}",
    "context_length_exceeded: the prompt is too long",
)


@pytest.mark.parametrize(
    "server", [cutting, *map(refusing, REFUSALS)], ids=["cut", *(m[:30] for m in REFUSALS)]
)
def test_a_text_that_is_longer_than_the_context_is_checked_in_sections(
    server: Any, llm: MakeSetup
) -> None:
    """Instead of losing every fact without a word."""
    setup = llm(server)
    report = setup.scorer.score("", TEXT, facts=FACTS)
    assert [result.label for result in report.results] == ["entailed", "entailed", "neutral"]
    asked = len(setup.server.requests)
    report = setup.scorer.score("", f"{TEXT} It rained.", facts=FACTS)
    assert [result.label for result in report.results] == ["entailed", "entailed", "neutral"]
    assert len(setup.server.requests) - asked < asked  # what was learned is known by then


@pytest.mark.parametrize("server", [cutting, refusing(REFUSALS[0])], ids=["cut", "refused"])
def test_a_source_is_extracted_in_smaller_sections(server: Any, llm: MakeSetup) -> None:
    setup = llm(server)
    facts = setup.scorer.extract(TEXT)
    assert len(facts) == len(LINES) + 1
    assert facts.facts[-1].text == LAST


def test_what_cannot_be_made_shorter_is_undecided_says_what_to_do_and_is_not_kept(
    llm: MakeSetup,
) -> None:
    cache = MemoryCache()
    facts = [f"{' '.join(LINES[:200])} Fact {n}." for n in range(3)]
    scorer, _ = llm(cutting, cache=cache)
    for _ in range(2):
        results = scorer.check(facts, LAST)
        assert {getattr(result, "code", "") for result in results} == {"context"}
        assert isinstance(results[0], CheckFailure)
        assert "the server read only 2,048 of the prompt's about" in results[0].message
        assert "use a model that reads more, or raise the context" in results[0].message
    assert not any("answers" in value for values in cache.entries.values() for value in values)


def test_the_doctor_names_what_is_read_and_how_to_have_more_read() -> None:
    with serving(cutting) as (_, session):
        diagnosis = background.run(examine(build_model("openai/tiny", session)))
    shown = str(diagnosis)
    assert "reads        2,048 tokens" in shown
    assert "longer texts are checked in sections; to change that, use a model that" in shown


def test_the_doctor_has_something_to_do_on_a_dead_server() -> None:
    address = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": KEY}
    settings = Settings(variables=address)
    with Session(settings=settings, cache="off", retry=QUICK) as session:
        shown = str(background.run(examine(build_model("openai/tiny", session))))
    assert "4 facts are undecided: openai/tiny: cannot reach 127.0.0.1" in shown
    assert "check the network and OPENAI_BASE_URL" in shown
    assert "nothing; use it" not in shown


@pytest.mark.parametrize(
    ("prompt", "n_read", "context", "cut"),
    [
        ("word " * 4_000, 4_000, 0, False),
        ("word " * 4_000, 2_048, 0, True),
        ("word " * 8_000, 4_096, 0, True),
        ("word " * 4_000, 4_096, 0, True),
        ("word " * 3_400, 4_096, 0, False),
        ("word " * 4_000, 3_000, 3_000, True),
        ("word " * 4_000, None, 0, False),
        ("word " * 100, 1, 0, False),
        ("-" * 40_000 + " " * 40_000, 300, 0, False),
        ("東京は雨" * 1_000, 2_100, 0, False),
    ],
)
def test_a_prompt_is_cut_if_far_fewer_tokens_were_read(
    prompt: str,
    n_read: int | None,
    context: int,
    cut: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    assert is_cut(prompt, n_read, context) is cut
