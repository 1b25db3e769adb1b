"""Dispatch of pending fields to batch comparators, in as few calls as possible."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Sequence
from typing import Any, TypeAlias, TypeVar

from factcheck.errors import Failure, JudgeError, describe
from factcheck.fields.comparators.semantic import CompoundComparator
from factcheck.fields.schemas.structure import parent_and_name, schema_path
from factcheck.fields.scoring.nodes import Out
from factcheck.fields.scoring.plan import Plan, outcome_of
from factcheck.fields.types import (
    NOT_OF_THE_VALUE,
    BatchItem,
    FieldResult,
    UndecidableError,
)
from factcheck.fields.values import value_key
from factcheck.reports.text import plural

T = TypeVar("T")
Ask: TypeAlias = "Callable[[Any, list[BatchItem]], Awaitable[Any]]"
"""Calls a batch comparator."""
_MAX_FAILED = 8
"""Number of calls that may fail before the first success, and for each further one."""
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
    """Score every pending field, round by round until all arrays are aligned.

    Equal pairs of array elements are scored once.
    """
    first_of: dict[Hashable, list[FieldResult]] = {}
    blocks: list[tuple[int, list[FieldResult], bool]] = []
    for place, record in enumerate(records):
        results = [entry for entry in record if isinstance(entry, FieldResult)]
        blocks.append((place, [one for one in results if one.status == "pending"], False))
    while True:
        blocks += [
            (place, block, True)
            for place, record in enumerate(records)
            for array in record
            if not isinstance(array, FieldResult)
            for block in array.pending()
        ]
        if not any(block for _, block, _ in blocks):
            return
        calls: dict[tuple[int, str], list[FieldResult]] = {}
        copies: list[tuple[FieldResult, FieldResult]] = []
        for place, block, is_in_array in blocks:
            for name in dict.fromkeys(result.comparator for result in block):
                results = [result for result in block if result.comparator == name]
                call = (-1 if _takes_many_records(plan, results[0]) else place, name)
                if is_in_array:
                    first = first_of.setdefault((call, *map(_question, results)), results)
                    if first is not results:
                        copies += zip(results, first, strict=True)
                        continue
                calls.setdefault(call, []).extend(results)
        for (_, name), results in calls.items():
            await _score(name, results, plan, ask)
        for copy, result in copies:
            copy.status, copy.score, copy.reason = result.status, result.score, result.reason
            copy.doubtful = result.doubtful
        blocks = []


def _takes_many_records(plan: Plan, result: FieldResult) -> bool:
    comparator = plan.batch_leaves[schema_path(result.path)].batch
    # A compound groups fields by path, and paths repeat across records.
    if isinstance(comparator, CompoundComparator):
        return False
    return getattr(comparator, "across_records", False) is True


def _question(result: FieldResult) -> Hashable:
    compared = value_key(result.gold_compared), value_key(result.extracted_compared)
    return schema_path(result.path), *compared


async def _answers(name: str, comparator: Any, items: list[BatchItem], ask: Ask) -> list[Any]:
    """Return one answer per item, a failure for an item without one.

    If the comparator raises, each half of the items is asked about on its own, and so on, so that
    only those that make it raise have no answer; fields with one parent stay together. A comparator
    that raises far more often than not, or because of a service or the machine, is not asked again.
    """
    together: dict[Hashable, list[int]] = {}
    for place, item in enumerate(items):
        alone = getattr(comparator, "across_records", False) is True
        key = place if alone else parent_and_name(item.path)[0]
        together.setdefault(key, []).append(place)
    answers: list[Any] = [None] * len(items)
    parts = [[*together.values()]]
    n_failed = n_answered = n_lost = 0
    reason = ""
    for part in parts:  # grows
        places = sorted(place for group in part for place in group)
        try:
            found = await ask(comparator, [items[place] for place in places])
        except Exception as error:  # noqa: BLE001 - the user's code
            n_failed += 1
            is_hopeless = n_failed > _MAX_FAILED * (1 + n_answered)
            is_of_judge = isinstance(error, (*NOT_OF_THE_VALUE, JudgeError))
            if len(part) > 1 and not (is_hopeless or is_of_judge):
                half = len(part) // 2
                parts += part[:half], part[half:]
                continue
            n_lost += len(places)
            reason = f"comparator {name!r}: {describe(error)}"
            found = [Failure(None, "raised", reason)] * len(places)
        else:
            n_answered += 1
        for place, answer in zip(places, _checked(name, found, len(places)), strict=True):
            answers[place] = answer
    if n_lost:
        _log.warning("%s (%d of %s)", reason, n_lost, plural(len(items), "field"))
    return answers


def _checked(name: str, answers: Any, n: int) -> list[Any]:
    """Return as many answers as there are items, failures for missing ones."""
    reason = f"the comparator {name!r} gave no verdict"
    if not isinstance(answers, list):
        reason = f"the comparator {name!r} returned {type(answers).__name__}, not a list"
        answers = []
    if len(answers) > n:
        _log.warning("the comparator %r returned %d answers too many", name, len(answers) - n)
    missing = Failure(None, "missing", reason)
    found = [missing if answer is None else answer for answer in answers[:n]]
    return found + [missing] * (n - len(found))


async def _score(name: str, results: list[FieldResult], plan: Plan, ask: Ask) -> None:
    """Ask a comparator about pending fields; those without an answer are batch errors."""
    leaves = [plan.batch_leaves[schema_path(result.path)] for result in results]
    items = [
        BatchItem(
            result.path,
            result.gold_value,
            result.extracted_value,
            result.gold_compared,
            result.extracted_compared,
            params=leaf.params,
            schema_path=leaf.path,
            description=leaf.description,
        )
        for result, leaf in zip(results, leaves, strict=True)
    ]
    answers = await _answers(name, leaves[0].batch, items, ask)
    for answer, result, leaf in zip(answers, results, leaves, strict=True):
        if isinstance(answer, Failure):
            result.status, result.reason = "batch_error", answer.message
            continue
        result.reason = getattr(answer, "reason", None)
        if getattr(answer, "skip", False) or getattr(answer, "status", "") == "skipped":
            result.status = "skipped"
            continue
        try:
            result.score, _ = outcome_of(answer)
            result.status = "match" if result.score >= leaf.threshold else "mismatch"
            result.doubtful = getattr(answer, "doubtful", False) is True
        except UndecidableError as error:
            result.status = "error" if hasattr(answer, "score") else "batch_error"
            result.reason = f"comparator {name!r}: {error}"
