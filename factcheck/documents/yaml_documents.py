"""YAML restricted to JSON values, with the scalars of YAML 1.2.

Unquoted `no`, `on`, `12:30`, `007` and `2024-05-01` are strings. Keys must be unique strings.
Aliases, merge keys and tags of other types are errors.
"""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from typing import Any

from factcheck.documents.files import (
    MAX_DEPTH,
    MAX_TEXT_BYTES,
    TOO_DEEP,
    Document,
    PathInValue,
    no_json_value,
)
from factcheck.documents.json_documents import shown
from factcheck.errors import InputError

_CORE = "tag:yaml.org,2002:"
_PLAIN = re.compile(
    r"""(?P<null>~|null|Null|NULL|)
    |(?P<bool>true|True|TRUE|false|False|FALSE)
    |(?P<int>[-+]?(?:0|[1-9][0-9]*))
    |(?P<float>[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?
        |[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))""",
    re.VERBOSE,
)
"""Types of an unquoted scalar; anything else is a string."""
_LINE_BREAKS = "\r\x85\u2028\u2029\ufeff"


def parse_yaml(text: str, name: str) -> Document:
    """Parse one YAML document; an empty text is null. Raises `InputError`, which names the line."""
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
        if "nesting depth" in detail:
            raise InputError(f"{name}: {TOO_DEEP}") from error
        raise InputError(
            f"{name}, line {line}: not valid YAML ({detail}); "
            "quote a string that contains ': ' or starts with a special character"
        ) from error
    except RecursionError as error:
        raise InputError(f"{name}: {TOO_DEEP}") from error
    except UnicodeEncodeError as error:
        raise InputError(f"{name}: not valid Unicode ({error.reason})") from error
    return Document(name, value, composer.lines)


def yaml_text(value: Any, *, width: int = 100) -> str:
    """Format JSON-ready data as YAML that means the same in YAML 1.1 and 1.2.

    Tuples are lists on one line. Raises `InputError` for a lone surrogate, which only JSON can
    hold.
    """
    import yaml

    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        found = error.object[error.start]
        raise InputError(f"YAML cannot hold the lone surrogate {found!r}; use JSON") from error

    class Dumper(yaml.SafeDumper):
        """Quotes strings that either version would parse as another type."""

    Dumper.ignore_aliases = lambda *_: True  # type: ignore[method-assign]
    Dumper.add_implicit_resolver("!plain", re.compile(f"(?:{_PLAIN.pattern})$", re.VERBOSE), None)
    Dumper.add_representer(
        str,
        lambda dumper, text: dumper.represent_scalar(
            f"{_CORE}str", text, style='"' if set(_LINE_BREAKS) & set(text) else None
        ),
    )
    Dumper.add_representer(
        tuple,
        lambda dumper, value: dumper.represent_sequence(f"{_CORE}seq", value, flow_style=True),
    )
    text: str = yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=width)
    return text


class _Composer:
    """Builds the value of a document from parser events and records line numbers."""

    def __init__(self, text: str, name: str) -> None:
        import yaml

        self._parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
        self._name = name
        self.lines: dict[PathInValue, int] = {}
        """Line of every part; a member has the line of its key."""

    def document(self) -> Any:
        try:
            self._parser.get_event()
            if self._next()[0] == "StreamEnd":
                return None
            value = self._value(*self._next(), ())
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

    def _value(self, kind: str, event: Any, path: PathInValue) -> Any:
        self.lines.setdefault(path, event.start_mark.line + 1)
        if kind == "Alias":
            raise self._error(event, f"the alias *{event.anchor:.80} is not JSON; write it out")
        if event.tag is not None:
            raise self._error(event, f"the tag {event.tag!r:.80} is not JSON; quote a string")
        if len(path) > MAX_DEPTH:
            raise self._error(event, TOO_DEEP)
        if kind == "Scalar":
            return self._scalar(event)
        if kind == "MappingStart":
            return self._object(path)
        items: list[Any] = []
        while (following := self._next())[0] != "SequenceEnd":
            items.append(self._value(*following, (*path, len(items))))
        return items

    def _object(self, path: PathInValue) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while (following := self._next())[0] != "MappingEnd":
            kind, event = following
            key = self._value(kind, event, ()) if kind in {"Scalar", "Alias"} else []
            if not isinstance(key, str):
                raise self._error(event, f"the key {shown(key)} is not a string; put it in quotes")
            if key == "<<" and event.implicit[0]:
                raise self._error(event, "the merge key '<<' is not JSON; write its members out")
            if key in members:
                raise self._error(event, f"duplicate key {key!r:.80}; keep one")
            self.lines.setdefault((*path, key), event.start_mark.line + 1)
            members[key] = self._value(*self._next(), (*path, key))
        return members

    def _scalar(self, event: Any) -> Any:
        text = event.value
        found = _PLAIN.fullmatch(text) if event.implicit[0] else None
        if found is None:
            return text
        if found["null"] is not None:
            return None
        if found["bool"]:
            return text.lower() == "true"
        with suppress(ValueError):  # an integer of thousands of digits
            number = int(text) if found["int"] else float(text)
            if math.isfinite(number):
                return number
        raise self._error(event, no_json_value(text))
