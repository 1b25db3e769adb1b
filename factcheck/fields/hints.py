"""Hints: records to pair by id, and extractions that were unwrapped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from factcheck.fields.runs.records import RecordResult
from factcheck.fields.schemas.suggestions import are_ids, id_key
from factcheck.fields.values import Records, Unusable, as_record, by_id, read_record
from factcheck.reports.text import plural

UNWRAPPED = "the object inside was scored as the record"
"""Reason of the result for the key of a wrapper."""
_SAMPLE = 200
"""Number of records looked at if the key of the id is not given."""
_BY_ID = "pair them by id: id_field={key!r}, join='id' (--id-field {key} --join id)"


def hints(records: Sequence[RecordResult], id_field: str | None, *, joined: bool) -> Iterator[str]:
    """Suggest changes that would raise F1 considerably.

    Without `id_field`, most of the first records must be out of place.

    Args:
        records: All records of the run.
        id_field: Key of the record id, if there is one.
        joined: Whether records were joined by id.
    """
    first = (one.field_results[0] for one in records if one.field_results)
    for key, n in Counter(one.path for one in first if one.reason == UNWRAPPED).items():
        yield f"{plural(n, 'extraction')} unwrapped: the fields are inside {key!r}"
    if joined:
        return
    some = records if id_field else records[:_SAMPLE]
    gold = [as_record(one.gold) for one in some]
    name = id_field or _id_key(gold)
    if not name:
        return
    n_moved = _n_moved(name, gold, [read_record(one.extracted) for one in some])
    if n_moved > (0 if id_field else len(some) / 2):
        yield (
            "gold and extracted records are in different orders: "
            f"{plural(n_moved, 'record')} would pair by {name!r}; {_BY_ID.format(key=name)}"
        )


def hint_on_length(gold: Records, extracted: Records, id_field: str | None) -> str:
    """Say what to do about lists that differ in length."""
    unusable = [one.reason for one in extracted if isinstance(one, Unusable)]
    if unusable:
        advice = "write each reply as one JSON string per line, or as an item of a .json list"
        if len(extracted) == 1:
            return unusable[0]
        return f"{unusable[0]}; {advice}"
    key = id_field or _id_key([read_record(one) for one in gold])
    hint = "give null for a missing extraction"
    if key and by_id(gold, key)[0].keys() & by_id(extracted, key)[0].keys():
        return f"{hint}, or {_BY_ID.format(key=key)}"
    return hint


def _id_key(records: Sequence[Any]) -> str | None:
    are_objects = bool(records) and all(isinstance(one, dict) for one in records)
    return id_key(records) if are_objects else None


def _n_moved(key: str, gold: Sequence[Any], extracted: Sequence[Any]) -> int:
    """Count the records whose id is that of another extraction; 0 if gold ids are not unique."""
    ids = [_id_of(one, key) for one in gold]
    others = [_id_of(one, key) for one in extracted]
    if not are_ids(ids):
        return 0
    known = {*others}
    return sum(a != b and a in known for a, b in zip(ids, others, strict=True))


def _id_of(record: Any, key: str) -> str | int | None:
    value = record.get(key) if isinstance(record, dict) else None
    return value if isinstance(value, (str, int)) else None
