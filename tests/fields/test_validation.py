"""Gold records that do not fit their schema are found before anything is scored."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

import pytest

from factcheck.errors import GoldValidationError, InputError, SchemaError
from factcheck.fields import ComparatorResult, Registry, annotate_xeval, validate_gold

SCHEMA = annotate_xeval(
    {
        "type": "object",
        "properties": {
            "n": {"type": "integer"}, "x": {"type": ["number", "null"]}, "b": {"type": "boolean"},
            "o": {"type": "object", "properties": {"name": {"type": "string"}}},
            "l": {
                "type": "array",
                "items": {"type": "object", "properties": {"name": {"type": "string"}}},
            },
            "m": {"type": ["string", "number"]}, "free": {"type": "object"},
            "skipped": {
                "type": "object",
                "x-eval-skip": True,
                "properties": {"name": {"type": "string"}},
            },
            "compared": {
                "type": "object",
                "x-eval-compare": "exact",
                "properties": {"name": {"type": "string"}},
            },
        },
    }
)  # fmt: skip
GOOD: dict[str, Any] = {
    "n": 1, "x": 2.5, "b": True, "o": {"name": "a"}, "l": [{"name": "a"}, {"name": "b"}], "m": "a",
    "free": {"zz": 1}, "skipped": {"name": "a"}, "compared": {"name": "a"},
}  # fmt: skip


def test_records_that_fit_pass_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    validate_gold([GOOD, dict.fromkeys(GOOD), None], SCHEMA, strict_types=True)
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
    assert ("did you mean 'name'" in str(caught.value)) == ("nmae" in path)
    assert path in str(caught.value).replace("\\\\", "\\")


@pytest.mark.parametrize("change", [{"free": {"zz": 1}}, {"compared": {"zz": 1}}])
def test_what_is_compared_as_a_whole_may_hold_any_key(
    change: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    validate_gold([{**GOOD, **change}], SCHEMA, strict_types=True)
    assert caplog.messages == []


def test_missing_keys_are_told_once_for_each_record_and_field(
    caplog: pytest.LogCaptureFixture,
) -> None:
    lacking = {**GOOD, "l": [{}, {}]}
    del lacking["n"]

    validate_gold([lacking, GOOD, lacking], SCHEMA)

    told = caplog.messages
    assert [message.split(":")[0] for message in told] == ["gold record 0"] * 2 + [
        "gold record 2"
    ] * 2
    assert ": n is missing" in told[0]
    assert ": l[].name is missing" in told[1]


def test_missing_keys_are_not_told_where_nobody_asks_or_nothing_is_scored(
    caplog: pytest.LogCaptureFixture,
) -> None:
    unskipped = {key: value for key, value in GOOD.items() if key != "skipped"}
    validate_gold([{}], SCHEMA, warn_missing=False)
    validate_gold([unskipped], SCHEMA)
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"o": [1]}, ("o", "object", "array")),
        ({"o": "text"}, ("o", "object", "string")),
        ({"skipped": "a"}, ("skipped", "object", "string")),
        ({"l": {"name": "a"}}, ("l", "array", "object")),
        ({"l": ({"name": "a"},)}, ("l", "array", "tuple")),
        ({"l": [7, 8]}, ("l[]", "object", "integer")),
        ({"m": True}, ("m", "not one of the declared types", "boolean")),
        ({"m": {}}, ("m", "not one of the declared types", "object")),
    ],
)
def test_a_value_of_the_wrong_kind_is_told_and_under_strict_types_an_error(
    change: dict[str, Any], words: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    validate_gold([{**GOOD, **change}], SCHEMA)

    [message] = caplog.messages
    assert all(word in message for word in words)
    with pytest.raises(GoldValidationError, match="not the schema-declared type") as caught:
        validate_gold([{**GOOD, **change}], SCHEMA, strict_types=True)
    assert caught.value.path == words[0]


@pytest.mark.parametrize("record", [5, "text", []])
def test_the_record_itself_is_held_against_the_schema(
    record: Any, caplog: pytest.LogCaptureFixture
) -> None:
    validate_gold([record], SCHEMA)
    [message] = caplog.messages
    assert "the record should be of type object" in message
    with pytest.raises(GoldValidationError, match="not the schema-declared type"):
        validate_gold([record], SCHEMA, strict_types=True)


@pytest.mark.parametrize(
    "change",
    [
        {"n": "1"}, {"n": True}, {"b": 1}, {"x": "2.5"}, {"x": date(2024, 1, 1)}, {"free": []},
        {"compared": 1}, {"o": {"name": 1}}, {"l": [{"name": [1] * 1_000}]},
    ],
)  # fmt: skip
def test_types_of_leaves_matter_under_strict_types_only(
    change: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    validate_gold([{**GOOD, **change}], SCHEMA)
    assert caplog.messages == []
    with pytest.raises(GoldValidationError, match="not the schema-declared type") as caught:
        validate_gold([{**GOOD, **change}], SCHEMA, strict_types=True)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("change", [{"n": 1.5}, {"n": math.nan}, {"x": 2}, {"m": 3}])
def test_integers_and_numbers_stand_for_each_other(
    change: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    validate_gold([{**GOOD, **change}], SCHEMA, strict_types=True)
    assert caplog.messages == []


def test_the_id_names_the_record_and_need_not_be_in_the_schema() -> None:
    validate_gold([{**GOOD, "key": "a"}, {**GOOD, "key": 7}], SCHEMA, "key")
    with pytest.raises(GoldValidationError, match="gold record 'a'") as caught:
        validate_gold([{**GOOD, "key": "a", "zz": 1}], SCHEMA, "key")
    assert caught.value.record_id == "a"
    with pytest.raises(GoldValidationError, match="not in schema"):  # nor below the top
        validate_gold([{**GOOD, "key": "a", "o": {"key": "a"}}], SCHEMA, "key")


@pytest.mark.parametrize("record", [{}, {"n": 1}, None, "text", ["key"]])
def test_a_record_without_id_field_is_an_error(record: Any) -> None:
    with pytest.raises(GoldValidationError, match="id field") as caught:
        validate_gold([{"key": 1}, record], SCHEMA, "key", warn_missing=False)
    assert caught.value.record_id == 1


@pytest.mark.parametrize("value", [None, True, 1.5, [1], {}])
def test_an_id_is_a_string_or_integer(value: Any) -> None:
    with pytest.raises(GoldValidationError, match="string or integer"):
        validate_gold([{"key": value}], SCHEMA, "key")


@pytest.mark.parametrize(
    ("gold", "id_field", "message"),
    [(GOOD, None, "gold must be a list"), ("text", None, "must be a list"),
     (None, None, "must be a list"), ([GOOD], ["n"], "id_field must be the name of a key")],
)  # fmt: skip
def test_what_is_no_list_or_name_is_refused(gold: Any, id_field: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        validate_gold(gold, SCHEMA, id_field)


@pytest.mark.parametrize("schema", [None, [], {"type": "object", "properties": {"a": {}}}])
def test_the_schema_is_checked_before_any_record(schema: Any) -> None:
    with pytest.raises(SchemaError):
        validate_gold([], schema)


def test_names_of_comparators_come_from_the_registry_that_is_given() -> None:
    registry = Registry()
    registry.register("mine", lambda gold, extracted, params: ComparatorResult(1.0, "mine"))
    schema = {"type": "string", "x-eval-compare": "mine"}

    validate_gold(["a"], schema, registry=registry)
    with pytest.raises(SchemaError, match="Unknown comparator"):
        validate_gold(["a"], schema)


def test_the_root_may_be_an_array() -> None:
    items = {"type": "object", "properties": {"a": {"type": "integer"}}}
    schema = annotate_xeval({"type": "array", "items": items})

    validate_gold([[{"a": 1}], []], schema, strict_types=True)
    with pytest.raises(GoldValidationError) as caught:
        validate_gold([[{"b": 1}]], schema)
    assert caught.value.path == "[].b"


def test_a_wrong_value_that_is_very_deep_is_told_briefly() -> None:
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]

    with pytest.raises(GoldValidationError) as caught:
        validate_gold([{"n": deep}], SCHEMA, warn_missing=False, strict_types=True)

    assert len(str(caught.value)) < 200
