"""References and combinations in a JSON schema are resolved, so that every field has a type.

Only references into the schema itself are followed: nothing is ever read or fetched.
"""

from __future__ import annotations

import logging
import re
import reprlib
from typing import Any, NamedTuple
from urllib.parse import unquote

from factcheck.errors import ParameterError, SchemaError
from factcheck.fields.schemas.combinations import (
    LISTS,
    MAPS,
    SINGLES,
    add_missing,
    collapse_multi_type_anyof,
    collapse_types,
    drop_null_branches,
    infer_type_of_values,
    merge_all_of,
    merge_branches,
    remove_null_anyof,
    unite_alternatives,
)
from factcheck.fields.schemas.models import as_schema
from factcheck.fields.schemas.structure import COMPARE, DEEPEST, SKIP, join

__all__ = [
    "collapse_multi_type_anyof",
    "merge_all_of",
    "remove_null_anyof",
    "resolve_schema_references",
    "resolved",
]

_MOST_PARTS = 200_000
"""Schemas and values that a resolved schema may consist of."""
_SCORED = ("properties", "items", "anyOf", "oneOf", "allOf")
_DEFINITIONS = ("$defs", "definitions")
_POSITION = re.compile("0|[1-9][0-9]{0,8}")
_log = logging.getLogger("factcheck.fields")


def resolve_schema_references(schema: Any) -> dict[str, Any]:
    """A copy of a JSON schema in which types, properties and items stand where they apply.

    `$ref` is replaced by what it points to inside the schema; keys beside it win. `allOf` is
    merged. Null alternatives are dropped; `anyOf` and `oneOf` of several types become a list of
    types, those of one type a schema with the fields of all. `enum` and `const` without a type get
    that of their values. Definitions are left out.

    Args:
        schema: A JSON schema, which is not changed; or a pydantic model class.

    Raises:
        ParameterError: Neither of these.
        SchemaError: A reference leads outside, nowhere, or back to itself; or the schema is
            nested too deeply, or becomes too large.
    """
    _log.warning(
        "scoring does not look at if/then/else, not, patternProperties, additionalProperties, "
        "prefixItems and tuple items, $dynamicRef, and references that lead outside the schema"
    )
    return resolved(as_schema(schema))


def resolved(schema: Any) -> dict[str, Any]:
    """As `resolve_schema_references`, without the warning on what scoring does not look at."""
    if not isinstance(schema, dict):
        raise ParameterError(
            f"a schema must be a dict, not {type(schema).__name__}; read JSON text first"
        )
    whole: dict[str, Any] = _Resolver(schema).schema(schema, _Place())
    return whole


class _Place(NamedTuple):
    """Where in the resolved schema something stands."""

    path: str = ""
    depth: int = 0
    """Levels above it, references and combinations included."""
    refs: tuple[str, ...] = ("#",)
    """The references that led here."""
    whole: bool = False
    """Whether it is scored as part of something larger, or not at all."""

    def below(self, path: str, *, whole: bool = False) -> _Place:
        """A place one level further down."""
        return self._replace(path=path, depth=self.depth + 1, whole=self.whole or whole)

    def behind(self, ref: str) -> _Place:
        """The same place, as the target of a reference."""
        return self._replace(refs=(*self.refs, ref), depth=self.depth + 1)


class _Resolver:
    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._parts_left = _MOST_PARTS

    def schema(self, raw: Any, place: _Place) -> Any:
        """The resolved copy of one schema; a plain copy of something else in its place."""
        if not isinstance(raw, dict):
            return self._data(raw, place)
        self._count(place)
        path = place.path
        node = _with_names(raw, path)
        drop_null_branches(node, path)
        if COMPARE in node or node.get(SKIP) is True:
            place = place._replace(whole=True)
        target = self._target(node.pop("$ref"), place) if "$ref" in node else {}
        for key in tuple(node):
            if key in _DEFINITIONS:
                del node[key]
            else:
                node[key] = self._value(key, node[key], place)
        add_missing(node, target, path)
        merge_branches(node, path)
        drop_null_branches(node, path)
        infer_type_of_values(node)
        collapse_types(node, path)
        unite_alternatives(node, path)
        return node

    def _target(self, ref: Any, place: _Place) -> Any:
        tokens = _tokens(ref, place.path)
        pointer = "#" + "".join(
            "/" + token.replace("~", "~0").replace("/", "~1") for token in tokens
        )
        target = _found(self._root, tokens, ref, place.path)
        if pointer not in place.refs:
            return self.schema(target, place.behind(pointer))
        if place.whole:
            return {"type": self._data(target.get("type", "object"), place)}
        cycle = " -> ".join((*place.refs[place.refs.index(pointer) :], pointer))
        raise SchemaError(
            f"the references form a cycle: {cycle}; a schema that contains itself has no fixed "
            f"fields: put {SKIP} or {COMPARE} on the field in it that does, or replace the inner "
            "reference by {'type': 'object'}",
            place.path,
        )

    def _value(self, key: str, value: Any, place: _Place) -> Any:
        path = place.path
        whole = key not in _SCORED
        if key in MAPS and isinstance(value, dict):
            named = _with_names(value, path)
            for name, sub in named.items():
                named[name] = self.schema(sub, place.below(join(path, name), whole=whole))
            return named
        if key in SINGLES and isinstance(value, dict):
            return self.schema(value, place.below(path if whole else f"{path}[]", whole=whole))
        if (key in LISTS or key == "items") and isinstance(value, (list, tuple)):
            below = place.below(path, whole=whole or key == "items")
            branches = []
            for sub in value:
                branches.append(self.schema(sub, below))  # noqa: PERF401 - one frame a level
            return branches
        return self._data(value, place)

    def _data(self, value: Any, place: _Place) -> Any:
        """A copy of something that is no schema, such as a default value."""
        self._count(place)
        if isinstance(value, dict):
            return {key: self._data(v, place.below(place.path)) for key, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._data(v, place.below(place.path)) for v in value]
        return value

    def _count(self, place: _Place) -> None:
        self._parts_left -= 1
        if place.depth > DEEPEST:
            raise SchemaError(
                f"nested too deeply: more than {DEEPEST} levels, references included",
                place.path[:80],
            )
        if self._parts_left < 0:
            raise SchemaError(
                f"becomes too large: more than {_MOST_PARTS:,} parts once every reference is "
                "replaced by its target; refer to fewer things from within definitions",
                place.path[:80],
            )


def _with_names(mapping: dict[Any, Any], path: str) -> dict[str, Any]:
    """A shallow copy of a mapping whose keys are strings."""
    for key in mapping:
        if not isinstance(key, str):
            raise SchemaError(f"the key {key!r} is no string; put it in quotes, as JSON does", path)
    return dict(mapping)


def _tokens(ref: Any, path: str) -> list[str]:
    """The names in a JSON pointer, from the root down."""
    if not isinstance(ref, str):
        raise SchemaError(
            f"'$ref' must be a string such as '#/$defs/NAME', not {reprlib.repr(ref)}", path
        )
    if ref != "#" and not ref.startswith("#/"):
        raise SchemaError(
            f"the reference {ref!r} is not followed: only those into the schema itself are, such "
            "as '#/$defs/NAME'; copy what it means into '$defs'",
            path,
        )
    names = unquote(ref).split("/")[1:]
    return [name.replace("~1", "/").replace("~0", "~") for name in names]


def _found(root: dict[str, Any], tokens: list[str], ref: str, path: str) -> dict[str, Any]:
    found: Any = root
    for token in tokens:
        if isinstance(found, dict) and token in found:
            found = found[token]
        elif isinstance(found, list) and _POSITION.fullmatch(token) and int(token) < len(found):
            found = found[int(token)]
        else:
            raise SchemaError(f"the reference {ref!r} leads nowhere: there is no {token!r}", path)
    if not isinstance(found, dict):
        raise SchemaError(
            f"the reference {ref!r} leads to {reprlib.repr(found)}, which is no schema", path
        )
    return found
