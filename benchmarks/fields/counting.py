"""A batch comparator that answers from a rule and counts what it is asked."""

from __future__ import annotations

from typing import Any, NamedTuple

from benchmarks.fields.workload import SEMANTIC
from factcheck.fields import BatchItem, ComparatorResult, evaluate, register


class Count(NamedTuple):
    """What was asked in one run."""

    calls: int
    calls_to_judge: int
    """Calls in which something was not equal as it stood: a judge had to be asked."""
    items: int
    unequal: int
    """Items that were not equal as they stood."""
    distinct: int
    """Different pairs of values among them."""
    fields: int
    """Results of the run that the comparator decided."""


class CountingComparator:
    """Two phrases are the same if they end in the same way."""

    is_batch = True

    def __init__(self, *, across_records: bool) -> None:
        self.across_records = across_records
        self.calls: list[list[tuple[Any, Any]]] = []

    def __call__(self, items: list[BatchItem]) -> list[ComparatorResult | None]:
        """Score each item, and remember what it was."""
        self.calls.append([(item.gold_compared, item.extracted_compared) for item in items])
        return [
            ComparatorResult(float(str(extracted).endswith(str(gold))), SEMANTIC)
            for gold, extracted in self.calls[-1]
        ]

    def count(self, fields: int) -> Count:
        """What was asked so far."""
        unequal = [[pair for pair in call if pair[0] != pair[1]] for call in self.calls]
        pairs = [pair for call in unequal for pair in call]
        return Count(
            calls=len(self.calls),
            calls_to_judge=sum(map(bool, unequal)),
            items=sum(map(len, self.calls)),
            unequal=len(pairs),
            distinct=len(set(pairs)),
            fields=fields,
        )


def counted(
    gold: list[Any], extracted: list[Any], schema: dict[str, Any], *, across_records: bool
) -> Count:
    """What the comparator is asked over some records."""
    comparator = CountingComparator(across_records=across_records)
    register(SEMANTIC, comparator, overwrite=True)
    run = evaluate(gold, extracted, schema)
    results = [result for record in run.records for result in record.field_results]
    return comparator.count(
        sum(r.comparator == SEMANTIC and r.status in ("match", "mismatch") for r in results)
    )
