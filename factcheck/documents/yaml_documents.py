"""YAML for JSON values: unless quoted, only `true`, `null` and plain numbers are not strings.

As in YAML 1.2, `no`, `on`, `12:30`, `007` and `2024-05-01` are strings. Keys are strings, and
unique. Aliases and merge keys are followed within a limit; tags of other types are refused.
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from typing import Any, NamedTuple

from factcheck.documents.files import MAX_DEPTH, MAX_TEXT_BYTES, Document, PathInValue, line_finder
from factcheck.documents.values import shown
from factcheck.errors import InputError

_MAX_VALUES = 1_000_000
"""Limit on the values of a document, aliases expanded."""
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
    """Parse one YAML document; an `InputError` names the line. An empty text is null."""
    import yaml

    if len(text) > MAX_TEXT_BYTES:
        raise InputError(
            f"{name} is larger than the limit of {MAX_TEXT_BYTES:,} bytes for YAML; use JSON"
        )
    try:
        composer = _Composer(text, name)
        value = composer.document()
    except yaml.YAMLError as error:
        mark, position = getattr(error, "problem_mark", None), getattr(error, "position", 0)
        line = mark.line + 1 if mark else text.count("\n", 0, position) + 1
        detail = getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable"
        raise InputError(
            f"{name}, line {line}: not valid YAML ({detail}); "
            "put a string in quotes if it holds ': ' or begins with a special character"
        ) from error
    except RecursionError as error:
        raise InputError(f"{name}: nested more than {MAX_DEPTH} levels deep") from error
    except UnicodeEncodeError as error:
        raise InputError(f"{name}: not valid Unicode ({error.reason})") from error
    return Document(name, value, line_finder(lambda: composer.lines))


def yaml_text(value: Any, *, width: int = 100) -> str:
    """A JSON value as YAML that readers of YAML 1.1 and 1.2 understand alike.

    Args:
        value: JSON-ready; a tuple is written as a list on one line.
        width: Where long strings are wrapped.
    """
    import yaml

    class Dumper(yaml.SafeDumper):
        """Quotes a string if either version would read it as something else."""

    Dumper.ignore_aliases = lambda *_: True  # type: ignore[method-assign]
    Dumper.add_implicit_resolver("!plain", re.compile(f"(?:{_PLAIN.pattern})$", re.VERBOSE), None)
    Dumper.add_representer(str, _represent_string)
    Dumper.add_representer(
        tuple,
        lambda dumper, value: dumper.represent_sequence(f"{_CORE}seq", value, flow_style=True),
    )
    text: str = yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=width)
    return text


def _represent_string(dumper: Any, text: str) -> Any:
    style = '"' if any(character in text for character in _LINE_BREAKS) else None
    return dumper.represent_scalar(f"{_CORE}str", text, style=style)


class _Part(NamedTuple):
    value: Any
    size: int
    """Number of values in it, aliases expanded."""


class _Composer:
    """Builds the value of a document from the events of the parser, and notes the lines."""

    def __init__(self, text: str, name: str) -> None:
        import yaml

        self._parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
        self._name = name
        self._anchors: dict[str, _Part | None] = {}
        """`None` while the part is being built."""
        self.lines: dict[PathInValue, int] = {}
        """Line of every part; of a member that of its key."""

    def document(self) -> Any:
        try:
            self._parser.get_event()
            if self._next()[0] == "StreamEnd":
                return None
            value = self._part(*self._next(), ()).value
            self._parser.get_event()
            kind, event = self._next()
            if kind != "StreamEnd":
                raise self._error(event, "a second document begins here; keep one")
            return value
        finally:
            self._parser.dispose()

    def _next(self) -> tuple[str, Any]:
        event = self._parser.get_event()
        return type(event).__name__.removesuffix("Event"), event

    def _error(self, event: Any, message: str) -> InputError:
        return InputError(f"{self._name}, line {event.start_mark.line + 1}: {message}")

    def _part(self, kind: str, event: Any, path: PathInValue) -> _Part:
        self.lines.setdefault(path, event.start_mark.line + 1)
        if kind == "Alias":
            return self._aliased(event)
        if len(path) > MAX_DEPTH:
            raise self._error(event, f"nested more than {MAX_DEPTH} levels deep")
        if event.anchor:
            self._anchors[event.anchor] = None
        tag = (event.tag or "").removeprefix(_CORE)
        if kind == "Scalar":
            part = _Part(self._scalar(event), 1)
        elif kind == "SequenceStart" and tag in {"", "!", "seq"}:
            part = self._sequence(path)
        elif kind == "MappingStart" and tag in {"", "!", "map"}:
            part = self._mapping(path)
        else:
            raise self._error(event, f"the tag {event.tag!r:.80} is not a JSON type; remove it")
        if max(part.size, len(self.lines)) > _MAX_VALUES:
            raise self._error(event, f"more than {_MAX_VALUES:,} values; use JSON lines")
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

    def _sequence(self, path: PathInValue) -> _Part:
        items: list[Any] = []
        size = 1
        while (following := self._next())[0] != "SequenceEnd":
            value, n_values = self._part(*following, (*path, len(items)))
            items.append(value)
            size += n_values
        return _Part(items, size)

    def _mapping(self, path: PathInValue) -> _Part:
        own: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        size = 1
        while (following := self._next())[0] != "MappingEnd":
            kind, event = following
            key = "<<" if kind == "Scalar" and _meaning(event) == "merge" else None
            is_merge = key is not None
            key = key or self._key(kind, event)
            if key in own:
                raise self._error(event, f"duplicate key {key!r:.80}; keep one")
            self.lines.setdefault((*path, key), event.start_mark.line + 1)
            value, n_values = self._part(*self._next(), (*path, key))
            size += n_values
            if not is_merge:
                own[key] = value
                continue
            sources = value if isinstance(value, list) else [value]
            if not all(isinstance(source, dict) for source in sources):
                raise self._error(event, "'<<' needs another mapping, or a list of them")
            for source in sources:
                merged = {**source, **merged}
        return _Part({**merged, **own}, size)

    def _key(self, kind: str, event: Any) -> str:
        key = self._aliased(event).value if kind == "Alias" else None
        if kind == "Scalar":
            key = self._part(kind, event, ()).value
        if not isinstance(key, str):
            what = "a list" if kind == "SequenceStart" else shown(key)
            raise self._error(event, f"the key {what} is not a string; put it in quotes")
        return key

    def _scalar(self, event: Any) -> Any:
        meaning, text = _meaning(event), event.value
        if meaning in {"str", "merge"}:
            return text
        if meaning == "null":
            return None
        if meaning == "bool" and text.lower() in {"true", "false"}:
            return text.lower() == "true"
        number = _number(text) if meaning in {"int", "float"} else None
        if number is None:
            what = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
            raise self._error(event, f"{what} is not a JSON value; write null, or put it in quotes")
        return number


def _meaning(scalar: Any) -> str | None:
    """What a scalar stands for: a type of JSON or `merge`; a tag has precedence."""
    if scalar.tag not in {None, "!"}:
        return str(scalar.tag).removeprefix(_CORE)
    if scalar.tag == "!" or not scalar.implicit[0]:
        return "str"
    found = _PLAIN.fullmatch(scalar.value)
    return found.lastgroup if found else "str"


def _number(text: str) -> float | None:
    with suppress(ValueError):
        return int(text)
    with suppress(ValueError):
        number = float(text)
        return number if math.isfinite(number) else None
    return None
