"""Dispatch of pending fields to batch comparators, in as few calls as possible."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Sequence
from typing import Any

from factcheck.errors import Failure, describe
from factcheck.fields.schemas import schema_path
from factcheck.fields.scoring.nodes import Out
from factcheck.fields.scoring.plan import Plan, outcome_of
from factcheck.fields.types import BatchItem, FieldResult, UndecidableError
from factcheck.fields.values import value_key
from factcheck.reports.text import plural

_log = logging.getLogger("factcheck.fields")


def dispatch(records: Sequence[Out], plan: Plan) -> None:
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
            _score(name, results, plan)
        for copy, result in copies:
            copy.status, copy.score, copy.reason = result.status, result.score, result.reason
            copy.doubtful = result.doubtful
        blocks = []


def _takes_many_records(plan: Plan, result: FieldResult) -> bool:
    comparator = plan.batch_leaves[schema_path(result.path)].batch
    return getattr(comparator, "across_records", False) is True


def _question(result: FieldResult) -> Hashable:
    compared = value_key(result.gold_compared), value_key(result.extracted_compared)
    return schema_path(result.path), *compared


def _answers(name: str, comparator: Any, items: list[BatchItem]) -> list[Any]:
    """Return one answer per item, a failure for an item without one."""
    try:
        answers = comparator(items)
    except Exception as error:  # noqa: BLE001 - the user's code
        reason = f"comparator {name!r}: {describe(error)}"
        _log.warning("%s (%s)", reason, plural(len(items), "field"))
        return [Failure(None, "raised", reason)] * len(items)
    reason = f"the comparator {name!r} gave no verdict"
    if not isinstance(answers, list):
        reason = f"the comparator {name!r} returned {type(answers).__name__}, not a list"
        answers = []
    n_surplus = len(answers) - len(items)
    if n_surplus > 0:
        _log.warning("the comparator %r returned %d answers too many", name, n_surplus)
    found: list[Any] = [Failure(None, "missing", reason)] * len(items)
    for place, answer in enumerate(answers[: len(items)]):
        if answer is not None:
            found[place] = answer
    return found


def _score(name: str, results: list[FieldResult], plan: Plan) -> None:
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
    answers = _answers(name, leaves[0].batch, items)
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
