"""Order of day and month in ambiguous extracted dates, as the other dates of the run have it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from factcheck.fields.comparators.dates import FIGURES, order_of
from factcheck.fields.schemas.parsing import SchemaNode
from factcheck.fields.schemas.structure import ComparatorSpec
from factcheck.fields.values import read_record, unwrapped


def with_orders(
    schema: SchemaNode, gold: Iterable[Any], extracted: Iterable[Any]
) -> SchemaNode | None:
    """Set `day_first` where extracted dates say it and gold has no such date; `None` if nowhere.

    A field in which they say nothing has the order of all others.
    """
    open_fields = {
        node.path
        for node in schema.compared()
        if node.comparator.name == "date" and "day_first" not in node.comparator.params
    }
    if not open_fields:
        return None
    orders: dict[str, set[bool]] = {path: set() for path in open_fields}
    for path, text in _dates(schema, extracted):
        order = order_of(text) if path in open_fields else None
        if order is not None:
            orders[path].add(order)
    every = set().union(*orders.values())
    if not every:
        return None
    in_gold = {path for path, _ in _dates(schema, gold)}
    known = {
        path: next(iter(found or every))
        for path, found in orders.items()
        if len(found or every) == 1 and path not in in_gold
    }
    return _changed(schema, known) if known else None


def _changed(node: SchemaNode, orders: dict[str, bool]) -> SchemaNode:
    children = [_changed(child, orders) for child in node.children]
    if node.path not in orders:
        return replace(node, children=children)
    params = {**node.comparator.params, "day_first": orders[node.path]}
    return replace(node, children=children, comparator=ComparatorSpec("date", params))


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
