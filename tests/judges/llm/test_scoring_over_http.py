"""The LLM path end to end: real HTTP, real prompts, a scripted model, and faults on the way."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from factcheck.errors import (
    ContextExceeded,
    InputError,
    JudgeError,
    JudgeOutputError,
    JudgeRateLimited,
    JudgeRefused,
    JudgeRejected,
    JudgeTruncated,
    JudgeUnavailable,
)
from factcheck.facts import CheckFailure
from factcheck.judges.factory import build_model
from factcheck.judges.llm.doctor import examine
from factcheck.judges.llm.engine import is_cut
from factcheck.judges.llm.errors import RequestRefused, from_dspy, retry_after_s
from factcheck.runtime.loop import background
from factcheck.runtime.session import Session
from factcheck.settings import Settings
from factcheck.testing import FactModel, Reply, Request
from tests.faults import (
    bad_request,
    rate_limited,
    sequence,
    truncated,
    unauthorized,
)
from tests.judges.llm.conftest import KEY, MODEL, QUICK, MakeSetup, completion, serving
from tests.runtime.cache.stores import MemoryCache

FACTS = [f"Lamp {number} burns on platform {number + 20}." for number in range(1, 16)]
SOURCE = " ".join(FACTS)
SUMMARY = " ".join(FACTS[:5])


def test_a_pair_costs_two_calls_and_the_next_summary_one(llm: MakeSetup) -> None:
    scorer, server = llm(FactModel())
    first = scorer.score(SOURCE, SUMMARY)
    calls_for_the_pair = len(server.requests)
    second = scorer.score(SOURCE, FACTS[0], facts=first.facts)
    assert calls_for_the_pair == first.usage.calls == 2
    assert len(server.requests) - calls_for_the_pair == second.usage.calls == 1
    before, after = (request.body["messages"] for request in server.requests[1:])
    assert before[0] == after[0]  # and the facts are first, so that a provider has them cached
    facts, _, _ = before[1]["content"].partition("<text")
    assert facts.startswith("<facts")
    assert after[1]["content"].startswith(facts)
    assert (first.score, second.score) == (5 / 15, 1 / 15)
    verdict = first.kept[1]
    assert verdict.evidence is not None
    assert SUMMARY[verdict.evidence.start : verdict.evidence.end] == verdict.evidence.quote
    assert (verdict.judge, verdict.probability) == (MODEL, None)
    assert [fact.text for fact in first.facts] == FACTS
    assert all(fact.span and SOURCE[slice(*fact.span)] == fact.text for fact in first.facts)


def test_a_list_of_facts_that_was_cut_off_is_asked_for_in_parts(llm: MakeSetup) -> None:
    long_source = " ".join(f"Lamp {n} burns on platform {n * 7}." for n in range(120))
    whole = FactModel()
    scorer, server = llm(sequence(lambda r: truncated(whole(r)), then=whole))
    facts = scorer.extract(long_source)
    assert len(server.requests) == 3
    assert len(facts) == 120


KILN = "The kiln reached 900 degrees."
PASSING = {
    "429 with seconds": rate_limited(retry_after=0.01),
    "429 with milliseconds": rate_limited(10, "retry-after-ms"),
    "429 with a date": rate_limited(retry_after="Sun, 06 Nov 1994 08:49:37 GMT"),
    "429": rate_limited(),
    "500": Reply(status=500),
    "408": Reply(status=408, error={"message": "timeout"}),
    "connection closed": Reply(close=True),
    "html": Reply(raw_body=b"<html>Bad gateway</html>"),
    "not utf-8": Reply(raw_body=b'{"a":"\xff"}'),
    "nested too deeply": Reply(raw_body=b"[" * 100_000),
    "usage that is none": Reply(raw_body=b'{"choices": [], "usage": "abc"}'),
    "broken json": Reply(raw_body=b'{"id": "x", "choi'),
    "error in a 200": Reply(
        raw_body=json.dumps({**completion('{"f1": "no"}'), "error": {}}).encode()
    ),
}
UNPAID = Reply(status=429, error={"message": "Pay", "code": "insufficient_quota"})
FAILURES = {
    "401": (unauthorized(), JudgeRejected, "OPENAI_API_KEY", 1),
    "no credit": (UNPAID, JudgeRejected, "no credit", 1),
    "400": (bad_request("messages[0].role"), JudgeRejected, "messages", 2),
    "context": (bad_request("context_length_exceeded"), ContextExceeded, "context_length", 1),
    "404": (Reply(status=404, error={"message": "no tiny"}), JudgeRejected, "model's name", 1),
    "long pause": (rate_limited(retry_after=3600), JudgeRateLimited, "Rate limit", 1),
    "refusal": (Reply(None, refusal="No."), JudgeRefused, "declined", 1),
    "filter": (Reply("", finish_reason="content_filter"), JudgeRefused, "declined", 1),
    "cut off": (truncated('{"facts": ["It'), JudgeTruncated, "cut off", 1),
    "500": (Reply(status=500), JudgeUnavailable, "500", 3),
    "nonsense": (Reply("Here are the facts: none."), JudgeOutputError, "not JSON", 3),
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_a_passing_fault_costs_one_more_request_and_nothing_else(
    fault: Reply, llm: MakeSetup
) -> None:
    scorer, server = llm(sequence(fault, then=FactModel()))
    report = scorer.score("", KILN, facts=[KILN])
    assert report.score == 1.0
    assert (report.usage.calls, report.usage.attempts) == (1, 2)
    assert len(server.requests) == 2


@pytest.mark.parametrize(("fault", "error", "says", "requests"), FAILURES.values(), ids=FAILURES)
def test_a_fault_that_stays_is_asked_about_as_often_as_a_retry_can_mend_it(
    fault: Reply, error: type[JudgeError], says: str, requests: int, llm: MakeSetup
) -> None:
    scorer, server = llm(lambda _: fault)
    with pytest.raises(error, match=says):
        scorer.extract(KILN)
    assert len(server.requests) == requests
    if error is JudgeRejected:
        with pytest.raises(JudgeRejected, match=says):
            scorer.check([KILN], KILN)


def test_what_does_not_come_in_time_is_asked_for_again_and_then_says_how_to_set_it(
    llm: MakeSetup,
) -> None:
    silent = Reply(delay_s=5, close=True)
    scorer, server = llm(sequence(silent, then=FactModel()), {"timeout_s": 0.3})
    assert (len(scorer.extract(KILN)), len(server.requests)) == (1, 2)
    scorer, _ = llm(lambda _: silent, {"timeout_s": 0.1})
    with pytest.raises(JudgeUnavailable, match=r"0\.1 seconds.* --judge-option timeout_s=0\.5"):
        scorer.extract(KILN)


def test_text_no_provider_can_receive_is_bad_input(llm: MakeSetup) -> None:
    scorer, server = llm(FactModel())
    with pytest.raises(InputError, match="surrogates"):
        scorer.check(["The kiln was hot."], "broken \ud800 text")
    assert server.requests == ()


def test_every_error_of_a_dspy_model_becomes_one_of_ours() -> None:
    from dspy.utils import exceptions

    busy = from_dspy(exceptions.LMRateLimitError("slow down", retry_after=7.0), "m")
    assert isinstance(busy, JudgeRateLimited)
    assert busy.retry_after_s == 7.0
    for theirs, code, says in (
        (exceptions.LMAuthError("no"), "rejected", "check the key"),
        (exceptions.LMInvalidRequestError("no", status=404), "rejected", "model's name"),
        (exceptions.LMInvalidRequestError("no", status=413), "rejected", "no"),
        (exceptions.LMBillingError("no"), "rejected", "no credit"),
        (exceptions.LMServerError("down"), "unavailable", "down"),
        (exceptions.LMTransportError("down"), "unavailable", "down"),
        (exceptions.LMNotConfiguredError("no key"), "config", "no key"),
        (exceptions.LMStreamAssemblyError("torn"), "truncated", "torn"),
    ):
        found = from_dspy(theirs, "m")
        assert found.code == code
        assert says in str(found)
    unsupported = exceptions.LMUnsupportedFeatureError("no", features=["temperature"])
    refusal = from_dspy(unsupported, "m")
    assert isinstance(refusal, RequestRefused)
    assert refusal.about.startswith("temperature")
    ours, wrapped = JudgeUnavailable("no answer"), RuntimeError("wrapped")
    wrapped.__cause__ = ours
    assert from_dspy(wrapped, "m") is ours
    assert type(from_dspy(RuntimeError("odd"), "m")) is JudgeError
    for missing in (
        ModuleNotFoundError("Missing optional dependency 'botocore'. Run 'pip install boto3'."),
        exceptions.LMTransportError("litellm.APIConnectionError: No module named 'google.auth'"),
    ):
        assert "install the extra 'bedrock' or 'vertex'" in str(from_dspy(missing, "x/m"))
        assert from_dspy(missing, "x/m").code == "config"


def test_a_pause_that_is_none_is_not_taken_for_no_pause() -> None:
    for value in ("-1", "nan", "inf", "soon", f"Mon, 01 Jan {'9' * 20} 00:00:00 GMT"):
        for header in ("retry-after", "retry-after-ms"):
            assert retry_after_s({header: value}) is None


CONTEXT = 2_048
LINES = [f"On day {n} the ferry left the harbour in the north." for n in range(1, 1_201)]
LAST = "The captain was called Ida Berg."
LOG = " ".join([*LINES, LAST])
"""About 15,000 tokens."""
SAILED = [LAST, "On day 7 the ferry left the harbour in the north.", "The ferry sank."]


def tokens(request: Request) -> int:
    return math.ceil(sum(len(message["content"]) for message in request.messages) / 4.2)


def cutting(request: Request) -> Reply:
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
    def answer(request: Request) -> Reply:
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
    report = setup.scorer.score("", LOG, facts=SAILED)
    assert [result.label for result in report.results] == ["entailed", "entailed", "neutral"]
    evidence = report.kept[0].evidence
    assert evidence is not None
    assert LOG[evidence.start : evidence.end] == LAST
    assert setup.asked[-1] == [SAILED[0], SAILED[2]]  # the other is settled by then
    asked = len(setup.server.requests)
    report = setup.scorer.score("", f"{LOG} It rained.", facts=SAILED)
    assert [result.label for result in report.results] == ["entailed", "entailed", "neutral"]
    assert len(setup.server.requests) - asked < asked  # what was learned is known by then


@pytest.mark.parametrize("server", [cutting, refusing(REFUSALS[0])], ids=["cut", "refused"])
def test_a_source_is_extracted_in_smaller_sections(server: Any, llm: MakeSetup) -> None:
    setup = llm(server)
    facts = setup.scorer.extract(LOG)
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
    assert "facts are undecided: openai/tiny: cannot reach 127.0.0.1" in shown
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
        ("word " * 100, 1, 0, False),
        ("-" * 40_000 + " " * 40_000, 300, 0, False),
        ("東京は雨" * 1_000, 2_100, 0, False),
    ],
)
def test_a_prompt_is_cut_if_far_fewer_tokens_were_read(
    prompt: str,
    n_read: int,
    context: int,
    cut: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    assert is_cut(prompt, n_read, context) is cut
