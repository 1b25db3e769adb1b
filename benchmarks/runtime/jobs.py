"""Measures what a job costs the service: CPU, memory, disk and Redis per pair.

The service is the real command line with a scripted model in another process, so what is measured
is everything but the model.

    python -m benchmarks.runtime.jobs
    python -m benchmarks.runtime.jobs --sources 1000 --redis redis://127.0.0.1:6379/0

Needs the extra `server` and Linux. With `--redis`, the database should be empty.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

from rich.console import Console
from rich.table import Table

from benchmarks.runtime.server import ROOT, ModelProcess
from benchmarks.runtime.workload import Pair, make_pairs

LATENCY_S = 0.1
_POLL_S = 0.5


class State(NamedTuple):
    """Resources of a process."""

    cpu_s: float
    rss_mb: float

    @classmethod
    def of(cls, pid: int) -> State:
        times = Path(f"/proc/{pid}/stat").read_text("utf-8").rsplit(")", 1)[1].split()
        pages = int(Path(f"/proc/{pid}/statm").read_text("utf-8").split()[1])
        ticks = int(times[11]) + int(times[12])
        return cls(ticks / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE") / 2**20)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What a job costs the service.")
    parser.add_argument("--sources", type=int, default=100, metavar="N", help="10 pairs each")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="jobs, one by one")
    parser.add_argument("--redis", metavar="URL", help="response cache; default: on disk")
    arguments = parser.parse_args()
    pairs = make_pairs(arguments.sources, 10)
    with tempfile.TemporaryDirectory() as folder, ModelProcess(LATENCY_S) as model:
        table = measure(Path(folder), model, pairs, arguments.rounds, arguments.redis)
    Console().print(table)


def measure(
    folder: Path, model: ModelProcess, pairs: Sequence[Pair], n_rounds: int, redis: str | None
) -> Table:
    """Run jobs of these pairs, each with other summaries, and describe every one."""
    cache, jobs = folder / "cache", folder / "jobs.sqlite"
    environment = {
        **os.environ,
        "OPENAI_BASE_URL": model.base_url,
        "OPENAI_API_KEY": "not-needed",
        "FACTCHECK_CACHE_DIR": str(cache),
    }
    options = ["--port", "0", "--judge", "openai/bench", "--jobs-db", str(jobs)]
    command = [sys.executable, "-m", "factcheck", "serve", *options]
    process = subprocess.Popen(  # noqa: S603 - our own program
        [*command, *(["--cache", redis] if redis else [])],
        cwd=ROOT,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    table = Table(
        "job", "pairs", "calls", "pairs/s", "CPU, ms a pair", "RSS, MB", "kB a pair: jobs",
        "rows", "cache", box=None, pad_edge=False,
    )  # fmt: skip
    assert process.stderr is not None  # noqa: S101 - it is a pipe
    try:
        address = re.search(r"http://\S+", process.stderr.readline())
        assert address is not None  # noqa: S101 - the service has started
        n_pairs = 0
        for number in range(n_rounds + 1):
            some = pairs if number else pairs[:1]  # the first loads what is needed
            before, n_calls, started = State.of(process.pid), model.count(), time.perf_counter()
            rows = _job(address[0], some, number)
            seconds, after = time.perf_counter() - started, State.of(process.pid)
            n_pairs += len(some)
            stored = _redis_bytes(redis) if redis else _size(cache)
            values = (
                f"{number}",
                f"{len(some):,}",
                f"{model.count() - n_calls:,}",
                f"{len(some) / seconds:.0f}",
                f"{1_000 * (after.cpu_s - before.cpu_s) / len(some):.1f}",
                f"{after.rss_mb:.0f}",
                *(f"{n / 1_000:.1f}" for n in (_size(jobs) / n_pairs, rows / len(some))),
                f"{stored / 1_000 / n_pairs:.1f}",
            )
            table.add_row(*values)
    finally:
        process.terminate()
        process.communicate()
    return table


def _job(address: str, pairs: Sequence[Pair], number: int) -> int:
    """Run a job to its end and return the size of its rows in bytes."""
    records = (
        {**pair.record(), "summary": f"{pair.summary} This is draft {number}."} for pair in pairs
    )
    body = "".join(f"{json.dumps(record)}\n" for record in records).encode()
    job = _asked(f"{address}/v1/jobs", body)["id"]
    while (status := _asked(f"{address}/v1/jobs/{job}"))["state"] in {"queued", "running"}:
        time.sleep(_POLL_S)
    if (status["state"], status["failed"]) != ("done", 0):
        raise RuntimeError(f"the job ended as {status}")
    with urlopen(f"{address}/v1/jobs/{job}/rows") as answer:  # noqa: S310 - our own service
        return sum(map(len, answer))


def _asked(url: str, body: bytes | None = None) -> Any:
    with urlopen(url, body) as answer:  # noqa: S310 - our own service
        return json.load(answer)


def _size(path: Path) -> int:
    """Bytes of a file with those beside it that begin with its name, or of a folder."""
    files = path.rglob("*") if path.is_dir() else path.parent.glob(f"{path.name}*")
    return sum(file.stat().st_size for file in files)


def _redis_bytes(url: str) -> int:
    import redis

    with redis.Redis.from_url(url) as client:
        used: int = client.info("memory")["used_memory"]
        return used


if __name__ == "__main__":
    main()
