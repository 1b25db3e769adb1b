"""Small schemas and comparators for the tests of the field evaluator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from factcheck.fields import BatchItem, ComparatorResult, Registry, RunResult, annotate_xeval
from factcheck.fields import evaluate as _evaluate

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


class Recorder:
    """A batch comparator that remembers its calls and answers by a function of the item."""

    is_batch = True

    def __init__(
        self, answer: Callable[[BatchItem], Any] | None = None, *, across_records: bool = False
    ) -> None:
        self.across_records = across_records
        self.calls: list[list[BatchItem]] = []
        self._answer = answer or (
            lambda item: ComparatorResult(
                float(item.gold_compared == item.extracted_compared), "recorder"
            )
        )

    def __call__(self, items: list[BatchItem]) -> list[Any]:
        self.calls.append(items)
        return [self._answer(item) for item in items]


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
