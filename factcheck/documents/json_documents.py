"""Strict JSON and JSON lines.

Duplicate keys, NaN, Infinity, numbers out of range and deep nesting are errors that name the line,
instead of being accepted or changed silently as by Python's `json`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from factcheck.documents.files import (
    MAX_DEPTH,
    Document,
    PathInValue,
    Place,
    TooDeepError,
    check_line,
    decode_text,
    line_finder,
    no_json_value,
)
from factcheck.errors import InputError

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
"""A string that does not end is one, too, so that invalid texts take no longer than valid ones."""


def json_text(data: Any, *, indent: int | None = None) -> str:
    r"""Serialise JSON data as text that UTF-8 can encode: lone surrogates become `\udcff`.

    Raises:
        ValueError: A number is not finite.
        TypeError: The data is not JSON-ready.
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, indent=indent)
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode()


def parse_json(text: str | bytes | bytearray, name: str) -> Document:
    """Parse one JSON value; bytes are decoded as UTF-8.

    Raises:
        InputError: Invalid JSON; names the line.
    """
    if isinstance(text, (bytes, bytearray)):
        text = decode_text(text, name)
    value = _decode(text, lambda offset: Place(name, "line", text.count("\n", 0, offset) + 1))
    return Document(name, value, line_finder(lambda: _lines_of_parts(text)))


def parse_json_line(raw: bytes, place: Place) -> Any:
    """Parse one line of a JSON lines file; an `InputError` begins with the place."""
    check_line(raw, place)
    return _decode(decode_text(raw, place.name, place.number), lambda _: place)


def _decode(text: str, place: Callable[[int], Place]) -> Any:
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{place(error.pos)}: not valid JSON ({problem_of(error, text)})"
        ) from error
    except RecursionError as error:
        raise TooDeepError(f"{place(0)}: nested more than {MAX_DEPTH} levels deep") from error
    except ValueError as error:
        offset, problem = _first_fault(text)
        raise InputError(f"{place(offset)}: {problem}") from error
    if text.count("[") + text.count("{") > MAX_DEPTH and is_deeper(value, MAX_DEPTH):
        raise TooDeepError(f"{place(0)}: nested more than {MAX_DEPTH} levels deep")
    return value


def is_deeper(value: Any, depth: int) -> bool:
    """Whether a JSON value is nested more than `depth` levels deep."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(depth):
        members: list[Any] = []
        for parent in level:
            members += parent.values() if isinstance(parent, dict) else parent
        level = [member for member in members if isinstance(member, (dict, list))]
    return bool(level)


def items_of_list(text: str) -> list[str]:
    """Split a JSON list into the texts of its items, which may be invalid; empty if it is none."""
    cuts: list[tuple[int, int]] = []
    depth = 0
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if not depth and (cuts or mark != "["):
            return []
        depth += (mark in {"[", "{"}) - (mark in {"]", "}"})
        if not depth or (depth == 1 and mark in {"[", ","}):
            cuts.append(token.span())
    items = [text[start:end] for (_, start), (end, _) in pairwise(cuts) if not depth]
    return items if items and items[-1].strip() else items[:-1]


def problem_of(error: json.JSONDecodeError, text: str) -> str:
    """Describe an error of Python's decoder in plain words."""
    if not text.strip():
        return "it is empty"
    if error.msg == "Extra data":
        return "extra data after the end; if these are JSON lines, name the file .jsonl"
    rest = text[error.pos :].strip()
    is_control = error.msg.startswith("Invalid control character")
    if error.msg.startswith("Unterminated string") or (is_control and not rest):
        return "the text ends inside a string; it may be cut off"
    if is_control:
        return f"a string holds the control character {text[error.pos]!r}; escape it"
    message = error.msg[:1].lower() + error.msg[1:].rstrip(": ")
    found = rest[:20].split("\n", maxsplit=1)[0]
    if found:
        return f"{message}, found {found!r}"
    return f"{message}, but the text ends"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("duplicate key")
    return found


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError("not a finite number")
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_finite, parse_constant=_finite)


def _first_fault(text: str) -> tuple[int, str]:
    """Find offset and description of the first error in a text that the decoder rejected."""
    keys: dict[int, set[str]] = {}
    for path, token, is_key in _parts(text):
        if is_key:
            if path[-1] in keys[len(path)]:
                return token.start(), f"duplicate key {path[-1]!r:.80}; keep one"
            keys[len(path)].add(path[-1])
        elif token[0] == "{":
            keys[len(path) + 1] = set()
        elif token[0] != "[":
            try:
                _DECODER.decode(token[0])
            except ValueError:
                return token.start(), no_json_value(token[0])
    return 0, "it contains a value that cannot be parsed"


def _lines_of_parts(text: str) -> dict[PathInValue, int]:
    """Map every part of a valid JSON text to its line; a member has the line of its key."""
    lines: dict[PathInValue, int] = {}
    line, position = 1, 0
    for path, token, _ in _parts(text):
        line += text.count("\n", position, token.start())
        position = token.start()
        lines.setdefault(tuple(path), line)
    return lines


def _parts(text: str) -> Iterator[tuple[list[Any], re.Match[str], bool]]:
    """Yield path (updated in place), first token and whether it is a key, of every part."""
    path: list[Any] = []
    is_object: list[bool] = []
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in {"}", "]"}:
            path.pop()
            is_object.pop()
        elif mark == ",":
            path[-1] = None if is_object[-1] else path[-1] + 1
        elif path and path[-1] is None:
            path[-1] = json.loads(mark)
            yield path, token, True
        elif mark != ":":
            yield path, token, False
            if mark in {"{", "["}:
                is_object.append(mark == "{")
                path.append(None if mark == "{" else 0)
