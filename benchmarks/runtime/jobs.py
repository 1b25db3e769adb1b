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
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.request import urlopen

from rich.console import Console
from rich.table import Table

from benchmarks.runtime.server import ModelProcess
from benchmarks.runtime.workload import Pair, make_pairs

if TYPE_CHECKING:
    from typing_extensions import Self

ROOT = Path(__file__).parents[2]
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


class Service:
    """`factcheck serve` on a free port, over a scripted model; a context manager.

    Args:
        folder: Gets the database of the jobs, the response cache and the log.
        model_url: Address of the scripted model.
        options: Further options of the command.
        cache: Address of Redis, for the response cache; empty: in the folder.
    """

    def __init__(self, folder: Path, model_url: str, *options: str, cache: str = "") -> None:
        environment = {
            **os.environ,
            "OPENAI_BASE_URL": model_url,
            "OPENAI_API_KEY": "not-needed",
            "FACTCHECK_CACHE": cache,
            "FACTCHECK_CACHE_DIR": str(folder / "cache"),
        }
        command = [sys.executable, "-m", "factcheck", "serve", "--port", "0"]
        self.log = folder / "log.txt"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(  # noqa: S603 - our own program
                [*command, "--jobs-db", str(folder / "jobs.sqlite"), *options],
                cwd=ROOT,
                env=environment,
                stderr=log,
            )
        while not (address := re.search(r"Serving .* on (http://\S+)\n", self.log.read_text())):
            if self.process.poll() is not None:
                raise RuntimeError(self.log.read_text())
            time.sleep(0.1)
        self.url = address[1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()

    def submit(self, records: Iterable[Mapping[str, object]], judge: str = "") -> str:
        """Submit a job and return its address."""
        body = "".join(f"{json.dumps(record)}\n" for record in records).encode()
        query = f"?judge={judge}" if judge else ""
        return f"/v1/jobs/{json.loads(self.ask(f'/v1/jobs{query}', body))['id']}"

    def wait(self, job: str, n_rows: float = math.inf) -> Any:
        """Return the status of a job that has ended, or has so many rows."""
        while (status := json.loads(self.ask(job)))["state"] in {"queued", "running"}:
            if status["rows"] >= n_rows:
                break
            time.sleep(_POLL_S)
        return status

    def ask(self, path: str, body: bytes | None = None) -> bytes:
        with urlopen(f"{self.url}{path}", body) as answer:  # noqa: S310 - our own service
            content: bytes = answer.read()
        return content


def measure(
    folder: Path, model: ModelProcess, pairs: Sequence[Pair], n_rounds: int, redis: str | None
) -> Table:
    """Run jobs of these pairs, each with other summaries, and describe every one."""
    table = Table(
        "job", "pairs", "calls", "pairs/s", "CPU, ms a pair", "RSS, MB", "kB a pair: jobs",
        "rows", "cache", box=None, pad_edge=False,
    )  # fmt: skip
    options = ("--judge", "openai/bench")
    with Service(folder, model.base_url, *options, cache=redis or "") as service:
        n_pairs = 0
        for number in range(n_rounds + 1):
            some = pairs if number else pairs[:1]  # the first loads what is needed
            before, n_calls = State.of(service.process.pid), len(model.bodies())
            started = time.perf_counter()
            rows = _job(service, some, number)
            seconds, after = time.perf_counter() - started, State.of(service.process.pid)
            n_pairs += len(some)
            stored = _redis_bytes(redis) if redis else _size(folder / "cache")
            sizes = _size(folder / "jobs.sqlite") / n_pairs, rows / len(some)
            values = (
                f"{number}",
                f"{len(some):,}",
                f"{len(model.bodies()) - n_calls:,}",
                f"{len(some) / seconds:.0f}",
                f"{1_000 * (after.cpu_s - before.cpu_s) / len(some):.1f}",
                f"{after.rss_mb:.0f}",
                *(f"{n / 1_000:.1f}" for n in sizes),
                f"{stored / 1_000 / n_pairs:.1f}",
            )
            table.add_row(*values)
    return table


def _job(service: Service, pairs: Sequence[Pair], number: int) -> int:
    """Run a job to its end and return the size of its rows in bytes."""
    job = service.submit(
        {**pair.record(), "summary": f"{pair.summary} This is draft {number}."} for pair in pairs
    )
    status = service.wait(job)
    if (status["state"], status["failed"]) != ("done", 0):
        raise RuntimeError(f"the job ended as {status}")
    return len(service.ask(f"{job}/rows"))


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
