"""Typed access to the parts of a document; errors name the file, the line and the path."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from factcheck.documents import Document, PathInValue, PathOrDash, plain_document, shown
from factcheck.documents.reading import read_document
from factcheck.errors import InputError
from factcheck.keywords.forms import SUFFIX, Keyword, as_keyword, field_of

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
        """A value that does not come from a file; errors begin with `name`."""
        return cls(plain_document(value, name), (), value)

    def error(self, message: str) -> InputError:
        """An error about this part, such as `d.yaml, line 3: cases[0].id: ...`."""
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        shown = "".join(steps).lstrip(".")
        return self.document.error(self.path, f"{shown}: {message}" if shown else message)

    def made(self, make: Callable[[], T]) -> T:
        """What `make` returns; its `InputError` begins with the place of this part."""
        try:
            return make()
        except InputError as error:
            raise self.document.error(self.path, str(error)) from error

    def member(self, key: str | int) -> Node:
        if isinstance(key, str) and key not in self.value:
            raise self.error(f"{key!r} is missing")
        return Node(self.document, (*self.path, key), self.value[key])

    def has(self, key: str) -> bool:
        """Whether a mapping has a key, and not null under it."""
        return self.value.get(key) is not None

    def require_keys(self, *known: str, keywords: bool = False) -> None:
        """Refuse a value that is not a mapping of these keys (and of lists, if `keywords`)."""
        if not isinstance(self.value, Mapping):
            raise self.error(f"expected an object, got {shown(self.value)}")
        for key in self.value:
            if key not in known and not (keywords and field_of(key)):
                allowed = [f"<name>{SUFFIX}"] * keywords + [*known]
                raise self.member(key).error(f"unknown key; use {', '.join(allowed)}")

    def text(self, key: str, default: str = _REQUIRED, *, numbers: bool = False) -> str:
        """The string under a key; with `numbers` a number stands for its digits, as in ids."""
        if key not in self.value and default is not _REQUIRED:
            return default
        node = self.member(key)
        if numbers and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
            return str(node.value)
        if not isinstance(node.value, str):
            raise node.error(f"expected a string, got {shown(node.value)}; quote it")
        return node.value

    def id(self) -> str:
        name = self.text("id", numbers=True)
        if not name.strip():
            raise self.member("id").error("the id is blank")
        return name

    def items(self) -> list[Node]:
        if not isinstance(self.value, (list, tuple)):
            raise self.error(f"expected a list, got {shown(self.value)}")
        return [self.member(position) for position in range(len(self.value))]

    def keywords(self) -> dict[str, tuple[Keyword, ...]]:
        """The lists of keywords in a mapping, by field or behavior; there must be one."""
        names = {name: key for key in self.value if (name := field_of(key))}
        if not names:
            raise self.error(f"no keywords; add <name>{SUFFIX}")
        return {
            name: tuple(item.keyword() for item in self.member(key).items())
            for name, key in names.items()
        }

    def keyword(self) -> Keyword:
        """The keyword that this part stands for; an integer stands for its digits."""
        value = self.value
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        try:
            keyword = as_keyword(value)
        except InputError as error:
            raise self.error(str(error)) from error
        if not keyword:
            raise self.error("the empty string occurs in every text; remove it")
        return keyword


def require_id(name: Any) -> None:
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"the id of a case must be a string that is not blank, got {shown(name)}")


def require_unique_ids(ids: Sequence[str], nodes: Sequence[Node] = ()) -> None:
    """Raise `InputError` for an id that an earlier case has; with `nodes`, with its place."""
    seen: set[str] = set()
    for place, name in enumerate(ids):
        if name in seen:
            message = f"duplicate id {name!r}; ids must be unique"
            raise nodes[place].error(message) if nodes else InputError(message)
        seen.add(name)
