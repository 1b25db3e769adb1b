"""Runs of the command line that are killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.runtime.workload import facts_of, label_of, make_pairs, question
from factcheck.testing import FactModel, LocalOpenAIServer, Reply
from tests.rows import comparable
from tests.runtime.cache.stores import stored

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")

PAIRS = make_pairs(6, 10)
N_CALLS = 66
"""One for each of the 6 sources and of the 60 summaries."""
LATENCY_S = 0.1


@pytest.fixture
def model() -> Iterator[LocalOpenAIServer]:
    answer = FactModel(label_of, facts_of)
    with LocalOpenAIServer(lambda request: Reply(answer(request), delay_s=LATENCY_S)) as server:
        yield server


def started(model: LocalOpenAIServer, out: Path) -> subprocess.Popen[bytes]:
    """Start a run of the pairs with the cache beside `out`; its rows are resumed."""
    records = out.with_name("records.jsonl")
    lines = [json.dumps(pair.record()) for pair in PAIRS]
    records.write_text("\n".join(lines), "utf-8")
    command = [sys.executable, "-m", "factcheck", "run", str(records)]
    environment = {
        "OPENAI_BASE_URL": model.base_url,
        "OPENAI_API_KEY": "none",
        "FACTCHECK_CACHE_DIR": str(out.with_name("cache")),
    }
    return subprocess.Popen(  # noqa: S603 - our own program
        [*command, "--judge", "openai/bench", "--out", str(out), "--resume"],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
    )


def test_a_killed_run_loses_nothing_that_was_answered(
    model: LocalOpenAIServer, tmp_path: Path
) -> None:
    """Only what was on its way, or answered just before, is asked for again."""
    whole, out = tmp_path / "whole" / "rows.jsonl", tmp_path / "rows.jsonl"
    whole.parent.mkdir()
    assert started(model, whole).wait() == 0
    assert len(model.requests) == N_CALLS
    undisturbed = comparable(whole)
    assert [row["id"] for row in undisturbed] == [pair.id for pair in PAIRS]
    model.clear()
    kept: Counter[tuple[str, str]] = Counter()
    for n_requests in (10, 30, 50):
        with started(model, out) as run:
            while len(model.requests) < n_requests:
                assert run.poll() is None
                time.sleep(0.002)
            run.kill()
        time.sleep(LATENCY_S)  # until the server has read what the dead process sent
        assert kept <= answers(tmp_path / "cache")
        kept = answers(tmp_path / "cache")
    assert started(model, out).wait() == 0

    assert comparable(out) == undisturbed
    asked = Counter(question(request.body) for request in model.requests)
    assert len(asked) == N_CALLS
    assert max(answers(tmp_path / "cache").values()) == 1  # what is kept is not asked for again


def answers(folder: Path) -> Counter[tuple[str, str]]:
    """How often each answer is in a cache; one that was paid for twice is there twice."""
    found: Counter[tuple[str, str]] = Counter()
    for key, values in stored(folder).items():
        for value in values:
            found.update((key, name) for name in json.loads(value).get("answers", ()))
    return found
