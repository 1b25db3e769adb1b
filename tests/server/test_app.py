"""The application in process: answers, deadlines, chat, pages, what is logged."""

from __future__ import annotations

import json
import logging
import math
import re
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from factcheck import AtomicFact, CoverageReport, FactCoverage, FactSet, Model, Verdict
from factcheck.facts import CheckFailure
from factcheck.fields import FieldEvaluator
from factcheck.testing import FactModel, LocalOpenAIServer, ScriptedChecker
from tests.faults import unauthorized
from tests.server.conftest import Judge, api_key, serving

SOURCE = "Rome is old. Oslo is cold. Ida met Tom in Bern."
SUMMARY = "Oslo is cold and old."
FACTS = ["Rome is old.", "Oslo is cold."]


def post(client: TestClient, path: str, body: Any, **headers: str) -> Any:
    reply = client.post(f"/v1/{path}", json=body, headers=headers)
    assert reply.status_code == 200, reply.text
    return reply.json()


def timeless(report: Any) -> Any:
    return {**report, "usage": {**report["usage"], "seconds": 0}}


def test_answers_are_those_of_the_python_api() -> None:
    facts: Any = [{"text": FACTS[0], "must": True, "weight": 2}, FACTS[1]]
    gold, extracted = [{"city": "Rome"}], [{"city": "rome"}]
    city = {"type": "string", "x-eval-compare": "exact"}
    schema = {"type": "object", "properties": {"city": city}}
    with serving() as client, FactCoverage("local-fast") as scorer:
        report = scorer.score(SOURCE, SUMMARY, facts=FactSet.of(facts), direction="both")
        body = {"source": SOURCE, "summary": SUMMARY, "facts": facts, "direction": "both"}
        answer = post(client, "coverage", body)
        assert timeless(answer) == timeless(report.to_dict())
        assert CoverageReport.from_dict(answer).facts[0].must

        body = {"schema": schema, "gold": gold, "extracted": extracted}
        with FieldEvaluator(schema) as evaluator:
            run = evaluator.evaluate(gold, extracted)
        assert post(client, "fields", body) == run.to_dict()


def streamed(client: TestClient, body: Any, **headers: str) -> list[Any]:
    reply = client.post("/v1/coverage/stream", json=body, headers=headers)
    assert (reply.status_code, reply.headers["content-type"]) == (200, "application/x-ndjson")
    return [json.loads(line) for line in reply.text.splitlines()]


def test_a_stream_brings_facts_then_results_and_ends_with_the_report() -> None:
    source = " ".join(f"Ida met Tom in Bern on day {n}." for n in range(1, 21))
    body = {"source": source, "summary": "Ida met Tom in Bern on day 3.", "direction": "both"}
    with serving() as client:
        first, *parts, last = streamed(client, body)
        plain = post(client, "coverage", body)
    texts = [fact["text"] for fact in first["facts"]]
    results = [one for part in parts for one in part["results"]]

    assert timeless(last["report"]) == timeless(plain)
    assert texts == [one["fact"]["text"] for one in plain["results"]]
    assert sorted(map(str, results)) == sorted(map(str, plain["results"]))
    assert len(parts) == math.ceil(len(texts) / 8) > 1
    assert last["page"].startswith("<!doctype html>")


def test_a_stream_that_fails_ends_with_the_problem() -> None:
    with serving(Judge(delay_s=60)) as client:
        (blank,) = streamed(client, {"source": " ", "summary": "Rome."})
        body = {"source": SOURCE, "summary": SUMMARY, "facts": FACTS}
        *_, late = streamed(client, body, **{"Factcheck-Deadline-Ms": "200"})
        unknown = client.post("/v1/coverage/stream", json={**body, "judge": "x"})

    assert (blank["problem"]["status"], blank["problem"]["code"]) == (422, "input")
    assert late["report"]["counts"]["undecided"] == 2
    assert unknown.status_code == 422


def test_values_are_compared_by_a_judge_that_can() -> None:
    body = {"pairs": [{"gold": "7 km", "extracted": "7,000 m"}, {"gold": "a", "extracted": "b"}]}
    schema = {
        "type": "object",
        "properties": {"d": {"type": "string", "x-eval-compare": "semantic"}},
    }
    record = {"schema": schema, "gold": [{"d": "7 km"}], "extracted": [{"d": "7,000 m"}]}
    by_reference = {"$defs": schema["properties"], "properties": {"d": {"$ref": "#/$defs/d"}}}
    with serving({"local": "local", "fast": "local-fast"}) as client:
        first, second = post(client, "equivalence", body)["results"]
        run = post(client, "fields", record)
        referred = post(client, "fields", {**record, "schema": by_reference})
        refused = client.post("/v1/equivalence", json={**body, "judge": "fast"})
        none = client.post("/v1/fields", json={**record, "judge": "fast"})

    assert (first["equivalent"], second["equivalent"]) == (True, False)
    assert run["mean_f1"] == referred["mean_f1"] == 1.0
    assert (refused.status_code, refused.json()["code"]) == (422, "input")
    assert (none.status_code, none.json()["code"]) == (422, "schema")


def test_a_rejected_judge_is_a_bad_gateway_without_its_key() -> None:
    key = "sk-0123456789abcdef0123"
    with LocalOpenAIServer(lambda _: unauthorized()) as server:
        model = Model("openai/scripted", base_url=server.base_url, api_key=key)
        with serving(model) as client:
            reply = client.post("/v1/check", json={"facts": FACTS, "text": SUMMARY})

    assert reply.status_code == 502
    assert reply.headers["content-type"] == "application/problem+json"
    problem = reply.json()
    assert key not in problem.pop("detail")
    expected = {"type": "about:blank", "title": "Bad Gateway", "status": 502, "code": "rejected"}
    assert problem == expected


def test_an_unexpected_error_says_nothing_to_the_caller_or_the_log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise RuntimeError(f"secret of {SUMMARY}")

    monkeypatch.setattr("factcheck.server.judging.to_plain", fail)
    with caplog.at_level(logging.DEBUG), serving() as client:
        reply = client.post("/v1/check", json={"facts": FACTS, "text": SUMMARY})

    assert (reply.status_code, reply.json()["code"]) == (500, "internal")
    assert SUMMARY not in reply.text + caplog.text
    assert "RuntimeError in a request" in caplog.text
    assert "in fail" in caplog.text


def test_a_line_is_logged_per_request_and_no_text(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), serving() as client:
        post(client, "coverage", {"source": SOURCE, "summary": SUMMARY})
        client.post("/v1/check?text=Oslo", json={"facts": [], "text": SUMMARY})
        client.get(f"/{SUMMARY}")

    lines = [one.message for one in caplog.records if one.name == "factcheck.server"]
    assert [line.partition(" ms")[0].rsplit(" ", 1)[0] for line in lines] == [
        "POST /v1/coverage 200",
        "POST /v1/check 422",
        "GET - 404",
    ]
    assert not any("Oslo" in line for line in lines)


def test_facts_undecided_at_the_deadline_are_returned_as_such(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The deadline of the service holds for requests that have none, or a later one."""
    body = {"source": SOURCE, "summary": SUMMARY, "facts": FACTS}
    for most, headers in (
        (120, {"Factcheck-Deadline-Ms": "200"}),
        (0.2, {}),
        (0.2, {"Factcheck-Deadline-Ms": "3600000"}),
    ):
        monkeypatch.setattr("factcheck.server.service._MAX_DEADLINE_S", most)
        with serving(Judge(delay_s=60)) as client:
            report = post(client, "coverage", body, **headers)
        assert [one["code"] for one in report["results"]] == ["deadline", "deadline"]
        assert (report["score"], report["counts"]["undecided"]) == (None, 2)


def test_health_and_metrics() -> None:
    with LocalOpenAIServer(FactModel()) as server:
        model = Model("openai/scripted", base_url=server.base_url, api_key="none")
        service = serving({"model": model, "fast": "local-fast"})
        ready = [service.get("/readyz").status_code]
        with service as client:
            assert client.get("/healthz").json() == {"status": "ok"}
            assert client.get("/readyz").json() == {"status": "ready"}
            post(client, "coverage", {"source": SOURCE, "summary": SUMMARY, "facts": FACTS})
            client.post("/v1/check", json={})
            metrics = client.get("/metrics").text
            models = client.get("/v1/models").json()
        ready.append(service.get("/readyz").status_code)

    assert ready == [503, 503]  # before it starts, and once it stops
    assert [one["id"] for one in models["data"]] == ["model", "fast"]
    for line in (
        'factcheck_requests_total{route="/v1/coverage",status="200"} 1.0',
        'factcheck_requests_total{route="/v1/check",status="422"} 1.0',
        'factcheck_request_seconds_count{route="/v1/coverage"} 1.0',
        'factcheck_verdicts_total{judge="model",outcome="kept"} 1.0',
        'factcheck_verdicts_total{judge="model",outcome="dropped"} 1.0',
        f'factcheck_attempts_total{{judge="model"}} {len(server.requests)}.0',
        'factcheck_calls_total{judge="fast"} 0.0',
        "factcheck_in_flight 0.0",
        "factcheck_jobs_open 0.0",
    ):
        assert line in metrics.splitlines()
    assert 'factcheck_cost_usd_total{judge="model"}' not in metrics  # its price is unknown


def test_text_that_is_not_unicode_is_judged_and_returned() -> None:
    """JSON can hold half a surrogate pair; no judge and no encoding may fail on it."""
    body = b'{"source": "\\ud800 is big. Rome is old.", "summary": "\\udfff", "direction": "both"}'
    for judge in ("local", "local-fast"):
        with serving(judge) as client:
            headers = {"Content-Type": "application/json"}
            reply = client.post("/v1/coverage", content=body, headers=headers)
        assert reply.status_code == 200, reply.text
        assert reply.json()["texts"]["summary"]["text"] == "\udfff"


MINICHECK = "Document: Rome is old.\n\nIt is big.\nClaim: Rome is old."


def ask(judge: Any, content: Any, *others: Any, **options: Any) -> Any:
    """The reply to a prompt that follows other messages."""
    with serving(judge) as client:
        body = {"messages": [*others, {"role": "user", "content": content}], **options}
        return client.post("/v1/chat/completions", json={"model": "main", **body})


def choice_of(reply: Any) -> Any:
    assert reply.status_code == 200, reply.text
    (choice,) = reply.json()["choices"]
    return choice


def scripted(probability: float | None, label: Any = "entailed") -> ScriptedChecker:
    verdict = Verdict(AtomicFact("f", "f"), label, probability)
    return ScriptedChecker(lambda *_: verdict)


@pytest.mark.parametrize(
    ("judge", "content", "of_yes"),
    [
        (scripted(0.9), "Yes", 0.9),
        (scripted(0.2, "neutral"), "No", 0.2),
        (scripted(0.0, "contradicted"), "No", 0.0),
        (scripted(None), "Yes", None),
    ],
)
def test_a_claim_is_answered_with_yes_or_no(
    judge: ScriptedChecker, content: str, of_yes: float | None
) -> None:
    choice = choice_of(ask(judge, MINICHECK, logprobs=True, top_logprobs=5))

    assert choice["message"] == {"role": "assistant", "content": content, "refusal": None}
    (call,) = judge.calls
    assert (call.facts, call.text) == (("Rome is old.",), "Rome is old.\n\nIt is big.")
    if of_yes is None:
        assert choice["logprobs"] is None
        return
    (token,) = choice["logprobs"]["content"]
    shown = {one["token"]: math.exp(one["logprob"]) for one in token["top_logprobs"]}
    assert shown == pytest.approx({"Yes": of_yes, "No": 1 - of_yes})
    assert math.exp(token["logprob"]) == pytest.approx(shown[token["token"]])
    assert token["token"] == content


def test_only_the_last_message_of_the_user_is_read() -> None:
    parts = [{"type": "text", "text": text} for text in ("Document: Rome is", "old.\nClaim: B.")]
    image = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}
    tool: Any = {"role": "assistant", "content": None, "tool_calls": []}
    judge = scripted(0.9)
    assert choice_of(ask(judge, parts, image, tool))["message"]["content"] == "Yes"
    assert (judge.calls[0].text, judge.calls[0].facts) == ("Rome is\nold.", ("B.",))
    assert ask(judge, image["content"]).status_code == 422
    choice_of(ask(judge, "\tDocument: Rome is old.\n\n\tClaim: B.\n\n"))  # as Spring AI sends it
    assert (judge.calls[1].text, judge.calls[1].facts) == ("Rome is old.", ("B.",))


def test_what_is_undecided_is_neither_yes_nor_no() -> None:
    unsure = CheckFailure(AtomicFact("f", "f"), "unsure", "too close")
    message = choice_of(ask(ScriptedChecker(lambda *_: unsure), MINICHECK))["message"]
    assert message == {"role": "assistant", "content": "", "refusal": "unsure: too close"}


@pytest.mark.parametrize(
    "prompt",
    [
        "Is Rome old?",
        "Document: Rome is old.",
        "Document: Rome is old.\nClaim:  ",
        "Document: Rome is old.\nClaim: Rome is new.\nClaim: Rome is old.",
        "Document: " + "\n" * 100_000,
    ],
)
def test_any_other_prompt_is_refused(prompt: str) -> None:
    """Also one with two claims: which is the document cannot be told."""
    judge = Judge()
    reply = ask(judge, prompt)
    assert (reply.status_code, reply.json()["code"], judge.n_calls) == (422, "input", 0)


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_a_page_can_neither_be_framed_nor_ask_another_host(path: str) -> None:
    with serving(Judge()) as client:
        page = client.get(path)

    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"
    (policy,) = re.findall(r'Policy" content="(.+?)"', page.text)
    allowed = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert allowed["default-src"] == "'none'"
    assert allowed.get("connect-src", "'self'") == "'self'"
    assert all(one.startswith("'sha256-") for one in allowed.get("script-src", "").split())
    assert not re.search(r"(?:src|href)=.?(?:https?:|//)", page.text)
    assert not re.search(r"<[^>]+ on\w+=", page.text)


def test_the_page_asks_for_a_key_and_offers_jobs_where_there_are_any(tmp_path: Path) -> None:
    jobs = str(tmp_path / "jobs.sqlite")
    with serving(Judge()) as client:
        plain = client.get("/").text
    with serving(Judge(), keys=[api_key("secret")], jobs_path=jobs) as client:
        whole = client.get("/").text

    for mark in ('id="ask" hidden', 'id="jobs" hidden'):
        assert mark in plain
        assert mark not in whole


def test_the_docs_name_every_request_and_its_example() -> None:
    with serving(Judge()) as client:
        page, schema = client.get("/docs").text, client.get("/openapi.json").json()

    for path, operations in schema["paths"].items():
        for method in operations:
            assert f"<h2>{method.upper()} {path}</h2>" in page
    assert "The Mill Lane bakery opens at seven." in page


def test_the_description_has_the_form_of_answers_and_problems() -> None:
    with serving(Judge()) as client:
        schema = client.get("/openapi.json").json()

    for path, name, described in (
        ("check", "CheckAnswer", {"results"}),
        ("coverage", "CoverageAnswer", {"score", "low", "high", "interval", "faithfulness"}),
        ("equivalence", "EquivalenceAnswer", {"results"}),
        ("chat/completions", "ChatAnswer", {"id", "object", "created", "model", "choices"}),
    ):
        answers = schema["paths"][f"/v1/{path}"]["post"]["responses"]
        answer = {"schema": {"$ref": f"#/components/schemas/{name}"}}
        assert answers["200"]["content"] == {"application/json": answer}
        assert described <= {*schema["components"]["schemas"][name]["required"]}
        (problem,) = answers["default"]["content"].values()
        assert {"detail", "code"} <= {*problem["schema"]["required"]}


def test_a_service_without_pages() -> None:
    with serving(Judge(), ui=False) as client:
        found = [client.get(path).status_code for path in ("/", "/docs", "/openapi.json")]

    assert found == [404, 404, 200]
