"""Combined schemas become plain types, properties and items, where they can."""

from __future__ import annotations

from typing import Any

import pytest

from factcheck.errors import SchemaError
from factcheck.fields import (
    annotate_xeval,
    collapse_multi_type_anyof,
    merge_all_of,
    parse_eval_schema,
    remove_null_anyof,
    resolve_schema_references,
)
from tests.fields.builders import array, record
from tests.fields.json_schemas import (
    INTEGER,
    NULL,
    STRING,
    Schema,
    nested,
)


def resolved_field(field: Any) -> Any:
    return resolve_schema_references(record(field=field))["properties"]["field"]


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [m for m in (r.getMessage() for r in caplog.records) if "scoring ignores" not in m]


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ({"anyOf": [STRING, NULL], "title": "T"}, {"type": "string", "title": "T"}),
        ({"anyOf": [{**STRING, "title": "a"}, NULL], "title": "T"}, {**STRING, "title": "a"}),
        ({"oneOf": [NULL, STRING]}, STRING), ({"anyOf": [NULL]}, NULL),
        ({"anyOf": [{"anyOf": [STRING, NULL]}, {"type": None}]}, STRING),
        ({"anyOf": [{"oneOf": [STRING, INTEGER]}, NULL]}, {"type": ["string", "integer"]}),
        *(({"enum": values}, {"enum": values, "type": kind}) for values, kind in (
            (["a", "b"], "string"), (["a", None], "string"), ([1, 2.5], "number"),
            ([True, "x"], ["boolean", "string"]), ([None], "null"),
        )),
        ({"const": 3}, {"const": 3, "type": "integer"}),
        ({"const": [1]}, {"const": [1], "type": "array"}),
        ({"anyOf": [{"enum": ["a"]}, {"const": None}]}, {"enum": ["a"], "type": "string"}),
        ({"anyOf": [STRING, INTEGER, NULL]}, {"type": ["string", "integer"]}),
        ({"anyOf": [STRING, {}], "title": "T"}, {"title": "T"}), ({"oneOf": [STRING, True]}, {}),
        ({"oneOf": [STRING, INTEGER], "title": "T"}, {"type": ["string", "integer"], "title": "T"}),
        ({"anyOf": [{"type": ["integer", "null"]}, STRING]}, {"type": ["integer", "string"]}),
        ({"anyOf": [{**STRING, "format": "date"}, {**STRING, "maxLength": 3}]}, STRING),
        (
            {"oneOf": [record(k={"const": "c"}, m=STRING), record(k={"const": "d"}, w=NULL)]},
            record(k=STRING, m=STRING, w=NULL),
        ),
        (
            {"anyOf": [record(z=STRING, y=STRING), record(z=INTEGER, y=NULL)]},
            record(z={"type": ["string", "integer"]}, y=STRING),
        ),
        ({"anyOf": [array(record(a=STRING))] * 2}, array(record(a=STRING))),
        ({"anyOf": [array(STRING), array(INTEGER)]}, array({"type": ["string", "integer"]})),
        ({"anyOf": [{**STRING, "x-eval-weight": 2}] * 2}, {**STRING, "x-eval-weight": 2}),
    ],
)  # fmt: skip
def test_nullable_alternative_and_enumerated_fields_get_a_type_that_can_be_scored(
    field: Schema, expected: Schema
) -> None:
    resolved = resolved_field(field)
    assert resolved == expected
    parse_eval_schema(annotate_xeval(resolved))


@pytest.mark.parametrize("field", [{"anyOf": []}, {"anyOf": [STRING, 5]}, {"type": []}])
def test_what_has_no_type_is_kept_for_the_parser_to_complain_of(field: Schema) -> None:
    resolved = resolved_field(field)
    assert resolved == field
    with pytest.raises(SchemaError, match="Missing or invalid 'type'"):
        parse_eval_schema(annotate_xeval(resolved))


def test_deep_alternatives_and_parts_are_united() -> None:
    one, two = nested(150, STRING), nested(150, INTEGER)
    assert resolve_schema_references({"anyOf": [one, two]}) == nested(
        150, {"type": ["string", "integer"]}
    )
    assert resolve_schema_references({"allOf": [one, two]}) == one


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ({"anyOf": [{**STRING, "format": "date"}, INTEGER]}, "format of its alternatives ignored"),
        ({"oneOf": [record(a=STRING), INTEGER]}, "properties of its alternatives ignored"),
        ({"anyOf": [record(a=STRING), {"type": "object"}]}, "properties of its alternatives"),
        ({"anyOf": [{**STRING, "x-eval-compare": "fuzzy"}, STRING]}, "x-eval-compare of its"),
        ({"anyOf": [{**STRING, "title": "a", "description": "b"}, INTEGER]}, ""),
        ({"allOf": [STRING, record(a=STRING), {"title": "T"}]}, "types string and object"),
    ],
)
def test_what_is_lost_in_one_field_of_many_types_is_told_but_for_titles(
    field: Schema, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    resolved_field(field)
    messages = told(caplog)
    assert len(messages) == bool(words)
    assert all(message.startswith("field: ") and words in message for message in messages)


def test_what_a_schema_says_itself_wins_over_its_parts() -> None:
    schema = {
        **record(a=STRING, o=record(x=STRING), t=True),
        "required": ["a"],
        "allOf": [
            {**record(a={**STRING, "title": "part"}, b=STRING, t=STRING), "required": ["b"]},
            {
                **record(b=INTEGER, o=record(x=INTEGER, y=STRING)),
                "allOf": [record(c=STRING)],
            },
            True,
        ],
    }
    whole = {"type": "array", "items": schema}

    assert merge_all_of(whole) is whole
    assert whole["items"] == {
        **record(a=STRING, o=record(x=STRING, y=STRING), t=True, b=STRING, c=STRING),
        "required": ["a"],
    }


def test_what_two_fields_share_is_not_changed_by_the_parts_of_one() -> None:
    shared = record(x=STRING)
    schema = record(a={**record(o=shared), "allOf": [record(o=record(y=STRING))]}, b=shared)

    merge_all_of(schema)

    assert schema == record(a=record(o=record(x=STRING, y=STRING)), b=record(x=STRING))


def test_null_alternatives_go_at_every_level_and_in_place() -> None:
    schema = record(
        a={"anyOf": [STRING, NULL], "title": "a"},
        b={"anyOf": [STRING, INTEGER, NULL]},
        c={"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/x"}, {"type": None}]}},
    )

    assert remove_null_anyof(schema) is schema
    assert schema == record(
        a={"type": "string", "title": "a"},
        b={"anyOf": [STRING, INTEGER]},
        c={"type": "array", "items": {"$ref": "#/$defs/x"}},
    )


def test_alternatives_of_several_types_become_a_list_of_them_in_place() -> None:
    schema = record(
        a={"anyOf": [INTEGER, {"anyOf": [STRING, INTEGER]}], "title": "a"},
        same={"anyOf": [STRING, STRING]},
        unknown={"anyOf": [STRING, {"title": "x"}]},
    )

    assert collapse_multi_type_anyof(schema) is schema
    assert schema == record(
        a={"type": ["integer", "string"], "title": "a"},
        same={"anyOf": [STRING, STRING]},
        unknown={"anyOf": [STRING, {"title": "x"}]},
    )


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf"])
def test_branches_that_are_no_list_and_endless_schemas_are_refused(keyword: str) -> None:
    branches: tuple[Any, ...] = ({}, "x", 5, None)
    for odd in branches:
        with pytest.raises(SchemaError, match=f"'{keyword}' must be a list") as caught:
            resolve_schema_references(record(a={keyword: odd}))
        assert caught.value.path == "a"
    ring = record()
    ring["properties"]["ring"] = {keyword: [ring]}
    for function in (merge_all_of, remove_null_anyof, collapse_multi_type_anyof):
        with pytest.raises(SchemaError, match="nested too deeply"):
            function(ring)
