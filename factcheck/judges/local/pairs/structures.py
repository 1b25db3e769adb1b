"""The structure of a value: alternatives, lists, and what is written as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Union

from factcheck.judges.local.pairs.codes import is_absent
from factcheck.judges.local.pairs.text import LONG, plain, tidy

Value = Union[str, "tuple[Value, ...]", "Mapping[str, Value]"]
"""A text, a list whose order does not matter, or an object."""

_ALIKE = 5
"""Letters that two spellings begin with."""
_DEEPEST = 32
_MOST_LOOKED_AT = 256
_ALTERNATIVES = re.compile(r"(?<=\s)/(?=\s)")
_BLANKS = re.compile(r"[^\S\r\n]+")
_SLASH = re.compile(r"(?<!/)/(?!/)")
_BULLET = re.compile(r"\s*(?:[-*\u2022\u2023\u00b7\u2013]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+(?=\S)")
_HARD_BREAK = re.compile(r"\s*(?:;|\r?\n)+\s*")
_SOFT_BREAK = re.compile(r"\s*,\s+(?:(?:and|und|et|y|e|&)\s+)?|(?<=\w),(?=[^\W\d])")
_AND = re.compile(r"\s+(?:and|und|et|y|&)\s+")
_FEWEST_ITEMS = 2
_LONGEST_ITEM = 8
"""Words; what is longer is a clause."""


def read_value(text: str) -> Value:
    """A value as it was written: JSON lists and objects, else the text itself."""
    stripped = text.strip()
    if stripped[:1] not in {"[", "{"} or stripped[-1:] not in {"]", "}"} or _is_deep(stripped):
        return text
    try:
        parsed = json.loads(stripped, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return text
    value = _from_json(parsed)
    return text if isinstance(value, str) else value


def _is_deep(text: str) -> bool:
    """Whether brackets are nested deeper than any value is, counted without parsing."""
    depth = deepest = 0
    for character in text:
        if character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    return deepest > _DEEPEST


def _from_json(parsed: Any) -> Value:
    if isinstance(parsed, dict):
        return {str(key): _from_json(value) for key, value in parsed.items()}
    if isinstance(parsed, list):
        return tuple(_from_json(value) for value in parsed)
    if isinstance(parsed, bool):
        return "true" if parsed else "false"
    return "null" if parsed is None else str(parsed)


def as_text(value: Value) -> str:
    """A value as a text that says the same."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return ", ".join(as_text(item) for item in value)
    return ", ".join(f"{key} {as_text(item)}" for key, item in value.items())


def values_as_text(value: Value) -> str:
    """A value as a text without the names of its entries."""
    if isinstance(value, str):
        return value
    parts = value if isinstance(value, tuple) else tuple(value.values())
    return ", ".join(values_as_text(part) for part in parts)


def alternatives(text: str) -> tuple[str, ...]:
    """The values of which each is right: those that ` / ` joins, else the text itself.

    A bare slash joins alternatives where two of them share a word: `Nikkei/Nikkei (index)`.
    """
    if "/" not in text:
        return (text,)
    parts = [part.strip() for part in _ALTERNATIVES.split(text) if part.strip()]
    if len(parts) < _FEWEST_ITEMS:
        parts = [part.strip() for part in _SLASH.split(text) if part.strip()]
        if not _are_spellings(text, parts):
            return (text,)
    if len(parts) < _FEWEST_ITEMS or is_absent(plain(tidy(text))):
        return (text,)
    return tuple(dict.fromkeys(parts))


def _are_spellings(text: str, parts: Sequence[str]) -> bool:
    """Whether parts that bare slashes join are spellings of one thing, and no path or date."""
    if "://" in text or text.lstrip().startswith("/"):
        return False
    seen: set[str] = set()
    for part in parts[:_MOST_LOOKED_AT]:
        words = {token[:_ALIKE] for token in plain(tidy(part)).tokens if token[:1].isalpha()}
        if any(len(word) > 1 for word in words & seen):
            return True
        seen |= words
    return False


class TextList(NamedTuple):
    """A list written as text."""

    items: tuple[str, ...]
    """Empty if the text is no list, or one of clauses."""
    is_certain: bool
    """Whether it can be nothing but a list: lines, semicolons, `and`, or three items and more."""
    has_breaks: bool
    """Whether lines or semicolons divide it."""


_NO_LIST = TextList((), is_certain=False, has_breaks=False)


def read_list(text: str) -> TextList:
    """The items of a list written as text; long texts are none."""
    if len(text) > LONG:
        return _NO_LIST
    stripped = _BLANKS.sub(" ", text.strip())
    parts = [_BULLET.sub("", part, count=1) for part in _HARD_BREAK.split(stripped)]
    parts = [part for part in parts if part.strip()]
    has_breaks = len(parts) > 1
    has_and = False
    if not has_breaks:
        parts = [part for part in _SOFT_BREAK.split(stripped) if part.strip()]
        parts = [*parts[:-1], *_AND.split(parts[-1])] if parts else []
        has_and = bool(_AND.search(stripped))
    is_wordy = any(len(part.split()) > _LONGEST_ITEM for part in parts)
    if len(parts) < _FEWEST_ITEMS or (is_wordy and not has_breaks):
        return _NO_LIST
    is_certain = has_breaks or has_and or len(parts) > _FEWEST_ITEMS
    return TextList(tuple(part.strip() for part in parts), is_certain, has_breaks)
