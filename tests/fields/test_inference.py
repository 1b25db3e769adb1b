"""A schema read off values describes them, and gold records that do not fit theirs are found."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from factcheck.errors import GoldValidationError, InputError, SchemaError
from factcheck.fields import annotate_xeval, infer_schema, validate_gold
from tests.fields.builders import TEXT, array, record


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
    for single in ({"a": 1}, "text", 5):
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


NAMED = record(name=TEXT)
SCHEMA = annotate_xeval(
    record(
        n={"type": "integer"}, x={"type": ["number", "null"]}, b={"type": "boolean"},
        o=record(name=TEXT), l=array(record(name=TEXT)), m={"type": ["string", "number"]},
        free={"type": "object"}, skipped={**NAMED, "x-eval-skip": True},
        compared={**NAMED, "x-eval-compare": "exact"},
    )
)  # fmt: skip


def deep(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


GOOD: dict[str, Any] = {
    "n": 1, "x": 2.5, "b": True, "o": {"name": "a"}, "l": [{"name": "a"}, {"name": "b"}], "m": "a",
    "free": {"zz": 1}, "skipped": {"name": "a"}, "compared": {"name": "a"},
}  # fmt: skip


def test_records_that_fit_pass_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    """Integers and numbers stand for each other, and what is compared as a whole holds any key."""
    for change in (
        {}, {"free": {"zz": 1}}, {"compared": {"zz": 1}}, {"n": 1.5}, {"n": math.nan}, {"x": 2},
        {"m": 3},
    ):  # fmt: skip
        records = [{**GOOD, **change}, dict.fromkeys(GOOD), None]
        validate_gold(records, SCHEMA, strict_types=True)
    unskipped = {key: value for key, value in GOOD.items() if key != "skipped"}
    validate_gold([unskipped], SCHEMA)
    validate_gold([{}], SCHEMA, warn_missing=False)
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"zz": 1}, "zz"), ({"z.z": None}, r"z\.z"), ({5: 1}, "5"), ({"o": {"nmae": 1}}, "o.nmae"),
        ({"l": [{"name": "a"}, {"zz": 1}]}, "l[].zz"), ({"skipped": {"zz": 1}}, "skipped.zz"),
    ],
)  # fmt: skip
def test_a_key_that_would_never_be_scored_is_an_error(change: dict[Any, Any], path: str) -> None:
    with pytest.raises(GoldValidationError, match="not in schema") as caught:
        validate_gold([GOOD, {**GOOD, **change}], SCHEMA)
    assert (caught.value.record_id, caught.value.path) == (1, path)
    assert path in str(caught.value).replace("\\\\", "\\")


def test_missing_keys_are_told_once_for_each_record(caplog: pytest.LogCaptureFixture) -> None:
    lacking = {**GOOD, "l": [{}, {}]}
    del lacking["n"]
    validate_gold([lacking, GOOD, lacking], SCHEMA)
    problem = "is missing; write null if it has no value"
    assert caplog.messages == [
        f"gold record {n}: {path} {problem}" for n in (0, 2) for path in ("n", "l[].name")
    ]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"o": "text"}, ("o", "object", "string")),
        ({"l": {"name": "a"}}, ("l", "array", "object")),
        ({"l": ({"name": "a"},)}, ("l", "array", "tuple")),
        ({"l": [7, 8]}, ("l[]", "object", "integer")),
        ({"m": True}, ("m", "not one of the declared types", "boolean")),
        (5, ("", "the record should be of type object")), ("text", ("",)), ([], ("",)),
        # types of leaves matter under strict types only
        ({"n": "1"}, ()), ({"n": True}, ()), ({"b": 1}, ()), ({"x": date(2024, 1, 1)}, ()),
        ({"free": []}, ()), ({"l": [{"name": [1] * 1_000}]}, ()), ({"n": deep(5_000)}, ()),
    ],
)  # fmt: skip
def test_a_value_of_the_wrong_kind_is_told_and_under_strict_types_an_error(
    given: Any, words: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    whole = {**GOOD, **given} if isinstance(given, dict) else given
    validate_gold([whole], SCHEMA)
    assert len(caplog.messages) == bool(words)
    assert all(word in caplog.text for word in words)
    with pytest.raises(GoldValidationError, match="not the schema-declared type") as caught:
        validate_gold([whole], SCHEMA, strict_types=True)
    assert not words or caught.value.path == words[0]
    assert len(str(caught.value)) < 200


def test_a_record_without_a_valid_id_is_an_error() -> None:
    cases: list[tuple[Any, str]] = [
        ({}, "id field"), (None, "id field"), ("text", "id field"), (["key"], "id field"),
        ({"key": None}, "string or integer"), ({"key": True}, "an id must"),
    ]  # fmt: skip
    for odd, message in cases:
        with pytest.raises(GoldValidationError, match=message) as caught:
            validate_gold([{"key": 1}, odd], SCHEMA, "key", warn_missing=False)
        assert caught.value.record_id == 1


def test_arguments_are_checked_before_any_record() -> None:
    with pytest.raises(InputError, match="gold must be a list"):
        validate_gold(GOOD, SCHEMA)
    with pytest.raises(InputError, match="id_field must be the name of a key"):
        validate_gold([GOOD], SCHEMA, ["n"])  # type: ignore[arg-type]
    schemas: tuple[Any, ...] = (None, [], {"type": "object", "properties": {"a": {}}})
    for schema in schemas:
        with pytest.raises(SchemaError):
            validate_gold([], schema)
