"""A schema read off values describes them, whatever they look like."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.errors import InputError, SchemaError
from factcheck.fields import annotate_xeval, infer_schema, validate_gold

names = st.text(max_size=6)
leaves = st.sampled_from(
    [st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.integers() | st.floats()]
)


@st.composite
def homogeneous(draw: st.DrawFn, depth: int = 3) -> st.SearchStrategy[Any]:
    kind = draw(st.sampled_from(["leaf", "array", "object"] if depth else ["leaf"]))
    if kind == "leaf":
        return draw(leaves) | st.none()
    if kind == "array":
        return st.lists(draw(homogeneous(depth=depth - 1)), max_size=3) | st.none()
    fields = {name: draw(homogeneous(depth=depth - 1)) for name in draw(st.sets(names, max_size=3))}
    return st.fixed_dictionaries({}, optional=fields) | st.none()


@pytest.mark.parametrize(
    ("values", "schema"),
    [
        ([True], {"type": "boolean"}), ([3], {"type": "integer"}), ([2.5], {"type": "number"}),
        ([math.nan], {"type": "number"}), (["a"], {"type": "string"}), ([None], {"type": "string"}),
        ([None, 3], {"type": "integer"}), ([3, 2.5], {"type": "integer"}),
        ([2.5, 3], {"type": "number"}), ([(1, 2)], {"type": "string"}),
        ([[]], {"type": "array", "items": {"type": "string"}}),
        ([[], [None, 1], None, [2]], {"type": "array", "items": {"type": "integer"}}),
        ([{}], {"type": "object", "properties": {}}),
        ([[[1.5]]], {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}),
    ],
)  # fmt: skip
def test_a_type_is_that_of_the_first_value_that_is_not_null(
    values: list[Any], schema: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    assert infer_schema(values) == schema
    assert caplog.messages == []


def test_an_object_has_the_keys_of_all_records_sorted() -> None:
    schema = infer_schema([{"b": 1}, None, {"c": None, "a": [{"x": 1}]}, {"a": [{"y": "z"}]}])

    assert list(schema["properties"]) == ["a", "b", "c"]
    assert schema["properties"]["a"]["items"] == {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "y": {"type": "string"}},
    }
    assert set(schema) == {"type", "properties"}


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ([1, "a"], "the root"), ([True, 1], "the root"),
        ([{"a": {"b": 1}}, {"a": {"b": "x"}}], "a.b"), ([{"a": [1, [2]]}], "a[]"),
        ([{"a.b": 1}, {"a.b": {}}], r"a\.b"),
    ],
)  # fmt: skip
def test_values_of_several_kinds_are_told_with_their_path(
    values: list[Any], path: str, caplog: pytest.LogCaptureFixture
) -> None:
    infer_schema(values)
    [message] = caplog.messages
    assert message.startswith(f"{path}: polymorphic")
    infer_schema([{"a": 1}, {"a": "x"}], "items[]")
    assert "items[].a" in caplog.messages[1]


def test_what_is_no_list_of_values_is_refused() -> None:
    empty: Any
    for empty in ([], iter(())):
        with pytest.raises(InputError, match="at least one value"):
            infer_schema(empty)
    for single in ({"a": 1}, "text", b"bytes", 5, None):
        with pytest.raises(InputError, match="must be a list"):
            infer_schema(single)  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="2 is not a string") as caught:
        infer_schema([{"a": [{2: "x"}]}])
    assert caught.value.path == "a[]"


@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"a": value}])
def test_deep_values_are_described_and_bottomless_ones_refused(wrap: Callable[[Any], Any]) -> None:
    value: Any = 1
    for _ in range(100):
        value = wrap(value)
    validate_gold([value], annotate_xeval(infer_schema([value])), strict_types=True)
    for _ in range(900):
        value = wrap(value)

    with pytest.raises(SchemaError, match="nested too deeply"):
        infer_schema([value])


def test_values_that_contain_themselves_are_refused_before_they_multiply() -> None:
    ring: list[Any] = []
    ring += [ring, ring]
    record: dict[str, Any] = {}
    record.update(a=[record, record], b=[record, record])

    for value in (ring, record):
        with pytest.raises(SchemaError, match="contains itself"):
            infer_schema([value])


@given(st.data())
def test_homogeneous_values_fit_their_schema_whose_types_do_not_depend_on_the_order(
    data: st.DataObject,
) -> None:
    values = data.draw(st.lists(data.draw(homogeneous()), min_size=1, max_size=5))

    def told(values: list[Any]) -> str:
        return str(infer_schema(values)).replace("'number'", "'integer'")

    assert told(values) == told(values[::-1])
    validate_gold(values, annotate_xeval(infer_schema(values)), strict_types=True)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=10,
)


@given(st.lists(json_values, min_size=1, max_size=4))
def test_any_json_gives_a_schema_that_can_be_parsed(values: list[Any]) -> None:
    schema = annotate_xeval(infer_schema(values))
    validate_gold([], schema)
