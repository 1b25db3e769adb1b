"""Places in files, and values of files that know the line of each of their parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from factcheck.errors import InputError

PathInValue = tuple[str | int, ...]
"""Keys and positions, such as `("cases", 0, "id")`."""
MAX_DEPTH = 300
"""Nesting limit of a value."""


class Place(NamedTuple):
    """Position of an entry in a file."""

    name: str
    """File name as shown in messages."""
    unit: str = ""
    """`line`, `row` or `record`; empty for a file that is one entry."""
    number: int = 0
    """Counted from 1."""

    def __str__(self) -> str:
        return f"{self.name}, {self.unit} {self.number}" if self.unit else self.name


class Entry(NamedTuple):
    """One entry of a file: its value, or the reason why it cannot be read."""

    place: Place
    value: Any
    """An `InputError` where the entry cannot be read."""


@dataclass(frozen=True, slots=True)
class Document:
    """The value of a file, and the lines of its parts."""

    name: str
    """File name as shown in messages."""
    value: Any
    line_of: Callable[[PathInValue], int]
    """Line of a part, or of the nearest part around it; 0 where there are no lines."""

    def place(self, path: PathInValue) -> str:
        """File and line of a part, for messages."""
        line = self.line_of(path)
        return f"{self.name}, line {line}" if line else self.name

    def error(self, path: PathInValue, message: str) -> InputError:
        """An error about a part; begins with file and line."""
        return InputError(f"{self.place(path)}: {message}")


def plain_document(value: Any, name: str) -> Document:
    """A document for a value that does not come from a file."""
    return Document(name, value, lambda _: 0)


def line_finder(
    read_lines: Callable[[], Mapping[PathInValue, int]],
) -> Callable[[PathInValue], int]:
    """`Document.line_of` from the lines of all parts, which are read when first needed."""
    lines: dict[PathInValue, int] = {}

    def line_of(path: PathInValue) -> int:
        if not lines:
            lines.update(read_lines())
        while path and path not in lines:
            path = path[:-1]
        return lines.get(path, 0)

    return line_of
