"""YAML that stands for JSON values: only `true`, `null` and plain numbers are not text.

As in YAML 1.2, `no`, `on`, `12:30`, `007` and `2024-05-01` are texts. Keys are texts, and unique.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from factcheck.errors import InputError

_CORE = "tag:yaml.org,2002:"
_DECIMAL = r"\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?"
_NOT_FINITE = r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
_PATTERNS = {
    "null": ("~nN", r"~|null|Null|NULL|"),
    "bool": ("tTfF", r"true|True|TRUE|false|False|FALSE"),
    "int": ("-+0123456789", r"[-+]?(?:0|[1-9][0-9]*)"),
    "float": ("-+.0123456789", rf"[-+]?(?:{_DECIMAL})(?:[eE][-+]?[0-9]+)?|{_NOT_FINITE}"),
    "merge": ("<", "<<"),
}
"""What a text without quotes may stand for, in the order in which they are tried: the characters it
may begin with, and the whole."""
_DEEPEST = 500
_MOST_PARTS = 1_000_000
_SHOWN = 40


def parse_yaml(text: str, name: str) -> Any:
    """The value that a YAML document stands for.

    Anchors, aliases and merge keys are followed.

    Raises:
        InputError: Not YAML, or no JSON value; names the line.
    """
    import yaml

    loader = _loader()(text)
    try:
        node = loader.get_single_node()
        return None if node is None else _Builder(name, len(text)).value(node, 0)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        detail = getattr(error, "problem", None) or str(error).split("\n", maxsplit=1)[0]
        raise InputError(f"{name}{where}: not valid YAML ({detail})") from error
    except RecursionError as error:
        raise InputError(f"{name}: nested too deeply to be read") from error
    finally:
        loader.dispose()


def yaml_text(value: Any) -> str:
    """A JSON value as YAML, such that every reader of YAML, old or new, finds the same value."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Puts a text in quotes if either kind of reader would take it for something else."""

        def ignore_aliases(self, data: Any) -> bool:
            del data
            return True

    _add_patterns(Dumper)
    text: str = yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text


@functools.cache
def _loader() -> Any:
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader: Any = type("Loader", (base,), {"yaml_implicit_resolvers": {}})
    _add_patterns(loader)
    return loader


def _add_patterns(resolver: Any) -> None:
    for kind, (begins, whole) in _PATTERNS.items():
        first = [*begins, ""] if kind == "null" else [*begins]
        resolver.add_implicit_resolver(f"{_CORE}{kind}", re.compile(f"(?:{whole})$"), first)


class _Built(NamedTuple):
    value: Any
    n_parts: int
    """Of how many values it consists, aliases written out."""


class _Builder:
    """Turns the nodes of a document into values."""

    def __init__(self, name: str, n_characters: int) -> None:
        self._name = name
        self._most_parts = max(_MOST_PARTS, n_characters)
        self._done: dict[int, _Built] = {}
        self._open: set[int] = set()

    def value(self, node: Any, depth: int) -> Any:
        """The value of a node."""
        return self._built(node, depth).value

    def _built(self, node: Any, depth: int) -> _Built:
        if (built := self._done.get(id(node))) is not None:
            return built
        if id(node) in self._open:
            raise self._error(node, "it contains itself; write it out")
        if depth > _DEEPEST:
            raise self._error(node, f"nested more than {_DEEPEST} levels deep")
        self._open.add(id(node))
        built = self._build(node, depth)
        self._open.discard(id(node))
        if built.n_parts > self._most_parts:
            raise self._error(
                node, f"it becomes too large: {built.n_parts:,} values by its aliases"
            )
        self._done[id(node)] = built
        return built

    def _build(self, node: Any, depth: int) -> _Built:
        kind = node.tag.removeprefix(_CORE)
        if kind == "map" and node.id == "mapping":
            named = dict(self._pairs(node, depth, frozenset()))
            value = {key: built.value for key, built in named.items()}
            return _Built(value, 1 + sum(built.n_parts for built in named.values()))
        if kind == "seq" and node.id == "sequence":
            parts = [self._built(part, depth + 1) for part in node.value]
            return _Built([part.value for part in parts], 1 + sum(part.n_parts for part in parts))
        if node.id != "scalar":
            raise self._error(node, f"{node.tag} is no JSON value")
        return _Built(self._scalar(node, kind), 1)

    def _pairs(self, node: Any, depth: int, merged: frozenset[int]) -> Iterator[tuple[str, _Built]]:
        """Keys and values, those of merged mappings first, so that own ones replace them."""
        if id(node) in merged or node.id != "mapping":
            raise self._error(node, "'<<' needs another mapping, or a list of them")
        own = []
        seen = set()
        for key, value in node.value:
            if key.tag == f"{_CORE}merge":
                sources = value.value if value.id == "sequence" else [value]
                for source in reversed(sources):
                    yield from self._pairs(source, depth, merged | {id(node)})
                continue
            if key.tag != f"{_CORE}str" or key.id != "scalar":
                shown = key.value if key.id == "scalar" else f"a {key.id}"
                raise self._error(key, f"the key {shown} is no text; put it in quotes")
            if key.value in seen:
                raise self._error(key, f"the key {key.value!r:.80} is there twice; keep one")
            seen.add(key.value)
            own.append((key.value, value))
        for name, value in own:
            yield name, self._built(value, depth + 1)

    def _scalar(self, node: Any, kind: str) -> Any:
        text = node.value
        if kind in {"str", "merge"}:
            return text
        if kind == "null":
            return None
        if kind == "bool" and text.lower() in {"true", "false"}:
            return text.lower() == "true"
        number = _number(text) if kind in {"int", "float"} else None
        if number is None:
            shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
            raise self._error(node, f"{shown} is no JSON value; write null, or put it in quotes")
        return number

    def _error(self, node: Any, what: str) -> InputError:
        return InputError(f"{self._name}, line {node.start_mark.line + 1}: {what}")


def _number(text: str) -> float | None:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
