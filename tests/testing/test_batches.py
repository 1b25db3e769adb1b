"""Files and batches on the local server, seen through the official client."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import openai
import pytest

from factcheck.testing import BatchPlan, LocalOpenAIServer

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
