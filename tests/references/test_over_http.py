"""Reference match end to end over real HTTP, with the official client and a scripted server."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import pytest

from factcheck import RetryPolicy
from factcheck.errors import (
    JudgeOutputError,
    JudgeRateLimited,
    JudgeRejected,
    JudgeUnavailable,
)
from factcheck.references import ReferenceMatch
from factcheck.testing import (
    EmbeddingsAnswer,
    LocalOpenAIServer,
    Reply,
    hashed_embeddings,
    rate_limited,
    sequence,
    server_error,
    unauthorized,
)

OUTPUT = "Paris is a city."
QUICK = RetryPolicy(stop_after_attempt=3, wait_multiplier=0.001, wait_max=1.0)
REFERENCES = ("Paris is the capital of France.", "The capital is Paris.")


class Setup(NamedTuple):
    """A metric, and the server its vectors come from."""

    metric: ReferenceMatch
    server: LocalOpenAIServer


MakeSetup = Callable[..., Setup]


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeSetup]:
    with ExitStack() as stack:

        def make(answer: EmbeddingsAnswer = hashed_embeddings, **options: Any) -> Setup:
            server = stack.enter_context(LocalOpenAIServer(lambda _: "", embed=answer))
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            options = {
                "references": REFERENCES,
                "embedding_provider": "openai",
                "retry": QUICK,
                "cache": "off",
                **options,
            }
            return Setup(stack.enter_context(ReferenceMatch(**options)), server)

        yield make


def test_one_case_is_one_request_with_all_texts_in_one_list(remote: MakeSetup) -> None:
    metric, server = remote()
    result = metric.match(OUTPUT)
    (request,) = server.requests
    assert request.body["input"] == [OUTPUT, *REFERENCES]
    assert request.body["model"] == "text-embedding-3-small"
    assert (request.method, request.path) == ("POST", "/v1/embeddings")
    assert result.usage.calls == 1


@pytest.mark.parametrize(
    ("fault", "error", "n_requests"),
    [
        (rate_limited(0.01), JudgeRateLimited, 3),
        (server_error(), JudgeUnavailable, 3),
        (unauthorized(), JudgeRejected, 1),
    ],
)
def test_a_fault_that_stays_is_an_error_of_its_kind(
    remote: MakeSetup, fault: Reply, error: type[Exception], n_requests: int
) -> None:
    metric, server = remote(lambda _: fault)
    with pytest.raises(error):
        metric.match(OUTPUT)
    assert len(server.requests) == n_requests


@pytest.mark.parametrize("vector", [[1.0], [math.nan] * 64, [0.0] * 64])
def test_a_reference_without_a_vector_is_never_left_out(
    remote: MakeSetup, vector: list[float]
) -> None:
    """A mean over the others would be a number about something else."""
    faults = (
        lambda request, n=place: {**dict(enumerate(hashed_embeddings(request))), n: vector}
        for place in (2, 0)
    )
    metric, _ = remote(sequence(*faults, then=hashed_embeddings), aggregation="mean")
    with pytest.raises(JudgeOutputError):
        metric.match(OUTPUT)


def test_a_metric_that_was_closed_opens_again(remote: MakeSetup) -> None:
    metric, _ = remote()
    before = metric.match(OUTPUT).score
    metric.close()
    assert metric.match(OUTPUT).score == before
