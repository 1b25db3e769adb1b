"""From a checked schema to nodes that score: comparators and transforms are bound once, here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from factcheck.errors import SchemaError
from factcheck.fields.registry import Registry, is_batch
from factcheck.fields.schemas.entries import TransformSpec
from factcheck.fields.schemas.parsing import SchemaNode
from factcheck.fields.scoring.alignment import (
    MISSING,
    KeyMatch,
    in_order,
    key_steps,
    strategy_of,
)
from factcheck.fields.scoring.deferred import BatchArrayNode
from factcheck.fields.scoring.hungarian import BestMatch
from factcheck.fields.scoring.nodes import (
    Align,
    ArrayNode,
    BatchLeaf,
    Leaf,
    Node,
    ObjectNode,
    Skipped,
)
from factcheck.fields.types import (
    BoundComparator,
    BuiltinComparator,
    BuiltinTransform,
    ComparatorResult,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """A schema, ready to score records with."""

    root: Node
    registry: Registry
    batch_leaves: Mapping[str, BatchLeaf]
    """The fields that wait for a batch comparator, by schema path."""
    weights: Mapping[str, float]
    """How much each field counts, by schema path; empty where all count the same."""
    paths: tuple[str, ...]
    """Every schema path."""


def compile_schema(schema: SchemaNode, registry: Registry) -> Plan:
    """Bind everything a schema names.

    Raises:
        SchemaError: A name is not known in `registry`, or parameters cannot be used.
    """
    compiler = _Compiler(registry)
    root = compiler.node(schema)
    weights = compiler.weights if any(w != 1.0 for w in compiler.weights.values()) else {}
    return Plan(root, registry, compiler.batch_leaves, weights, tuple(compiler.weights))


class _Compiler:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self.batch_leaves: dict[str, BatchLeaf] = {}
        self.weights: dict[str, float] = {}

    def node(self, schema: SchemaNode) -> Node:
        self.weights[schema.path] = schema.weight
        if schema.skip:
            return Skipped(schema.path)
        if schema.comparator.name or not schema.children:
            return self._leaf(schema)
        if schema.json_type == "object":
            return ObjectNode(
                schema.path, {_name(child, schema): self.node(child) for child in schema.children}
            )
        return self._array(schema)

    def _leaf(self, schema: SchemaNode) -> Leaf:
        name, params = schema.comparator.name, schema.comparator.params
        prepare = self._prepare(schema.transforms)
        try:
            found = self._registry.get_comparator(name)
        except KeyError as error:
            raise SchemaError(str(error), schema.path) from error
        if is_batch(found):
            leaf = BatchLeaf(
                schema.path,
                name,
                prepare,
                schema.threshold,
                params,
                schema.description,
            )
            self.batch_leaves[schema.path] = leaf
            return leaf
        return Leaf(
            schema.path,
            name,
            _bound(found, params),
            prepare,
            schema.threshold,
        )

    def _prepare(self, specs: list[TransformSpec]) -> Callable[[Any], Any] | None:
        """All transforms of a field in a row; null stays null."""
        steps = [self._transform(spec) for spec in specs]
        if not steps:
            return None

        def prepare(value: Any) -> Any:
            for step in steps:
                if value is None:
                    return None
                value = step(value)
            return value

        return prepare

    def _transform(self, spec: TransformSpec) -> Callable[[Any], Any]:
        found = self._registry.get_transform(spec.name)
        if isinstance(found, BuiltinTransform):
            return found.bind(spec.params)
        params = spec.params
        return lambda value: found(value, params)

    def _array(self, schema: SchemaNode) -> ArrayNode:
        n_before = len(self.batch_leaves)
        (items,) = schema.children
        element = self.node(items)
        align = schema.align or {}
        strategy = strategy_of(align)
        if isinstance(element, Skipped):
            strategy = "ordered"
        if strategy == "hungarian":
            threshold = align.get("threshold")
            match = BestMatch(element, threshold, self.weights)
            if len(self.batch_leaves) > n_before:
                return BatchArrayNode(schema.path, element, match)
            return ArrayNode(schema.path, element, match)
        if strategy == "key_field":
            return ArrayNode(schema.path, element, self._key_align(items, align["key"]))
        return ArrayNode(schema.path, element, in_order)

    def _key_align(self, items: SchemaNode, key: Any) -> Align:
        composite = isinstance(key, list)
        parts = [self._key_part(items, name) for name in (key if composite else [key])]

        def key_of(element: Any) -> Any:
            found = tuple(part(element) for part in parts)
            if any(value is MISSING for value in found):
                return MISSING
            return found if composite else found[0]

        return KeyMatch(key_of)

    def _key_part(self, items: SchemaNode, name: str) -> Callable[[Any], Any]:
        """What reads one key of an element, through the transforms of that field."""
        steps = key_steps(name, _as_properties(items)) or (name,)
        field: SchemaNode | None = items
        for step in steps:
            children = field.children if field else []
            field = next((child for child in children if child.name == step), None)
        prepare = self._prepare(field.transforms) if field else None

        def key_of(element: Any) -> Any:
            for step in steps:
                if not isinstance(element, dict) or step not in element:
                    return MISSING
                element = element[step]
            try:
                key = prepare(element) if prepare else element
            except Exception:  # noqa: BLE001 - such a key matches nothing; the field itself says why
                return MISSING
            return key if _is_key(key) else MISSING

        return key_of


def _is_key(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isnan(value)
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def _name(child: SchemaNode, parent: SchemaNode) -> str:
    """The name of a property; of a node made by hand it is what its path ends in."""
    if child.name is not None:
        return child.name
    return child.path[len(parent.path) + 1 if parent.path else 0 :]


def _as_properties(items: SchemaNode) -> dict[str, Any]:
    return {
        _name(child, items): {"properties": _as_properties(child)}
        for child in items.children
        if not child.path.endswith("[]")
    }


def _bound(found: Any, params: dict[str, Any]) -> BoundComparator:
    if isinstance(found, BuiltinComparator):
        return found.bind(params)

    def compare(gold: Any, extracted: Any) -> tuple[float, str | None]:
        result = found(gold, extracted, params)
        if not isinstance(result, ComparatorResult):
            raise TypeError(f"gave {type(result).__name__}, not a ComparatorResult")
        return checked_score(result.score), result.reason

    return BoundComparator(compare)


def checked_score(score: Any) -> float:
    """A score that a comparator gave.

    Raises:
        ValueError: No number in [0, 1].
    """
    if not isinstance(score, (int, float)) or not 0 <= score <= 1:
        raise ValueError(f"gave the score {score!r}, which is no number from 0 to 1")
    return float(score)
