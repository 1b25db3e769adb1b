"""One measurement in a process of its own; what was measured is printed as JSON.

    python -m benchmarks.fields.measure cpu --count 1000 --repetitions 5
    python -m benchmarks.fields.measure memory --count 10000 --alignment Hungarian

A process that starts another one hands down its own peak memory, so whoever starts this must be
small itself.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.fields import workload
from benchmarks.fields.counting import Count, counted
from factcheck.fields import FieldEvaluator, FieldResult, evaluate

MIB = 2**20

Measured = dict[str, Any]


def main() -> None:
    """Measure what the command line says."""
    parser = argparse.ArgumentParser(description="One measurement of the field evaluator.")
    parser.add_argument("task", choices=sorted(TASKS))
    parser.add_argument("--count", type=int, default=1_000, metavar="N")
    parser.add_argument("--repetitions", type=int, default=5, metavar="N")
    parser.add_argument("--alignment", choices=sorted(workload.ALIGNMENTS), default="ordered")
    arguments = parser.parse_args()
    print(json.dumps(TASKS[arguments.task](arguments)))


def cpu(arguments: argparse.Namespace) -> Measured:
    """CPU seconds of a run over invoices, in turn for each alignment and for a yardstick.

    The garbage collector is paused, as it is in `factcheck fields evaluate`.
    """
    gold, extracted = map(list, zip(*workload.invoices(arguments.count), strict=True))
    schemas = {name: workload.invoice_schema(name) for name in workload.ALIGNMENTS}
    n_results: dict[str, int] = {}
    seconds: dict[str, list[float]] = {name: [] for name in schemas}
    gc.disable()
    for _ in range(arguments.repetitions):
        for name, schema in schemas.items():
            run, elapsed = timed(evaluate, gold, extracted, schema)
            seconds[name].append(elapsed)
            n_results[name] = sum(len(record.field_results) for record in run.records)
            del run
    n_bare = n_results["ordered"]
    yardstick = [timed(bare_results, n_bare)[1] for _ in range(arguments.repetitions)]
    return {"seconds": seconds, "results": n_results, "bare": yardstick}


def bare_results(count: int) -> list[FieldResult]:
    """Make so many results without scoring anything: the yardstick of this machine."""
    return [
        FieldResult("items[0].amount", 1.0, "numeric", n, n, "match", None, n, n)
        for n in range(count)
    ]


def array(arguments: argparse.Namespace) -> Measured:
    """CPU seconds of one long array, with four fields an element and as line items."""
    seconds: dict[str, list[float]] = {}
    for name, nested in (("four fields", False), ("line items", True)):
        gold, extracted = workload.long_array(arguments.count, nested=nested)
        schema = workload.array_schema(nested=nested)
        evaluate([gold], [extracted], schema)  # whatever is imported late
        seconds[name] = [
            timed(evaluate, [gold], [extracted], schema)[1] for _ in range(arguments.repetitions)
        ]
    return {"seconds": seconds}


def memory(arguments: argparse.Namespace) -> Measured:
    """Peak memory of a run beyond what its records take."""
    warm_up(arguments.alignment)
    bare = resident_bytes()
    gold, extracted = map(list, zip(*workload.invoices(arguments.count), strict=True))
    schema = workload.invoice_schema(arguments.alignment)
    before = resident_bytes()
    run = evaluate(gold, extracted, schema)
    peak = peak_bytes()
    n_results = sum(len(record.field_results) for record in run.records)
    return {
        "mib": max(0, peak - before) / MIB,
        "records_mib": (before - bare) / MIB,
        "results": n_results,
    }


def streaming(arguments: argparse.Namespace) -> Measured:
    """Peak memory of a run that keeps aggregates only, over records made on the fly."""
    warm_up(arguments.alignment)
    evaluator = FieldEvaluator(workload.invoice_schema(arguments.alignment))
    before = resident_bytes()
    _, elapsed = timed(evaluator.tally, workload.invoices(arguments.count))
    peak = peak_bytes()
    return {"mib": max(0, peak - before) / MIB, "cpu_s": elapsed}


def questions(arguments: argparse.Namespace) -> Measured:
    """What a batch comparator is asked over records with semantic fields."""
    pairs = list(workload.semantic_records(arguments.count))
    schema = workload.semantic_schema()
    return {name: c._asdict() for name, c in in_both_ways(pairs, schema).items()}


def aligned_questions(arguments: argparse.Namespace) -> Measured:
    """What a batch comparator is asked about line items aligned by Hungarian."""
    pairs = list(workload.semantic_items(arguments.count))
    schema = workload.semantic_items_schema()
    return {name: c._asdict() for name, c in in_both_ways(pairs, schema).items()}


def array_questions(arguments: argparse.Namespace) -> Measured:
    """What is asked about one long array of which a fifth of the elements is wrong."""
    found: Measured = {}
    for wrong in ("codes", "phrases", "both"):
        gold, extracted = workload.semantic_array(arguments.count, wrong)
        schema = workload.semantic_array_schema()
        asked, elapsed = timed(partial(counted, across_records=True), [gold], [extracted], schema)
        found[f"a fifth of the {wrong} wrong"] = {**asked._asdict(), "cpu_s": elapsed}
    return found


def in_both_ways(pairs: list[workload.Pair], schema: workload.Record) -> dict[str, Count]:
    """The questions of one run, with and without calls across records."""
    gold, extracted = map(list, zip(*pairs, strict=True))
    return {
        "across records": counted(gold, extracted, schema, across_records=True),
        "record by record": counted(gold, extracted, schema, across_records=False),
    }


def warm_up(alignment: str) -> None:
    """Import whatever is imported late, before memory is read."""
    gold, extracted = map(list, zip(*workload.invoices(2), strict=True))
    evaluate(gold, extracted, workload.invoice_schema(alignment))


def timed(work: Callable[..., Any], *given: Any) -> tuple[Any, float]:
    """What some work returns, and the CPU seconds it took; old garbage is collected before."""
    gc.collect()
    start = time.process_time()
    done = work(*given)
    return done, time.process_time() - start


def resident_bytes() -> int:
    """Memory of this process now, or at its peak where the system tells nothing else."""
    gc.collect()
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return peak_bytes()
    return int(statm.read_text(encoding="ascii").split()[1]) * resource.getpagesize()


def peak_bytes() -> int:
    """The most memory this process ever had."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


TASKS: dict[str, Callable[[argparse.Namespace], Measured]] = {
    "cpu": cpu,
    "array": array,
    "memory": memory,
    "streaming": streaming,
    "questions": questions,
    "aligned-questions": aligned_questions,
    "array-questions": array_questions,
}

if __name__ == "__main__":
    main()
