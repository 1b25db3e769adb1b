"""An evaluation schema, checked once and read into nodes; every complaint names its place."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from factcheck.errors import ParameterError, SchemaError
from factcheck.fields.comparators.parameters import shown
from factcheck.fields.registry import (
    ComparatorNotFoundError,
    Registry,
    TransformNotFoundError,
    default_registry,
)
from factcheck.fields.schemas import structure as keys
from factcheck.fields.schemas.defaults import annotate_xeval
from factcheck.fields.schemas.entries import ComparatorSpec, TransformSpec, parse_xeval_entry
from factcheck.fields.scoring.alignment import check_align
from factcheck.fields.types import BuiltinComparator, BuiltinTransform

_HEAVIEST = 1e6
_log = logging.getLogger("factcheck.fields")


@dataclass
class SchemaNode:
    """One field of an evaluation schema, with those below it."""

    path: str
    """`items[].name`; empty for the root."""
    json_type: str
    """The effective type; `"multi"` where there are several."""
    comparator: ComparatorSpec = field(default_factory=ComparatorSpec)
    children: list[SchemaNode] = field(default_factory=list)
    """The properties of an object, or the one kind of element of an array."""
    skip: bool = False
    transforms: list[TransformSpec] = field(default_factory=list)
    align: dict[str, Any] | None = None
    """How the elements of an array find each other; `None` is by position."""
    allowed_types: list[str] | None = None
    """The types of a field that may have one of several."""
    name: str | None = None
    """Name of the property; `None` for elements and the root."""
    threshold: float = 1.0
    """Score from which the field is a match."""
    weight: float = 1.0
    """How much the field counts in precision, recall and F1."""
    description: str = ""


def parse_eval_schema(raw_schema: Any, registry: Registry | None = None) -> SchemaNode:
    """Check an evaluation schema.

    Args:
        raw_schema: A resolved JSON schema with `x-eval-*` keys, or a pydantic model class, whose
            fields get the comparators of their types.
        registry: Where names of comparators and transforms are looked up.

    Raises:
        SchemaError: Says at which path which key is wrong, and what is allowed.
    """
    from factcheck.fields.schemas.models import as_schema

    schema = annotate_xeval(raw_schema) if isinstance(raw_schema, type) else as_schema(raw_schema)
    if not isinstance(schema, dict):
        raise SchemaError(f"Eval schema must be an object, not {type(schema).__name__}")
    root = _Parser(registry or default_registry).node(schema, "", None, 1.0, 0)
    weights = list(_weights(root))
    if weights and not any(weights):
        raise SchemaError(f"every field has {keys.WEIGHT} 0, so that none would count; weigh one")
    return root


def _weights(node: SchemaNode) -> Iterator[float]:
    """What the fields below a node count that are compared."""
    if node.skip:
        return
    if node.comparator.name or not node.children:
        yield node.weight
        return
    for child in node.children:
        yield from _weights(child)


class _Parser:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def node(
        self, schema: dict[str, Any], path: str, name: str | None, weight: float, depth: int
    ) -> SchemaNode:
        if depth > keys.DEEPEST:
            raise SchemaError(f"nested more than {keys.DEEPEST} levels deep; flatten it", path[:80])
        _refuse_odd_keys(schema, path)
        kind = _kind(schema, path)
        children = keys.sub_schemas(schema)
        _refuse_odd_children(schema, kind, children, path)
        types = keys.declared_types(schema["type"])
        node = SchemaNode(
            path,
            kind,
            skip=_skip(schema, path),
            allowed_types=list(types) if kind == keys.MULTI else None,
            name=name,
            weight=_number(schema, keys.WEIGHT, path, weight, highest=_HEAVIEST),
            description=_text(schema.get("description")),
        )
        if keys.COMPARE in schema:
            node.comparator = self._comparator(schema, kind, path)
        elif not children and not node.skip:
            raise SchemaError(
                f"missing {keys.COMPARE}; name a comparator, or call annotate_xeval(schema)", path
            )
        compared = bool(node.comparator.name)
        node.threshold = _threshold(schema, path, compared=compared)
        node.transforms = self._transforms(schema, path)
        if node.transforms and children and not compared:
            _log.warning("%s: %s has no effect without a comparator", path, keys.TRANSFORM)
        node.align = check_align(schema, kind, path)
        node.children = [
            self.node(
                child.schema,
                f"{path}[]" if child.name is None else keys.join(path, child.name),
                child.name,
                node.weight,
                depth + 1,
            )
            for child in children
        ]
        return node

    def _comparator(self, schema: dict[str, Any], kind: str, path: str) -> ComparatorSpec:
        entry = schema[keys.COMPARE]
        # An empty name is no error of shape here: it is a comparator that is not known.
        name, params = _entry(entry, keys.COMPARE, path) if entry != "" else ("", {})
        try:
            found = self._registry.get_comparator(name)
        except ComparatorNotFoundError as error:
            raise SchemaError(f"{keys.COMPARE}: {error}", path) from error
        check = found.bind if isinstance(found, BuiltinComparator) else _check_params(found)
        _bind(check, params, keys.COMPARE, path)
        unlike = {"numeric": {"string", "boolean"}, "exact": {"number", "integer"}}
        if kind in unlike.get(name, ()) and not schema.get(keys.TRANSFORM):
            _log.warning("%s: the comparator %r on a field of type %s", path, name, kind)
        return ComparatorSpec(name, params)

    def _transforms(self, schema: dict[str, Any], path: str) -> list[TransformSpec]:
        if keys.TRANSFORM not in schema:
            return []
        entries = schema[keys.TRANSFORM]
        if not isinstance(entries, list):
            raise SchemaError(
                f"{keys.TRANSFORM} must be a list, not {entries!r}; write ['strip']", path
            )
        specs = []
        for place, entry in enumerate(entries):
            where = f"{keys.TRANSFORM}[{place}]"
            if not isinstance(entry, (str, dict)):
                raise SchemaError(f"{where} must be a string or object, not {entry!r}", path)
            name, params = _entry(entry, where, path)
            try:
                found = self._registry.get_transform(name)
            except TransformNotFoundError as error:
                raise SchemaError(f"{where}: {error}", path) from error
            if isinstance(found, BuiltinTransform):
                _bind(found.bind, params, where, path)
            specs.append(TransformSpec(name, params))
        return specs


def _entry(entry: Any, where: str, path: str) -> tuple[str, dict[str, Any]]:
    if isinstance(entry, dict) and len(entry) == 1 and not _is_name(*entry):
        raise SchemaError(f"{where}: Unknown comparator {next(iter(entry))!r}", path)
    try:
        return parse_xeval_entry(entry)
    except (TypeError, ValueError) as error:
        raise SchemaError(f"{where}: {error}", path) from error


def _check_params(comparator: Any) -> Callable[[Mapping[str, Any]], Any]:
    """What a comparator of the user's own offers to check its parameters with, if it does."""
    check = getattr(comparator, "check_params", None)
    return check if callable(check) else lambda _params: None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _is_name(key: Any) -> bool:
    return isinstance(key, str) and bool(key)


def _bind(
    bind: Callable[[Mapping[str, Any]], Any], params: dict[str, Any], where: str, path: str
) -> None:
    try:
        bind(params)
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}", path) from error


def _refuse_odd_keys(schema: dict[Any, Any], path: str) -> None:
    for key in schema:
        if not isinstance(key, str):
            raise SchemaError(f"the key {key!r} is no string; the keys of a schema are", path)
        if key.startswith(keys.PREFIX) and key not in keys.XEVAL_KEYS:
            _log.warning(
                "%s: Unknown x-eval key %r is ignored; known are %s",
                path or "the root",
                key,
                ", ".join(keys.XEVAL_KEYS),
            )
    properties = schema.get("properties")
    for name in properties if isinstance(properties, dict) else ():
        if not isinstance(name, str):
            raise SchemaError(f"the property {name!r} is no string; put it in quotes", path)


def _kind(schema: dict[str, Any], path: str) -> str:
    kind = keys.effective_type(schema.get("type"))
    if not kind:
        hint = (
            "resolve it first: resolve_schema_references(schema)"
            if "$ref" in schema
            else ("name one, such as 'string', or ['string', 'null']")
        )
        raise SchemaError(f"Missing or invalid 'type' {schema.get('type')!r}; {hint}", path)
    return kind


def _refuse_odd_children(
    schema: dict[str, Any], kind: str, children: tuple[keys.Child, ...], path: str
) -> None:
    if not children:
        return
    what, fitting = ("items", "array") if children[0].name is None else ("properties", "object")
    if kind != fitting:
        raise SchemaError(
            f"'{what}' belongs to type '{fitting}', but the type is {schema['type']!r}", path
        )


def _skip(schema: dict[str, Any], path: str) -> bool:
    skip = schema.get(keys.SKIP, False)
    if not isinstance(skip, bool):
        raise SchemaError(f"{keys.SKIP} must be true or false, not {skip!r}", path)
    return skip


def _number(
    schema: dict[str, Any], key: str, path: str, default: float, *, highest: float
) -> float:
    value = schema.get(key, default)
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 <= value <= highest:
        raise SchemaError(f"{key} must be a number from 0 to {highest:g}, not {shown(value)}", path)
    return float(value)


def _threshold(schema: dict[str, Any], path: str, *, compared: bool) -> float:
    if keys.THRESHOLD in schema and not compared:
        raise SchemaError(f"{keys.THRESHOLD} needs {keys.COMPARE} beside it", path)
    threshold = _number(schema, keys.THRESHOLD, path, 1.0, highest=1.0)
    if not threshold:
        raise SchemaError(f"{keys.THRESHOLD} is 0, so that everything would match", path)
    return threshold
