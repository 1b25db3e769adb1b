"""Reads documents of every format by the suffix of the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from factcheck.documents.files import (
    MAX_DOCUMENT_BYTES,
    Document,
    PathInValue,
    PathOrDash,
    Place,
    lines,
    name_of,
    read_text,
)
from factcheck.documents.json_documents import json_lines, parse_json, parse_json_line
from factcheck.documents.yaml_documents import parse_yaml
from factcheck.errors import InputError

_JSON_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_YAML = (".yaml", ".yml")


def read_document(
    path: PathOrDash, *, expected: str = "expected", max_bytes: int = MAX_DOCUMENT_BYTES
) -> Document:
    """Read the value of a file.

    Args:
        path: `.yaml`, `.yml`, `.json`, or without suffix (JSON); or `.jsonl`, `.ndjson`, perhaps
            with `.gz` after it: a list of the values of its lines. `-` is JSON on standard input.
        expected: Start of the message about another suffix, such as `a schema comes from`.
        max_bytes: Size limit of a JSON text.

    Raises:
        InputError: Not readable, or not in its format; names the line.
    """
    name = name_of(path)
    suffix = "" if path == "-" else Path(path).suffix.lower()
    if name.lower().endswith(_JSON_LINES):
        entries = list(json_lines(path))

        def line_of(part: PathInValue) -> int:
            return entries[part[0]][0].number if part and isinstance(part[0], int) else 0

        return Document(name, [value for _, value in entries], line_of)
    if suffix in _YAML:
        return parse_yaml(read_text(path), name)
    if suffix in {"", ".json"}:
        return parse_json(read_text(path, max_bytes=max_bytes), name)
    raise InputError(f"{name}: {expected} a .yaml, .yml, .json or .jsonl file")


def read_entries(path: PathOrDash) -> Iterator[tuple[Place, Any]]:
    """Entries of a list with their places, in order.

    Args:
        path: `.jsonl` or `.ndjson`, perhaps with `.gz` after it: one entry a line, one held at a
            time. `.json`, `.yaml`, `.yml`: a list; anything else but null is its only entry. `-`,
            or a name without suffix: JSON or JSON lines.
    """
    if name_of(path).lower().endswith(_JSON_LINES):
        return json_lines(path)
    if path != "-" and Path(path).suffix:
        return _members(read_document(path, expected="records come from"))
    return _detected(path)


def _members(document: Document) -> Iterator[tuple[Place, Any]]:
    if isinstance(document.value, list):
        for number, value in enumerate(document.value, 1):
            yield Place(document.name, "record", number), value
    elif document.value is not None:
        yield Place(document.name), document.value


def _detected(path: PathOrDash) -> Iterator[tuple[Place, Any]]:
    """JSON lines if the first line is an object, else one JSON text."""
    name = name_of(path)
    source = lines(path)
    whole = bytearray()
    for place, raw in source:
        if raw.rstrip().endswith(b"}") and not whole.strip():
            with suppress(InputError):
                first = parse_json_line(raw, place)
                break
        whole += raw
        if len(whole) > MAX_DOCUMENT_BYTES:
            raise InputError(f"{name} is larger than the limit of {MAX_DOCUMENT_BYTES:,} bytes")
    else:
        if whole.strip():
            yield from _members(parse_json(whole, name))
        return
    yield place, first
    for next_place, more in source:
        if more.strip():
            yield next_place, parse_json_line(more, next_place)
