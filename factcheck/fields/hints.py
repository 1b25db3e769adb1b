"""Hints: records to pair by id, and extractions that were unwrapped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from factcheck.fields.runs.records import RecordResult
from factcheck.fields.schemas.suggestions import are_ids, id_key
from factcheck.fields.values import Records, Unusable, as_record, by_id, read_record
from factcheck.reports.text import plural

_SAMPLE = 200
"""Number of records looked at for keys of which most are moved."""
UNWRAPPED = "the object inside was scored as the record"
"""Reason of the result for the key of a wrapper."""
_BY_ID = "pair them by id: id_field={key!r}, join='id' (--id-field {key} --join id)"


def hints(records: Sequence[RecordResult], id_field: str | None, *, joined: bool) -> Iterator[str]:
    """Suggest changes that would raise F1 considerably.

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
    pairs = _pairs(records if id_field else records[:_SAMPLE])
    if not pairs:
        return
    names = [id_field] if id_field else [name for name in pairs[0][0] if _are_moved(name, pairs)]
    if not id_field and names:
        pairs = _pairs(records)
    for name in names:
        if n_moved := _n_moved(name, pairs, is_id=bool(id_field)):
            yield (
                "gold and extracted records are in different orders: "
                f"{plural(n_moved, 'record')} would pair by {name!r}; {_BY_ID.format(key=name)}"
            )
            return


def hint_on_length(gold: Records, extracted: Records, id_field: str | None) -> str:
    """Say what to do about lists that differ in length."""
    unusable = [one.reason for one in extracted if isinstance(one, Unusable)]
    if unusable:
        advice = "write each reply as one JSON string per line, or as an item of a .json list"
        if len(extracted) == 1:
            return unusable[0]
        return f"{unusable[0]}; {advice}"
    records = [read_record(one) for one in gold]
    key = id_field or (id_key(records) if all(isinstance(one, dict) for one in records) else None)
    hint = "give null for a missing extraction"
    if key and by_id(gold, key)[0].keys() & by_id(extracted, key)[0].keys():
        return f"{hint}, or {_BY_ID.format(key=key)}"
    return hint


def _pairs(records: Sequence[RecordResult]) -> list[tuple[dict[str, Any], Any]]:
    pairs = [(as_record(one.gold), read_record(one.extracted)) for one in records]
    return [(gold, found) for gold, found in pairs if isinstance(gold, dict) and gold and found]


def _are_moved(key: str, pairs: Sequence[tuple[Any, Any]]) -> bool:
    """Whether most records of a sample have another value than their gold record."""
    return 2 * sum(_id_of(gold, key) != _id_of(found, key) for gold, found in pairs) > len(pairs)


def _id_of(record: Any, key: str) -> str | int | None:
    value = record.get(key) if isinstance(record, dict) else None
    return value if isinstance(value, (str, int)) else None


def _n_moved(key: str, pairs: Sequence[tuple[Any, Any]], *, is_id: bool) -> int:
    """Count the records whose id is that of another extraction.

    Unless the key is known to be the id, both sides must have the same distinct values, most of
    them at different positions.
    """
    gold = [one.get(key) for one, _ in pairs]
    if not are_ids(gold):
        return 0
    found = [_id_of(one, key) for _, one in pairs]
    known = {*found} - {None}
    n_moved = sum(a != b and a in known for a, b in zip(gold, found, strict=True))
    is_shuffled = known == {*gold} and 2 * n_moved > len(gold)
    return n_moved if is_id or is_shuffled else 0
