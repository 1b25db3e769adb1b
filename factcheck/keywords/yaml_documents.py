"""YAML as values that know on which line they stand.

Every scalar without quotes is a text, but for `null`: `no`, `007`, `12:30` and `1e3` are what they
look like, since whatever a dataset of texts holds is a text.
"""

from __future__ import annotations

from typing import Any

from factcheck.errors import InputError
from factcheck.keywords.documents import Document, PathInValue

_NULLS = ("", "~", "null", "Null", "NULL")
_DEEPEST = 100
_MOST_PARTS = 10_000_000
"""Values in a document, aliases written out."""


def yaml_document(text: str, name: str) -> Document:
    """A YAML text; anchors and aliases are followed.

    Raises:
        InputError: Not YAML, or no value made of texts, lists and mappings; names the line.
    """
    import yaml

    try:
        node = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        detail = getattr(error, "problem", None) or str(error).split("\n", maxsplit=1)[0]
        raise InputError(f"{name}{where}: not valid YAML ({detail})") from error
    except RecursionError as error:
        raise InputError(f"{name}: nested too deeply to be read") from error
    value = None if node is None else _Values(name).of(node, 0)[0]
    return Document(name, value, lambda path: _line_in(node, path))


class _Values:
    """Turns the nodes of a YAML document into values."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._done: dict[int, tuple[Any, int]] = {}
        self._open: set[int] = set()

    def of(self, node: Any, depth: int) -> tuple[Any, int]:
        """The value of a node, and of how many values it consists."""
        if (done := self._done.get(id(node))) is not None:
            return done
        if id(node) in self._open or depth > _DEEPEST:
            raise self._error(node, "it contains itself, or is nested too deeply; write it out")
        self._open.add(id(node))
        value, size = self._made(node, depth)
        self._open.discard(id(node))
        if size > _MOST_PARTS:
            raise self._error(node, f"it becomes {size:,} values by its aliases; write it out")
        self._done[id(node)] = value, size
        return value, size

    def _made(self, node: Any, depth: int) -> tuple[Any, int]:
        if node.id == "scalar":
            is_null = not node.style and node.value in _NULLS  # the two loaders differ in style
            return (None if is_null else node.value), 1
        if node.id == "sequence":
            items = [self.of(item, depth + 1) for item in node.value]
            return [value for value, _ in items], 1 + sum(size for _, size in items)
        members: dict[str, Any] = {}
        total = 1
        for key, item in node.value:
            if key.id != "scalar":
                raise self._error(key, f"a {key.id} is no key; write a text")
            if key.value in members:
                raise self._error(key, f"the key {key.value!r:.80} is there twice; keep one")
            members[key.value], size = self.of(item, depth + 1)
            total += size
        return members, total

    def _error(self, node: Any, what: str) -> InputError:
        return InputError(f"{self._name}, line {node.start_mark.line + 1}: {what}")


def _line_in(node: Any, path: PathInValue) -> int:
    """The line of a part of a YAML document, as far as the path leads."""
    if node is None:
        return 0
    mark = node.start_mark
    for step in path:
        if node.id == "mapping":
            found = next(((k, item) for k, item in node.value if k.value == step), None)
            if found is None:
                break
            mark, node = found[0].start_mark, found[1]
        elif node.id == "sequence" and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            mark = node.start_mark
        else:
            break
    return int(mark.line) + 1
