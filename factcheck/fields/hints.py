"""Hints on a run: pairs of records, or alignments of lists, that would match much better."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from factcheck.fields.comparators.transforms import TRANSFORMS
from factcheck.fields.registry import COMPARATORS, Registry
from factcheck.fields.runs.records import Counts, RecordResult, count
from factcheck.fields.schemas.parsing import SchemaNode
from factcheck.fields.schemas.structure import ComparatorSpec, schema_path
from factcheck.fields.scoring.nodes import settled
from factcheck.fields.scoring.plan import compile_schema
from factcheck.fields.types import FieldResult
from factcheck.fields.values import as_record
from factcheck.reports.text import plural, share

_GOOD, _MUCH = 0.95, 0.2
"""Mean F1 from which on there are no hints on lists, and the least gain in F1 of one."""
_MAX_RECORDS = 10
"""Records with the lowest F1, of which other alignments are tried."""
_BUILT_IN = Registry()


def hints(
    schema: SchemaNode, records: Sequence[RecordResult], id_field: str | None, *, by_id: bool
) -> Iterator[str]:
    """What to change, where much is to be gained.

    Only comparators and transforms of this package are called; any other one counts as `exact`.

    Args:
        schema: The schema of the run.
        records: All of its records.
        id_field: Key of the id of a record, if it has one.
        by_id: Whether records were joined by it.
    """
    pairs = [(as_record(one.gold), as_record(one.extracted)) for one in records]
    pairs = [(own, other) for own, other in pairs if isinstance(own, dict) and own and other]
    key = "" if by_id or not pairs else next((k for k in pairs[0][0] if _is_moved(k, pairs)), "")
    named = id_field or key
    n_others = sum(own.get(named) != _id(other, named, own) for own, other in pairs)
    if key or (id_field and not by_id and n_others):
        yield (
            f"records are in another order: {plural(n_others, 'record')} beside another {named!r}; "
            f"pair them by id: id_field={named!r}, join='id' (--id-field {named} --join id)"
        )
    elif records and sum(record.f1 for record in records) / len(records) < _GOOD:
        sample = sorted(records, key=lambda record: record.f1)[:_MAX_RECORDS]
        before = _by_list(_builtin(schema), sample)
        after = _by_list(_builtin(schema, optimal=True), sample)
        for path, counts in before.items():
            old, new = counts.scores().f1, after.get(path, counts).scores().f1
            if new >= old + _MUCH:
                yield (
                    f"{path}: elements match much better in another order (F1 {share(old)} → "
                    f"{share(new)} in {plural(len(sample), 'record')}); if their order does not "
                    "count, set 'x-eval-align': {'match_by': 'hungarian'}"
                )


def _id(record: Any, key: str, default: dict[str, Any]) -> Any:
    own = default.get(key)
    return record.get(key, own) if isinstance(record, dict) else own


def _is_moved(key: str, pairs: Sequence[tuple[Any, Any]]) -> bool:
    """Whether both sides have the same distinct values of a key, most at another position."""
    gold, extracted = ([_id(one, key, {}) for one in side] for side in zip(*pairs, strict=True))
    if not all(type(value) in (str, int) for value in (*gold, *extracted)):
        return False
    n_moved = sum(a != b for a, b in zip(gold, extracted, strict=True))
    return {*gold} == {*extracted} and len({*gold}) == len(gold) and 2 * n_moved > len(gold)


def _builtin(node: SchemaNode, *, optimal: bool = False) -> SchemaNode:
    """The schema without what is registered; with its outer lists aligned optimally, if asked."""
    is_known = not node.comparator.name or node.comparator.name in COMPARATORS
    is_list = node.json_type == "array" and not node.comparator.name
    is_changed = optimal and is_list and node.strategy == "ordered"
    return replace(
        node,
        comparator=node.comparator if is_known else ComparatorSpec("exact"),
        transforms=[one for one in node.transforms if one.name in TRANSFORMS],
        align={"match_by": "hungarian"} if is_changed else node.align,
        children=[_builtin(child, optimal=optimal and not is_list) for child in node.children],
    )


def _by_list(schema: SchemaNode, records: Sequence[RecordResult]) -> dict[str, Counts]:
    """What is matched below each of the outer lists, by its path."""
    root = compile_schema(schema, _BUILT_IN).root
    results: dict[str, list[FieldResult]] = {}
    for record in records:
        out: list[Any] = []
        root.pair(as_record(record.gold), as_record(record.extracted), "", out)
        for result in settled(out):
            head, found, _ = schema_path(result.path).partition("[]")
            if found:
                results.setdefault(head, []).append(result)
    return {path: count(own) for path, own in results.items()}
