"""Records and schemas from files, with errors that say in which file, and on which line.

Values are kept as they stand: what cannot be is refused (`strict_json`, `strict_yaml`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from factcheck.datasets.lines import lines, text_problem
from factcheck.datasets.record import Place
from factcheck.errors import InputError, SchemaError
from factcheck.fields.schemas.defaults import annotate_xeval
from factcheck.fields.schemas.inference import infer_schema
from factcheck.fields.schemas.references import resolved
from factcheck.fields.strict_json import lines_of, parse_json
from factcheck.fields.strict_yaml import parse_yaml
from factcheck.files import read_text

if TYPE_CHECKING:
    from factcheck.fields.runs.results import RunResult

PathOrDash = Union[str, "os.PathLike[str]"]
_JSON_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_YAML = (".yaml", ".yml")
_KINDS = {
    str: "a text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    type(None): "null",
}


class Records(NamedTuple):
    """The records of a file."""

    name: str
    """Of the file."""
    values: list[Any]
    """Objects; `None` where null was allowed."""
    places: list[Place]
    """Where each of them stands."""


def read_records(path: PathOrDash, *, gaps: bool = False) -> Records:
    """All records of a file; see `iter_records`."""
    places, values = [], []
    for place, value in iter_records(path, gaps=gaps):
        places.append(place)
        values.append(value)
    return Records(name_of(path), values, places)


def iter_records(path: PathOrDash, *, gaps: bool = False) -> Iterator[tuple[Place, Any]]:
    """The records of a file with their places, in order.

    Args:
        path: `.jsonl` or `.ndjson`, perhaps with `.gz` after it: one object a line, of which one is
            held at a time. `.json`, `.yaml`, `.yml`: a list of objects, or one. `-`, or a name
            without suffix: JSON or JSON lines.
        gaps: Whether null may stand for a record that is not there.

    Raises:
        InputError: Not readable, another format, a record that is no object, or no records.
    """
    name = name_of(path)
    is_empty = True
    for place, value in _entries(path, name):
        is_empty = False
        if not isinstance(value, dict) and not (gaps and value is None):
            hint = "; write null where nothing was extracted" if gaps else ""
            raise InputError(f"{place}: expected an object, found {kind_of(value)}{hint}")
        yield place, value
        del value  # the next record is parsed without this one in memory
    if is_empty:
        raise InputError(f"{name} holds no records")


def read_schema(path: PathOrDash) -> dict[str, Any]:
    """An evaluation schema: references are resolved, and leaves without comparator get one.

    Args:
        path: `.json`, `.yaml` or `.yml`; `-` or a name without suffix: JSON.

    Raises:
        InputError: Not readable, no object, or not to be resolved.
    """
    data = _whole(path, name_of(path), "a schema comes")
    if not isinstance(data, dict):
        raise InputError(f"{name_of(path)}: a schema is an object, this is {kind_of(data)}")
    with schema_errors(name_of(path)):
        schema: dict[str, Any] = annotate_xeval(resolved(data))
    return schema


def infer_schema_of(records: Records) -> dict[str, Any]:
    """An evaluation schema in which every field is compared by the type of its values.

    Raises:
        InputError: Values are nested too deeply.
    """
    with schema_errors(records.name):
        schema: dict[str, Any] = annotate_xeval(infer_schema(records.values))
    return schema


@contextmanager
def schema_errors(name: str) -> Iterator[None]:
    """Inside, what is wrong with a schema is said with the name of its file."""
    try:
        yield
    except SchemaError as error:
        raise InputError(f"{name}: {error}") from error


def read_run(path: PathOrDash) -> RunResult:
    """A run that was saved as JSON.

    Raises:
        InputError: Not readable, or no run.
    """
    from factcheck.fields.runs.results import RunResult

    name = name_of(path)
    text = read_text(path)
    data = parse_json(text, lines_of(name, text))
    if not isinstance(data, dict):
        raise InputError(f"{name}: a run is an object, this is {kind_of(data)}")
    try:
        return RunResult.from_dict(data)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def id_problems(records: Records, id_field: str, *, unique: bool) -> Iterator[tuple[int, str]]:
    """Positions of records whose id cannot be used, and what is wrong with it.

    Args:
        records: The records.
        id_field: The key that holds the id.
        unique: Whether an id that was used before is wrong.
    """
    first: dict[str | int, Place] = {}
    for position, (place, record) in enumerate(zip(records.places, records.values, strict=True)):
        if record is None or id_field not in record:
            if record is None:
                hint = "a gold record that has no partner counts as missing"
                yield position, f"null has no id to be joined by; leave it out: {hint}"
            else:
                yield position, f"no {id_field!r}, but {id_field!r} is to name the records"
            continue
        found = record[id_field]
        if isinstance(found, bool) or not isinstance(found, (str, int)):
            kind = kind_of(found)
            yield position, f"{id_field!r} is {kind}; an id is a text or a whole number"
        elif unique and (before := first.setdefault(found, place)) is not place:
            where = f"in {before.unit} {before.number}; ids must be unique"
            yield position, f"the id {found!r:.80} was used before, {where}"


def name_of(path: PathOrDash) -> str:
    """What a file is called in messages."""
    return "standard input" if path == "-" else str(path)


def kind_of(value: Any) -> str:
    """What a JSON value is, in words."""
    return _KINDS.get(type(value), "an object")


def _entries(path: PathOrDash, name: str) -> Iterator[tuple[Place, Any]]:
    if name.lower().endswith(_JSON_LINES):
        return _json_lines(lines(path))
    if path != "-" and Path(path).suffix:
        return _members(_whole(path, name, "records come"), name)
    return _sniffed(path, name)


def _whole(path: PathOrDash, name: str, what: str) -> Any:
    suffix = "" if path == "-" else Path(path).suffix.lower()
    if suffix in _YAML:
        return parse_yaml(read_text(path), name)
    if suffix not in {"", ".json"}:
        kinds = ".json, .jsonl or .yaml" if what.startswith("records") else ".json or .yaml"
        raise InputError(f"{name}: {what} from a {kinds} file")
    text = read_text(path)
    return parse_json(text, lines_of(name, text))


def _members(data: Any, name: str) -> Iterator[tuple[Place, Any]]:
    if isinstance(data, dict):
        yield Place(name), data
    elif isinstance(data, list):
        for number, value in enumerate(data, 1):
            yield Place(name, "record", number), value
    elif data is not None:
        raise InputError(
            f"{name}: expected a list of records, or one record; found {kind_of(data)}"
        )


def _json_lines(source: Iterator[tuple[Place, bytes]]) -> Iterator[tuple[Place, Any]]:
    for place, raw in source:
        if raw.strip():
            yield place, _line(place, raw)


def _line(place: Place, raw: bytes) -> Any:
    if problem := text_problem(raw, place):
        raise problem
    return parse_json(raw.decode(), lambda _: str(place))


def _sniffed(path: PathOrDash, name: str) -> Iterator[tuple[Place, Any]]:
    """JSON lines, if the first line is an object; else one JSON text."""
    if path == "-" and sys.stdin is None:
        raise InputError("standard input is closed; name a file instead")
    source = ((place, raw) for place, raw in lines(path) if raw.strip())
    for place, raw in source:
        if raw.rstrip().endswith(b"}"):
            try:
                first = _line(place, raw)
            except InputError:
                pass
            else:
                yield place, first
                yield from _json_lines(source)
                return
        whole = b"".join([raw, *(more for _, more in source)])
        yield from _members(_text_of(whole, name), name)


def _text_of(raw: bytes, name: str) -> Any:
    if problem := text_problem(raw, Place(name)):
        raise problem
    text = raw.decode()
    return parse_json(text, lines_of(name, text))
