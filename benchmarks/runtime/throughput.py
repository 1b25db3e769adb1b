"""Times 200 summaries of 20 sources over a model that takes 200 ms, beside the raw client.

The model answers from a process of its own. The raw client is `openai.AsyncOpenAI`, which sends
exactly the requests that factcheck sent, in the same two phases, and does nothing with the
answers. Every comparison is made in turn, several times; the table shows medians.

    python -m benchmarks.runtime.throughput
    python -m benchmarks.runtime.throughput --repeats 9 --out rows.jsonl

Exits with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks.cost.run import o200k_counter
from benchmarks.runtime.server import ModelProcess
from benchmarks.runtime.workload import FACTS_PER_SOURCE, Pair, make_pairs
from factcheck import FactCoverage
from factcheck.facts import CoverageReport, FactSet
from factcheck.runtime.cache import DiskCache, answer_key
from factcheck.testing import parse_prompt

MODEL = "openai/bench"
LATENCY_S = 0.2
AT_ONCE = 64
N_SOURCES, N_SUMMARIES = 20, 10
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


class Row(NamedTuple):
    """One way of asking."""

    what: str
    calls: int
    prompt_tokens: int
    ideal_s: float | None
    """Whole waves of requests, nothing but waiting; `None` where nothing is sent."""
    timings: tuple[Timing, ...]
    note: str = ""
    missed: str = ""
    """What target is missed; empty if none is."""

    @property
    def wall_s(self) -> float:
        """Seconds of the middle run."""
        return statistics.median(timing.wall_s for timing in self.timings)

    @property
    def cpu_s(self) -> float:
        """CPU seconds of the middle run."""
        return statistics.median(timing.cpu_s for timing in self.timings)


class Bench(NamedTuple):
    """What is measured, and with what."""

    server: ModelProcess
    folder: Path
    pairs: Sequence[Pair]
    count: Callable[[str], int]
    """Tokens of a text."""

    def tokens(self, bodies: Sequence[Body]) -> int:
        """Tokens of all messages."""
        return sum(self.count(m["content"]) for body in bodies for m in body["messages"])


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description="Throughput beside the raw client.")
    parser.add_argument("--repeats", type=int, default=7, metavar="N", help="runs of each row")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write rows as JSON lines")
    arguments = parser.parse_args()
    if arguments.repeats < 1:
        parser.error("--repeats must be at least 1")
    with ModelProcess(LATENCY_S) as server, tempfile.TemporaryDirectory() as folder:
        os.environ.update(OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY="not-needed")
        bench = Bench(server, Path(folder), make_pairs(N_SOURCES, N_SUMMARIES), o200k_counter())
        timed_scoring(bench.pairs[:1], Path(folder, "imports"))
        gc.freeze()  # as the command line does once everything is imported
        rows = [
            *whole_rows(bench, arguments.repeats),
            *check_rows(bench, arguments.repeats),
            *one_by_one_rows(bench),
        ]
    Console().print(table(rows))
    if arguments.out:
        lines = [json.dumps(row._asdict(), ensure_ascii=False) for row in rows]
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    missed = [row.missed for row in rows if row.missed]
    for target in missed:
        print(f"missed: {target}", file=sys.stderr)
    return 1 if missed else 0


def whole_rows(bench: Bench, repeats: int) -> list[Row]:
    """Extraction and check, with nothing kept and with everything kept, and the raw client."""
    ours, raw, warm, alone = [], [], [], []
    phases: list[list[Body]] = []
    for repeat in range(repeats):
        cache = empty_cache(bench.folder / f"whole {repeat}")
        bench.server.clear()
        ours.append(timed_scoring(bench.pairs, cache))
        phases = by_phase(bench.server.bodies())
        raw.append(timed_raw(phases, bench.server.base_url))
        bench.server.clear()
        warm.append(timed_scoring(bench.pairs, cache))
        alone.append(timed_checks(bench.pairs, cache))
        if bench.server.count():
            raise SystemExit("the warm run sent something")
    bodies = [body for phase in phases for body in phase]
    calls, tokens = len(bodies), bench.tokens(bodies)
    ideal_s = sum(waves_s(len(phase), AT_ONCE) for phase in phases)
    return [
        Row("factcheck, nothing kept", calls, tokens, ideal_s, tuple(ours), share(ours, raw)),
        Row("raw client, the same requests", calls, tokens, ideal_s, tuple(raw)),
        kept_row("factcheck again, all answers kept", warm, MOST_PER_KEPT_VERDICT_US),
        kept_row("the same verdicts, without records and reports", alone, MOST_ALONE_US),
    ]


def kept_row(what: str, timings: Sequence[Timing], most_us: float) -> Row:
    """The row of runs that send nothing."""
    row = Row(what, 0, 0, None, tuple(timings))
    n_facts = N_SOURCES * N_SUMMARIES * FACTS_PER_SOURCE
    wall_us, cpu_us = 1e6 * row.wall_s / n_facts, 1e6 * row.cpu_s / n_facts
    missed = missed_if(
        wall_us >= most_us, f"{what}: {wall_us:.0f} µs a verdict, target {most_us:g}"
    )
    return row._replace(note=f"{wall_us:.0f} µs a verdict ({cpu_us:.0f} µs CPU)", missed=missed)


def check_rows(bench: Bench, repeats: int) -> list[Row]:
    """The check alone, with facts given, beside the raw client."""
    ours, raw, rates = [], [], []
    bodies: list[Body] = []
    for repeat in range(repeats):
        bench.server.clear()
        cache = empty_cache(bench.folder / f"check {repeat}")
        ours.append(timed_scoring(bench.pairs, cache, with_facts=True))
        bodies, our_rate = bench.server.bodies(), rate_per_s(bench.server)
        bench.server.clear()
        raw.append(timed_raw([bodies], bench.server.base_url))
        rates.append(our_rate / rate_per_s(bench.server))
    calls, tokens, ideal_s = len(bodies), bench.tokens(bodies), waves_s(len(bodies), AT_ONCE)
    ratio = median_share(ours, raw)
    return [
        Row(
            "factcheck, facts given, nothing kept",
            calls,
            tokens,
            ideal_s,
            tuple(ours),
            f"{share(ours, raw)}; {statistics.median(rates):.1%} once under way",
            missed_if(
                ratio < LEAST_OF_RAW,
                f"{ratio:.1%} of the raw client's throughput, target {LEAST_OF_RAW:.0%}",
            ),
        ),
        Row("raw client, the same requests", calls, tokens, ideal_s, tuple(raw)),
    ]


def one_by_one_rows(bench: Bench) -> list[Row]:
    """One fact a call, as a loop over facts asks; on a part of the summaries, because it lasts."""
    rows = []
    for n_pairs, at_once in ((2, 1), (20, AT_ONCE)):
        part = bench.pairs[:: len(bench.pairs) // n_pairs]
        bench.server.clear()
        cache = bench.folder / f"one by one {at_once}"
        timing = timed_scoring(part, cache, with_facts=True, batch_size=1, at_once=at_once)
        bodies = bench.server.bodies()
        how = "in turn" if at_once == 1 else f"{at_once} at once"
        whole_s = timing.wall_s * len(bench.pairs) / n_pairs
        rows.append(
            Row(
                f"one fact a call, {how}: {n_pairs} of {len(bench.pairs)} summaries",
                len(bodies),
                bench.tokens(bodies),
                waves_s(len(bodies), at_once),
                (timing,),
                f"all {len(bench.pairs)}: {len(bodies) * len(bench.pairs) // n_pairs:,} calls, "
                f"about {whole_s:,.0f} s",
            )
        )
    return rows


def timed_scoring(
    pairs: Sequence[Pair],
    cache: Path,
    *,
    with_facts: bool = False,
    batch_size: int = 16,
    at_once: int = AT_ONCE,
) -> Timing:
    """Score all pairs with a new scorer, and require that every verdict is the right one."""
    started = now()
    with FactCoverage(
        MODEL, MODEL, cache=cache, batch_size=batch_size, concurrency=at_once
    ) as scorer:
        records = (pair.record(with_facts=with_facts) for pair in pairs)
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


def timed_raw(phases: Sequence[Sequence[Body]], base_url: str) -> Timing:
    """Send requests with the client alone, one phase after another."""
    import openai

    async def send_all() -> None:
        async with openai.AsyncOpenAI(
            api_key="not-needed",
            base_url=base_url,
            max_retries=0,
            http_client=openai.DefaultAioHttpClient(),
        ) as client:
            slots = asyncio.Semaphore(AT_ONCE)

            async def send(body: Body) -> None:
                async with slots:
                    await client.chat.completions.create(**body)

            for phase in phases:
                await asyncio.gather(*map(send, phase))

    started = now()
    asyncio.run(send_all())
    return since(started)


def rate_per_s(server: ModelProcess) -> float:
    """Requests per second between the first that arrived and the last: no start, no end."""
    arrived = [asked.arrived for asked in server.log()]
    return (len(arrived) - 1) / (max(arrived) - min(arrived))


def by_phase(bodies: Sequence[Body]) -> list[list[Body]]:
    """Extractions, then checks: no check can be asked before its facts are known."""
    return [
        [body for body in bodies if parse_prompt(body).kind == kind]
        for kind in ("extract", "check")
    ]


def waves_s(calls: int, at_once: int) -> float:
    """Seconds of waiting: so many whole rounds of answers."""
    return math.ceil(calls / at_once) * LATENCY_S


def now() -> Timing:
    """Both clocks."""
    return Timing(time.perf_counter(), time.process_time())


def since(started: Timing) -> Timing:
    """What passed on both clocks."""
    return Timing(*(end - start for end, start in zip(now(), started, strict=True)))


def median_share(ours: Sequence[Timing], raw: Sequence[Timing]) -> float:
    """Our throughput as a share of the raw client's: the median over pairs of runs."""
    return statistics.median(
        theirs.wall_s / mine.wall_s for mine, theirs in zip(ours, raw, strict=True)
    )


def share(ours: Sequence[Timing], raw: Sequence[Timing]) -> str:
    """The same in words."""
    return f"{median_share(ours, raw):.1%} of the raw client's throughput"


def missed_if(missed: bool, what: str) -> str:  # noqa: FBT001 - reads as a sentence
    """What is missed, or nothing."""
    return what if missed else ""


def table(rows: Sequence[Row]) -> Table:
    """The rows as a plain table."""
    made = Table(
        "what", "calls", "prompt tokens", "wall", "ideal", "CPU", "", box=None, pad_edge=False
    )
    for column in made.columns[1:6]:
        column.justify = "right"
    for row in rows:
        made.add_row(
            row.what,
            f"{row.calls:,}",
            f"{row.prompt_tokens:,}",
            f"{row.wall_s:.2f} s",
            "" if row.ideal_s is None else f"{row.ideal_s:.2f} s",
            f"{row.cpu_s:.2f} s",
            row.note,
        )
    return made


if __name__ == "__main__":
    sys.exit(main())
