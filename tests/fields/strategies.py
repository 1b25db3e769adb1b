"""Hypothesis strategies for schemas with records that fit them, more or less."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan
from typing import Any, NamedTuple

from hypothesis import strategies as st

Schema = dict[str, Any]

STRINGS = ("a", "b", "A", " a", "a b", "b  a", "", "1", "2.5", "true")
INTEGERS = (0, 1, 2, 3, -1, 10)
NUMBERS: tuple[Any, ...] = (0.0, 1.0, 1, 2, 2.5, 1.25, -1.0, 10.0, nan, inf)
ANYTHING: tuple[Any, ...] = (
    "a", "1", 0, 1, 1.0, True, False, [], {}, ["a"], [None], {"a": 1}, {"q": [1]},
)  # fmt: skip
"""Values that fit a place, or do not."""
OPAQUE: tuple[Any, ...] = (
    {"x": 1}, {"x": 1.0}, {"x": True}, {"x": nan}, {}, [], [1], [True], [nan], [[1], {"y": "a"}],
)  # fmt: skip
TEXT_TRANSFORMS: tuple[Any, ...] = (
    "lowercase", "strip", "normalize_whitespace", "sort_tokens", {"type_convert": {"to": "float"}},
    {"type_convert": {"to": "bool"}},
)  # fmt: skip
NUMBER_TRANSFORMS: tuple[Any, ...] = (
    {"round_digits": {"digits": 1}}, {"round_digits": {"digits": -1}},
    {"type_convert": {"to": "str"}}, {"type_convert": {"to": "int"}},
)  # fmt: skip
TEXT_COMPARATORS: tuple[Any, ...] = ("exact", "numeric", {"oneof": {"values": ["a", "1", 1, None]}})
NUMBER_COMPARATORS: tuple[Any, ...] = (
    "exact", "numeric", {"numeric": {"tolerance": {"abs": 1}}},
    {"numeric": {"tolerance": {"rel": 0.5}}}, {"numeric": {"tolerance": {"rel": 0.25, "abs": 1}}},
    {"oneof": {"values": [1, 2.5]}},
)  # fmt: skip
THRESHOLDS = (0.31, 0.53, 0.77, 1.0)
"""None but the last is the F1 of a few fields, so rounding decides nothing."""


class Example(NamedTuple):
    """One record, and what it is scored with."""

    schema: Schema
    """Not annotated."""
    gold: Any
    extracted: Any


def once_in(draw: st.DrawFn, times: int) -> bool:
    return draw(st.integers(0, times - 1)) == times // 2


@st.composite
def examples(draw: st.DrawFn) -> Example:
    schema = draw(schemas())
    value = value_for(draw, schema)
    pair = value, corrupted(draw, value, is_whole=not once_in(draw, 10))
    return Example(schema, *(pair if draw(st.booleans()) else pair[::-1]))


@st.composite
def schemas(draw: st.DrawFn, *, sound: bool = False) -> Schema:
    """With `sound`, only what is perfect when it is compared with itself."""
    if once_in(draw, 10):
        return node(draw, 2, sound=sound)
    made = object_node(draw, 3, sound=sound)
    made["properties"]["s"] = array_node(draw, 2, sound=sound)
    return made


@st.composite
def flat_arrays(draw: st.DrawFn) -> Example:
    key = {"type": "string", "x-eval-transform": ["strip", "lowercase"]}
    number = {"type": "number", "x-eval-compare": draw(st.sampled_from(NUMBER_COMPARATORS))}
    items = {"type": "object", "properties": {"k": key, "n": number, "t": {"type": "string"}}}
    by_key = {"match_by": "key_field", "key": draw(st.sampled_from(("k", ["k", "n"])))}
    align = draw(st.sampled_from(({"match_by": "hungarian"}, by_key)))
    schema = {"type": "array", "items": items, "x-eval-align": align}
    gold, extracted = (
        [flat_element(draw) for _ in range(draw(st.sampled_from((3, 2, 4, 1))))] for _ in range(2)
    )
    return Example(schema, gold, extracted)


def flat_element(draw: st.DrawFn) -> dict[str, Any]:
    pools: dict[str, Any] = {"k": ("a", "b", "A", " b"), "n": (1, 2, 4, 0, 3.0), "t": ("x", "y")}
    made = {name: draw(st.sampled_from(pool)) for name, pool in pools.items()}
    if once_in(draw, 4):
        del made[draw(st.sampled_from(("t", "n", "k")))]
    if once_in(draw, 3):
        made["zz"] = 1
    return made


@st.composite
def values(draw: st.DrawFn, schema: Schema, *, sound: bool = False) -> Any:
    return value_for(draw, schema, sound=sound)


def node(draw: st.DrawFn, depth: int, *, sound: bool) -> Schema:
    make = draw(st.sampled_from((leaf, object_node, array_node, leaf) if depth else (leaf,)))
    made = make(draw, depth, sound=sound)
    if once_in(draw, 10):
        made["x-eval-skip"] = True
    elif make is not leaf and once_in(draw, 10):
        made["x-eval-compare"] = "exact"
        made.pop("x-eval-align", None)
    return made


def leaf(draw: st.DrawFn, depth: int, *, sound: bool) -> Schema:
    declared = draw(
        st.sampled_from((*["string", "number", "integer", "boolean"] * 3, "object", "array"))
    )
    made: Schema = {"type": declared}
    if declared in ("string", "integer") and once_in(draw, 4):
        made["type"] = draw(st.sampled_from(([declared, "null"], ["string", "integer"])))
    transforms, comparators = TEXT_TRANSFORMS, TEXT_COMPARATORS
    if declared in ("number", "integer"):
        transforms, comparators = NUMBER_TRANSFORMS, NUMBER_COMPARATORS
    elif declared != "string":
        return made
    if once_in(draw, 3):
        made["x-eval-transform"] = draw(st.lists(st.sampled_from(transforms), max_size=2))
    if not sound and once_in(draw, 3):
        made["x-eval-compare"] = draw(st.sampled_from(comparators))
    return made


def object_node(draw: st.DrawFn, depth: int, *, sound: bool) -> Schema:
    names = draw(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4, unique=True))
    made: Schema = {"type": "object"}
    made["properties"] = {name: node(draw, depth - 1, sound=sound) for name in names}
    if once_in(draw, 5):
        rest = made["additionalProperties"] = node(draw, depth - 1, sound=sound)
        rest.pop("x-eval-skip", None)
    return made


def array_node(draw: st.DrawFn, depth: int, *, sound: bool) -> Schema:
    ways = ["default", "ordered", *["hungarian"] * 3, *["key"] * 2 * (not sound)]
    way = draw(st.sampled_from(ways))
    if way == "key":
        return keyed_array(draw, depth, sound=sound)
    made: Schema = {"type": "array", "items": node(draw, depth - 1, sound=sound)}
    if way == "ordered":
        made["x-eval-align"] = {"ordered": True}
    if way == "hungarian":
        made["x-eval-align"] = {"match_by": "hungarian"}
        if once_in(draw, 4):
            made["x-eval-align"]["threshold"] = draw(st.sampled_from(THRESHOLDS))
    return made


def keyed_array(draw: st.DrawFn, depth: int, *, sound: bool) -> Schema:
    items = object_node(draw, depth - 1 or 1, sound=sound)
    key: Schema = {"type": draw(st.sampled_from(("string", "integer", "boolean")))}
    if key["type"] == "string" and once_in(draw, 2):
        key["x-eval-transform"] = ["strip", "lowercase"]
    inside = {"type": "object", "properties": {"v": {"type": "integer"}}}
    items["properties"] |= {"k": key, "n": inside}
    names = draw(st.sampled_from(("k", "k", "n.v", ["k", "n.v"], ["k"])))
    align = {"match_by": "key_field", "key": names}
    return {"type": "array", "items": items, "x-eval-align": align}


def value_for(draw: st.DrawFn, schema: Schema, *, sound: bool = False) -> Any:
    if once_in(draw, 12):
        return None
    if not sound and once_in(draw, 20):
        return draw(st.sampled_from(ANYTHING))
    if "properties" in schema:
        present = {n: child for n, child in schema["properties"].items() if not once_in(draw, 6)}
        if rest := schema.get("additionalProperties"):
            present |= {name: rest for name in ("zz", "y") if not once_in(draw, 3)}
        return {name: value_for(draw, child, sound=sound) for name, child in present.items()}
    if "items" in schema:
        size = draw(st.sampled_from((2, 3, 3, 1, 0, 2)))
        return [value_for(draw, schema["items"], sound=sound) for _ in range(size)]
    return draw(st.sampled_from(leaf_values(schema["type"])))


def leaf_values(declared: str | Sequence[str]) -> tuple[Any, ...]:
    if not isinstance(declared, str):
        return tuple(value for name in declared if name != "null" for value in leaf_values(name))
    if declared in ("object", "array"):
        return tuple(v for v in OPAQUE if isinstance(v, dict) == (declared == "object"))
    return {"string": STRINGS, "integer": INTEGERS, "number": NUMBERS, "boolean": (True, False)}[
        declared
    ]


def corrupted(draw: st.DrawFn, value: Any, *, is_whole: bool = False) -> Any:
    """A value in which parts are missing, wrong, unknown, doubled or in another order."""
    fate = (
        "keep" if is_whole else draw(st.sampled_from(("keep",) * 15 + ("null", "wrong", "wrong")))
    )
    if fate != "keep":
        return None if fate == "null" else draw(st.sampled_from(ANYTHING))
    if isinstance(value, dict):
        kept = {name: part for name, part in value.items() if not once_in(draw, 10)}
        made = {name: corrupted(draw, part) for name, part in kept.items()}
        if once_in(draw, 6):
            names = draw(st.lists(st.sampled_from(("zz", "x", "Q")), unique=True, min_size=1))
            made |= {name: draw(st.sampled_from((None, *ANYTHING))) for name in names}
        return made
    if isinstance(value, list):
        elements = [corrupted(draw, element) for element in value if not once_in(draw, 8)]
        if elements and once_in(draw, 4):
            elements.append(draw(st.sampled_from(elements)))
        return draw(st.permutations(elements)) if once_in(draw, 2) else elements
    return value
