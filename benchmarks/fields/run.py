"""What scoring records field by field costs: CPU time, memory, and questions to a judge.

Every row is measured in a process of its own, one after the other; rows that are compared with
each other are timed in turn inside one process. The figures in the column "reference" were measured
with another implementation of the same schema language, on another machine: compare ratios rather.

    python -m benchmarks.fields.run
    python -m benchmarks.fields.run --part array --repetitions 9
    python -m benchmarks.fields.run --most 1000 --out rows.jsonl

Exits with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from rich.table import Table

WIDTH = 120
ROOT = Path(__file__).resolve().parents[2]
ALIGNMENTS = ("ordered", "by key", "Hungarian")
RECORDS = (1_000, 10_000)
STREAMED = (1_000, 10_000, 100_000)
ELEMENTS = (50, 200, 500)

MOST_OF_BARE = 10
"""What a result in order may cost, as a multiple of one that is only made: 1.5 µs on the machine of
the first figures, which made one in 0.15 µs."""
REFERENCE_MIB = 257
MOST_MIB = REFERENCE_MIB / 3
"""For the results of 10,000 records: a third of the reference on the same records."""
MOST_OF_ORDERED = 2.0
"""What Hungarian may cost, as a multiple of line items in order."""
MOST_SECONDS = {200: 0.07, 500: 0.5}
"""For one array of so many elements."""
MOST_GROWTH_MIB = 2.0
"""From the shortest to the longest stream: aggregates need no more for more records."""


class Row(NamedTuple):
    """One thing that was measured."""

    part: str
    what: str
    value: float
    unit: str
    reference: str = ""
    """What another implementation needed, elsewhere."""
    target: float | None = None
    """At most."""
    note: str = ""

    @property
    def missed(self) -> str:
        """What target is missed; empty if none is."""
        if self.target is None or self.value <= self.target:
            return ""
        return f"{self.what}: {self.value:,.2f} {self.unit}, target {self.target:,.2f}"


class Plan(NamedTuple):
    """How much is measured."""

    most: int
    """Records in any row."""
    repetitions: int

    def counts(self, wished: Sequence[int]) -> list[int]:
        """The sizes that are not too large."""
        return [count for count in wished if count <= self.most]


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description="What field evaluation costs.")
    parser.add_argument("--part", choices=PARTS, action="append", help="of the study; default all")
    parser.add_argument("--most", type=int, default=100_000, metavar="N", help="records in a row")
    parser.add_argument("--repetitions", type=int, default=5, metavar="N", help="the best counts")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write rows as JSON lines")
    arguments = parser.parse_args()
    if min(arguments.most, arguments.repetitions) < 1:
        parser.error("--most and --repetitions must be at least 1")
    plan = Plan(arguments.most, arguments.repetitions)
    rows = [row for part in arguments.part or PARTS for row in PARTS[part](plan)]
    print_tables(rows)
    if arguments.out:
        lines = [json.dumps(row._asdict(), ensure_ascii=False) for row in rows]
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    missed = [row.missed for row in rows if row.missed]
    for target in missed:
        print(f"missed: {target}", file=sys.stderr)
    return 1 if missed else 0


def measured(task: str, count: int, **options: object) -> dict[str, Any]:
    """What `measure.py` prints in a fresh process."""
    named = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    module = "benchmarks.fields.measure"
    command = [sys.executable, "-m", module, task, "--count", str(count), *named]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)  # noqa: S603 - our own command line
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def cpu_rows(plan: Plan) -> Iterator[Row]:
    """CPU time of a result, and of a run as a multiple of the one in order."""
    for count in plan.counts(RECORDS):
        found = measured("cpu", count, repetitions=plan.repetitions)
        best = {name: min(seconds) for name, seconds in found["seconds"].items()}
        for name in ALIGNMENTS:
            n_results = found["results"][name]
            what = f"{count:,} invoices, {name}"
            ordered = name == ALIGNMENTS[0]
            yield Row(
                "cpu",
                what,
                best[name] / n_results * 1e6,
                "µs a result",
                reference="4.1 to 5.2" if ordered else "",
                note=f"{best[name]:.2f} s, {n_results:,} results",
            )
            if ordered:
                ratio = best[name] / min(found["bare"])
                yield Row("cpu", what, ratio, "x results only made", target=MOST_OF_BARE)
            else:
                hungarian = name == ALIGNMENTS[-1]
                yield Row(
                    "cpu",
                    what,
                    best[name] / best[ALIGNMENTS[0]],
                    "x the ordered run",
                    reference="7" if hungarian else "",
                    target=MOST_OF_ORDERED if hungarian else None,
                )


def memory_rows(plan: Plan) -> Iterator[Row]:
    """Peak memory of a run beyond its records."""
    for count in plan.counts(RECORDS):
        for name in ALIGNMENTS:
            found = measured("memory", count, alignment=name)
            compared = count == RECORDS[-1] and name == ALIGNMENTS[0]
            yield Row(
                "memory",
                f"{count:,} invoices, {name}",
                found["mib"],
                "MiB",
                reference=str(REFERENCE_MIB) if compared else "",
                target=MOST_MIB if compared else None,
                note=f"{found['results']:,} results; the records: {found['records_mib']:,.0f} MiB",
            )


def array_rows(plan: Plan) -> Iterator[Row]:
    """CPU time of one array aligned by Hungarian."""
    references = {200: "0.70", 500: "4.45"}
    for count in plan.counts(ELEMENTS):
        found = measured("array", count, repetitions=plan.repetitions)
        for shape, seconds in found["seconds"].items():
            compared = shape == "four fields"
            yield Row(
                "array",
                f"{count} elements, {shape}",
                min(seconds),
                "s",
                reference=references.get(count, "") if compared else "",
                target=MOST_SECONDS.get(count) if compared else None,
                note=f"{count * count:,} pairs",
            )


def streaming_rows(plan: Plan) -> Iterator[Row]:
    """Peak memory while only aggregates are kept."""
    shortest = None
    for count in plan.counts(STREAMED):
        found = measured("streaming", count)
        shortest = found["mib"] if shortest is None else shortest
        target = shortest + MOST_GROWTH_MIB if count > STREAMED[0] else None
        note = f"{found['cpu_s']:.1f} s CPU, with making the records"
        what = f"{count:,} invoices, streamed"
        yield Row("streaming", what, found["mib"], "MiB", target=target, note=note)


def question_rows(plan: Plan) -> Iterator[Row]:
    """Calls to a batch comparator in which a judge would have to be asked."""
    studies = (
        ("questions", min(1_000, plan.most), "records, 12 semantic fields", "660"),
        ("aligned-questions", min(100, plan.most), "records, Hungarian line items", "8,542"),
        ("array-questions", min(500, plan.most), "elements, one semantic field", ""),
    )
    for task, count, what, reference in studies:
        for way, asked in measured(task, count).items():
            yield Row(
                "questions",
                f"{count:,} {what}, {way}",
                asked["calls_to_judge"],
                "calls",
                reference=reference if way == "record by record" else "",
                note=f"{asked['unequal']:,} unequal pairs, {asked['distinct']:,} different"
                + (f", {asked['cpu_s']:.2f} s" if "cpu_s" in asked else ""),
            )


PARTS: dict[str, Callable[[Plan], Iterator[Row]]] = {
    "cpu": cpu_rows,
    "memory": memory_rows,
    "array": array_rows,
    "streaming": streaming_rows,
    "questions": question_rows,
}


def print_tables(rows: Sequence[Row]) -> None:
    """Print one table for each part; imported late, because children inherit peak memory."""
    from rich.console import Console

    for part in dict.fromkeys(row.part for row in rows):
        Console(width=WIDTH).print(table([row for row in rows if row.part == part]), "")


def table(rows: Sequence[Row]) -> Table:
    """Rows of one part as a plain table."""
    from rich.table import Table

    made = Table(rows[0].part, "", "", "reference", "target", "", box=None, pad_edge=False)
    for column in (made.columns[1], made.columns[3], made.columns[4]):
        column.justify = "right"
    for row in rows:
        value = f"{row.value:,.0f}" if row.unit == "calls" else f"{row.value:,.3g}"
        target = "" if row.target is None else f"{row.target:,.3g}"
        made.add_row(row.what, value, row.unit, row.reference, target, row.note)
    return made


if __name__ == "__main__":
    sys.exit(main())
