"""The client over a real service on the loopback interface, beside the scorer it stands for."""

from __future__ import annotations

import asyncio
import inspect
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

import factcheck
from factcheck.errors import (
    ConfigError,
    DeadlineExceeded,
    FactcheckError,
    InputError,
    JudgeError,
    JudgeOutputError,
    JudgeRateLimited,
    JudgeRefused,
    JudgeRejected,
    JudgeTruncated,
    JudgeUnavailable,
    SchemaError,
)
from factcheck.facts import CoverageReport, SourceDocument, Usage
from factcheck.scoring import FactCoverage
from factcheck.server.problems import Problem
from tests.server.conftest import Judge, api_key, app_of

pytestmark = pytest.mark.filterwarnings("error")
Serve = Callable[[Any], str]
FACTS = ["The lake is deep.", "The pier is old.", "The boat is blue."]
SOURCE = " ".join(FACTS)
SUMMARY = "A deep lake and an old pier."


@pytest.fixture
def judge() -> Judge:
    """Compares one word."""
    return Judge(lambda fact, text: "entailed" if fact.split()[1] in text else "neutral")


@pytest.fixture
def client(serve: Serve, judge: Any) -> Iterator[factcheck.Client]:
    with factcheck.Client(serve(app_of({"main": judge, "lexical": "local-fast"}))) as client:
        yield client


def test_an_error_of_the_judge_comes_back_as_it_is(serve: Serve) -> None:
    for kind in (JudgeUnavailable, JudgeRejected, JudgeRefused, JudgeTruncated, JudgeError):
        judge = Judge(lambda *_, kind=kind: kind("no reply"))
        with factcheck.Client(serve(app_of(judge))) as client, pytest.raises(kind) as raised:
            client.check(FACTS, SUMMARY)
        assert (type(raised.value), str(raised.value)) == (kind, "no reply")
        assert len(judge.checker.calls) == 1  # the service has retried already


def test_invalid_input_is_an_input_error(client: factcheck.Client, judge: Judge) -> None:
    wrong: list[tuple[Any, Any, str]] = [
        (FACTS, 3, "the text must be a string, not int"),
        ("A fact.", SUMMARY, "expected a list of facts"),
        ([], SUMMARY, "the list of facts is empty"),
        (["A fact."] * 501, SUMMARY, "a list has 501 items"),
    ]
    for facts, text, message in wrong:
        with pytest.raises(InputError, match=message):
            client.check(facts, text)
    assert judge.n_calls == 0


def test_the_judge_is_named_by_the_client(client: factcheck.Client, judge: Judge) -> None:
    with factcheck.Client(client.url, judge="lexical") as other:
        verdict = other.check(["The lake is deep."], "The lake is deep.")[0]
        assert getattr(verdict, "judge", "") == "containment"
    message = "unknown judge 'nobody'; use one of main, lexical"
    with (
        factcheck.Client(client.url, judge="nobody") as other,
        pytest.raises(InputError, match=message),
    ):
        other.check(FACTS, SUMMARY)
    assert judge.n_calls == 0


def test_a_key_that_is_missing(serve: Serve, judge: Judge) -> None:
    url = serve(app_of(judge, keys=[api_key("secret")]))
    for wrong in (None, "public"):
        with factcheck.Client(url, wrong) as client, pytest.raises(ConfigError, match="API key is"):
            client.check(FACTS, SUMMARY)
    with factcheck.Client(url, "secret") as client:
        assert "secret" not in repr(client)
        assert len(client.check(FACTS, SUMMARY)) == len(FACTS)


def test_a_gateway_that_limits_the_rate_is_asked_again(serve: Serve) -> None:
    url = f"{serve(_other)}/429/slow%20down"
    with (
        factcheck.Client(url, timeout_s=0.5) as client,
        pytest.raises(JudgeRateLimited, match="answers HTTP 429"),
    ):
        client.check(FACTS, SUMMARY)


def test_a_request_is_repeated_as_long_as_the_service_is_busy(serve: Serve, judge: Judge) -> None:
    app, n_refused = app_of(judge), 0

    async def full_at_first(scope: Any, receive: Any, send: Any) -> None:
        nonlocal n_refused
        if scope["type"] == "lifespan" or n_refused == 20:
            await app(scope, receive, send)
            return
        n_refused += 1
        problem = Problem(503, "busy", "64 requests are in progress", retry_after_s=0)
        await problem.response()(scope, receive, send)

    with factcheck.Client(serve(full_at_first)) as client:
        assert len(client.check(FACTS, SUMMARY)) == len(FACTS)
    assert (n_refused, judge.n_calls) == (20, 1)


def test_a_service_that_is_not_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with (
        factcheck.Client(url, timeout_s=1) as client,
        pytest.raises(JudgeUnavailable, match=f"{url}/v1/check: cannot be reached"),
    ):
        client.check(FACTS, SUMMARY)


def test_a_service_that_does_not_answer_is_asked_once(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("factcheck.client._GRACE_S", 0.1)
    n_asked = 0

    async def silent(scope: Any, receive: Any, send: Any) -> None:
        nonlocal n_asked
        if scope["type"] == "lifespan":
            await _other(scope, receive, send)
        else:
            n_asked += 1
            await asyncio.sleep(1)

    with (
        factcheck.Client(serve(silent), timeout_s=0.4) as client,
        pytest.raises(JudgeUnavailable, match="no answer within"),
    ):
        client.check(FACTS, SUMMARY)
    assert n_asked == 1


async def _other(scope: Any, receive: Any, send: Any) -> None:
    """Another kind of service: what it answers is in the path."""
    if scope["type"] == "lifespan":
        for kind in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{kind}.complete"})
        return
    status, body = scope["path"].removesuffix("/v1/check").strip("/").split("/", 1)
    headers = [(b"location", b"http://127.0.0.1/")]
    await send({"type": "http.response.start", "status": int(status), "headers": headers})
    await send({"type": "http.response.body", "body": body.encode()})


@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        ("200/<html>", JudgeOutputError, "does not answer like factcheck"),
        ("200/{}", JudgeOutputError, "does not answer like factcheck"),
        ('200/{"results": [3]}', JudgeOutputError, "does not answer like factcheck"),
        ("307/x", ConfigError, "answers HTTP 307"),
        ("404/x", ConfigError, "answers HTTP 404; no 'factcheck serve' is there"),
        ("401/[]", ConfigError, "answers HTTP 401"),
        ("502/<html>bad gateway", JudgeUnavailable, "answers HTTP 502"),
        ('422/{"code": "schema", "detail": "no"}', SchemaError, "no"),
        ('500/{"code": "internal", "detail": "failed"}', JudgeUnavailable, "failed"),
        ('418/{"code": "error"}', FactcheckError, "answers HTTP 418"),
    ],
)
def test_another_service_is_an_error(
    serve: Serve, answer: str, kind: type[FactcheckError], message: str
) -> None:
    with factcheck.Client(f"{serve(_other)}/{answer}") as client, pytest.raises(kind) as raised:
        client.check(FACTS, SUMMARY)

    assert type(raised.value) is kind
    assert message in str(raised.value)


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x", "http://", "", "http://x:99999"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(ConfigError, match=r"the address of the service is '.*'; give an address"):
        factcheck.Client(url)
    with pytest.raises(InputError, match="timeout_s must be a finite number above 0"):
        factcheck.Client("http://localhost", timeout_s=0)


def test_secrets_of_an_address_and_of_a_key_are_not_shown() -> None:
    for url, what in (
        ("http://u:geheim@x", "a password"), ("u:geheim@x", "a password"),
        ("http://x?key=geheim", "a query"),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=what) as raised:
            factcheck.Client(url)
        assert "geheim" not in str(raised.value)
    with pytest.raises(ConfigError, match="only visible ASCII"):
        factcheck.Client("http://x", "ge\nheim")
    assert factcheck.Client("http://x/v1/", "key\n").url == "http://x"


@pytest.mark.parametrize("name", ["score", "check", "extract", "score_many"])
def test_signatures_are_those_of_the_scorer(name: str) -> None:
    for one in (name, f"a{name}") if name != "score_many" else (name,):
        client, scorer = (getattr(kind, one) for kind in (factcheck.Client, FactCoverage))
        assert inspect.signature(client) == inspect.signature(scorer)


DOCUMENTS: list[Any] = [SourceDocument("a", SOURCE), {"id": "b", "text": FACTS[0]}]
RECORDS: list[Any] = [
    *({"id": str(n), "source": SOURCE, "summary": f"{SUMMARY} {n}"} for n in range(38)),
    {"source": SOURCE},
    {"source": " ", "summary": "x"},
]
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("extract", (SOURCE,), {}),
    ("extract", (DOCUMENTS,), {}),
    ("check", (FACTS, SUMMARY), {}),
    ("score", (SOURCE, SUMMARY), {}),
    ("score", (SOURCE, SUMMARY), {"facts": FACTS, "direction": "both"}),
    ("score", (DOCUMENTS, SUMMARY), {"direction": "both"}),
    ("score_many", (RECORDS,), {}),
]


def without_usage(found: Any) -> Any:
    if isinstance(found, CoverageReport):
        return replace(found, usage=Usage())
    return [*map(without_usage, found)] if isinstance(found, tuple | Iterator) else found


@pytest.mark.parametrize(("name", "arguments", "options"), CALLS)
def test_an_answer_is_that_of_the_scorer(
    client: factcheck.Client, judge: Judge, name: str, arguments: Any, options: Any
) -> None:
    with FactCoverage(judge) as scorer:
        expected = without_usage(getattr(scorer, name)(*arguments, **options))
    n_extracted = len(judge.calls)
    found = without_usage(getattr(client, name)(*arguments, **options))
    assert found == expected
    assert len(judge.calls) == 2 * n_extracted  # as often as the scorer


def test_facts_are_undecided_at_the_deadline_of_the_client_or_the_caller(serve: Serve) -> None:
    url = serve(app_of(Judge(delay_s=30)))
    with factcheck.Client(url, timeout_s=0.5) as client:
        report = client.score(SOURCE, SUMMARY)
    assert [failure.code for failure in report.undecided] == ["deadline"] * 3
    with factcheck.Client(url) as client, factcheck.deadline(0.5):
        (result,) = client.check(FACTS[:1], SUMMARY)
        assert getattr(result, "code", "") == "deadline"
        with pytest.raises(DeadlineExceeded):
            client.check(FACTS, SUMMARY)
