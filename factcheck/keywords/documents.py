"""Files as values that know on which line they stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from factcheck.errors import InputError
from factcheck.files import PathOrDash, read_text

PathInValue = tuple[str | int, ...]
"""Keys and positions, such as `("cases", 0, "id")`."""


@dataclass(frozen=True, slots=True)
class Document:
    """The value of a file, and where its parts stand."""

    name: str
    """Of the file."""
    value: Any
    line_of: Callable[[PathInValue], int]
    """The line of a part of the value, or of what it would be in; 0 where there are no lines."""

    def error(self, path: PathInValue, message: str) -> InputError:
        """An error about a part of the value."""
        return InputError(f"{self.place(path)}: {message}")

    def place(self, path: PathInValue) -> str:
        """Where a part of the value stands, in words."""
        line = self.line_of(path)
        return f"{self.name}, line {line}" if line else self.name


def plain_document(value: Any, name: str) -> Document:
    """A value that stands in no file."""
    return Document(name, value, lambda _: 0)


def read_document(path: PathOrDash) -> Document:
    """The value of a file.

    Args:
        path: `.yaml`, `.yml`, `.json`; or `.jsonl`, `.ndjson`, perhaps with `.gz` after it: a list
            of what the lines hold. `-` is JSON on standard input.

    Raises:
        InputError: Not readable, or not in its format; names the line.
    """
    from factcheck.keywords.json_documents import json_document, json_lines
    from factcheck.keywords.yaml_documents import yaml_document

    name = "standard input" if path == "-" else str(path)
    suffix = ".json" if path == "-" else Path(name.lower().removesuffix(".gz")).suffix
    if suffix in {".jsonl", ".ndjson"}:
        return json_lines(path, name)
    if suffix in {".yaml", ".yml"}:
        return yaml_document(read_text(path), name)
    if suffix == ".json":
        return json_document(read_text(path), name)
    raise InputError(f"{name}: expected a .yaml, .yml, .json or .jsonl file")
