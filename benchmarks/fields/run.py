"""What scoring records field by field costs: CPU time, memory, and questions to a judge.

Every measurement has a process of its own; what is compared is timed in turn in one process. Exits
with 1 if a target is missed.

    python -m benchmarks.fields.run
    python -m benchmarks.fields.run --part array
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.fields import workload
from factcheck.fields import (
    BatchItem,
    ComparatorResult,
    FieldEvaluator,
    FieldResult,
    Registry,
    evaluate,
)

ROOT = Path(__file__).resolve().parents[2]
REPETITIONS = 5
"""The fastest counts."""
MIB = 2**20
MOST_OF_BARE = 10
"""What a result in order may cost, as a multiple of one that is only made."""
MOST_OF_ORDERED = 2.0
"""What Hungarian may cost, as a multiple of line items in order."""
MOST_MIB = 257 / 3
"""For the results of 10,000 records: a third of the reference on the same records."""
MOST_SECONDS = {200: 0.07, 500: 0.5}
"""For one array of so many elements."""
MOST_GROWTH_MIB = 2.0
"""From the shortest to the longest stream: aggregates need no more for more records."""


class Row(NamedTuple):
    """One thing that was measured."""

    what: str
    value: float
    unit: str
    target: float | None = None
    """At most."""
    note: str = ""

    @property
    def is_missed(self) -> bool:
        """Whether the target is missed."""
        return self.target is not None and self.value > self.target

    def __str__(self) -> str:
        target = "" if self.target is None else f"at most {self.target:.3g}"
        missed = " MISSED" * self.is_missed
        return f"{self.what:<44}{self.value:12,.3g} {self.unit:<20}{target:<14}{self.note}{missed}"


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description="What field evaluation costs.")
    parser.add_argument("--part", choices=PARTS, action="append", help="of the study; default all")
    parser.add_argument("--task", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        task, argument = options.task
        print(json.dumps(TASKS[task](int(argument))))
        return 0
    is_missed = False
    for part in options.part or PARTS:
        print(part)
        for row in PARTS[part]():
            print(row, flush=True)
            is_missed |= row.is_missed
    return int(is_missed)


def measured(task: str, count: int) -> dict[str, Any]:
    """Run a task in a fresh process, which has its own peak of memory."""
    command = [sys.executable, "-m", "benchmarks.fields.run", "--task", task, str(count)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)  # noqa: S603 - our own
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def cpu_rows() -> Iterator[Row]:
    """CPU time of a result, and of a run as a multiple of the one in order."""
    for count in (1_000, 10_000):
        found = measured("cpu", count)
        seconds, n_results = found["seconds"], found["results"]
        for name, best in seconds.items():
            each = best / n_results[name] * 1e6
            what = f"{count:,} invoices, {name}"
            yield Row(what, each, "us a result", note=f"{best:.2f} s")
        ordered = seconds["ordered"]
        yield Row("in order", ordered / found["bare"], "x results only made", MOST_OF_BARE)
        yield Row("Hungarian", seconds["Hungarian"] / ordered, "x in order", MOST_OF_ORDERED)


def cpu(count: int) -> dict[str, Any]:
    """Time runs over invoices, in turn for each alignment, with the garbage collector paused."""
    gold, extracted = map(list, zip(*workload.invoices(count), strict=True))
    n_results: dict[str, int] = {}
    seconds: dict[str, float] = {}
    gc.disable()
    for _ in range(REPETITIONS):
        for name in workload.ALIGNMENTS:
            schema = workload.invoice_schema(name)
            run, elapsed = timed(evaluate, gold, extracted, schema)
            seconds[name] = min(elapsed, seconds.get(name, elapsed))
            n_results[name] = sum(len(record.field_results) for record in run.records)
            del run
    bare = min(timed(bare_results, n_results["ordered"])[1] for _ in range(REPETITIONS))
    return {"seconds": seconds, "results": n_results, "bare": bare}


def bare_results(count: int) -> list[FieldResult]:
    """Make so many results without scoring anything: the yardstick of this machine."""
    return [
        FieldResult("items[0].amount", 1.0, "numeric", n, n, "match", None, n, n)
        for n in range(count)
    ]


def memory_rows() -> Iterator[Row]:
    """Peak memory of a run beyond its records, and while only aggregates are kept."""
    found = measured("memory", 10_000)
    note = f"{found['results']:,} results; the records: {found['records_mib']:,.0f} MiB"
    yield Row("10,000 invoices, ordered", found["mib"], "MiB", MOST_MIB, note)
    shortest = measured("stream", 1_000)["mib"]
    yield Row("1,000 invoices, streamed", shortest, "MiB")
    longest = measured("stream", 100_000)["mib"]
    yield Row("100,000 invoices, streamed", longest, "MiB", shortest + MOST_GROWTH_MIB)


def memory(count: int) -> dict[str, Any]:
    """Measure the peak memory of a run beyond what its records take."""
    schema = warm_up()
    bare = memory_bytes("VmRSS")
    gold, extracted = map(list, zip(*workload.invoices(count), strict=True))
    before = memory_bytes("VmRSS")
    run = evaluate(gold, extracted, schema)
    peak = memory_bytes("VmHWM")
    return {
        "mib": max(0, peak - before) / MIB,
        "records_mib": (before - bare) / MIB,
        "results": sum(len(record.field_results) for record in run.records),
    }


def stream(count: int) -> dict[str, Any]:
    """Measure the peak memory of totals over records made on the fly."""
    evaluator = FieldEvaluator(warm_up())
    before = memory_bytes("VmRSS")
    evaluator.tally(workload.invoices(count))
    return {"mib": max(0, memory_bytes("VmHWM") - before) / MIB}


def warm_up() -> dict[str, Any]:
    """Import whatever is imported late, before memory is read."""
    gold, extracted = map(list, zip(*workload.invoices(2), strict=True))
    schema = workload.invoice_schema("ordered")
    evaluate(gold, extracted, schema)
    return schema


def array_rows() -> Iterator[Row]:
    """CPU time of one array aligned by Hungarian."""
    for count in (50, 200, 500):
        found = measured("array", count)
        yield Row(f"{count} elements, four fields", found["flat"], "s", MOST_SECONDS.get(count))
        yield Row(f"{count} elements, line items", found["nested"], "s")


def array(count: int) -> dict[str, Any]:
    """Time one long array, with four fields an element and as line items."""
    seconds = {}
    for name, is_nested in (("flat", False), ("nested", True)):
        gold, extracted = workload.long_array(count, nested=is_nested)
        schema = workload.array_schema(nested=is_nested)
        evaluate([gold], [extracted], schema)  # whatever is imported late
        runs = [timed(evaluate, [gold], [extracted], schema)[1] for _ in range(REPETITIONS)]
        seconds[name] = min(runs)
    return seconds


def question_rows() -> Iterator[Row]:
    """Calls to a batch comparator in which a judge would have to be asked."""
    records = list(workload.semantic_records(1_000))
    items = list(workload.semantic_items(100))
    for what, pairs, schema in (
        ("1,000 records, 12 semantic fields", records, workload.semantic_schema()),
        ("100 records, Hungarian line items", items, workload.semantic_items_schema()),
    ):
        yield _question_row(f"{what}, across records", pairs, schema, across_records=True)
        yield _question_row(f"{what}, one by one", pairs, schema, across_records=False)
    for wrong in ("codes", "phrases", "both"):
        pairs = [workload.semantic_array(500, wrong)]
        schema = workload.semantic_array_schema()
        what = f"500 elements, a fifth of the {wrong} wrong"
        yield _question_row(what, pairs, schema, across_records=True)


def _question_row(
    what: str, pairs: list[workload.Pair], schema: dict[str, Any], *, across_records: bool
) -> Row:
    comparator = CountingComparator(across_records=across_records)
    registry = Registry()
    registry.register(workload.SEMANTIC, comparator)
    gold, extracted = map(list, zip(*pairs, strict=True))
    start = time.process_time()
    evaluate(gold, extracted, schema, registry=registry)
    note = f"{comparator.n_unequal:,} unequal pairs, {time.process_time() - start:.2f} s"
    return Row(what, comparator.n_calls, "calls", note=note)


class CountingComparator:
    """A batch comparator that counts calls with anything unequal; equal endings are the same."""

    is_batch = True

    def __init__(self, *, across_records: bool) -> None:
        self.across_records = across_records
        self.n_calls = 0
        self.n_unequal = 0

    def __call__(self, items: list[BatchItem]) -> list[ComparatorResult | None]:
        """Score each item by a rule."""
        n_unequal = sum(item.gold_compared != item.extracted_compared for item in items)
        self.n_calls += n_unequal > 0
        self.n_unequal += n_unequal
        found: list[ComparatorResult | None] = []
        for item in items:
            is_same = str(item.extracted_compared).endswith(str(item.gold_compared))
            found.append(ComparatorResult(float(is_same), workload.SEMANTIC))
        return found


def timed(work: Callable[..., Any], *given: Any) -> tuple[Any, float]:
    """Run some work; return its result and CPU seconds. Old garbage is collected before."""
    gc.collect()
    start = time.process_time()
    done = work(*given)
    return done, time.process_time() - start


def memory_bytes(line: str) -> int:
    """Return the memory of this process, now (`VmRSS`) or at its peak (`VmHWM`); Linux only."""
    gc.collect()
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(re.findall(rf"{line}:\s+(\d+) kB", status)[0])


TASKS = {"cpu": cpu, "memory": memory, "stream": stream, "array": array}
PARTS: dict[str, Callable[[], Iterator[Row]]] = {
    "cpu": cpu_rows,
    "memory": memory_rows,
    "array": array_rows,
    "questions": question_rows,
}

if __name__ == "__main__":
    sys.exit(main())
