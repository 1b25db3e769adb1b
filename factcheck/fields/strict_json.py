"""JSON as its standard has it: what Python would take or change in silence is an error here.

Doubled keys, NaN, Infinity and numbers that are too large are refused, with their place.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, NoReturn

from factcheck.errors import InputError

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_SHOWN = 40


def parse_json(text: str, place: Callable[[int], str]) -> Any:
    """The value that a JSON text stands for.

    Args:
        text: One JSON value.
        place: Says, for messages, where the character with this offset stands.

    Raises:
        InputError: Not JSON, or JSON that cannot be kept as it stands; begins with the place.
    """
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{place(error.pos)}: not valid JSON ({_told(error, text)})") from error
    except RecursionError as error:
        raise InputError(f"{place(0)}: nested too deeply to be read") from error
    except ValueError as error:
        offset, problem = _first_problem(text)
        raise InputError(f"{place(offset)}: {problem}") from error


def lines_of(name: str, text: str) -> Callable[[int], str]:
    """What says on which line of a file a character stands."""
    return lambda offset: f"{name}, line {text.count(chr(10), 0, offset) + 1}"


def _told(error: json.JSONDecodeError, text: str) -> str:
    if not text.strip():
        return "it is empty"
    if error.msg == "Extra data":
        return "more follows after its end; are these JSON lines? then name it .jsonl"
    message = error.msg[:1].lower() + error.msg[1:].rstrip(":")
    found = text[error.pos : error.pos + 20].split("\n", maxsplit=1)[0]
    return f"{message}, found {found!r}" if found else f"{message}, but the text ends"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("a number is too large")
    return number


def _refuse(_: str) -> NoReturn:
    raise ValueError("not a number")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_finite, parse_constant=_refuse)


def _first_problem(text: str) -> tuple[int, str]:
    """Where a text that is JSON, but was refused, has its first fault, and what it is."""
    keys: list[set[str]] = []
    last: re.Match[str] | None = None
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark == "{":
            keys.append(set())
        elif mark == "}":
            keys.pop()
        elif mark == ":" and last is not None:
            key = json.loads(last[0])
            if key in keys[-1]:
                return last.start(), f"the key {key!r:.80} is there twice in one object; keep one"
            keys[-1].add(key)
        elif mark[0] not in '"[],' and (problem := _number_problem(mark)):
            return token.start(), problem
        last = token
    return 0, "it holds a value that cannot be read"


def _number_problem(mark: str) -> str:
    try:
        _DECODER.decode(mark)
    except ValueError:
        if mark.lstrip("-") in {"NaN", "Infinity"}:
            return f"{mark} is not valid JSON; write null where there is no value"
        shown = mark if len(mark) <= _SHOWN else f"{mark[:_SHOWN]}… of {len(mark):,} characters"
        return f"the number {shown} is too large; write it in quotes"
    return ""
