"""Hints on a run: a join of records or an alignment of lists that would match much better."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from factcheck.fields.comparators.transforms import TRANSFORMS
from factcheck.fields.registry import COMPARATORS, Registry
from factcheck.fields.runs.records import Counts, RecordResult, count
from factcheck.fields.schemas.parsing import SchemaNode
from factcheck.fields.schemas.structure import ComparatorSpec, schema_path
from factcheck.fields.schemas.suggestions import are_ids
from factcheck.fields.scoring.nodes import settled
from factcheck.fields.scoring.plan import compile_schema
from factcheck.fields.types import FieldResult
from factcheck.fields.values import as_record
from factcheck.reports.text import plural, share

_GOOD_F1 = 0.95
"""Mean F1 above which no hints on lists are given."""
_MIN_GAIN = 0.2
"""Minimum gain in F1 for a hint on a list."""
_MAX_RECORDS = 10
"""Number of records, lowest F1 first, on which other alignments are tried."""
_BUILT_IN = Registry()


def hints(
    schema: SchemaNode, records: Sequence[RecordResult], id_field: str | None, *, by_id: bool
) -> Iterator[str]:
    """Suggest changes that would raise F1 considerably.

    Only built-in comparators and transforms are called; `exact` replaces registered comparators.

    Args:
        schema: Schema of the run.
        records: All records of the run.
        id_field: Key of the record id, if there is one.
        by_id: Whether records were joined by id.
    """
    pairs = [(as_record(one.gold), as_record(one.extracted)) for one in records]
    pairs = [(gold, found) for gold, found in pairs if isinstance(gold, dict) and gold and found]
    key = "" if by_id or not pairs else next((k for k in pairs[0][0] if _is_moved(k, pairs)), "")
    id_key = id_field or key
    n_moved = sum(gold.get(id_key) != _id(found, id_key, gold) for gold, found in pairs)
    if key or (id_field and not by_id and n_moved):
        yield (
            f"gold and extracted records are in different orders: {id_key!r} differs in "
            f"{plural(n_moved, 'record')}; pair them by id: id_field={id_key!r}, join='id' "
            f"(--id-field {id_key} --join id)"
        )
    elif records and sum(record.f1 for record in records) / len(records) < _GOOD_F1:
        plain, optimal = _builtin(schema), _builtin(schema, optimal=True)
        if plain == optimal:
            return
        usable = [record for record in records if record.failure is None]
        sample = sorted(usable, key=lambda record: record.f1)[:_MAX_RECORDS]
        before, after = _by_list(plain, sample), _by_list(optimal, sample)
        for path, counts in before.items():
            old, new = counts.scores().f1, after.get(path, counts).scores().f1
            if new >= old + _MIN_GAIN:
                yield (
                    f"{path}: elements match much better if paired by content (F1 {share(old)} → "
                    f"{share(new)} in {plural(len(sample), 'record')}); unless their order or key "
                    "counts, set 'x-eval-align': {'match_by': 'hungarian'}"
                )


def _id(record: Any, key: str, default: dict[str, Any]) -> Any:
    fallback = default.get(key)
    return record.get(key, fallback) if isinstance(record, dict) else fallback


def _is_moved(key: str, pairs: Sequence[tuple[Any, Any]]) -> bool:
    """Whether both sides have the same distinct values of a key, most at different positions."""
    gold = [one.get(key) for one, _ in pairs]
    extracted = [_id(one, key, {}) for _, one in pairs]
    if not (are_ids(gold) and are_ids(extracted) and {*gold} == {*extracted}):
        return False
    n_moved: int = sum(a != b for a, b in zip(gold, extracted, strict=True))
    return 2 * n_moved > len(gold)


def _builtin(node: SchemaNode, *, optimal: bool = False) -> SchemaNode:
    """Reduce a schema to built-in comparators; `optimal` aligns its outer lists optimally."""
    is_known = not node.comparator.name or node.comparator.name in COMPARATORS
    is_list = node.json_type == "array" and not node.comparator.name
    return replace(
        node,
        comparator=node.comparator if is_known else ComparatorSpec("exact"),
        transforms=[one for one in node.transforms if one.name in TRANSFORMS],
        align={"match_by": "hungarian"} if optimal and is_list else node.align,
        children=[_builtin(child, optimal=optimal and not is_list) for child in node.children],
    )


def _by_list(schema: SchemaNode, records: Sequence[RecordResult]) -> dict[str, Counts]:
    """Score records and count the results in each outer list, by path."""
    root = compile_schema(schema, _BUILT_IN).root
    results: dict[str, list[FieldResult]] = {}
    for record in records:
        out: list[Any] = []
        root.score(as_record(record.gold), as_record(record.extracted), "", out)
        for result in settled(out):
            list_path, is_in_list, _ = schema_path(result.path).partition("[]")
            if is_in_list:
                results.setdefault(list_path, []).append(result)
    return {path: count(in_list) for path, in_list in results.items()}
