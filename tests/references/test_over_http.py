"""Reference match end to end over real HTTP, with the official client and a scripted server."""

from __future__ import annotations

import math

import pytest

from factcheck import Budget
from factcheck.errors import (
    BudgetExceeded,
    JudgeOutputError,
    JudgeRateLimited,
    JudgeRejected,
    JudgeUnavailable,
)
from factcheck.references import ReferenceMatch
from factcheck.testing import (
    Reply,
    hashed_embeddings,
    rate_limited,
    sequence,
    server_error,
    unauthorized,
    with_vector,
    without_vectors,
)
from tests.references.conftest import REFERENCES, MakeSetup

OUTPUT = "Paris is a city."


def test_one_case_is_one_request_with_all_texts_in_one_list(remote: MakeSetup) -> None:
    metric, server = setup = remote()
    result = metric.match(OUTPUT)
    (request,) = server.requests
    assert request.body["input"] == [OUTPUT, *REFERENCES]
    assert request.body["model"] == "text-embedding-3-small"
    assert (request.method, request.path) == ("POST", "/v1/embeddings")
    assert setup.asked == [(OUTPUT, *REFERENCES)]
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
    setup = remote(lambda _: fault)
    with pytest.raises(error):
        setup.metric.match(OUTPUT)
    assert len(setup.asked) == n_requests


def test_a_vector_that_never_comes_is_an_error_of_the_cases_it_is_in(remote: MakeSetup) -> None:
    """The first output has no vector, in the first answer and in that to it alone."""
    faulty = without_vectors(hashed_embeddings, 0)
    metric, _ = remote(sequence(faulty, faulty, then=hashed_embeddings))
    bad, good = metric.match_many([OUTPUT, "Rome is a city."])
    assert bad.error is not None
    assert bad.error.code == "missing"
    assert good.score is not None


@pytest.mark.parametrize("vector", [[1.0], [math.nan] * 64, [0.0] * 64])
def test_a_reference_without_a_vector_is_never_left_out(
    remote: MakeSetup, vector: list[float]
) -> None:
    """A mean over the others would be a number about something else."""
    faults = (with_vector(hashed_embeddings, place, vector) for place in (2, 0))
    metric, _ = remote(sequence(*faults, then=hashed_embeddings), aggregation="mean")
    with pytest.raises(JudgeOutputError):
        metric.match(OUTPUT)


def test_a_budget_is_kept_before_anything_is_sent(remote: MakeSetup) -> None:
    setup = remote(budget=Budget(max_tokens=10))
    with pytest.raises(BudgetExceeded):
        setup.metric.match(OUTPUT)
    assert setup.asked == []


def test_a_server_in_the_environment_does_not_change_the_default(remote: MakeSetup) -> None:
    setup = remote()
    score = ReferenceMatch(REFERENCES).match(OUTPUT).score
    assert setup.asked == []
    assert score is not None


def test_a_metric_that_was_closed_opens_again(remote: MakeSetup) -> None:
    metric, _ = remote()
    before = metric.match(OUTPUT).score
    metric.close()
    assert metric.match(OUTPUT).score == before
