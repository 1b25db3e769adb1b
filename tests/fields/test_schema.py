"""Schemas are checked and files are read, and every complaint names its place."""

from __future__ import annotations

import json
import logging
import math
import re
from pathlib import Path
from typing import Any

import pytest

from factcheck.errors import InputError, ParameterError
from factcheck.fields import (
    ComparatorSpec,
    SchemaError,
    TransformSpec,
    annotate_xeval,
    parse_eval_schema,
    parse_xeval_entry,
    reset_type_defaults,
    set_type_default,
)
from factcheck.fields.files import read_records, read_schema
from factcheck.fields.values import Unusable
from tests.fields.builders import array, compared, nested, record

TEXT = {"type": "string", "x-eval-compare": "exact"}


ERRORS = (Path(__file__).parent / "data" / "schema_errors.jsonl").read_text("utf-8").splitlines()
"""Schemas of a field with what is wrong with them."""


@pytest.mark.parametrize(
    ("field", "says"),
    [
        *map(json.loads, ERRORS),
        (compared({1: {}}), "Unknown comparator"),
        ({3: "x", "type": "string"}, "key 3 is not a string"),
        ({**TEXT, "x-eval-weight": math.nan}, "must be a number from 0"),
        ({**TEXT, "x-eval-weight": 10**400}, "must be a number from 0"),
    ],
)
def test_an_error_names_the_path_and_what_is_wrong(field: dict[Any, Any], says: str) -> None:
    with pytest.raises(SchemaError) as caught:
        parse_eval_schema(record(outer=record(inner=field)))
    assert says in str(caught.value)
    assert caught.value.path.startswith("outer.inner")
    assert str(caught.value).startswith("outer.inner")


def test_a_schema_in_which_nothing_counts_is_refused() -> None:
    """Every record would have an F1 of 1, and pass any gate."""
    zero = {**TEXT, "x-eval-weight": 0}
    with pytest.raises(SchemaError, match="every field has x-eval-weight 0"):
        parse_eval_schema(record(a=zero, o={**record(b=TEXT), "x-eval-weight": 0}))
    parse_eval_schema(record(a=zero, b=TEXT))
    parse_eval_schema(record(a={**TEXT, "x-eval-skip": True}))


def test_other_errors_are_schema_errors_too() -> None:
    with pytest.raises(SchemaError, match="Eval schema must be an object"):
        parse_eval_schema([TEXT])
    with pytest.raises(ParameterError, match="'values' must be a list") as caught:
        parse_eval_schema(record(a=compared({"oneof": {"values": ("a",)}})))
    assert isinstance(caught.value, TypeError)
    with pytest.raises(SchemaError, match=r"semantic='local'.*--semantic"):
        parse_eval_schema(record(a=compared("semantic")))
    assert str(SchemaError("no good")) == "no good"
    assert str(SchemaError("no good", "a.b")) == "a.b: no good"
    assert isinstance(SchemaError("x"), (InputError, ValueError))


@pytest.mark.parametrize(
    ("field", "says"),
    [
        ({**TEXT, "x-eval-comparee": "exact"}, "Unknown x-eval key"),
        (compared("numeric"), "numeric"),
        ({"type": "number", "x-eval-compare": "exact"}, "exact"),
        (array(record(n=TEXT), match_by="key_field", key="name"), "key 'name' not found"),
        (array({**TEXT, "type": "object"}, match_by="key_field", key="n"), "no 'properties'"),
        (array(TEXT, match_by=None), "compared by position"),
        ({**array(TEXT), "x-eval-transform": ["strip"]}, "has no effect"),
    ],
)
def test_what_may_be_a_slip_is_a_warning(
    field: dict[str, Any], says: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        parse_eval_schema(record(a=field))
    assert says in caplog.text
    caplog.clear()
    read = compared("numeric", **{"x-eval-transform": ["parse_number"]})
    parse_eval_schema(record(a=read))
    assert not caplog.text


def test_a_node_knows_all_that_the_schema_says() -> None:
    schema = record(
        items={
            "type": ["array", "null"],
            "x-eval-align": {"match_by": "hungarian", "threshold": 0.3},
            "x-eval-weight": 2,
            "items": record(
                price={
                    "type": ["number", "string"], "description": "with tax",
                    "x-eval-compare": {"numeric": {"tolerance": {"abs": 0.01}}},
                    "x-eval-transform": [{"round_digits": {"digits": 2}}], "x-eval-threshold": 0.5,
                }
            ),
        }
    )  # fmt: skip

    [items] = parse_eval_schema(schema).children
    [element] = items.children
    [price] = element.children

    assert (items.path, items.json_type, items.name) == ("items", "array", "items")
    assert items.align == {"match_by": "hungarian", "threshold": 0.3}
    assert (element.path, element.json_type) == ("items[]", "object")
    assert (price.path, price.json_type) == ("items[].price", "multi")
    assert price.allowed_types == ["number", "string"]
    assert price.comparator == ComparatorSpec("numeric", {"tolerance": {"abs": 0.01}})
    assert price.transforms == [TransformSpec("round_digits", {"digits": 2})]
    assert (price.threshold, price.weight, price.description) == (0.5, 2.0, "with tax")


def test_a_hundred_levels_are_fine_and_a_thousand_are_an_error() -> None:
    assert parse_eval_schema(nested(100, TEXT)).children
    for function in (parse_eval_schema, annotate_xeval):
        with pytest.raises(SchemaError, match="nested too deeply"):
            function(nested(900, TEXT))


def test_a_bad_entry_is_refused() -> None:
    cases: list[tuple[Any, type[Exception], str]] = [
        ("", ValueError, "non-empty string"), ({"a": {}, "b": {}}, ValueError, "exactly one key"),
        ({3: {}}, TypeError, "non-empty string"), ({"a": None}, ValueError, "must be a dict"),
        (3, TypeError, "must be a string or single-key dict"),
    ]  # fmt: skip
    for entry, error, says in cases:
        with pytest.raises(error, match=says):
            parse_xeval_entry(entry)


class TestTypeDefaults:
    """`annotate_xeval` writes the comparator of a field's type where the schema names none."""

    @pytest.fixture(autouse=True)
    def _restore(self) -> Any:
        yield
        reset_type_defaults()

    def test_every_type_has_one(self) -> None:
        kinds: list[Any] = ["number", "integer", ["number", "null"], "string", "boolean", "array",
                            "date", ["number", "string"]]  # fmt: skip
        found = [annotate_xeval({"type": kind})["x-eval-compare"] for kind in kinds]
        assert found == ["numeric"] * 3 + ["exact"] * 5

    def test_only_leaves_without_a_word_of_their_own_get_one(self) -> None:
        own = {"type": "string", "x-eval-compare": {"oneof": {"values": []}}}
        skipped, number = {"type": "string", "x-eval-skip": True}, {"type": "number"}
        schema = record(a={**own}, b={**skipped}, c=record(d={**number, "maxLength": 3}))

        assert annotate_xeval(schema) is schema
        inner = record(d={**number, "maxLength": 3, "x-eval-compare": "numeric"})
        assert schema == record(a=own, b=skipped, c=inner)

    def test_they_can_be_changed_and_restored(self) -> None:
        set_type_default("number", {"numeric": {"tolerance": {"rel": 0.1}}})
        changed = [annotate_xeval({"type": "number"})["x-eval-compare"] for _ in range(2)]
        changed[0]["numeric"]["tolerance"]["rel"] = 9
        reset_type_defaults()

        assert changed[1] == {"numeric": {"tolerance": {"rel": 0.1}}}
        assert annotate_xeval({"type": "number"})["x-eval-compare"] == "numeric"


def put(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def test_a_line_or_an_item_may_be_what_a_model_wrote(tmp_path: Path) -> None:
    prose = "Sorry, I cannot."
    inside = 'Here: {"a": 2}'
    text = "\n".join(["null", prose, '{"a": 1}', json.dumps(inside)])
    lines = put(tmp_path, "r.jsonl", text)
    items = put(tmp_path, "r.json", json.dumps([None, prose, {"a": 1}, inside]))
    for path in (lines, items):
        records = read_records(path, extracted=True)
        first, unusable, *others = records
        assert (first, others) == (None, [{"a": 1}, {"a": 2}])
        assert isinstance(unusable, Unusable)
        assert unusable.reason == f"{records.places[1]}: no JSON object"
        with pytest.raises(InputError, match=re.escape(str(path))):
            read_records(path)
    with pytest.raises(InputError, match="line 1: not valid JSON"):
        read_records(put(tmp_path, "r.json", prose), extracted=True)


def test_invalid_records_are_refused(tmp_path: Path) -> None:
    for name, content, message in (
        ("r.json", '[{"a": 1}, 2]', "r.json, record 2: expected an object, got integer"),
        ("r.jsonl", '{"a": 1}\n[2]', "r.jsonl, line 2: expected an object, got array"),
        ("r.yaml", "just words", "r.yaml: expected an object, got string"),
        ("r.json", "[]", "r.json holds no records"),
    ):
        with pytest.raises(InputError, match=re.escape(message)):
            read_records(put(tmp_path, name, content))


def test_a_schema_is_resolved_and_annotated(tmp_path: Path) -> None:
    text = "type: object\nproperties:\n  a: {$ref: '#/$defs/a'}\n$defs:\n  a: {type: integer}\n"
    assert read_schema(put(tmp_path, "s.yaml", text)) == {
        "type": "object",
        "properties": {"a": {"type": "integer", "x-eval-compare": "numeric"}},
    }


def test_an_invalid_schema_is_reported_with_its_file(tmp_path: Path) -> None:
    for content, message in (
        ("[1]", "s.json: a schema must be an object, not array"),
        ('{"properties": {"a": {"$ref": "#/nowhere"}}}', "s.json: a: the reference '#/nowhere'"),
    ):
        with pytest.raises(InputError, match=re.escape(message)):
            read_schema(put(tmp_path, "s.json", content))
