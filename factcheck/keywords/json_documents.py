"""JSON and JSON lines as values that know on which line they stand.

Doubled keys, NaN and Infinity are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from factcheck.datasets.lines import lines, text_problem
from factcheck.errors import InputError
from factcheck.files import PathOrDash
from factcheck.keywords.documents import Document, PathInValue

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_NO_VALUES = ("NaN", "Infinity", "-Infinity")


def json_document(text: str, name: str) -> Document:
    """The value of a JSON text.

    Raises:
        InputError: Not JSON, or JSON that says two things or none; names the line.
    """

    def line_at(offset: int) -> int:
        return text.count("\n", 0, offset) + 1

    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        detail = error.msg if text.strip() else "it is empty"
        raise InputError(f"{name}, line {error.lineno}: not valid JSON ({detail})") from error
    except RecursionError as error:
        raise InputError(f"{name}: nested too deeply to be read") from error
    except ValueError as error:
        offset, problem = _first_fault(text)
        raise InputError(f"{name}, line {line_at(offset)}: {problem}") from error
    return Document(name, value, lambda path: line_at(_offset(text, path)))


def json_lines(path: PathOrDash, name: str) -> Document:
    """A list of what the lines of a file hold; blank lines are skipped.

    Raises:
        InputError: Not readable, or a line that is not JSON; names the line.
    """
    values: list[Any] = []
    numbers: list[int] = []
    for place, raw in lines(path):
        if not raw.strip():
            continue
        if problem := text_problem(raw, place):
            raise problem
        try:
            values.append(_DECODER.decode(raw.decode()))
        except (ValueError, RecursionError) as error:
            detail = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            raise InputError(f"{place}: not valid JSON ({detail})") from error
        numbers.append(place.number)

    def line_of(path: PathInValue) -> int:
        return numbers[path[0]] if path and isinstance(path[0], int) else 0

    return Document(name, values, line_of)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text} is no value")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse)


def _first_fault(text: str) -> tuple[int, str]:
    """Where a text that is JSON, but was refused, has its first fault, and what it is."""
    keys: set[PathInValue] = set()
    for path, token, is_key in _parts(text):
        if is_key and path in keys:
            return token.start(), f"the key {path[-1]!r:.80} is there twice in one object; keep one"
        if token[0] in _NO_VALUES:
            return token.start(), f"{token[0]} is not valid JSON; write null"
        if is_key:
            keys.add(path)
    return 0, "it holds a value that cannot be read"


def _offset(text: str, path: PathInValue) -> int:
    """Where a part stands, or what it would be in: the key of a member, the start of an item."""
    deepest, offset = -1, 0
    for own, token, _ in _parts(text):
        if len(own) > deepest and own == path[: len(own)]:
            deepest, offset = len(own), token.start()
        if deepest == len(path):
            break
    return offset


def _parts(text: str) -> Iterator[tuple[PathInValue, re.Match[str], bool]]:
    """The path and first token of every key and value of a JSON text, and whether it is a key."""
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
            yield tuple(path), token, True
        elif mark != ":":
            yield tuple(path), token, False
            if mark in {"{", "["}:
                is_object.append(mark == "{")
                path.append(None if mark == "{" else 0)
