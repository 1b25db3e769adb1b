"""What the transport does to a request ends in an answer, a clear error or an undecided fact."""

from __future__ import annotations

import inspect

import pytest

from factcheck import CheckFailure, FactCoverage, Verdict
from factcheck.errors import (
    InputError,
    JudgeError,
    JudgeOutputError,
    JudgeRateLimited,
    JudgeRefused,
    JudgeRejected,
    JudgeTruncated,
    JudgeUnavailable,
)
from factcheck.judges.llm.errors import (
    DSPY_ERRORS,
    DSPY_STATUS,
    RequestRefused,
    from_dspy,
    retry_after_s,
)
from factcheck.testing import (
    FactModel,
    Reply,
    bad_request,
    dropped,
    garbage,
    hang,
    quota_exceeded,
    rate_limited,
    refused,
    sequence,
    server_error,
    truncated,
    unauthorized,
)
from tests.judges.llm.conftest import MODEL, QUICK, MakeSetup

SOURCE = "The kiln reached 900 degrees."
PASSING = {
    "429 with seconds": rate_limited(retry_after=0.01),
    "429 with milliseconds": rate_limited(retry_after_ms=10),
    "429 with a date": rate_limited(retry_after="Sun, 06 Nov 1994 08:49:37 GMT"),
    "429 with nonsense": rate_limited(retry_after="soon"),
    "429": rate_limited(),
    "500": server_error(500),
    "503": server_error(503),
    "408": Reply(status=408, error={"message": "timeout"}),
    "connection closed": dropped(),
    "html": garbage(),
    "not utf-8": garbage(b'{"a":"\xff"}', "application/json"),
    "nested too deeply": garbage(b"[" * 100_000, "application/json"),
    "usage that is none": garbage(b'{"choices": [], "usage": "abc"}', "application/json"),
    "broken json": garbage(b'{"id": "x", "choi', "application/json"),
    "error in a 200": garbage(b'{"error": {"message": "overloaded"}}', "application/json"),
}
FAILURES = {
    "401": (unauthorized(), JudgeRejected, "OPENAI_API_KEY", 1),
    "no credit": (quota_exceeded(), JudgeRejected, "no credit", 1),
    "400": (bad_request("context_length_exceeded"), JudgeRejected, "context_length", 1),
    "404": (Reply(status=404, error={"message": "no tiny"}), JudgeRejected, "model's name", 1),
    "long pause": (rate_limited(retry_after=3600), JudgeRateLimited, "Rate limit", 1),
    "refusal": (refused(), JudgeRefused, "declined", 1),
    "filter": (Reply("", finish_reason="content_filter"), JudgeRefused, "declined", 1),
    "cut off": (truncated('{"facts": ["It'), JudgeTruncated, "cut off", 1),
    "500": (server_error(), JudgeUnavailable, "500", 3),
    "nonsense": (Reply("Here are the facts: none."), JudgeOutputError, "not JSON", 3),
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_a_passing_fault_costs_one_more_request_and_nothing_else(
    fault: Reply, llm: MakeSetup
) -> None:
    scorer, server = llm(sequence(fault, then=FactModel()))
    report = scorer.score("", SOURCE, facts=[SOURCE])
    assert report.score == 1.0
    assert (report.usage.calls, report.usage.attempts) == (1, 2)
    assert len(server.requests) == 2


@pytest.mark.parametrize(("fault", "error", "says", "requests"), FAILURES.values(), ids=FAILURES)
def test_a_fault_that_stays_is_asked_about_as_often_as_a_retry_can_mend_it(
    fault: Reply, error: type[JudgeError], says: str, requests: int, llm: MakeSetup
) -> None:
    scorer, server = llm(lambda _: fault)
    with pytest.raises(error, match=says):
        scorer.extract(SOURCE)
    assert len(server.requests) == requests
    if error is JudgeRejected:
        with pytest.raises(JudgeRejected, match=says):
            scorer.check([SOURCE], SOURCE)


def test_an_answer_that_does_not_come_in_time_is_asked_for_again(llm: MakeSetup) -> None:
    scorer, server = llm(sequence(hang(5), then=FactModel()), timeout_s=0.3)
    assert len(scorer.extract(SOURCE)) == 1
    assert len(server.requests) == 2


def test_an_unreachable_endpoint_says_what_to_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    says = r"cannot reach 127\.0\.0\.1.*OPENAI_BASE_URL"
    with FactCoverage(MODEL, retry=QUICK) as scorer, pytest.raises(JudgeUnavailable, match=says):
        scorer.extract(SOURCE)


def test_one_lost_batch_leaves_the_other_facts_decided(llm: MakeSetup) -> None:
    facts = [f"The kiln reached {n} degrees." for n in range(900, 904)]
    scorer, _ = llm(sequence(bad_request("x"), then=FactModel()), batch_size=2, concurrency=1)
    results = scorer.check(facts, SOURCE)
    assert [type(result) for result in results] == [CheckFailure] * 2 + [Verdict] * 2


def test_bad_replies_are_paid_for_and_counted(llm: MakeSetup) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    scorer, _ = llm(lambda _: Reply("nonsense", usage=usage))
    report = scorer.score("", SOURCE, facts=[SOURCE])
    assert report.usage.calls == 3
    assert (report.usage.prompt_tokens, report.usage.completion_tokens) == (300, 30)
    assert report.usage.cost_usd is None


def test_text_no_provider_can_receive_is_bad_input(llm: MakeSetup) -> None:
    scorer, server = llm(FactModel())
    with pytest.raises(InputError, match="surrogates"):
        scorer.check(["The kiln was hot."], "broken \ud800 text")
    assert server.requests == ()


def test_every_error_of_a_dspy_model_becomes_one_of_ours() -> None:
    from dspy.utils import exceptions

    for _, theirs in inspect.getmembers(exceptions, inspect.isclass):
        if issubclass(theirs, exceptions.LMError) and theirs is not exceptions.LMError:
            assert {cls.__name__ for cls in theirs.__mro__} & {*DSPY_ERRORS, *DSPY_STATUS}
    busy = from_dspy(exceptions.LMRateLimitError("slow down", retry_after=7.0), "m")
    assert isinstance(busy, JudgeRateLimited)
    assert busy.retry_after_s == 7.0
    for theirs, code, says in (
        (exceptions.LMAuthError("no"), "rejected", "check the key"),
        (exceptions.LMInvalidRequestError("no", status=404), "rejected", "model's name"),
        (exceptions.LMInvalidRequestError("no", status=413), "rejected", "no"),
        (exceptions.LMServerError("down"), "unavailable", "down"),
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


def test_a_pause_that_is_none_is_not_taken_for_no_pause() -> None:
    for value in ("-1", "nan", "inf", "soon"):
        for header in ("retry-after", "retry-after-ms"):
            assert retry_after_s({header: value}) is None
