"""Files and batches on the local server, seen through the official client."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import openai
import pytest

from factcheck.testing import BatchPlan, LocalOpenAIServer, rate_limited

URL: Final = "/v1/chat/completions"


def line(name: str, text: str = "Do owls fly?", model: str = "m", url: str = URL) -> dict[str, Any]:
    body = {"model": model, "messages": [{"role": "user", "content": text}]}
    return {"custom_id": name, "method": "POST", "url": url, "body": body}


LINES = [line(name) for name in "abcdefgh"]


class Session(NamedTuple):
    """A client of a running server."""

    client: openai.OpenAI
    server: LocalOpenAIServer

    def create(self, lines: Sequence[Any] = LINES) -> openai.types.Batch:
        content = "\n".join(json.dumps(item) for item in lines).encode()
        uploaded = self.client.files.create(file=("requests.jsonl", content), purpose="batch")
        return self.client.batches.create(
            input_file_id=uploaded.id, endpoint=URL, completion_window="24h"
        )

    def content(self, file_id: str | None) -> list[Any]:
        if file_id is None:
            return []
        return [json.loads(item) for item in self.client.files.content(file_id).iter_lines()]

    def ended(self, lines: Sequence[Any] = LINES) -> openai.types.Batch:
        return self.client.batches.retrieve(self.create(lines).id)


@contextmanager
def session(plan: BatchPlan | None = None, answer: Any = lambda _: "Yes.") -> Iterator[Session]:
    with (
        LocalOpenAIServer(answer, batches=plan) as server,
        openai.OpenAI(base_url=server.base_url, api_key="k", max_retries=0) as client,
    ):
        yield Session(client, server)


def names(lines: Sequence[Any]) -> str:
    return "".join(item["custom_id"] for item in lines)


def test_each_request_of_a_completed_batch_has_an_answer() -> None:
    with session() as on:
        batch = on.ended()
        output = on.content(batch.output_file_id)
        assert (batch.status, batch.error_file_id) == ("completed", None)
        assert batch.request_counts is not None
        assert (batch.request_counts.completed, batch.request_counts.total) == (8, 8)
        assert names(output) == "abcdefgh"
        reply = output[0]["response"]
        assert (reply["status_code"], output[0]["error"]) == (200, None)
        assert reply["body"]["choices"][0]["message"]["content"] == "Yes."
        assert [request.path for request in on.server.requests].count(URL) == 0


def test_a_batch_is_under_way_until_it_was_looked_at_often_enough() -> None:
    with session(BatchPlan(polls=2)) as on:
        made = on.create()
        seen = [on.client.batches.retrieve(made.id).status for _ in range(4)]
    assert made.status == "validating"
    assert seen == ["in_progress", "in_progress", "completed", "completed"]


@pytest.mark.parametrize("ending", ["expired", "cancelled"])
def test_a_batch_that_ends_early_keeps_what_was_carried_out(ending: Any) -> None:
    with session(BatchPlan(ending=ending, carried_out=3)) as on:
        batch = on.ended()
        output, errors = on.content(batch.output_file_id), on.content(batch.error_file_id)
    assert (batch.status, names(output), names(errors)) == (ending, "abc", "defgh")
    assert {(item["response"], item["error"]["code"]) for item in errors} == {
        (None, f"batch_{ending}")
    }


def test_error_replies_go_into_the_file_of_errors() -> None:
    with session(answer=lambda r: rate_limited() if r.index == 1 else "Yes.") as on:
        batch = on.ended()
        output, errors = on.content(batch.output_file_id), on.content(batch.error_file_id)
    assert (names(output), names(errors)) == ("acdefgh", "b")
    assert errors[0]["response"]["status_code"] == 429
    assert "message" in errors[0]["response"]["body"]["error"]


def test_answers_can_come_in_another_order_and_be_lost() -> None:
    with session(BatchPlan(shuffled=True, lost=[0, 7])) as on:
        orders = [names(on.content(on.ended().output_file_id)) for _ in range(2)]
    assert orders[0] == orders[1] != "bcdefg"
    assert sorted(orders[0]) == list("bcdefg")


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([line("a"), line("a")], "unique"),
        ([line("a", model="m"), line("b", model="n")], "same model"),
        ([line("a", url="/v1/embeddings")], "those of the batch"),
        ([{**line("a"), "body": None}], "no body"),
        (["a"], "not a JSON object"),
    ],
)
def test_a_file_that_the_endpoint_would_refuse_fails_with_the_reason(
    lines: Sequence[Any], problem: str
) -> None:
    with session() as on:
        batch = on.ended(lines)
    assert (batch.status, batch.output_file_id) == ("failed", None)
    assert batch.errors is not None
    assert batch.errors.data is not None
    assert problem in str(batch.errors.data[0].message)


def test_a_batch_can_fail_as_planned() -> None:
    with session(BatchPlan(ending="failed")) as on:
        assert on.ended().status == "failed"


def test_making_a_batch_can_be_refused_or_go_unanswered() -> None:
    with session(BatchPlan(creations=["refused", "unanswered"])) as on:
        with pytest.raises(openai.InternalServerError):
            on.create()
        assert list(on.client.batches.list()) == []
        with pytest.raises(openai.APIConnectionError):
            on.create()
        last = on.create()
        assert [batch.id for batch in on.client.batches.list()] == [last.id, "batch_0"]


def test_what_is_not_there_is_not_found() -> None:
    with session() as on:
        with pytest.raises(openai.NotFoundError):
            on.client.batches.retrieve("batch_9")
        with pytest.raises(openai.NotFoundError):
            on.client.files.content("file-9")
        with pytest.raises(openai.BadRequestError):
            on.client.batches.create(input_file_id="file-9", endpoint=URL, completion_window="24h")
        with pytest.raises(openai.BadRequestError):
            on.client.files.create(file=b"{}", purpose="evals")


def test_an_uploaded_file_comes_back_byte_by_byte() -> None:
    content = b"\xff\r\n--\r\n\r\n"
    with session() as on:
        uploaded = on.client.files.create(file=("r.jsonl", content), purpose="batch")
        assert on.client.files.content(uploaded.id).read() == content
