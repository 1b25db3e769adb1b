"""What a semantic comparison of many records costs: calls, tokens and wall time.

    python -m benchmarks.pairs.calls [--records 1000]

Records with 12 semantic fields each, judged by a scripted model behind real HTTP that answers
after 200 ms, in a process of its own. Beside it: a call per record, one after the other, which is
what a comparator does that sees one record at a time; and the same run again, with what it kept.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks.cost.run import o200k_counter
from benchmarks.fields.workload import SEMANTIC, semantic_records, semantic_schema
from benchmarks.runtime.server import ModelProcess
from factcheck.fields import Registry, SemanticComparator, evaluate

LATENCY_S = 0.2
MODEL = "openai/gpt-5-nano"


class Row(NamedTuple):
    """One way to compare the records."""

    way: str
    calls: int
    tokens: int
    """Of all prompts, by the o200k encoding."""
    seconds: float
    f1: float


def main() -> int:
    """Measure, print, and return 1 if the ways disagree."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--records", type=int, default=1_000, metavar="N")
    gold, extracted = map(list, zip(*semantic_records(parser.parse_args().records), strict=True))
    with ModelProcess(LATENCY_S) as server, tempfile.TemporaryDirectory() as cache:
        os.environ.update(OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY="not-needed")
        measured(server, "imports", gold[:1], extracted[:1], cache="off")
        rows = [
            measured(server, "all records together", gold, extracted, cache=cache),
            measured(server, "the same again, from the cache", gold, extracted, cache=cache),
            measured(
                server,
                "a call per record, one after the other",
                gold,
                extracted,
                cache="off",
                across_records=False,
                batch_size=12,
            ),
        ]
    Console().print(table(rows))
    return int(len({row.f1 for row in rows}) > 1)


def measured(
    server: ModelProcess, way: str, gold: Sequence[Any], extracted: Sequence[Any], **options: Any
) -> Row:
    """Compare the records in one way."""
    server.clear()
    with SemanticComparator(MODEL, **options) as comparator:
        registry = Registry()
        registry.register(SEMANTIC, comparator)
        start = time.perf_counter()
        run = evaluate(gold, extracted, semantic_schema(), registry=registry)
        seconds = time.perf_counter() - start
    count = o200k_counter()
    bodies = server.bodies()
    tokens = sum(count(message["content"]) for body in bodies for message in body["messages"])
    return Row(way, len(bodies), tokens, seconds, run.mean_f1)


def table(rows: Sequence[Row]) -> Table:
    """The rows, with ratios to the last one."""
    slowest = rows[-1]
    shown = Table("", *("calls", "prompt tokens", "seconds", "times faster", "F1"), box=None)
    for row in rows:
        shown.add_row(
            row.way,
            f"{row.calls:,}",
            f"{row.tokens:,}",
            f"{row.seconds:.2f}",
            f"{slowest.seconds / row.seconds:.0f}",
            f"{row.f1:.4f}",
        )
    return shown


if __name__ == "__main__":
    sys.exit(main())
