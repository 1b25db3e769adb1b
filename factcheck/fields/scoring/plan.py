"""Compilation of schemas for scoring: comparators and transforms are looked up and bound once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

from factcheck.documents import shown
from factcheck.errors import SchemaError
from factcheck.fields.registry import Registry, is_batch
from factcheck.fields.schemas.parsing import SchemaNode, key_path
from factcheck.fields.schemas.structure import TransformSpec
from factcheck.fields.scoring import nodes
from factcheck.fields.scoring.optimal import OptimalArray, as_key, by_key
from factcheck.fields.types import (
    BoundComparator,
    BuiltinComparator,
    BuiltinTransform,
    Outcome,
    UndecidableError,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """A compiled schema."""

    root: nodes.Node
    registry: Registry
    batch_leaves: Mapping[str, nodes.Leaf]
    """Fields with a batch comparator, by schema path."""
    weights: Mapping[str, float]
    """Weights by schema path; empty if all are equal."""
    paths: tuple[str, ...]
    """All schema paths."""


def compile_schema(schema: SchemaNode, registry: Registry) -> Plan:
    """Look up and bind the comparators and transforms of a schema."""
    compiler = _Compiler(registry)
    root = compiler.node(schema)
    weights = compiler.weights if any(w != 1.0 for w in compiler.weights.values()) else {}
    return Plan(root, registry, compiler.batch_leaves, weights, tuple(compiler.weights))


class _Compiler:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self.batch_leaves: dict[str, nodes.Leaf] = {}
        self.weights: dict[str, float] = {}

    def node(self, schema: SchemaNode) -> nodes.Node:
        self.weights[schema.path] = schema.weight
        if schema.unroll is not None:
            unroll = schema.unroll
            return nodes.RecursiveNode(schema.path, lambda: self.node(unroll()))
        if schema.skip:
            return nodes.Skipped(schema.path)
        if schema.comparator.name or not schema.children:
            return self._leaf(schema)
        *_, last = schema.children
        if last is not schema.children[0] or not last.is_rest or schema.json_type == "object":
            children = {name: self.node(child) for name, child in schema.named.items()}
            rest = self.node(last) if last.is_rest else None
            node = nodes.ObjectNode(schema.path, children, rest)
            return node if schema.json_type == "object" else nodes.TupleNode(node)
        return self._array(schema)

    def _leaf(self, schema: SchemaNode) -> nodes.Leaf:
        path, name, params = schema.path, schema.comparator.name, schema.comparator.params
        prepare = self._prepare(schema.transforms)
        try:
            found = self._registry.get_comparator(name)
        except KeyError as error:
            raise SchemaError(str(error), path) from error
        bound = None if is_batch(found) else _bound(found, params)
        description = schema.description
        leaf = nodes.Leaf(path, name, prepare, schema.threshold, bound, params, description)
        if bound is None:
            self.batch_leaves[path] = leaf
        return leaf

    def _prepare(self, specs: list[TransformSpec]) -> Callable[[Any], Any] | None:
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

    def _array(self, schema: SchemaNode) -> nodes.ArrayNode:
        (items,) = schema.children
        element, align = self.node(items), schema.align or {}
        strategy = "ordered" if isinstance(element, nodes.Skipped) else schema.strategy
        if strategy == "hungarian":
            search = partial(OptimalArray, align.get("threshold") or 0.0, self.weights)
            return nodes.ArrayNode(schema.path, element, search=search)
        if strategy == "key_field":
            return nodes.ArrayNode(schema.path, element, self._key_match(items, align["key"]))
        return nodes.ArrayNode(schema.path, element)

    def _key_match(self, items: SchemaNode, key: Any) -> nodes.Align:
        is_composite = isinstance(key, list)
        parts = [self._key_part(items, name) for name in (key if is_composite else [key])]

        def key_of(element: Any) -> Any:
            found = tuple(part(element) for part in parts)
            if any(value is nodes.MISSING for value in found):
                return nodes.MISSING
            return found if is_composite else found[0]

        return by_key(key_of)

    def _key_part(self, items: SchemaNode, name: str) -> Callable[[Any], Any]:
        """Return a function that reads one part of an element's key, after its transforms."""
        steps, field = key_path(items, name)
        steps = steps or (name,)
        prepare = self._prepare(field.transforms) if field else None

        def key_of(element: Any) -> Any:
            for step in steps:
                if not isinstance(element, dict) or step not in element:
                    return nodes.MISSING
                element = element[step]
            try:
                return as_key(prepare(element) if prepare else element)
            except Exception:  # noqa: BLE001 - the field itself reports the error
                return nodes.MISSING

        return key_of


def _bound(found: Any, params: dict[str, Any]) -> BoundComparator:
    if isinstance(found, BuiltinComparator):
        return found.bind(params)

    def compare(gold: Any, extracted: Any) -> Outcome:
        return outcome_of(found(gold, extracted, params))

    return BoundComparator(compare)


def outcome_of(result: Any) -> Outcome:
    """Return score and reason of a comparator's result, which may be any object with these.

    `matched` (a boolean) or `status` replaces a missing score.

    Raises:
        UndecidableError: The score is missing or not in [0, 1].
    """
    score = getattr(result, "score", None)
    if score is None:
        score = getattr(result, "matched", None)
    if score is None:
        score = {"match": 1.0, "mismatch": 0.0}.get(str(getattr(result, "status", "")))
    if score is None:
        raise UndecidableError(f"expected a ComparatorResult, got {shown(result)}")
    if not isinstance(score, Real) or not 0 <= float(score) <= 1:
        raise UndecidableError(f"the score {score!r} is not a number from 0 to 1")
    return float(score), getattr(result, "reason", None)
