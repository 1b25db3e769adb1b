"""Dispatch of pending fields to batch comparators, in as few calls as possible."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeAlias, TypeVar

from factcheck.errors import Failure, describe
from factcheck.fields.comparators.semantic import CompoundComparator
from factcheck.fields.registry import ComparatorNotFoundError, is_batch
from factcheck.fields.schemas.structure import schema_path
from factcheck.fields.scoring.nodes import Out
from factcheck.fields.scoring.plan import Plan, outcome_of
from factcheck.fields.types import BatchItem, FieldResult, UndecidableError
from factcheck.fields.values import value_key

T = TypeVar("T")
Ask: TypeAlias = "Callable[[Any, list[BatchItem]], Awaitable[Any]]"
"""Calls a batch comparator."""
_log = logging.getLogger("factcheck.fields")


async def ask_now(comparator: Any, items: list[BatchItem]) -> Any:
    """Call a batch comparator synchronously."""
    return comparator(items)


async def ask_async(comparator: Any, items: list[BatchItem]) -> Any:
    """Await a batch comparator, in a thread if it has no `acall`."""
    acall = getattr(comparator, "acall", None)
    return await (acall(items) if acall else asyncio.to_thread(comparator, items))


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that calls comparators with `ask_now`, and so never suspends."""
    try:
        work.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    raise RuntimeError("the coroutine was suspended; use ask_now")


async def dispatch(records: Sequence[Out], plan: Plan, ask: Ask = ask_now) -> None:
    """Score every pending field, round by round until all arrays are aligned."""
    batches: dict[tuple[int | None, str], _Batch] = {}
    blocks = [
        (place, [e for e in record if isinstance(e, FieldResult) and e.status == "pending"], False)
        for place, record in enumerate(records)
    ]
    while True:
        blocks += [
            (place, block, True)
            for place, record in enumerate(records)
            for array in record
            if not isinstance(array, FieldResult)
            for block in array.pending()
        ]
        round_: dict[tuple[int | None, str], _Batch] = {}
        for place, block, in_array in blocks:
            by_name: dict[str, list[FieldResult]] = {}
            for result in block:
                by_name.setdefault(result.comparator, []).append(result)
            for name, results in by_name.items():
                key = (None if _takes_many_records(name, plan) else place, name)
                batch = round_[key] = batches.setdefault(key, _Batch())
                batch.add(results, in_array=in_array)
        if not round_:
            return
        for (_, name), batch in round_.items():
            await batch.score(name, plan, ask)
        blocks = []


def _takes_many_records(name: str, plan: Plan) -> bool:
    try:
        comparator = plan.registry.get_comparator(name)
    except ComparatorNotFoundError:
        return False
    # A compound groups fields by path, and paths repeat across records.
    if isinstance(comparator, CompoundComparator):
        return False
    return getattr(comparator, "across_records", False) is True


class _Batch:
    """Pending fields of one comparator; equal pairs of array elements are scored once."""

    def __init__(self) -> None:
        self._results: list[FieldResult] = []
        self._duplicates: list[tuple[FieldResult, FieldResult]] = []
        self._blocks: dict[Any, list[FieldResult]] = {}

    def add(self, results: list[FieldResult], *, in_array: bool) -> None:
        if in_array:
            key = tuple(
                (schema_path(r.path), value_key(r.gold_compared), value_key(r.extracted_compared))
                for r in results
            )
            first = self._blocks.setdefault(key, results)
            if first is not results:
                self._duplicates += zip(results, first, strict=True)
                return
        self._results += results

    async def score(self, name: str, plan: Plan, ask: Ask) -> None:
        results, duplicates = self._results, self._duplicates
        self._results, self._duplicates = [], []
        if results:
            items = [_item(result, plan) for result in results]
            answers, reason = await _answers(name, items, plan, ask)
            for result, answer in zip(results, answers, strict=True):
                _apply(answer, result, plan, reason)
        for duplicate, result in duplicates:
            duplicate.status, duplicate.score = result.status, result.score
            duplicate.reason = result.reason


def _item(result: FieldResult, plan: Plan) -> BatchItem:
    path = schema_path(result.path)
    leaf = plan.batch_leaves.get(path)
    return BatchItem(
        result.path,
        result.gold_value,
        result.extracted_value,
        result.gold_compared,
        result.extracted_compared,
        params=leaf.params if leaf else {},
        schema_path=path,
        description=leaf.description if leaf else "",
    )


async def _answers(
    name: str, items: list[BatchItem], plan: Plan, ask: Ask
) -> tuple[list[Any], str | None]:
    """Return one answer per item, `None` if missing, and the reason if all are missing."""
    missing: list[Any] = [None] * len(items)
    try:
        comparator = plan.registry.get_comparator(name)
    except ComparatorNotFoundError as error:
        return missing, str(error)
    if not is_batch(comparator):
        return missing, f"the comparator {name!r} is no longer a batch comparator"
    try:
        answers = await ask(comparator, items)
    except Exception as error:  # noqa: BLE001 - the user's code
        cause = describe(error)
        _log.warning("the comparator %r failed on %d fields: %s", name, len(items), cause)
        return missing, f"comparator {name!r}: {cause}"
    if not isinstance(answers, list):
        return missing, f"the comparator {name!r} returned {type(answers).__name__}, not a list"
    if len(answers) > len(items):
        surplus = len(answers) - len(items)
        _log.warning("the comparator %r returned %d answers too many", name, surplus)
    return (answers + missing)[: len(items)], None


def _apply(answer: Any, result: FieldResult, plan: Plan, reason: str | None) -> None:
    if answer is None or isinstance(answer, Failure):
        no_verdict = f"the comparator {result.comparator!r} gave no verdict"
        result.reason = reason or (answer.message if answer else no_verdict)
        result.status = "batch_error"
        return
    result.reason = getattr(answer, "reason", None)
    if getattr(answer, "skip", False) or getattr(answer, "status", "") == "skipped":
        result.status = "skipped"
        return
    try:
        result.score, _ = outcome_of(answer)
    except UndecidableError as error:
        result.status = "error" if hasattr(answer, "score") else "batch_error"
        result.reason = f"comparator {result.comparator!r}: {error}"
        return
    leaf = plan.batch_leaves.get(schema_path(result.path))
    result.status = "match" if result.score >= (leaf.threshold if leaf else 1.0) else "mismatch"
