"""Typed access to the parts of a document; errors name the file, the line and the path."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from factcheck.documents import Document, PathInValue, PathOrDash, plain_document, shown
from factcheck.documents.reading import read_document
from factcheck.errors import InputError
from factcheck.keywords.forms import SUFFIX, Keyword, as_keywords, field_of

_REQUIRED: Any = object()
T = TypeVar("T")


class Node(NamedTuple):
    """A part of a document."""

    document: Document
    path: PathInValue
    value: Any

    @classmethod
    def read(cls, path: PathOrDash) -> Node:
        document = read_document(path)
        return cls(document, (), document.value)

    @classmethod
    def plain(cls, value: Any, name: str) -> Node:
        """Wrap a value that is not from a file; errors begin with `name`."""
        return cls(plain_document(value, name), (), value)

    def error(self, message: str) -> InputError:
        """Create an error about this part, such as `d.yaml, line 3: cases[0].id: ...`."""
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        path = "".join(steps).lstrip(".")
        return self.document.error(self.path, f"{path}: {message}" if path else message)

    def build(self, make: Callable[[], T]) -> T:
        """Call `make`; its `InputError` is prefixed with the location of this part."""
        try:
            return make()
        except InputError as error:
            raise self.document.error(self.path, str(error)) from error

    def member(self, key: str | int, default: Any = _REQUIRED) -> Node:
        """Return a member, or `default` if it is missing."""
        if isinstance(key, str) and key not in self.value:
            if default is _REQUIRED:
                raise self.error(f"{key!r} is missing")
            return self._replace(value=default)
        return Node(self.document, (*self.path, key), self.value[key])

    def mapping(self, kind: str = "an object") -> Mapping[str, Any]:
        if not isinstance(self.value, Mapping):
            raise self.error(f"expected {kind}, got {shown(self.value)}")
        return self.value

    def require_keys(self, *known: str, keywords: bool = False) -> None:
        """Raise unless the value is a mapping of these keys (and keyword lists, if `keywords`)."""
        allowed = ", ".join([f"<name>{SUFFIX}"] * keywords + [*known])
        for key in self.mapping(f"an object with {allowed}"):
            if key not in known and not (keywords and field_of(key)):
                raise self.member(key).error(f"unknown key; use {allowed}")

    def text(self, *, numbers: bool = False) -> str:
        """Return a string; with `numbers`, numbers are converted, as in ids."""
        is_number = isinstance(self.value, (int, float)) and not isinstance(self.value, bool)
        if not isinstance(self.value, str) and not (numbers and is_number):
            raise self.error(f"expected a string, got {shown(self.value)}; quote it")
        return str(self.value)

    def id(self) -> str:
        name = self.text(numbers=True)
        if not name.strip():
            raise self.error("the id is blank")
        return name

    def items(self) -> list[Node]:
        if not isinstance(self.value, (list, tuple)):
            raise self.error(f"expected a list, got {shown(self.value)}")
        return [self.member(position) for position in range(len(self.value))]

    def cases(self, noun: str) -> list[Node]:
        """Return the members of a non-empty list."""
        nodes = self.items()
        if not nodes:
            raise self.error(f"the {noun} has no cases")
        return nodes

    def rows(self, *keys: str) -> list[list[Node]]:
        """Return these members of every object in a list; other keys are an error."""
        for row in self.items():
            row.require_keys(*keys)
        return [[row.member(key) for key in keys] for row in self.items()]

    def keywords(self) -> dict[str, tuple[Keyword, ...]]:
        """Return the lists of keywords in a mapping, by field or behavior; at least one."""
        names = {name: key for key in self.value if (name := field_of(key))}
        if not names:
            raise self.error(f"no keywords; add <name>{SUFFIX}")
        return {
            name: tuple(item.keyword() for item in self.member(key).items())
            for name, key in names.items()
        }

    def keyword(self) -> Keyword:
        """Parse a keyword; an integer is converted to its digits."""
        is_digits = isinstance(self.value, int) and not isinstance(self.value, bool)
        try:
            [keyword] = as_keywords([str(self.value) if is_digits else self.value], "keyword")
        except InputError as error:
            raise self.error(str(error).removeprefix("keyword: ")) from error
        return keyword


def require_id(name: Any) -> None:
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"the id of a case must be a string that is not blank, got {shown(name)}")


def require_unique_ids(ids: Sequence[str], nodes: Sequence[Node] = ()) -> None:
    """Raise `InputError` for a duplicate id, with its location if `nodes` are given."""
    seen: set[str] = set()
    for place, name in enumerate(ids):
        if name in seen:
            message = f"duplicate id {name!r}; ids must be unique"
            raise nodes[place].error(message) if nodes else InputError(message)
        seen.add(name)
