"""What would match much better than the schema or the pairing of records that was used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from factcheck.fields.comparators.builtin import COMPARATORS
from factcheck.fields.comparators.transforms import TRANSFORMS
from factcheck.fields.registry import Registry
from factcheck.fields.runs.records import Counts, RecordResult, count
from factcheck.fields.schemas.parsing import SchemaNode
from factcheck.fields.schemas.structure import ComparatorSpec, schema_path
from factcheck.fields.scoring.nodes import Node, ObjectNode
from factcheck.fields.scoring.optimal import OptimalMatch, settled
from factcheck.fields.scoring.plan import compile_schema
from factcheck.fields.types import FieldResult
from factcheck.fields.values import as_record
from factcheck.reports.text import plural, share

_GOOD = 0.95
"""From this mean F1 on there are no hints."""
_MUCH = 0.2
"""The least gain in F1."""
_MAX_RECORDS = 50
"""In a run for which other pairs of records are tried."""
_MAX_ALIGNED = 10
"""Records of which other alignments are tried."""
_MAX_ELEMENTS = 200
"""In one list; longer ones are not aligned for a hint."""


def hints(
    schema: SchemaNode, records: Sequence[RecordResult], id_field: str | None, *, by_id: bool
) -> Iterator[str]:
    """Hints on a run: other pairs of records, and other alignments of lists.

    Alignments are tried on the ten records with the lowest F1. Only the comparators and transforms
    of this package are called; any other comparator counts as `exact`.

    Args:
        schema: The schema of the run.
        records: All of its records.
        id_field: Key of the id of a record, if it has one.
        by_id: Whether records were joined by it.
    """
    if id_field and not by_id and (n_others := _n_others(records, id_field)):
        yield (
            f"{plural(n_others, 'record')} {'has' if n_others == 1 else 'have'} another "
            f"{id_field} than the gold record at the same position; join='id' (--join id) pairs "
            "them by id"
        )
        return
    if not records or sum(record.f1 for record in records) / len(records) >= _GOOD:
        return
    if not by_id:
        pairing = _pairing_hint(_builtin(schema, _by_position), records)
        if pairing:
            yield pairing
            return
    sample = sorted(records, key=lambda record: record.f1)[:_MAX_ALIGNED]
    sample = [record for record in sample if not _has_long_list(record.gold)]
    before = _by_list(_builtin(schema, _as_told), sample)
    after = _by_list(_builtin(schema, _optimally), sample)
    for path, old in before.items():
        new = after.get(path, old)
        if new.scores().f1 >= old.scores().f1 + _MUCH:
            yield (
                f"{path}: elements match much better in another order (F1 "
                f"{share(old.scores().f1)} → {share(new.scores().f1)} in "
                f"{plural(len(sample), 'record')}); if their order does not count, set "
                "'x-eval-align': {'match_by': 'hungarian'}"
            )


def _pairing_hint(schema: SchemaNode, records: Sequence[RecordResult]) -> str:
    pairs = [(as_record(record.gold), as_record(record.extracted)) for record in records]
    if key := _common_id(pairs):
        return (
            f"records are in another order: the values of {key!r} are the same on both sides, "
            f"at other positions; pair them by id: id_field={key!r}, join='id' (--id-field {key} "
            "--join id)"
        )
    if not 1 < len(pairs) <= _MAX_RECORDS:
        return ""
    plan = compile_schema(schema, _BUILT_IN)
    if not isinstance(plan.root, ObjectNode):
        return ""
    gold, extracted = zip(*pairs, strict=True)
    match = OptimalMatch(plan.root, None, plan.weights)
    f1, _, _ = match.grid(gold, extracted).outcome()
    best = match(gold, extracted, "").pairs
    now = float(f1.diagonal().mean())
    other = sum(float(f1[pair]) for pair in best) / len(pairs)
    if other < now + _MUCH:
        return ""
    return (
        f"records match much better in another order (F1 {share(now)} → {share(other)}); pair "
        "them by an id: id_field=KEY, join='id' (--id-field KEY --join id)"
    )


def _n_others(records: Sequence[RecordResult], id_field: str) -> int:
    sides = [(as_record(record.gold), as_record(record.extracted)) for record in records]
    return sum(
        own.get(id_field) != other.get(id_field, own.get(id_field))
        for own, other in sides
        if isinstance(own, dict) and isinstance(other, dict)
    )


def _common_id(pairs: Sequence[tuple[Any, Any]]) -> str:
    """A key with the same distinct values in all records, most of them at another position."""
    first = pairs[0][0]
    for key in first if isinstance(first, dict) and len(pairs) > 1 else ():
        sides = [
            [one.get(key) if isinstance(one, dict) else None for one in side]
            for side in zip(*pairs, strict=True)
        ]
        if not all(type(value) in (str, int) for side in sides for value in side):
            continue
        gold, extracted = sides
        n_moved = sum(a != b for a, b in zip(gold, extracted, strict=True))
        if {*gold} == {*extracted} and len({*gold}) == len(gold) and 2 * n_moved > len(gold):
            return str(key)
    return ""


def _builtin(node: SchemaNode, align: Callable[[SchemaNode], Any]) -> SchemaNode:
    """The schema without what is registered, its lists aligned in this way."""
    is_known = node.comparator.name in COMPARATORS
    return replace(
        node,
        comparator=node.comparator if is_known or not node.comparator.name else _EXACT,
        transforms=[one for one in node.transforms if one.name in TRANSFORMS],
        align=align(node),
        children=[_builtin(child, align) for child in node.children],
    )


def _as_told(node: SchemaNode) -> Any:
    return node.align


def _by_position(_node: SchemaNode) -> None:
    return None


def _optimally(node: SchemaNode) -> Any:
    is_list = node.json_type == "array" and not node.comparator.name
    return {"match_by": "hungarian"} if is_list and node.strategy == "ordered" else node.align


def _by_list(schema: SchemaNode, records: Sequence[RecordResult]) -> dict[str, Counts]:
    """What is matched below each list that the schema compares by position, by its path."""
    plan = compile_schema(schema, _BUILT_IN)
    results: dict[str, list[FieldResult]] = {}
    for record in records:
        out: list[Any] = []
        _pair(plan.root, record, out)
        for result in settled(out):
            head, found, _ = schema_path(result.path).partition("[]")
            if found:
                results.setdefault(head, []).append(result)
    return {path: count(own) for path, own in results.items()}


def _pair(root: Node, record: RecordResult, out: list[Any]) -> None:
    extracted = as_record(record.extracted)
    if isinstance(extracted, dict):
        root.pair(as_record(record.gold), extracted, "", out)


def _has_long_list(value: Any) -> bool:
    todo = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, list) and len(one) > _MAX_ELEMENTS:
            return True
        todo += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
    return False


_EXACT = ComparatorSpec("exact")
_BUILT_IN = Registry()
