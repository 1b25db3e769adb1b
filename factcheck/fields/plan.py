"""Compilation of schemas for scoring: comparators and transforms are looked up and bound once."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from factcheck.errors import SchemaError, shorten_middle
from factcheck.facts import digest
from factcheck.fields import nodes
from factcheck.fields.comparators import Registry
from factcheck.fields.comparators.builtin import COMPARATORS
from factcheck.fields.comparators.dates import FIGURES, order_of
from factcheck.fields.comparators.transforms import TRANSFORMS, units_of
from factcheck.fields.nodes import MISSING
from factcheck.fields.optimal import OptimalArray
from factcheck.fields.schemas import TransformSpec
from factcheck.fields.schemas.parsing import SchemaNode, key_names, key_path
from factcheck.fields.types import (
    BoundComparator,
    BuiltinComparator,
    BuiltinTransform,
    Outcome,
    UndecidableError,
    outcome_of,
)
from factcheck.fields.values import is_nan, plain, read_record, unwrapped
from factcheck.reports.text import LONGEST_VALUE, plural, value_text

_log = logging.getLogger("factcheck.fields")


class Plan:
    """A compiled schema; `day_first` is by schema path, where the schema does not set it."""

    def __init__(
        self,
        schema: SchemaNode,
        registry: Registry,
        day_first: Mapping[str, bool] = MappingProxyType({}),
    ) -> None:
        self._registry, self._day_first = registry, day_first
        self._weights: dict[str, float] = {}
        self._settings: list[Sequence[Any]] = []
        self.batch_leaves: dict[str, nodes.Leaf] = {}
        """Fields with a batch comparator, by schema path."""
        self.root = self._node(schema)
        are_equal = all(weight == 1.0 for weight in self._weights.values())
        self.weights: Mapping[str, float] = {} if are_equal else self._weights
        """Weights by schema path; empty if all are equal."""
        settings = sorted(json.dumps(plain(one), sort_keys=True) for one in self._settings)
        self.digest = digest("\n".join(settings))
        """SHA-256 of all settings that affect scores. The order of properties and keys that the
        evaluator ignores do not change it, nor does the code registered under a name."""

    def _node(self, schema: SchemaNode) -> nodes.Node:
        path = schema.path
        self._weights[path] = schema.weight
        if schema.skip:
            self._settings.append([path, "skip"])
            return nodes.Skipped(path)
        if schema.unroll is not None:
            self._settings.append([path, schema.weight, "recursive"])
            return nodes.RecursiveNode(path, partial(self._unrolled, path, schema.unroll))
        if schema.comparator.name or not schema.children:
            return self._leaf(schema)
        align = {} if schema.strategy == "ordered" else schema.align
        self._settings.append([path, schema.weight, schema.json_type, align])
        last = schema.children[-1]
        if schema.json_type == "array":
            return self._array(schema, last)
        children = {name: self._node(child) for name, child in schema.named.items()}
        return nodes.ObjectNode(path, children, self._node(last) if last.is_rest else None)

    def _unrolled(self, path: str, unroll: Callable[[], SchemaNode]) -> nodes.Node:
        """Compile the target of a reference; beyond the maximum depth, any value is an error."""
        try:
            return self._node(unroll())
        except SchemaError as error:
            reason = str(error)

        def compare(_gold: Any, _extracted: Any) -> Outcome:
            raise UndecidableError(reason)

        return nodes.Leaf(path, bound=BoundComparator(compare))

    def _leaf(self, schema: SchemaNode) -> nodes.Leaf:
        path, name, params = schema.path, schema.comparator.name, schema.comparator.params
        if path in self._day_first:
            params = {**params, "day_first": self._day_first[path]}
        found = self._registry.get_comparator(name)
        bound = batch = None
        if getattr(found, "is_batch", False) is True:
            batch = found
        elif isinstance(found, BuiltinComparator):
            bound = found.bind(params)
        else:
            bound = BoundComparator(lambda gold, found_: outcome_of(found(gold, found_, params)))
        prepare, description = self._prepare(schema.transforms), schema.description
        transforms = [[transform.name, transform.params] for transform in schema.transforms]
        seen = "" if name in COMPARATORS else description  # batch comparators see it
        self._settings.append(
            [path, schema.weight, schema.threshold, name, params, transforms, seen]
        )
        units = self._units(schema.transforms)
        leaf = nodes.Leaf(
            path, name, prepare, schema.threshold, bound, batch, params, description, units
        )
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

    def _units(self, specs: list[TransformSpec]) -> Callable[[Any], frozenset[Any]] | None:
        for spec in specs:
            if self._registry.get_transform(spec.name) is TRANSFORMS["parse_number"]:
                return partial(units_of, percent=spec.params.get("percent"))
        return None

    def _transform(self, spec: TransformSpec) -> Any:
        found, params = self._registry.get_transform(spec.name), spec.params
        if isinstance(found, BuiltinTransform):
            return found.bind(params)
        return lambda value: found(value, params)

    def _array(self, schema: SchemaNode, items: SchemaNode) -> nodes.ArrayNode:
        element, align = self._node(items), schema.align or {}
        strategy = "ordered" if isinstance(element, nodes.Skipped) else schema.strategy
        if strategy == "hungarian":
            search = partial(OptimalArray, align.get("threshold") or 0.0, self._weights)
            return nodes.ArrayNode(schema.path, element, search=search)
        if strategy == "key_field":
            parts = []
            for name in key_names(align):
                steps, field = key_path(items, name)
                prepare = self._prepare(field.transforms) if field else None
                parts.append((steps or (name,), prepare))
            return nodes.ArrayNode(schema.path, element, _KeyAlignment(parts))
        return nodes.ArrayNode(schema.path, element)


class _KeyAlignment:
    """Aligns elements with equal keys; of duplicates, the first is used."""

    def __init__(self, parts: Sequence[tuple[Sequence[str], Callable[[Any], Any] | None]]) -> None:
        """Take the parts of a key: the names that lead to each, and its transforms."""
        self._parts = parts
        self._has_warned = False

    def __call__(self, gold: Sequence[Any], extracted: Sequence[Any], path: str) -> nodes.Pairs:
        free: dict[Any, int] = {}
        unkeyed = []
        for place, element in enumerate(extracted):
            key = self._key(element)
            if key is MISSING or key in free:
                unkeyed.append(place)
            else:
                free[key] = place
        keys = [self._key(element) for element in gold]
        n_unkeyed = len(unkeyed) + keys.count(MISSING)
        pairs = [(i, free.pop(key, -1)) for i, key in enumerate(keys)]
        if n_unkeyed and not self._has_warned:
            self._has_warned = True
            first = extracted[unkeyed[0]] if unkeyed else gold[keys.index(MISSING)]
            _log.warning(
                "%s: %s without a unique key %s not aligned, such as %s; reported once",
                path,
                plural(n_unkeyed, "element"),
                "is" if n_unkeyed == 1 else "are",
                shorten_middle(value_text(first), LONGEST_VALUE),
            )
        return [*pairs, *((-1, j) for j in (*free.values(), *unkeyed))]

    def _key(self, element: Any) -> Any:
        """Return the key of an element, `MISSING` if a part is missing or unsuitable."""
        key = []
        for names, prepare in self._parts:
            value = element
            try:
                for name in names:
                    value = value[name]
                value = prepare(value) if prepare else value
            except Exception:  # noqa: BLE001 - the field itself reports the error
                return MISSING
            if value is None or isinstance(value, bool):
                value = type(value), value  # `True` is not 1
            elif not isinstance(value, (str, int, float)) or is_nan(value):
                return MISSING
            key.append(value)
        return tuple(key)


def orders_of(schema: SchemaNode, gold: Iterable[Any], extracted: Iterable[Any]) -> dict[str, bool]:
    """Return `day_first` by field where extracted dates say it and gold has no such date.

    A field in which they say nothing has the order of all others.
    """
    open_fields = {
        node.path
        for node in schema.compared()
        if node.comparator.name == "date" and "day_first" not in node.comparator.params
    }
    if not open_fields:
        return {}
    orders: dict[str, set[bool]] = {path: set() for path in open_fields}
    for path, text in _dates(schema, extracted):
        order = order_of(text) if path in open_fields else None
        if order is not None:
            orders[path].add(order)
    every = set().union(*orders.values())
    in_gold = {path for path, _ in _dates(schema, gold)}
    return {
        path: next(iter(found or every))
        for path, found in orders.items()
        if len(found or every) == 1 and path not in in_gold
    }


def _dates(schema: SchemaNode, records: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Yield the dates in figures with the paths of their fields."""
    for record in records:
        found, _ = unwrapped(read_record(record), schema.named.keys())
        yield from _dates_in(schema, found)


def _dates_in(node: SchemaNode, value: Any) -> Iterator[tuple[str, str]]:
    if node.skip or value is None:
        return
    if node.comparator.name == "date" and isinstance(value, str):
        if FIGURES.match(value):
            yield node.path, value
    elif isinstance(value, dict):
        for name, child in node.named.items():
            yield from _dates_in(child, value.get(name))
    elif isinstance(value, list) and node.children and node.children[-1].is_rest:
        for element in value:
            yield from _dates_in(node.children[-1], element)
