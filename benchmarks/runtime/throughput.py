"""Times 200 summaries of 20 sources over a model that takes 200 ms, beside the raw client.

The model answers from a process of its own. The raw client is `openai.AsyncOpenAI`, which sends
exactly the requests that factcheck sent, and does nothing with the answers. Every comparison is
made in turn, several times; the table shows medians.

    python -m benchmarks.runtime.throughput
    python -m benchmarks.runtime.throughput --repeats 9

Exits with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import math
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.runtime.server import ModelProcess
from benchmarks.runtime.workload import FACTS_PER_SOURCE, Pair, make_pairs
from factcheck import FactCoverage
from factcheck.facts import CoverageReport, FactSet
from factcheck.runtime.cache import DiskCache, answer_key

MODEL = "openai/bench"
LATENCY_S = 0.2
AT_ONCE = 64
N_SOURCES, N_SUMMARIES = 20, 10
N_VERDICTS = N_SOURCES * N_SUMMARIES * FACTS_PER_SOURCE
LEAST_OF_RAW = 0.95
"""Of the raw client's throughput, that factcheck must reach."""
MOST_PER_KEPT_VERDICT_US = 50.0
"""In a run, with its records and reports."""
MOST_ALONE_US = 20.0

Body = dict[str, Any]


class Timing(NamedTuple):
    """One run."""

    wall_s: float
    cpu_s: float
    """Of this process, in all its threads."""


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description="Throughput beside the raw client.")
    parser.add_argument("--repeats", type=int, default=7, metavar="N", help="runs of each row")
    repeats = parser.parse_args().repeats
    if repeats < 1:
        parser.error("--repeats must be at least 1")
    pairs = make_pairs(N_SOURCES, N_SUMMARIES)
    ours, raw, again, alone = [], [], [], []
    n_calls = 0
    with ModelProcess(LATENCY_S) as server, tempfile.TemporaryDirectory() as folder:
        os.environ.update(OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY="not-needed")
        timed_scoring(pairs[:1], Path(folder, "imports"))
        gc.freeze()  # as the command line does once everything is imported
        for repeat in range(repeats):
            cache = empty_cache(Path(folder, str(repeat)))
            server.clear()
            ours.append(timed_scoring(pairs, cache))
            bodies = server.bodies()
            n_calls = len(bodies)
            raw.append(timed_raw(bodies, server.base_url))
            server.clear()
            again.append(timed_scoring(pairs, cache))
            alone.append(timed_checks(pairs, cache))
            if server.bodies():
                raise SystemExit("a run with all answers kept sent something")
    share = median(one.wall_s / other.wall_s for one, other in zip(raw, ours, strict=True))
    kept_us, alone_us = (1e6 * median_of(some).wall_s / N_VERDICTS for some in (again, alone))
    ideal_s = math.ceil(n_calls / AT_ONCE) * LATENCY_S
    print(f"{n_calls} calls; nothing but waiting takes {ideal_s:.2f} s")
    show("factcheck, facts given, nothing kept", ours, f"{share:.1%} of the raw client")
    show("raw client, the same requests", raw, "")
    show("factcheck again, all answers kept", again, f"{kept_us:.0f} µs a verdict")
    show("the same verdicts, without reports", alone, f"{alone_us:.0f} µs a verdict")
    is_missed = (
        share < LEAST_OF_RAW or kept_us >= MOST_PER_KEPT_VERDICT_US or alone_us >= MOST_ALONE_US
    )
    if is_missed:
        print(
            f"missed: at least {LEAST_OF_RAW:.0%} of the raw client, at most "
            f"{MOST_PER_KEPT_VERDICT_US:g} and {MOST_ALONE_US:g} µs a kept verdict",
            file=sys.stderr,
        )
    return int(is_missed)


def show(what: str, timings: Sequence[Timing], note: str) -> None:
    wall_s, cpu_s = median_of(timings)
    print(f"{what:<38}{wall_s:7.2f} s{cpu_s:7.2f} s CPU   {note}")


def median_of(timings: Sequence[Timing]) -> Timing:
    """The medians of both clocks."""
    walls, cpus = zip(*timings, strict=True)
    return Timing(median(walls), median(cpus))


def timed_scoring(pairs: Sequence[Pair], cache: Path) -> Timing:
    """Score all pairs with a new scorer, and require that every verdict is the right one."""
    started = now()
    with FactCoverage(MODEL, MODEL, cache=cache, batch_size=16, concurrency=AT_ONCE) as scorer:
        records = (pair.record(with_facts=True) for pair in pairs)
        outcomes = list(scorer.score_many(records))
    timing = since(started)
    for pair, outcome in zip(pairs, outcomes, strict=True):
        if not isinstance(outcome, CoverageReport) or verdicts(outcome) != pair.labels:
            raise SystemExit(f"{pair.id} was not scored as it should be: {outcome}")
    return timing


def empty_cache(folder: Path) -> Path:
    """Make the files of a cache, which happens once for a folder, and writes to the disk."""
    with closing(DiskCache(folder)) as cache:
        cache.get_many([answer_key()])
    return folder


def timed_checks(pairs: Sequence[Pair], cache: Path) -> Timing:
    """Ask for kept verdicts on one summary after another, once the cache is open."""
    with FactCoverage(MODEL, MODEL, cache=cache, batch_size=16) as scorer:
        questions = [(FactSet.of(list(pair.labels)), pair.summary) for pair in pairs]

        async def check_all() -> Timing:
            await scorer.acheck(*questions[0])
            started = now()
            for facts, summary in questions:
                await scorer.acheck(facts, summary)
            return since(started)

        return asyncio.run(check_all())


def verdicts(report: CoverageReport) -> dict[str, str]:
    """Labels by statement."""
    decided = (*report.kept, *report.distorted, *report.dropped)
    return {verdict.fact.text: verdict.label for verdict in decided}


def timed_raw(bodies: Sequence[Body], base_url: str) -> Timing:
    """Send requests with the client alone."""
    import openai

    async def send_all() -> None:
        client = openai.AsyncOpenAI(
            api_key="not-needed",
            base_url=base_url,
            max_retries=0,
            http_client=openai.DefaultAioHttpClient(),
        )
        slots = asyncio.Semaphore(AT_ONCE)

        async def send(body: Body) -> None:
            async with slots:
                await client.chat.completions.create(**body)

        async with client:
            await asyncio.gather(*map(send, bodies))

    started = now()
    asyncio.run(send_all())
    return since(started)


def now() -> Timing:
    """Both clocks."""
    return Timing(time.perf_counter(), time.process_time())


def since(started: Timing) -> Timing:
    """What passed on both clocks."""
    return Timing(*(end - start for end, start in zip(now(), started, strict=True)))


if __name__ == "__main__":
    sys.exit(main())
