"""Hints: wrapped extractions, a join of records or an alignment of lists that matches better."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from factcheck.fields.comparators.transforms import TRANSFORMS
from factcheck.fields.registry import COMPARATORS, Registry
from factcheck.fields.runs.records import Counts, RecordResult, count
from factcheck.fields.schemas.parsing import SchemaNode
from factcheck.fields.schemas.structure import ComparatorSpec, schema_path
from factcheck.fields.schemas.suggestions import are_ids, id_key
from factcheck.fields.scoring.nodes import settled
from factcheck.fields.scoring.plan import compile_schema
from factcheck.fields.types import FieldResult
from factcheck.fields.values import Records, Unusable, as_record, by_id, read_record
from factcheck.reports.text import plural, share

_GOOD_F1 = 0.95
"""Mean F1 above which no hints on lists are given."""
_MIN_GAIN = 0.2
"""Minimum gain in F1 for a hint on a list."""
_MAX_RECORDS = 10
"""Number of records, lowest F1 first, on which other alignments are tried."""
_BY_ID = "pair them by id: id_field={key!r}, join='id' (--id-field {key} --join id)"
_BUILT_IN = Registry()


def hints(
    schema: SchemaNode, records: Sequence[RecordResult], id_field: str | None, *, joined: bool
) -> Iterator[str]:
    """Suggest changes that would raise F1 considerably.

    Only built-in comparators and transforms are called; `exact` replaces registered comparators.

    Args:
        schema: Schema of the run.
        records: All records of the run.
        id_field: Key of the record id, if there is one.
        joined: Whether records were joined by id.
    """
    pairs = [(as_record(one.gold), read_record(one.extracted)) for one in records]
    pairs = [(gold, found) for gold, found in pairs if isinstance(gold, dict) and gold and found]
    for key, n in Counter(filter(None, map(_wrapper, pairs))).items():
        yield f"the fields of {plural(n, 'extraction')} are inside {key!r}; pass its value instead"
    names = [id_field] if id_field else [*pairs[0][0]] if pairs else []
    moved = {} if joined else {name: _n_moved(name, pairs, is_id=bool(id_field)) for name in names}
    if key := next((name for name in names if moved.get(name)), ""):
        yield (
            "gold and extracted records are in different orders: "
            f"{plural(moved[key], 'record')} would pair by {key!r}; {_BY_ID.format(key=key)}"
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


def hint_on_length(gold: Records, extracted: Records, id_field: str | None) -> str:
    """Say what to do about lists that differ in length."""
    unusable = [one.reason for one in extracted if isinstance(one, Unusable)]
    if unusable:
        advice = "write each reply as one JSON string per line, or as an item of a .json list"
        return unusable[0] if len(extracted) == 1 else f"{unusable[0]}; {advice}"
    records = [read_record(one) for one in gold]
    key = id_field or (id_key(records) if all(isinstance(one, dict) for one in records) else None)
    hint = "give null for a missing extraction"
    if key and by_id(gold, key)[0].keys() & by_id(extracted, key)[0].keys():
        return f"{hint}, or {_BY_ID.format(key=key)}"
    return hint


def _wrapper(pair: tuple[dict[str, Any], Any]) -> str:
    """The only key of an extraction whose fields are one level too deep; empty if they are not."""
    gold, found = pair
    if not isinstance(found, dict) or len(found) != 1:
        return ""
    ((key, inner),) = found.items()
    is_inside = key not in gold and isinstance(inner, dict) and not gold.keys().isdisjoint(inner)
    return str(key) if is_inside else ""


def _n_moved(key: str, pairs: Sequence[tuple[Any, Any]], *, is_id: bool) -> int:
    """Count the records whose id is that of another extraction.

    Unless the key is known to be the id, both sides must have the same distinct values, most of
    them at different positions.
    """
    gold = [one.get(key) for one, _ in pairs]
    values = [one.get(key) if isinstance(one, dict) else None for _, one in pairs]
    if not are_ids(gold):
        return 0
    found = [one if isinstance(one, (str, int)) else None for one in values]
    known = {*found} - {None}
    n_moved = sum(a != b and a in known for a, b in zip(gold, found, strict=True))
    is_shuffled = known == {*gold} and 2 * n_moved > len(gold)
    return n_moved if is_id or is_shuffled else 0


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
        root.score(as_record(record.gold), read_record(record.extracted), "", out)
        for result in settled(out):
            list_path, is_in_list, _ = schema_path(result.path).partition("[]")
            if is_in_list:
                results.setdefault(list_path, []).append(result)
    return {path: count(in_list) for path, in_list in results.items()}
