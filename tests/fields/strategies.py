"""Hypothesis strategies for schemas with records that fit them, more or less."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan
from typing import Any, NamedTuple

from hypothesis import strategies as st

from tests.fields.builders import array, compared, record

Schema = dict[str, Any]
Values = st.SearchStrategy[Any]

TEXTS = ("a", "b", "A", " a", "a b", "b  a", "", "1", "2.5", "true")
NUMBERS: tuple[Any, ...] = (0, 1, 2, 3, -1, 10, 0.0, 1.0, 2.5, 1.25, -1.0, nan, inf)
ANYTHING: tuple[Any, ...] = (
    None, "a", "1", 0, 1, 1.0, True, False, [], {}, ["a"], [None], {"a": 1}, {"q": [1]},
)  # fmt: skip
"""Values that fit a place, or do not."""
UNKNOWN = [one for one in ANYTHING if one != {"a": 1}]
"""Values of unknown keys: with a property inside, the key would be a wrapper of the record."""
OF_TYPE: dict[str, tuple[Any, ...]] = {
    "string": TEXTS, "number": NUMBERS, "integer": NUMBERS[:6], "boolean": (True, False),
    "object": ({"x": 1}, {"x": 1.0}, {"x": True}, {"x": nan}, {}),
    "array": ([], [1], [True], [nan], [[1], {"y": "a"}]), "null": (None,),
}  # fmt: skip
KEYS = [
    {"type": "string"}, {"type": "string", "x-eval-transform": ["strip", "lowercase"]},
    {"type": "integer"}, {"type": ["integer", "boolean"]},
]  # fmt: skip
SOUND: list[Schema] = [
    *({"type": name} for name in OF_TYPE if name != "null"),
    {"type": ["string", "null"]}, {"type": ["string", "integer"]},
    *({"type": "string", "x-eval-transform": steps} for steps in (
        ["strip", "lowercase"], ["normalize_whitespace", "sort_tokens"],
        [{"type_convert": {"to": "float"}}], [{"type_convert": {"to": "bool"}}],
    )),
    *({"type": "number", "x-eval-transform": [step]} for step in (
        {"round_digits": {"digits": -1}}, {"type_convert": {"to": "str"}},
        {"type_convert": {"to": "int"}},
    )),
    {"type": "integer", "x-eval-skip": True}, {**record(a={"type": "string"}), "x-eval-skip": True},
    {**record(a={"type": "string"}), "x-eval-compare": "exact"},
]  # fmt: skip
"""Leaves at which a value is like itself."""
LEAVES = [
    *SOUND,
    *map(compared, ("numeric", {"oneof": {"values": ["a", "1", 1, None]}})),
    *({"type": "number", "x-eval-compare": by} for by in (
        "exact", {"numeric": {"tolerance": {"abs": 1}}}, {"oneof": {"values": [1, 2.5]}},
        {"numeric": {"tolerance": {"rel": 0.25, "abs": 1}}},
    )),
]  # fmt: skip
THRESHOLDS = (0.0, 0.0, 0.31, 0.53, 0.77, 1.0)
"""None between 0 and 1 is the F1 of a few fields, so rounding decides nothing."""
OPTIMAL: list[Schema] = [{"match_by": "hungarian", "threshold": f1} for f1 in THRESHOLDS]
ALIGNMENTS = st.sampled_from([{}, {"ordered": True}, {"match_by": "hungarian"}, *OPTIMAL])


class Example(NamedTuple):
    """One record, and what it is scored with."""

    schema: Schema
    """Not annotated."""
    gold: Any
    extracted: Any


def schemas(*, sound: bool = False) -> st.SearchStrategy[Schema]:
    """With `sound`, only what is perfect when it is compared with itself."""

    def containers(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
        arrays = st.builds(lambda items, align: array(items, **align), inner, ALIGNMENTS)
        return arrays if sound else arrays | keyed(inner)

    def objects(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
        fields = st.dictionaries(st.sampled_from("abcdef"), inner, min_size=1, max_size=4)
        rest = inner.filter(lambda one: not one.get("x-eval-skip"))
        made = fields.map(lambda found: record(**found))
        with_rest = st.builds(lambda one, other: {**one, "additionalProperties": other}, made, rest)
        return st.one_of(made, made, made, with_rest)

    leaf = st.sampled_from(SOUND if sound else LEAVES)
    inner = st.recursive(leaf, lambda one: objects(one) | containers(one), max_leaves=6)
    whole = st.builds(
        lambda one, items: {**one, "properties": {**one["properties"], "s": items}},
        objects(inner),
        containers(inner),
    )
    return st.one_of(whole, whole, whole, inner)


def keyed(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    fields = st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
    names = st.sampled_from(("k", "k", "n.v", ["k", "n.v"], ["k"]))

    def made(own: Schema, key: Schema, name: Any) -> Schema:
        items = record(**own, k=key, n=record(v={"type": "integer"}))
        return array(items, match_by="key_field", key=name)

    return st.builds(made, fields, st.sampled_from(KEYS), names)


def values(schema: Schema, *, sound: bool = False) -> Values:
    if "properties" in schema:
        inner = {name: values(one, sound=sound) for name, one in schema["properties"].items()}
        if "additionalProperties" in schema:
            rest = values(schema["additionalProperties"], sound=sound)
            inner |= {"zz": rest, "y": rest}
        fitting: Values = st.fixed_dictionaries({}, optional=inner)
    elif "items" in schema:
        fitting = st.lists(values(schema["items"], sound=sound), max_size=3)
    else:
        names: Sequence[str] = schema["type"]
        types = [names] if isinstance(names, str) else names
        fitting = st.sampled_from([one for name in types for one in OF_TYPE[name]])
    odd = st.none() if sound else st.sampled_from(ANYTHING)
    return st.integers(0, 11).flatmap(lambda draw: odd if draw == 11 else fitting)


@st.composite
def examples(draw: st.DrawFn) -> Example:
    schema = draw(schemas())
    value = draw(values(schema))
    pair = value, corrupted(draw, value)
    return Example(schema, *(pair if draw(st.booleans()) else pair[::-1]))


def corrupted(draw: st.DrawFn, value: Any) -> Any:
    """A value in which parts are missing, wrong, unknown, doubled or in another order."""
    fate = draw(st.integers(0, 15))
    if fate == 0:
        return draw(st.sampled_from(ANYTHING))
    if isinstance(value, dict):
        made = {name: corrupted(draw, part) for name, part in value.items()}
        if made and fate == 1:
            made.pop(draw(st.sampled_from([*made])))
        if fate < 4:
            others = st.sampled_from(("zz", "x", "Q"))
            made |= draw(st.dictionaries(others, st.sampled_from(UNKNOWN), min_size=1))
        return made
    if isinstance(value, list):
        elements = [corrupted(draw, element) for element in value]
        if elements and fate < 5:
            elements.append(draw(st.sampled_from(elements)))
        return draw(st.permutations(elements[fate == 5 :])) if fate > 8 else elements
    return value
