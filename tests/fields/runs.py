"""Runs made by hand, or drawn, for the tests of what is done with runs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from factcheck.fields import FieldResult, RecordResult, RunResult, RunTally
from factcheck.fields.runs.records import Counts, count

STATUSES: Mapping[str, Any] = {
    "+": ("match", 1.0), "-": ("mismatch", 0.0), "/": ("mismatch", 0.5), "o": ("omission", 0.0),
    "h": ("hallucination", 0.0), "s": ("skipped", 0.0), "?": ("error", 0.0),
}  # fmt: skip
"""One sign for each kind of result."""


def fields_of(signs: Mapping[str, str]) -> list[FieldResult]:
    return [
        FieldResult(path, score, "exact", None, None, status)
        for path, several in signs.items()
        for status, score in map(STATUSES.__getitem__, several)
    ]


def run_of(records: Iterable[Mapping[str, str]], ids: Sequence[Any] | None = None) -> RunResult:
    made = []
    for position, signs in enumerate(records):
        results = fields_of(signs)
        sums = count(results)
        name = position if ids is None else ids[position]
        made.append(RecordResult(name, results, None, None, *sums.scores(), sums))
    return summed_up(made)


def summed_up(records: Sequence[RecordResult]) -> RunResult:
    tally = RunTally()
    for record in records:
        tally.add(record)
    return tally.result(records)


def drawn_run(
    n: int, seed: int, right: Callable[[int, str], float], fields: Sequence[str] = ("a", "b", "c")
) -> RunResult:
    draw = random.Random(seed).random
    return run_of(
        {field: "+" if draw() < right(position, field) else "-" for field in fields}
        for position in range(n)
    )


def figure(records: Sequence[RecordResult], measure: str) -> float:
    kind, name = measure.split("_")
    if kind == "mean":
        return float(sum(getattr(record, name) for record in records)) / len(records)
    total = Counts()
    for each in records:
        total = total.plus(each.counts)
    return float(getattr(total.scores(), name))
