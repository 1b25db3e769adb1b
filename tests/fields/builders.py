"""Small schemas, comparators and runs for the tests of the field evaluator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from factcheck.fields import (
    BatchItem,
    ComparatorResult,
    FieldResult,
    RecordResult,
    Registry,
    RunResult,
    RunTally,
    annotate_xeval,
)
from factcheck.fields import evaluate as _evaluate
from factcheck.fields.records import count

TEXT = {"type": "string"}
NUMBER = {"type": "number"}


def record(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def array(items: Any, **align: Any) -> dict[str, Any]:
    schema = {"type": "array", "items": items}
    return {**schema, "x-eval-align": align} if align else schema


def best(items: Any, **align: Any) -> dict[str, Any]:
    return array(items, match_by="hungarian", **align)


def compared(by: Any, **keys: Any) -> dict[str, Any]:
    return {"type": "string", "x-eval-compare": by, **keys}


def nested(levels: int, innermost: dict[str, Any]) -> dict[str, Any]:
    schema = innermost
    for _ in range(levels):
        schema = record(a=schema)
    return schema


class Recorder:
    """A batch comparator that remembers its calls and answers by a function of the item."""

    is_batch = True

    def __init__(
        self, answer: Callable[[BatchItem], Any] | None = None, *, across_records: bool = False
    ) -> None:
        self.across_records = across_records
        self.calls: list[list[BatchItem]] = []
        answer = answer or (
            lambda item: ComparatorResult(
                float(item.gold_compared == item.extracted_compared), "recorder"
            )
        )
        self.answers: Callable[[list[BatchItem]], Any] = lambda items: list(map(answer, items))

    def __call__(self, items: list[BatchItem]) -> list[Any]:
        self.calls.append(items)
        answers: list[Any] = self.answers(items)
        return answers


def registry_of(**comparators: Any) -> Registry:
    registry = Registry()
    for name, comparator in comparators.items():
        registry.register(name, comparator)
    return registry


def run(
    schema: dict[str, Any],
    gold: Sequence[Any],
    extracted: Sequence[Any],
    registry: Registry | None = None,
    **options: Any,
) -> RunResult:
    return _evaluate(
        list(gold), list(extracted), annotate_xeval(schema), registry=registry, **options
    )


def statuses(result: RunResult) -> dict[str, str]:
    [only] = result.records
    return {field.path: field.status for field in only.field_results}


STATUSES: Mapping[str, Any] = {
    "+": ("match", 1.0), "-": ("mismatch", 0.0), "/": ("mismatch", 0.5), "o": ("omission", 0.0),
    "h": ("hallucination", 0.0), "s": ("skipped", 0.0), "?": ("error", 0.0),
}  # fmt: skip
"""One sign for each kind of result."""


def run_of(
    records: Iterable[Mapping[str, str]], ids: Sequence[Any] | None = None, golds: Any = None
) -> RunResult:
    """A run of records given by the signs of their results, by path."""
    made = []
    for position, signs in enumerate(records):
        results = [
            FieldResult(path, score, "exact", None, None, status)
            for path, several in signs.items()
            for status, score in map(STATUSES.__getitem__, several)
        ]
        sums = count(results)
        name = position if ids is None else ids[position]
        gold = None if golds is None else golds[position]
        made.append(RecordResult(name, results, gold, None, *sums.scores(), sums))
    return summed_up(made)


def summed_up(records: Sequence[RecordResult]) -> RunResult:
    tally = RunTally()
    for record in records:
        tally.add(record)
    return tally.result(records)
