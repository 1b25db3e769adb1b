"""Other forms of a record that must score the same: elements in another order, other names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from tests.fields.naive import key_of
from tests.fields.strategies import Schema


@st.composite
def in_other_orders(draw: st.DrawFn, schema: Schema, value: Any) -> Any:
    return permuted(draw, schema, value)


def permuted(draw: st.DrawFn, schema: Schema, value: Any) -> Any:
    """A copy in which the elements of arrays stand in another order, where order means nothing.

    An array in which a key comes twice keeps its order: the first of them is matched.
    """
    if "x-eval-compare" in schema:
        return value
    if isinstance(value, dict) and "properties" in schema:
        known = schema["properties"]
        return {
            name: permuted(draw, known[name], part) if name in known else part
            for name, part in value.items()
        }
    if isinstance(value, list) and "items" in schema:
        made = [permuted(draw, schema["items"], element) for element in value]
        return draw(st.permutations(made)) if order_means_nothing(schema, value) else made
    return value


def order_means_nothing(schema: Schema, value: Sequence[Any]) -> bool:
    align = schema.get("x-eval-align", {})
    if "key" not in align:
        return "match_by" in align
    keys = [key_of(schema["items"], element, align["key"]) for element in value]
    found = [key for key in keys if key is not None]
    return len(found) == len(set(found))


def renamed(schema: Schema, names: Mapping[str, str]) -> Schema:
    made = dict(schema)
    if "properties" in schema:
        made["properties"] = {
            names.get(name, name): renamed(child, names)
            for name, child in schema["properties"].items()
        }
    if "items" in schema:
        made["items"] = renamed(schema["items"], names)
    return made


def renamed_value(schema: Schema, value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, dict) and "properties" in schema:
        known = schema["properties"]
        return {
            names.get(name, name) if name in known else name: (
                renamed_value(known[name], part, names) if name in known else part
            )
            for name, part in value.items()
        }
    if isinstance(value, list) and "items" in schema:
        return [renamed_value(schema["items"], element, names) for element in value]
    return value
