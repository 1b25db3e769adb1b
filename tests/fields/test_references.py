"""A resolved schema says of every field what it is, without references and combinations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.errors import GoldValidationError, ParameterError, SchemaError
from factcheck.fields import (
    annotate_xeval,
    collapse_multi_type_anyof,
    evaluate,
    merge_all_of,
    parse_eval_schema,
    remove_null_anyof,
    resolve_schema_references,
    validate_gold,
)
from tests.fields.builders import array, best, nested, record

Schema = dict[str, Any]
STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
NULL: Schema = {"type": "null"}
DEFS: Schema = {
    "Text": {"type": "string", "description": "a text", "x-eval-transform": ["strip"]},
    "Alias": {"$ref": "#/$defs/Text"}, "Maybe": {"anyOf": [STRING, NULL]}, "Nothing": NULL,
    "Person": {
        "type": "object",
        "properties": {"name": STRING, "age": {"anyOf": [INTEGER, NULL]}},
        "required": ["name"],
    },
    "a/b": {"type": "integer"}, "a~b": {"type": "number"}, "ä %": {"type": "boolean"},
    "list": [STRING, INTEGER], "number": 5, "true": True,
    "A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}},
    "B": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}},
    "Loop": {"$ref": "#/$defs/Loop"},
}  # fmt: skip


def to(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def resolved_field(field: Any) -> Any:
    schema = resolve_schema_references({**record(field=field), "$defs": DEFS})
    assert "$defs" not in schema
    return schema["properties"]["field"]


FIELDS = (Path(__file__).parent / "data" / "schemas.jsonl").read_text("utf-8").splitlines()
"""Fields with references into `DEFS`, and nullable, alternative and enumerated ones, resolved."""


@pytest.mark.parametrize(("field", "expected"), [json.loads(row) for row in FIELDS])
def test_a_field_gets_a_type_that_can_be_scored(field: Schema, expected: Schema) -> None:
    """A reference is replaced by its target, and the keys beside it win."""
    resolved = resolved_field(field)
    assert resolved == expected
    parse_eval_schema(annotate_xeval(resolved))


@pytest.mark.parametrize(
    ("words", "refs"),
    [
        ("cannot follow", (
            "http://127.0.0.1:9/schema.json", "file:///etc/hostname", "other.json#/$defs/Text",
            "#anchor", "",
        )),
        ("must be a string", (7, None)),
        ("there is no", (
            "#/$defs/Absent", "#/$defs/a%2Fb", "#/$defs/list/2", "#/$defs/list/01",
            "#/$defs/list/" + "9" * 5_000,
        )),
        ("must be a schema, not", ("#/$defs/number", "#/$defs/true", "#/$defs/list")),
    ],
)  # fmt: skip
def test_a_reference_that_cannot_be_followed_is_an_error_with_its_path(
    words: str, refs: tuple[Any, ...]
) -> None:
    for ref in refs:
        with pytest.raises(SchemaError, match=words) as caught:
            resolved_field({"type": "array", "items": {"$ref": ref}})
        assert caught.value.path == "field[]"
        assert len(str(caught.value)) < 300


def test_a_reference_to_nothing_but_itself_is_an_error() -> None:
    for field in (to("Loop"), {"anyOf": [{"$ref": "#/properties/field"}, STRING]}):
        with pytest.raises(SchemaError, match=r"field: the reference '#/.*' refers to itself"):
            resolved_field(field)


TREE = record(v=INTEGER, kids=array({"$ref": "#/$defs/T"}))


def test_gold_of_a_recursive_schema_is_validated_as_deep_as_it_is() -> None:
    annotated = annotate_xeval(resolve_schema_references({"$defs": {"T": TREE}, **to("T")}))
    validate_gold([{"v": 1, "kids": [{"v": 2, "kids": []}]}], annotated, strict_types=True)
    with pytest.raises(GoldValidationError, match=r"kids\[\].kids\[\].x"):
        validate_gold([{"v": 1, "kids": [{"v": 2, "kids": [{"x": 3}]}]}], annotated)


TREES = st.recursive(
    st.fixed_dictionaries({}, optional={"v": st.integers(0, 2), "x": st.just(1)}),
    lambda inner: st.fixed_dictionaries(
        {}, optional={"v": st.integers(0, 2) | st.none(), "kids": st.lists(inner | st.none())}
    ),
    max_leaves=8,
)


@given(TREES, TREES, st.sampled_from([{"ordered": True}, {"match_by": "hungarian"}]))
def test_recursion_scores_as_the_schema_written_out(gold: Any, found: Any, align: Schema) -> None:
    def tree(items: Schema) -> Schema:
        return record(v=INTEGER, kids=array(items, **align))

    written_out = record(v=INTEGER)
    for _ in range(10):
        written_out = tree(written_out)
    both = map(resolve_schema_references, (tree({"$ref": "#"}), written_out))
    runs = [evaluate([gold], [found], annotate_xeval(schema)) for schema in both]
    assert runs[0].records == runs[1].records


def test_definitions_that_all_refer_to_each_other_are_few() -> None:
    """There are more ways from one to another than could be written out."""
    names = [f"D{n}" for n in range(30)]
    fields = {name: to(name) for name in names}
    fields["D2"]["x-eval-compare"] = "exact"
    node = record(v=INTEGER, l=best(to("D1")), **fields)
    schema = resolve_schema_references({"$defs": dict.fromkeys(names, node), **to("D0")})
    gold = {"D1": {"D2": {"v": 1}, "D3": {"l": [{"v": 1}, {"v": 2, "D0": {"v": 3}}]}}}
    found = {"D1": {"D2": {"v": 1}, "D3": {"l": [{"v": 2, "D0": {"v": 4}}, {"v": 1}]}}}

    run = evaluate([gold], [found], annotate_xeval(schema))

    assert len(json.dumps(schema)) < 200_000
    assert {r.path: r.status for r in run.records[0].field_results} == {
        "D1.D3.l[0].v": "match", "D1.D3.l[1].v": "match", "D1.D3.l[1].D0.v": "mismatch",
        "D1.D2": "match",
    }  # fmt: skip


def test_data_that_is_nested_too_deeply_is_an_error_of_its_field() -> None:
    schema = annotate_xeval(resolve_schema_references(record(v=INTEGER, next={"$ref": "#"})))
    deep: dict[str, Any] = {"v": 1}
    for _ in range(300):
        deep = {"v": 1, "next": deep}
    both, one = evaluate([deep, {"v": 1}], [deep, deep], schema).records

    assert [f.status for f in both.field_results] == ["match"] * 200 + ["error"]
    assert "nested too deeply: more than 200" in str(both.field_results[-1].reason)
    assert {f.status for f in one.field_results[1:]} == {"hallucination"}


def test_a_cycle_ends_where_the_field_is_not_scored_in_parts() -> None:
    for key in ({"x-eval-skip": True}, {"x-eval-compare": "exact"}):
        tree = record(value=STRING, kids={**array({"$ref": "#/$defs/T"}), **key})
        schema = resolve_schema_references({"$defs": {"T": tree}, "$ref": "#/$defs/T"})
        assert schema["properties"]["kids"] == {**array({"type": "object"}), **key}
        parse_eval_schema(annotate_xeval(schema))


def test_what_only_looks_like_a_keyword_is_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    names = record(**{"$ref": STRING, "anyOf": STRING, "$defs": INTEGER, "allOf": INTEGER})
    schema = {**names, "default": {"$ref": "#/nowhere"}, "examples": [{"anyOf": [NULL]}]}
    unused = {"$defs": {"x": {"$ref": "http://x"}}}
    assert resolve_schema_references({**schema, **unused}) == schema
    [message] = caplog.messages
    assert "scoring ignores if/then/else" in message


def test_only_dicts_with_texts_for_keys_are_schemas() -> None:
    cases: list[tuple[Any, str]] = [
        ({1: STRING}, ""), (record(a={"properties": {2: STRING}}), "a"), ({"a": 1, None: 2}, ""),
    ]  # fmt: skip
    for schema, path in cases:
        with pytest.raises(SchemaError, match="is not a string") as caught:
            resolve_schema_references(schema)
        assert caught.value.path == path
    functions: tuple[Any, ...] = (resolve_schema_references, merge_all_of)
    for function in functions:
        with pytest.raises(ParameterError, match="must be a dict"):
            function("{}")


def test_references_that_multiply_end_in_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("factcheck.fields.schemas.references._MAX_PARTS", 1_000)
    defs = {"l0": STRING}
    for level in range(1, 40):
        defs[f"l{level}"] = record(**{str(n): to(f"l{level - 1}") for n in range(10)})
    with pytest.raises(SchemaError, match="too large"):
        resolve_schema_references({"$defs": defs, **to("l39")})
    assert resolve_schema_references({"$defs": defs, **to("l2")})["type"] == "object"


def test_a_schema_may_be_deep_but_not_bottomless() -> None:
    deep = {"$defs": {"x": {"anyOf": [STRING, NULL]}}, **nested(100, {"$ref": "#/$defs/x"})}
    ring = record()
    ring["properties"].update(a=ring, b=ring)

    assert resolve_schema_references(deep) == nested(100, STRING)
    for bottomless in (nested(1_000, STRING), ring):
        with pytest.raises(SchemaError, match="nested too deeply"):
            resolve_schema_references(bottomless)


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ({"anyOf": [{**STRING, "format": "date"}, INTEGER]}, "format of its alternatives ignored"),
        ({"anyOf": [record(a=STRING), {"type": "object"}]}, "properties of its alternatives"),
        ({"anyOf": [{**STRING, "x-eval-compare": "fuzzy"}, STRING]}, "x-eval-compare of its"),
        ({"anyOf": [{**STRING, "title": "a", "description": "b"}, INTEGER]}, ""),
    ],
)
def test_what_is_lost_in_one_field_of_many_types_is_told_but_for_titles(
    field: Schema, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    resolved_field(field)
    _, *messages = caplog.messages
    assert len(messages) == bool(words)
    assert all(message.startswith("field: ") and words in message for message in messages)


def test_what_a_schema_says_itself_wins_over_its_parts() -> None:
    schema = {
        **record(a=STRING, o=record(x=STRING), t=True),
        "required": ["a"],
        "allOf": [
            {**record(a={**STRING, "title": "part"}, b=STRING, t=STRING), "required": ["b"]},
            {**record(b=INTEGER, o=record(x=INTEGER, y=STRING)), "allOf": [record(c=STRING)]},
            True,
        ],
    }
    whole = {"type": "array", "items": schema}

    assert merge_all_of(whole) is whole
    assert whole["items"] == {
        **record(a=STRING, o=record(x=STRING, y=STRING), t=True, b=STRING, c=STRING),
        "required": ["a"],
    }


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf"])
def test_branches_that_are_no_list_and_endless_schemas_are_refused(keyword: str) -> None:
    with pytest.raises(SchemaError, match=f"a: '{keyword}' must be a list"):
        resolve_schema_references(record(a={keyword: {}}))
    ring = record()
    ring["properties"]["ring"] = {keyword: [ring]}
    for function in (merge_all_of, remove_null_anyof, collapse_multi_type_anyof):
        with pytest.raises(SchemaError, match="nested too deeply"):
            function(ring)
