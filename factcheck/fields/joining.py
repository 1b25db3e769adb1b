"""Pairs gold with extracted records, by position or by id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from factcheck.errors import InputError
from factcheck.fields.values import as_record


def joined(
    gold: Sequence[Any], extracted: Sequence[Any], id_field: str | None, join: str
) -> list[tuple[Any, Any]]:
    """Pairs of a gold and an extracted record; `None` stands for a missing one.

    Raises:
        InputError: The lists differ in length, or an id is missing or not unique.
    """
    for name, records in (("gold", gold), ("extracted", extracted)):
        if not isinstance(records, (list, tuple)):
            raise InputError(
                f"{name} must be a list of records, not {type(records).__name__}; "
                "FieldEvaluator.stream takes pairs from any iterable"
            )
    if join == "id":
        if not id_field:
            raise InputError("join='id' requires id_field")
        wanted = _by_id(gold, id_field, "gold")
        found = _by_id(extracted, id_field, "extracted")
        pairs = [(record, found.pop(name, None)) for name, record in wanted.items()]
        return [*pairs, *((None, record) for record in found.values())]
    if join != "position":
        raise InputError(f"join must be 'position' or 'id', not {join!r}")
    if len(gold) != len(extracted):
        raise InputError(
            f"the lists differ in length: {len(gold)} gold and {len(extracted)} extracted "
            "records; align them, or join them by id_field with join='id'"
        )
    pairs = list(zip(gold, extracted, strict=True))
    for position, pair in enumerate(pairs if id_field else ()):
        record_id(*pair, id_field, position)
    return pairs


def record_id(gold: Any, extracted: Any, id_field: str | None, position: int) -> str | int:
    """The id of a record, or its position without `id_field`.

    Raises:
        InputError: The gold record has no valid id.
    """
    if not id_field:
        return position
    source = gold if gold is not None else extracted
    return _id(source, id_field, f"{'gold' if gold is not None else 'extracted'} record {position}")


def _by_id(records: Sequence[Any], id_field: str, side: str) -> dict[str | int, Any]:
    by_id: dict[str | int, Any] = {}
    duplicates = []
    for position, record in enumerate(records):
        name = _id(record, id_field, f"{side} record {position}")
        if name in by_id:
            duplicates.append(name)
        by_id[name] = record
    if duplicates:
        names = ", ".join(repr(name) for name in dict.fromkeys(duplicates))
        raise InputError(f"duplicate {id_field} in {side} records: {names}")
    return by_id


def _id(record: Any, id_field: str, where: str) -> str | int:
    record = as_record(record)
    if record is None:
        hint = "a gold record without partner counts as missing"
        raise InputError(f"{where} is null and has no id to join by; leave it out: {hint}")
    if not isinstance(record, dict) or id_field not in record:
        raise InputError(f"{where} has no {id_field!r}, the id_field")
    name = record[id_field]
    if isinstance(name, bool) or not isinstance(name, (str, int)):
        raise InputError(f"{where}: {id_field} is {name!r}; an id must be a string or an integer")
    return name
