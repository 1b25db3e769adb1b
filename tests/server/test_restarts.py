"""The service killed, stopped and started again with a job in work."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.runtime.workload import facts_of, label_of, make_pairs, question
from factcheck.documents.results import read_results
from factcheck.facts import CoverageReport
from factcheck.testing import FactModel, LocalOpenAIServer, Reply
from tests.server.conftest import LATENCY_S, Start

JUDGE = ("--judge", "openai/tiny")
CONCURRENCY = 16
N_SOURCES = 100 if os.environ.get("FACTCHECK_TESTS") == "nightly" else 10
"""With ten pairs each; 1,000 pairs take a minute."""


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalOpenAIServer]:
    """A scripted model for the pairs of the benchmarks."""
    answer = FactModel(label_of, facts_of)
    with LocalOpenAIServer(lambda request: Reply(answer(request), delay_s=LATENCY_S)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield server


def test_a_job_survives_kills(start: Start, model: LocalOpenAIServer, tmp_path: Path) -> None:
    """The rows are right and in order; only what was on its way is asked twice."""
    pairs = make_pairs(N_SOURCES, 10)
    database = str(tmp_path / "jobs.sqlite")
    options = (*JUDGE, "--jobs-db", database, "--concurrency", str(CONCURRENCY))
    service = start(*options)
    job = service.job(json.dumps(pair.record()) for pair in pairs)
    lost: list[set[str]] = []
    for n_rows in (2 * N_SOURCES, 6 * N_SOURCES):
        service.wait(job, n_rows)
        service.stop(signal.SIGKILL)
        time.sleep(2 * LATENCY_S)
        lost.append({question(each.body) for each in model.requests[-3 * CONCURRENCY :]})
        service = start(*options)
        assert service.get(job)["rows"] >= n_rows
    status = service.wait(job)
    rows = tmp_path / "rows.jsonl"
    rows.write_text(service.rows(job), "utf-8")
    assert service.stop()[0] == 0
    for pair, row in zip(pairs, read_results(rows), strict=True):
        results = CoverageReport.from_dict(row).results
        assert row["id"] == pair.id
        assert {one.fact.text: getattr(one, "label", one) for one in results} == pair.labels

    assert (status["state"], status["rows"], status["failed"]) == ("done", 10 * N_SOURCES, 0)
    times = Counter(question(each.body) for each in model.requests)
    assert len(times) == 11 * N_SOURCES
    assert {question for question, n in times.items() if n > 1} <= set().union(*lost)
    assert max(times.values()) <= 3
    assert len(model.requests) - 11 * N_SOURCES <= 2 * 3 * CONCURRENCY


def test_a_clean_stop_finishes_what_is_in_flight(
    start: Start, model: LocalOpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FACTCHECK_CACHE", "off")
    options = (*JUDGE, "--jobs-db", str(tmp_path / "jobs.sqlite"))
    service = start(*options, "--concurrency", "4")
    pairs = make_pairs(1, 200)
    facts = list(pairs[0].labels)
    job = service.job(json.dumps({**pair.record(), "facts": facts}) for pair in pairs)
    service.wait(job, 10)
    code, log = service.stop(signal.SIGTERM)
    n_requests = len(model.requests)

    assert code == 0
    assert "Traceback" not in log
    assert "ERROR" not in log
    assert pairs[0].summary not in log
    service = start(*options, "--concurrency", "4")
    status = service.get(job)
    assert status["rows"] == n_requests < 200  # nothing paid for is lost, even without a cache
    assert service.wait(job)["rows"] == len(model.requests) == 200
