"""YAML for JSON values: unless quoted, only `true`, `null` and plain numbers are not strings.

As in YAML 1.2, `no`, `on`, `12:30`, `007` and `2024-05-01` are strings. Keys are strings, and
unique. Aliases and merge keys are followed within a limit; tags of other types are refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from factcheck.documents.document import MAX_DEPTH, Document, PathInValue, line_finder
from factcheck.documents.files import MAX_TEXT_BYTES
from factcheck.errors import InputError

_MAX_VALUES = 1_000_000
"""Limit on the values of a document, aliases expanded; more only where the text is longer."""
_CORE = "tag:yaml.org,2002:"
_PLAIN = re.compile(
    r"""(?P<null>~|null|Null|NULL|)
    |(?P<bool>true|True|TRUE|false|False|FALSE)
    |(?P<int>[-+]?(?:0|[1-9][0-9]*))
    |(?P<float>[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?
        |[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))
    |(?P<merge><<)""",
    re.VERBOSE,
)
"""The meanings of a scalar without quotes; anything else is a string."""
_LINE_BREAKS = "\r\x85\u2028\u2029\ufeff"
_SHOWN = 40


def parse_yaml(text: str, name: str) -> Document:
    """Parse one YAML document.

    Args:
        text: YAML; an empty text is null.
        name: Name for messages.

    Raises:
        InputError: Not YAML, or not a JSON value; names the line.
    """
    import yaml

    if len(text) > MAX_TEXT_BYTES:
        raise InputError(
            f"{name} is larger than the limit of {MAX_TEXT_BYTES:,} bytes for YAML; use JSON"
        )
    try:
        value = _Composer(text, name).document()
    except yaml.YAMLError as error:
        line = _line_of_error(error, text)
        detail = getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable"
        raise InputError(
            f"{name}, line {line}: not valid YAML ({detail}); "
            "put a string in quotes if it holds ': ' or begins with a special character"
        ) from error
    except RecursionError as error:
        raise InputError(f"{name}: nested more than {MAX_DEPTH} levels deep") from error
    except UnicodeEncodeError as error:
        raise InputError(f"{name}: not valid Unicode ({error.reason})") from error
    return Document(name, value, line_finder(lambda: _lines_of_parts(text)))


def yaml_text(value: Any, *, width: int = 100) -> str:
    """A JSON value as YAML that readers of YAML 1.1 and 1.2 understand alike.

    Args:
        value: JSON-ready; a tuple is written as a list on one line.
        width: Where long strings are wrapped.
    """
    import yaml

    class Dumper(yaml.SafeDumper):
        """Quotes a string if either version would read it as something else."""

        def ignore_aliases(self, data: Any) -> bool:
            del data
            return True

    Dumper.add_implicit_resolver("!plain", re.compile(f"(?:{_PLAIN.pattern})$", re.VERBOSE), None)
    Dumper.add_representer(str, _represent_string)
    Dumper.add_representer(tuple, _represent_tuple)
    text: str = yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=width)
    return text


def _represent_string(dumper: Any, text: str) -> Any:
    style = '"' if any(character in text for character in _LINE_BREAKS) else None
    return dumper.represent_scalar(f"{_CORE}str", text, style=style)


def _represent_tuple(dumper: Any, value: tuple[Any, ...]) -> Any:
    return dumper.represent_sequence(f"{_CORE}seq", value, flow_style=True)


def _line_of_error(error: Any, text: str) -> int:
    if mark := getattr(error, "problem_mark", None):
        return int(mark.line) + 1
    return text.count("\n", 0, getattr(error, "position", None) or 0) + 1


def _parser(text: str) -> Any:
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)


class _Part(NamedTuple):
    value: Any
    size: int
    """Number of values in it, aliases expanded."""


class _Composer:
    """Builds the value of a document from the events of the parser, one at a time."""

    def __init__(self, text: str, name: str) -> None:
        self._parser = _parser(text)
        self._name = name
        self._max_values = max(_MAX_VALUES, len(text))
        self._anchors: dict[str, _Part | None] = {}
        """`None` while the part is being built."""

    def document(self) -> Any:
        try:
            self._next()
            if self._kind(self._parser.peek_event()) == "StreamEnd":
                return None
            self._next()
            value = self._part(self._next(), 0).value
            self._next()
            event = self._parser.peek_event()
            if self._kind(event) != "StreamEnd":
                raise self._error(event, "a second document begins here; keep one")
            return value
        finally:
            self._parser.dispose()

    def _next(self) -> Any:
        return self._parser.get_event()

    @staticmethod
    def _kind(event: Any) -> str:
        return type(event).__name__.removesuffix("Event")

    def _error(self, event: Any, message: str) -> InputError:
        return InputError(f"{self._name}, line {event.start_mark.line + 1}: {message}")

    def _part(self, event: Any, depth: int) -> _Part:
        kind = self._kind(event)
        if kind == "Alias":
            return self._aliased(event)
        if depth > MAX_DEPTH:
            raise self._error(event, f"nested more than {MAX_DEPTH} levels deep")
        if event.anchor:
            self._anchors[event.anchor] = None
        if kind == "Scalar":
            part = _Part(self._scalar(event), 1)
        elif kind == "SequenceStart" and event.tag in {None, "!", f"{_CORE}seq"}:
            part = self._sequence(depth)
        elif kind == "MappingStart" and event.tag in {None, "!", f"{_CORE}map"}:
            part = self._mapping(depth)
        else:
            raise self._error(event, f"the tag {event.tag!r:.80} is not a JSON type; remove it")
        if part.size > self._max_values:
            raise self._error(event, f"it becomes too large: {part.size:,} values by its aliases")
        if event.anchor:
            self._anchors[event.anchor] = part
        return part

    def _aliased(self, event: Any) -> _Part:
        if event.anchor not in self._anchors:
            raise self._error(event, f"unknown alias {event.anchor!r:.80}")
        part = self._anchors[event.anchor]
        if part is None:
            raise self._error(event, f"{event.anchor!r:.80} contains itself; write it out")
        return part

    def _sequence(self, depth: int) -> _Part:
        items = []
        size = 1
        while self._kind(event := self._next()) != "SequenceEnd":
            value, n_values = self._part(event, depth + 1)
            items.append(value)
            size += n_values
        return _Part(items, size)

    def _mapping(self, depth: int) -> _Part:
        own: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        size = 1
        while self._kind(event := self._next()) != "MappingEnd":
            is_merge = _meaning(event) == "merge"
            key = None if is_merge else self._key(event, depth)
            if key in own:
                raise self._error(event, f"duplicate key {key!r:.80}; keep one")
            value, n_values = self._part(self._next(), depth + 1)
            size += n_values
            if key is not None:
                own[key] = value
                continue
            sources = value if isinstance(value, list) else [value]
            if not all(isinstance(source, dict) for source in sources):
                raise self._error(event, "'<<' needs another mapping, or a list of them")
            for source in sources:
                merged = {**source, **merged}
        return _Part({**merged, **own}, size)

    def _key(self, event: Any, depth: int) -> str:
        kind = self._kind(event)
        key = self._part(event, depth + 1).value if kind in {"Scalar", "Alias"} else None
        if not isinstance(key, str):
            shown = f"{event.value:.80}" if kind == "Scalar" else f"a {kind.removesuffix('Start')}"
            raise self._error(event, f"the key {shown} is not a string; put it in quotes")
        return key

    def _scalar(self, event: Any) -> Any:
        meaning = _meaning(event)
        text = event.value
        if meaning in {"str", "merge"}:
            return text
        if meaning == "null":
            return None
        if meaning == "bool" and text.lower() in {"true", "false"}:
            return text.lower() == "true"
        number = _number(text) if meaning in {"int", "float"} else None
        if number is None:
            shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
            raise self._error(
                event, f"{shown} is not a JSON value; write null, or put it in quotes"
            )
        return number


def _meaning(event: Any) -> str | None:
    """What a scalar stands for: a type of JSON or `merge`; a tag has precedence."""
    if not hasattr(event, "implicit") or not hasattr(event, "value"):
        return None
    if event.tag not in {None, "!"}:
        return str(event.tag).removeprefix(_CORE)
    if event.tag == "!" or not event.implicit[0]:
        return "str"
    found = _PLAIN.fullmatch(event.value)
    return found.lastgroup if found else "str"


def _number(text: str) -> float | None:
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if kind is int or math.isfinite(number) else None
    return None


def _lines_of_parts(text: str) -> Iterator[tuple[PathInValue, int]]:
    """Path and line of every part of a valid YAML text: members by their key."""
    path: list[Any] = []
    is_key = False
    parser = _parser(text)
    while parser.check_event():
        event = parser.get_event()
        kind = type(event).__name__.removesuffix("Event")
        line = event.start_mark.line + 1
        if kind in {"SequenceEnd", "MappingEnd"}:
            path.pop()
        elif kind not in {"Scalar", "Alias", "SequenceStart", "MappingStart"}:
            continue
        elif is_key:
            path[-1] = getattr(event, "value", None)
            yield tuple(path), line
            is_key = False
            continue
        else:
            yield tuple(path), line
            if kind == "SequenceStart":
                path.append(0)
                continue
            if kind == "MappingStart":
                path.append("")
                is_key = True
                continue
        is_key = bool(path) and not isinstance(path[-1], int)
        if path and not is_key:
            path[-1] += 1
    parser.dispose()
