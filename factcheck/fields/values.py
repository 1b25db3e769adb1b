"""Conversion of Python values to JSON data, pairing of records, and keys that compare values."""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from datetime import date, time
from decimal import Decimal
from numbers import Integral
from typing import Any, NamedTuple

from factcheck.documents import parse_json, shown
from factcheck.documents.json_documents import problem_of
from factcheck.errors import InputError
from factcheck.reports.text import plural

_DECODER = json.JSONDecoder()
_log = logging.getLogger("factcheck.fields")
_NAN = object()
"""Represents NaN in a key."""


def as_record(value: Any) -> Any:
    """Convert a pydantic model instance to its JSON object; return anything else unchanged.

    Values are dumped without validation. Fields that were not set are absent, even if they have a
    default.
    """
    if value is None or isinstance(value, (dict, list, str)):
        return value
    from pydantic import BaseModel

    if not isinstance(value, BaseModel):
        return value
    try:
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"a record of the model {type(value).__name__} cannot be written as JSON: {error}"
        ) from error


_BRACES = re.compile(r'(?P<prose>\{\s*[^\s{}:"][^{}:"]*\})|\{')
"""Braces around prose, `{name}`, or the start of an object."""
_THOUGHTS = "<think>", "</think>"


def object_in(text: str) -> dict[str, Any]:
    """Parse the only JSON object in a model's reply.

    It may be in a code fence, in prose, or in a JSON string or list, and occur more than once.
    Thoughts at the start are skipped. All braces must hold an object, or prose without colons and
    quotes: part of a broken object is never taken for the record.

    Raises:
        InputError: There is no object, different ones, or one that is not valid JSON.
    """
    with suppress(InputError):
        value = parse_json(text, "").value
        if isinstance(value, (dict, str)):
            return value if isinstance(value, dict) else object_in(value)
    if text.lstrip().startswith(_THOUGHTS[0]):
        _, is_closed, text = text.partition(_THOUGHTS[1])
        if not is_closed:
            raise InputError("thoughts that do not end")
    found: dict[Hashable, dict[str, Any]] = {}
    end = 0
    while braces := _BRACES.search(text, end):
        end = braces.end()
        if not braces["prose"]:
            try:
                _, end = _DECODER.raw_decode(text, braces.start())
            except (ValueError, RecursionError) as error:
                problem = "it is nested too deeply, or a number is too long"
                if isinstance(error, json.JSONDecodeError):
                    problem = problem_of(error, text)
                raise InputError(f"a JSON object that cannot be read ({problem})") from None
            value = parse_json(text[braces.start() : end], "a JSON object").value
            found[value_key(value)] = value
    if len(found) != 1:
        raise InputError(f"{len(found)} different JSON objects" if found else "no JSON object")
    return next(iter(found.values()))


class Unusable(NamedTuple):
    """A record that cannot be scored or joined by its id."""

    record: Any
    """`None` if it cannot be read."""
    reason: str
    """What is wrong with it and, if it comes from a file, where."""


def read_record(value: Any) -> Any:
    """Parse a reply, which may be `Unusable`; convert a model; return anything else unchanged."""
    if not isinstance(value, str):
        return as_record(value)
    try:
        return object_in(value)
    except InputError as error:
        return Unusable(value, str(error))


def id_of(record: Any, id_field: str, where: str) -> str | int:
    """Return the id of a record; raise `InputError`, with `where`, if it has no valid one."""
    record = read_record(record)
    reason = f": {record.reason}" if isinstance(record, Unusable) else ""
    record, _ = unwrapped(record, {id_field})
    if not isinstance(record, dict) or id_field not in record:
        raise InputError(f"{where}: the id field {id_field!r} is missing{reason}")
    found = record[id_field]
    if isinstance(found, bool) or not isinstance(found, (str, int)):
        raise InputError(
            f"{where}: {id_field!r} is {shown(found)}; an id must be a string or integer"
        )
    return found


def unwrapped(record: Any, names: AbstractSet[str]) -> tuple[Any, str]:
    """Return a record without a wrapper, and the wrapper's key; empty if there is none.

    A wrapper is the only unknown key whose object has more of the names than the record itself, as
    in `{"data": {...}}`. Other keys of the record stay.
    """
    if not isinstance(record, dict) or record.keys() <= names:
        return record, ""
    n_direct = len(names & record.keys())
    keys = [
        key
        for key, value in record.items()
        if key not in names and isinstance(value, dict) and len(names & value.keys()) > n_direct
    ]
    if len(keys) != 1:
        return record, ""
    others = {key: value for key, value in record.items() if key != keys[0]}
    return {**others, **record[keys[0]]}, str(keys[0])


class Records(list[Any]):
    """Records that know their name and places, which messages give."""

    def __init__(
        self, values: Iterable[Any], name: str, places: Iterable[object] | None = None
    ) -> None:
        super().__init__(values)
        self.name = name
        """Name of the file or argument."""
        counted = (f"{name} record {n}" for n in range(len(self)))
        self.places = [*map(str, counted if places is None else places)]


def by_id(records: Records, id_field: str) -> tuple[dict[str | int, Any], list[Unusable]]:
    """Index records by their ids; return the index and the records that are not in it.

    Those are the records without a valid id and, of records with the same id, all but the first.
    """
    found: dict[str | int, Any] = {}
    places: dict[str | int, str] = {}
    unusable = []
    for where, record in zip(records.places, records, strict=True):
        if isinstance(record, Unusable):
            unusable.append(record)
            continue
        try:
            name = id_of(record, id_field, where)
        except InputError as error:
            unusable.append(Unusable(record, str(error)))
            continue
        if name in found:
            reason = f"{where}: duplicate {id_field} {name!r:.80}, first in {places[name]}"
            unusable.append(Unusable(record, reason))
        else:
            found[name], places[name] = record, where
    return found, unusable


Row = tuple["str | int", Any, Any]
"""Id of a record, or its position, with the gold and the extracted record; `None`: missing."""


def joined(
    gold: Sequence[Any], extracted: Sequence[Any], id_field: str | None, join: str
) -> list[Row]:
    """Pair gold with extracted records."""
    for name, records in (("gold", gold), ("extracted", extracted)):
        if not isinstance(records, (list, tuple)):
            raise InputError(
                f"{name} must be a list of records, not {type(records).__name__}; "
                "FieldEvaluator.stream takes pairs from any iterable"
            )
    own = gold if isinstance(gold, Records) else Records(gold, "gold")
    other = extracted if isinstance(extracted, Records) else Records(extracted, "extracted")
    if join == "id":
        if not id_field:
            raise InputError("join='id' requires id_field")
        return _joined_by_id(own, other, id_field)
    if join != "position":
        raise InputError(f"join must be 'position' or 'id', not {join!r}")
    if len(own) != len(other):
        raise InputError(
            f"the lists differ in length: {own.name} has {plural(len(own), 'record')}, "
            f"{other.name} {len(other):,}; {_advice(other)}"
        )
    return list(numbered(zip(own, other, strict=True), id_field, (own.places, other.places)))


def numbered(
    pairs: Iterable[tuple[Any, Any]],
    id_field: str | None,
    places: tuple[Sequence[str], Sequence[str]] | None = None,
) -> Iterator[Row]:
    """Add ids to pairs of records: positions if there is no `id_field`."""
    for n, pair in enumerate(pairs):
        name: str | int = n
        if id_field:
            side = int(pair[0] is None)
            where = places[side][n] if places else f"{('gold', 'extracted')[side]} record {n}"
            is_unusable = isinstance(read_record(pair[side]), Unusable)
            name = f"(parse failure {n})" if is_unusable else id_of(pair[side], id_field, where)
        yield name, *pair


def _advice(extracted: Records) -> str:
    """Say what to do about lists that differ in length."""
    for one in extracted:
        if isinstance(one, Unusable):
            advice = "write each reply as one JSON string per line, or as an item of a .json list"
            return f"{one.reason}; {advice}"
    return "give null for a missing extraction, or set 'join' to 'id'"


def _joined_by_id(gold: Records, extracted: Records, id_field: str) -> list[Row]:
    gold_by_id, faults = by_id(gold, id_field)
    if faults:
        raise InputError(faults[0].reason)
    partners, unusable = by_id(extracted, id_field)
    alone = {str(name) for name in gold_by_id.keys() - partners.keys()}
    if any(str(name) in alone for name in partners.keys() - gold_by_id.keys()):
        _log.warning(
            "some ids are strings on one side and numbers on the other, so their records are not "
            "joined; use one type on both"
        )
    # Null is no extraction; other records without a usable id fill in for missing partners.
    failures = iter([one for one in unusable if one.record is not None])
    rows: list[Row] = []
    for name, record in gold_by_id.items():
        partner = partners.pop(name) if name in partners else next(failures, None)
        rows.append((name, record, partner))
    rows += [(name, None, record) for name, record in partners.items()]
    for failure in failures:
        rows.append((f"(parse failure {len(rows)})", None, failure))
    return rows


def plain(value: Any) -> Any:
    """Convert a value to JSON data; JSON data is returned unchanged.

    Tuples become lists, sets lists sorted by their JSON text, pydantic models and other mappings
    objects, dates ISO strings. NaN, infinities and all other values become strings, and so does a
    container that JSON cannot hold.
    """
    kind = type(value)
    if value is None or kind in (str, bool) or (kind is float and math.isfinite(value)):
        return value
    try:
        return json.loads(json.dumps(value, default=_for_json), parse_constant=str)
    except (TypeError, ValueError, RecursionError):
        return _text(value)


def _for_json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(map(plain, value), key=json.dumps)
    if isinstance(value, Integral):
        return int(value)
    record = as_record(value)
    if record is not value:
        return record
    return _text(value)


def _text(value: Any) -> str:
    try:
        if isinstance(value, (date, time)):
            return value.isoformat()
        return str(value)
    except Exception:  # noqa: BLE001 - the user's own type
        return f"<{type(value).__name__}>"


def as_json_scalar(value: Any) -> Any:
    """Convert a date or time to its ISO text, and a `Decimal` to the float that is written alike.

    Anything else is returned unchanged.
    """
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, Decimal) and value.is_finite():
        number = float(value)
        return number if Decimal(repr(number)) == value else value
    return value


def exact_key(value: Any) -> Hashable:
    """Return a hashable key, equal for values that `exact` considers equal.

    Only the outermost type counts: `1` differs from `True`, but `[1]` equals `[True]`. The order
    of properties does not count, and NaN equals NaN. A date is its ISO text, a `Decimal` a float.
    An object that cannot be compared, or that contains itself, equals only itself.
    """
    kind = type(value)
    if kind is str or kind is int or value is None:
        return value  # type: ignore[no-any-return]
    if kind is bool:
        return kind, value
    scalar = as_json_scalar(value)
    if scalar is not value:
        return exact_key(scalar)
    try:
        return kind, _frozen(value, deep=False)
    except RecursionError:
        return id(value)


def value_key(value: Any) -> Hashable:
    """Return a hashable key, equal for values no comparator can distinguish: all types count."""
    try:
        return _frozen(value, deep=True)
    except RecursionError:
        return id(value)


def _frozen(value: Any, *, deep: bool) -> Hashable:
    value = value if deep else as_json_scalar(value)
    kind = type(value)
    if kind is str or kind is int or value is None:
        return value  # type: ignore[no-any-return]
    if isinstance(value, dict):
        parts = ((_frozen(name, deep=deep), _frozen(one, deep=deep)) for name, one in value.items())
        return kind if deep else dict, frozenset(parts)
    if isinstance(value, (list, tuple)):
        return kind, tuple(_frozen(part, deep=deep) for part in value)
    frozen = _NAN if is_nan(value) else _hashable(value)
    return (kind, frozen) if deep else frozen


def _hashable(value: Any) -> Hashable:
    """Return a value, or its identity if it has no hash."""
    if isinstance(value, set):
        return frozenset(value)
    try:
        hash(value)
    except Exception:  # noqa: BLE001 - the user's own type
        return id(value)
    return value  # type: ignore[no-any-return]


def is_nan(value: Any) -> bool:
    """Whether a value is a NaN float."""
    return isinstance(value, float) and math.isnan(value)


_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (Decimal, "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
    (type(None), "null"),
)


def wrong_type(expected: str, side: str, value: Any) -> str:
    """Say why the gold or extracted value cannot be compared."""
    if value is None:
        return f"the {side} value is null"
    return f"{expected}, but the {side} value is of type {json_type(value) or type(value).__name__}"


def json_type(value: Any) -> str | None:
    """Return the JSON type of a value, or `None` if it is not JSON."""
    return next((name for kind, name in _TYPES if isinstance(value, kind)), None)
