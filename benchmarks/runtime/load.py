"""Mixed load on the service: nothing lost, no wrong verdict, flat memory, a clean stop.

The embedded judge answers at 1, 16 and 64 connections, an equal part of the time each. All the
while, eight connections and one job after another ask a scripted model, and one of its replies in
five goes wrong. At the end the service is stopped with work in flight and started again.

    python -m benchmarks.runtime.load --minutes 10

Needs the extra `server` and Linux. Exits with 1 if a fact is lost or a verdict wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from statistics import quantiles

from httpx import AsyncClient, Response

from benchmarks.runtime.jobs import Service
from benchmarks.runtime.workload import Pair, facts_of, label_of, make_pairs
from factcheck import FactCoverage
from factcheck.documents.results import read_results
from factcheck.facts import CheckFailure, CheckResult, CoverageReport, EntailmentLabel, Verdict
from factcheck.scoring.run_report import outcome_of
from factcheck.testing import FactModel, LocalOpenAIServer, Reply, Request

OPTIONS = ("--judge", "local", "--judge", "model=openai/bench")
CONNECTIONS = (1, 16, 64)
"""Numbers of connections to the embedded judge."""
N_ASKING = 8
"""Number of connections to the scripted model."""
N_FACTS, JOB, LAST_JOB = 3, 100, 500
"""Numbers of facts of a request to the embedded judge, and of pairs of a job."""
SHARE_OF_FAULTS = 0.2
BUSY = 503
LATENCY_S, LAST_LATENCY_S = 0.1, 1.0
"""Seconds until the scripted model answers."""
stopping = threading.Event()
tallies: defaultdict[str, Counter[str]] = defaultdict(Counter)
"""Numbers of facts by outcome, and of pairs, for each kind of request."""


class Unreliable:
    """The scripted model, of whose replies one in five goes wrong, at places that a seed draws."""

    def __init__(self) -> None:
        self.n_faults = 0
        self._model = FactModel(label_of, facts_of)

    def __call__(self, request: Request) -> Reply:
        chance = random.Random(f"1:{request.index}")  # noqa: S311 - nothing secret
        latency_s = LAST_LATENCY_S if stopping.is_set() else LATENCY_S
        content = self._model(request)
        if chance.random() >= SHARE_OF_FAULTS:
            return Reply(content, delay_s=latency_s)
        self.n_faults += 1
        faults = (
            Reply(status=429, headers={"Retry-After": "0.05"}),
            Reply(status=429),
            Reply(status=500),
            Reply(close=True),
            Reply(raw_body=b"<html>Bad gateway</html>"),
            Reply("All of it seems fine."),
            Reply(content[: len(content) // 2], finish_reason="length"),
        )
        return chance.choice(faults)


def tally(kind: str, pair: Pair, outcome: object) -> None:
    """Count the facts of a pair; an outcome is a report, an error, or `None` for a lost row."""
    tallies[kind]["pairs"] += 1
    if outcome is not None and not isinstance(outcome, CoverageReport):
        tallies[kind][f"no report ({getattr(outcome, 'code', outcome)})"] += 1
        return
    results = outcome.results if outcome else ()
    by_fact = {result.fact.text: result for result in results}
    for fact, label in pair.labels.items():
        tallies[kind][what_became(by_fact.get(fact), label)] += 1


def what_became(result: CheckResult | None, label: EntailmentLabel) -> str:
    if result is None:
        return "lost"
    if isinstance(result, CheckFailure):
        return f"undecided ({result.code})"
    return "correct" if result.label == label else "wrong"


async def answered(client: AsyncClient, body: dict[str, object]) -> Response:
    """Post a request again until the service is not busy."""
    answer = await client.post("/v1/coverage", json=body)
    if answer.status_code != BUSY:
        return answer
    await asyncio.sleep(float(answer.headers["Retry-After"]))
    return await answered(client, body)


async def ask(client: AsyncClient, kind: str, pair: Pair) -> float:
    """Score a pair and return the latency in seconds."""
    started, judge = time.perf_counter(), "local" if kind.startswith("embedded") else "model"
    texts = {"source": pair.source, "summary": pair.summary, "facts": list(pair.labels)}
    answer = await answered(client, {**texts, "judge": judge})
    if answer.is_success:
        tally(kind, pair, CoverageReport.from_json(answer.text))
    else:
        tally(kind, pair, answer.json()["code"])
    return time.perf_counter() - started


def submit(service: Service, pairs: list[Pair]) -> tuple[str, list[Pair]]:
    return service.submit([pair.record(with_facts=True) for pair in pairs], "model"), pairs


def finish(service: Service, job: str, pairs: Sequence[Pair]) -> None:
    """Wait for a job and count the facts of its rows."""
    tallies["jobs"][service.wait(job)["state"]] += 1
    path = service.log.with_name("rows.jsonl")
    path.write_bytes(service.ask(f"{job}/rows"))
    rows = {row["id"]: outcome_of(row) for row in read_results(path)}
    for pair in pairs:
        tally("jobs", pair, rows.get(pair.id))


async def press(
    service: Service,
    drafts: Iterator[Pair],
    local: Iterator[Pair],
    seconds: float,
) -> tuple[str, list[Pair]]:
    """Keep all connections and jobs busy, then stop the service; returns the job it left undone."""
    ends = time.monotonic() + seconds

    async def keep(kind: str, pairs: Iterator[Pair], until: float) -> list[float]:
        seen = []
        while time.monotonic() < until:
            seen.append(await ask(client, kind, next(pairs)))
        return seen

    def jobs() -> None:
        while time.monotonic() < ends:
            finish(service, *submit(service, [*islice(drafts, JOB)]))

    def watch() -> None:
        while time.monotonic() < ends:
            status = Path(f"/proc/{service.process.pid}/status").read_text("utf-8")
            own, mapped = re.findall(r"Rss(?:Anon|File):\s+(\d+)", status)
            used = f"memory {int(own) >> 10} MB, and {int(mapped) >> 10} MB of mapped files"
            print(f"{used}; load of the machine {os.getloadavg()[0]:.1f}", flush=True)
            time.sleep(60)

    async with AsyncClient(base_url=service.url, timeout=150) as client:
        asking = [keep("model", drafts, ends) for _ in range(N_ASKING)]
        others = asyncio.gather(asyncio.to_thread(jobs), asyncio.to_thread(watch), *asking)
        for n in CONNECTIONS:
            kind, started = f"embedded, {n} connections", time.monotonic()
            until = started + seconds / len(CONNECTIONS)
            found = await asyncio.gather(*(keep(kind, local, until) for _ in range(n)))
            latencies = [one for of_one in found for one in of_one]
            rate, cuts = len(latencies) / (time.monotonic() - started), quantiles(latencies, n=100)
            print(f"{kind}: {rate:.1f}/s, p50 {cuts[49]:.2f} s, p99 {cuts[98]:.2f} s", flush=True)
        await others
        left = submit(service, [*islice(drafts, LAST_JOB)])
        service.wait(left[0], JOB)
        last = [ask(client, "in flight at the stop", next(drafts)) for _ in range(N_ASKING)]
        stopping.set()
        answers = asyncio.gather(*last)
        await asyncio.sleep(LAST_LATENCY_S / 2)
        service.process.terminate()
        await answers
    return left


def drafts_of(pairs: Sequence[Pair]) -> Iterator[Pair]:
    """The pairs again and again, each time with other summaries."""
    for n, pair in enumerate(cycle(pairs)):
        yield pair._replace(id=f"{n}", summary=f"{pair.summary} This is draft {n}.")


def main() -> bool:
    """Load the service, print, and return whether something is wrong."""
    parser = argparse.ArgumentParser(description="Mixed load on the service.")
    parser.add_argument("--minutes", type=float, default=10.0, metavar="N")
    seconds = 60 * parser.parse_args().minutes
    pairs, unreliable = make_pairs(50, 4), Unreliable()
    drafts = drafts_of(pairs)
    with FactCoverage("local") as scorer:
        checked = [scorer.check(list(pair.labels)[:N_FACTS], pair.summary) for pair in pairs]
    labels = [{r.fact.text: r.label for r in found if isinstance(r, Verdict)} for found in checked]
    local = [pair._replace(labels=own) for pair, own in zip(pairs, labels, strict=True)]

    with tempfile.TemporaryDirectory() as name, LocalOpenAIServer(unreliable) as server:
        folder = Path(name)
        with Service(folder, server.base_url, *OPTIONS) as service:
            job, left = asyncio.run(press(service, drafts, cycle(local), seconds))
            code, log = service.process.wait(), service.log.read_text("utf-8")
        with Service(folder, server.base_url, *OPTIONS) as service:
            stopping.clear()
            print(f"after the stop: {service.wait(job, 0)['rows']} of {len(left)} rows")
            finish(service, job, left)
    for kind, found in sorted(tallies.items()):
        print(f"{kind}: {', '.join(f'{n:,} {what}' for what, n in sorted(found.items()) if n)}")
    errors = [line for line in log.splitlines() if "ERROR" in line or "Traceback" in line]
    print(f"{unreliable.n_faults:,} faults; exit code {code}", *errors, sep="\n")
    return bool(code or errors) or any(
        found["lost"] or found["wrong"] for found in tallies.values()
    )


if __name__ == "__main__":
    sys.exit(main())
