"""JSON schemas as people write them, to be resolved; and values that fit them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.fields.builders import array, record

Schema = dict[str, Any]
STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
NULL: Schema = {"type": "null"}


def nested(levels: int, innermost: Schema) -> Schema:
    schema = innermost
    for _ in range(levels):
        schema = record(a=schema)
    return schema


def schemas(refs: st.SearchStrategy[str]) -> st.SearchStrategy[Schema]:
    leaf = st.one_of(
        st.sampled_from([STRING, INTEGER, NULL, {"enum": ["a", 1, None]}, {"const": True}]),
        refs.map(lambda name: {"$ref": f"#/$defs/{name}"}),
    )
    return st.recursive(leaf, containers, max_leaves=8)


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Schema]:
    branches = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3).map(lambda f: record(**f)),
        inner.map(array),
        st.tuples(st.sampled_from(["anyOf", "oneOf"]), branches).map(lambda t: {t[0]: t[1]}),
        inner.map(lambda part: {"allOf": [part]}),
    )


def values_of(schema: Schema, defs: Schema) -> st.SearchStrategy[Any]:
    if "$ref" in schema:
        return values_of(defs[schema["$ref"].rpartition("/")[2]], defs)
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in schema:
            return st.one_of([values_of(branch, defs) for branch in schema[keyword]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema.get("type") == "object":
        fields = {name: values_of(sub, defs) for name, sub in schema["properties"].items()}
        return st.fixed_dictionaries({}, optional=fields)
    if schema.get("type") == "array":
        return st.lists(values_of(schema["items"], defs), max_size=2)
    return st.just({"string": "a", "integer": 1, "null": None}.get(schema.get("type", ""), True))
