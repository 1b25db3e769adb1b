"""Asks batch comparators about pending fields, in as few calls as they allow."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from factcheck.fields.comparators.builtin import value_key
from factcheck.fields.comparators.compound import CompoundComparator
from factcheck.fields.registry import ComparatorNotFoundError, is_batch
from factcheck.fields.schemas.structure import schema_path
from factcheck.fields.scoring.deferred import pending_blocks
from factcheck.fields.scoring.nodes import Out, told
from factcheck.fields.scoring.plan import Plan, checked_score
from factcheck.fields.types import BatchItem, ComparatorResult, FieldResult

_log = logging.getLogger("factcheck.fields")


def dispatch(records: Sequence[Out], plan: Plan) -> None:
    """Give every pending field its answer.

    Args:
        records: Results of records, in which pending fields are changed in place. Comparators with
            `across_records` get the fields of all of them in one call, others record by record.
        plan: What the records were scored with.
    """
    across: dict[str, _Questions] = {}
    for record in records:
        own: dict[str, _Questions] = {}
        for block in pending_blocks(record):
            for name, results in _by_comparator(block.results).items():
                where = across if _takes_many_records(name, plan) else own
                questions = where.setdefault(name, _Questions())
                questions.add(results, in_array=block.in_array)
        for name, questions in own.items():
            questions.ask(name, plan)
    for name, questions in across.items():
        questions.ask(name, plan)


def _by_comparator(results: Sequence[FieldResult]) -> dict[str, list[FieldResult]]:
    by_name: dict[str, list[FieldResult]] = {}
    for result in results:
        by_name.setdefault(result.comparator, []).append(result)
    return by_name


def _takes_many_records(name: str, plan: Plan) -> bool:
    try:
        comparator = plan.registry.get_comparator(name)
    except ComparatorNotFoundError:
        return False
    # A compound groups fields by their paths, which come again in other records.
    if isinstance(comparator, CompoundComparator):
        return False
    return getattr(comparator, "across_records", False) is True


class _Questions:
    """Fields that wait for one comparator; pairs of elements with equal fields ask once."""

    def __init__(self) -> None:
        self._asked: list[FieldResult] = []
        self._twins: list[tuple[FieldResult, FieldResult]] = []
        self._known: dict[Any, list[FieldResult]] = {}

    def add(self, results: list[FieldResult], *, in_array: bool) -> None:
        """Add the fields of a record, or of one pair of elements."""
        if in_array:
            first = self._known.setdefault(_signature(results), results)
            if first is not results:
                self._twins += zip(results, first, strict=True)
                return
        self._asked += results

    def ask(self, name: str, plan: Plan) -> None:
        """Ask about all of them in one call."""
        answers, reason = _answers(name, [_item(result, plan) for result in self._asked], plan)
        for result, answer in zip(self._asked, answers, strict=True):
            _apply(answer, result, plan, reason)
        for twin, result in self._twins:
            twin.status, twin.score, twin.reason = result.status, result.score, result.reason


def _signature(results: Sequence[FieldResult]) -> Any:
    return tuple(
        (schema_path(r.path), value_key(r.gold_compared), value_key(r.extracted_compared))
        for r in results
    )


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


def _answers(name: str, items: list[BatchItem], plan: Plan) -> tuple[list[Any], str | None]:
    """One answer per item, `None` where there is none, and why if that is so for all."""
    nothing: list[Any] = [None] * len(items)
    try:
        comparator = plan.registry.get_comparator(name)
    except ComparatorNotFoundError as error:
        return nothing, str(error)
    if not is_batch(comparator):
        return nothing, f"the comparator {name!r} is no batch comparator any more"
    try:
        answers = comparator(items)
    except Exception as error:  # noqa: BLE001 - the user's code
        _log.warning("the comparator %r failed on %d fields: %s", name, len(items), told(error))
        return nothing, f"comparator {name!r}: {told(error)}"
    if not isinstance(answers, list):
        return nothing, f"the comparator {name!r} gave {type(answers).__name__}, not a list"
    if len(answers) > len(items):
        _log.warning("the comparator %r gave %d answers too many", name, len(answers) - len(items))
    return (answers + nothing)[: len(items)], None


def _apply(answer: Any, result: FieldResult, plan: Plan, reason: str | None) -> None:
    if not isinstance(answer, ComparatorResult):
        result.status, result.reason = "batch_error", reason
        return
    result.reason = answer.reason
    if answer.skip:
        result.status = "skipped"
        return
    try:
        result.score = checked_score(answer.score)
    except ValueError as error:
        result.status, result.reason = "error", f"comparator {result.comparator!r}: {error}"
        return
    leaf = plan.batch_leaves.get(schema_path(result.path))
    result.status = "match" if result.score >= (leaf.threshold if leaf else 1.0) else "mismatch"
