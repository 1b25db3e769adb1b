"""Suggested schemas: documents in other notation match, near misses do not; each has a reason."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from time import process_time
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from factcheck.fields import SemanticComparator, evaluate, infer_schema, suggest_schema
from factcheck.fields.comparators import Registry
from factcheck.fields.schemas.references import annotate_xeval

DATA = Path(__file__).parent / "data"
DOCUMENTS, NEAR_MISSES, SUGGESTIONS = (
    [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]
    for name in ("documents", "near_misses", "suggestions")
)
NAME = ["plain_marks", "normalize_whitespace", "casefold", "strip_punctuation"]


@pytest.fixture(scope="module")
def registry() -> Iterator[Registry]:
    registry = Registry()
    with SemanticComparator("local") as comparator:
        registry.register("semantic", comparator)
        yield registry


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_correct_document_in_other_notation_and_order_matches(
    document: dict[str, Any], registry: Registry
) -> None:
    gold, extracted = [document["gold"]], [document["extracted"]]
    by_type = evaluate(gold, extracted, annotate_xeval(infer_schema(gold)))
    run = evaluate(gold, extracted, suggest_schema(gold), registry=registry)

    assert by_type.mean_f1 is not None
    assert by_type.mean_f1 < 0.4
    assert run.mean_f1 == 1


def test_no_near_miss_matches(registry: Registry) -> None:
    """One field each, so that every suggestion rests on one gold value."""
    assert len(NEAR_MISSES) >= 200
    matches = []
    for name, gold, extracted in NEAR_MISSES:
        schema = suggest_schema([{name: gold}])
        run = evaluate([{name: gold}], [{name: extracted}], schema, registry=registry)
        matches += [(name, gold, extracted)] if run.totals() != {"mismatch": 1} else []
    assert matches == []


def suggested(name: str, *values: Any, **schema: Any) -> tuple[Any, Any, str]:
    records = [{name: value} for value in values]
    given = {"type": "object", "properties": {name: schema}} if schema else None
    found = suggest_schema(records, given)["properties"][name]
    return found["x-eval-compare"], found.get("x-eval-transform", []), found["x-eval-reason"]


@pytest.mark.parametrize(("name", "values", "compare", "transforms"), SUGGESTIONS)
def test_a_field_is_compared_by_its_name_and_values(
    name: str, values: list[Any], compare: Any, transforms: list[Any]
) -> None:
    found = suggested(name, *values)
    assert found[:2] == (compare, transforms)
    assert found[2]


@pytest.mark.parametrize("text", [" ", "5", "1.", "1 ", "1'"])
def test_a_long_value_is_looked_at_in_no_time(text: str) -> None:
    start = process_time()
    assert suggested("x", text * 30_000 + "!")[0]
    assert process_time() - start < 2


def test_contradictory_values_are_named_in_the_reason() -> None:
    cases: list[tuple[str, list[Any], str]] = [
        ("x", [1, "a"], "values are integer and string: compared by meaning"),
        ("x", [2, True], "values are boolean and integer: only equal ones of equal types match"),
        ("date", ["2024-03-05", "soon"], "only 1 of 2 gold values are dates: 'soon'"),
        ("x", ["05/06/2024"], "'05/06/2024' can be two dates and nothing in gold says which"),
        ("x", ["05/06/2024", "15/06/2024", "06/15/2024"], "and gold has both orders"),
    ]
    for name, values, reason in cases:
        assert reason in suggested(name, *values)[2]


@pytest.mark.parametrize(
    ("name", "gold", "same", "other"),
    [
        ("x", "Green Valley Foods Inc.", "Green Valley Foods Incorporated",
         "Green Valley Food Inc."),
        ("author", "Jörg Müller", "Joerg Mueller", "Jörg Möller"),
        ("author", "Rory Tamblyn", "Tamblyn, Rory", "Tamblyn, Rorie"),
        ("author", "Dr. Katrin Oltmanns", "Oltmanns, Katrin", "Dr. Karin Oltmanns"),
        ("author", "Jean-Pierre Vasseur", "Jean Pierre Vasseur", "Jean-Paul Vasseur"),
        ("author", "Daniel Kofi Asante", "Daniel K. Asante", "Daniel A. Asante"),
        ("supplier", "Papierhaus Lohmann GmbH & Co. KG", "Papierhaus Lohmann", "Papierhaus Lohr"),
        ("author", "Dr. Peter Hall", "Peter Hall, MD", "Mr. Peter Hall"),
        ("author", "José Sá", "Jose Sa", "José"),
        ("supplier", "Kelso Logistics plc", "KELSO LOGISTICS", "Kelso Logistics Ltd"),
    ],
)  # fmt: skip
def test_names_of_companies_and_people_match_in_any_notation(
    name: str, gold: str, same: str, other: str, registry: Registry
) -> None:
    for wrap in (lambda text: {name: text}, lambda text: {name: {"name": text}}):
        record = wrap(gold)
        found = [wrap(same), wrap(other)]
        run = evaluate([record] * 2, found, suggest_schema([record]), registry=registry)
        assert [one.field_results[0].status for one in run.records] == ["match", "mismatch"]


def test_telephone_numbers_match_with_and_without_the_country() -> None:
    for gold, same, other in (
        ("0521 / 44 90 18-0", "+49 521 4490180", "+49 521 4490181"),
        ("+1 512 555 0177", "512-555-0177", "513-555-0177"), ("ext. 5", "Ext 5", "ext. 6"),
        ("+1 617 495 1000", "001 617 495 1000", "001 617 495 1001"),
    ):  # fmt: skip
        run = evaluate([{"phone": gold}] * 2, [{"phone": same}, {"phone": other}])
        assert [one.field_results[0].status for one in run.records] == ["match", "mismatch"]


def test_values_of_an_enum_are_folded_only_if_they_stay_apart() -> None:
    assert suggested("x", "a", type="string", enum=["a", "b"])[1] == NAME[:3]
    assert suggested("x", "a", type="string", enum=["mb", "MB"])[1] == NAME[:2]


@pytest.mark.parametrize(
    ("name", "elements", "align"),
    [
        ("lines", [{"id": "a"}, {"id": "b"}], {"match_by": "key_field", "key": "id"}),
        ("lines", [{"id": "a"}, {"id": "a"}], {"match_by": "hungarian"}),
        ("lines", [{"id": 1}, {"id": 2}], {"match_by": "hungarian"}),
        ("lines", [{"sku": "a"}, {"sku": "b"}], {"match_by": "hungarian"}),
        ("steps", ["mix", "bake"], {"ordered": True}), ("values", [3, 1, 2], {"ordered": True}),
        ("tags", ["b", "a"], {"match_by": "hungarian"}),
    ],
)  # fmt: skip
def test_a_list_is_aligned_by_a_key_or_optimally_unless_its_order_counts(
    name: str, elements: list[Any], align: dict[str, Any]
) -> None:
    found = suggest_schema([{name: elements}])["properties"][name]
    assert found["x-eval-align"] == align
    assert found["x-eval-reason"]


@pytest.mark.parametrize(
    ("name", "golds", "extracted"),
    [
        ("price", [9.5, 12.5], [9.51, "9.49", 9.505]),
        ("amount", [2500000.25, 0.123456, 1 / 3], [2500001.25, 2500000.26]),
        ("version", ["1.10", "2.3"], ["1.1", 1.1]), ("release", ["1.10", "1.9"], ["1.1"]),
        ("batch", ["1234", "567"], ["01234", "1234.0", "1,234"]), ("room", ["12", "4"], ["12.0"]),
        ("x", ["4500123", "4500124"], ["4,500,123"]),
    ],
)  # fmt: skip
def test_other_gold_values_never_make_a_real_difference_match(
    name: str, golds: list[Any], extracted: list[Any], registry: Registry
) -> None:
    schema = suggest_schema([{name: value} for value in golds])
    found = [{name: value} for value in (golds[0], *extracted)]
    run = evaluate([{name: golds[0]}] * len(found), found, schema, registry=registry)
    assert run.totals() == {"match": 1, "mismatch": len(extracted)}


def test_the_types_of_a_pydantic_model_are_enough() -> None:
    class Invoice(BaseModel):
        day: dt.date
        at: dt.datetime
        total: Decimal
        kind: Literal["in", "out"]
        contact: str = Field(json_schema_extra={"format": "email"})
        title: str = Field(json_schema_extra={"x-eval-compare": "fuzzy"})
        lines: list[dict[str, int]]

    made = suggest_schema([], Invoice)["properties"]
    assert {name: one.get("x-eval-compare") for name, one in made.items()} == {
        "day": "date", "at": {"date": {"with_time": True}}, "total": "numeric", "kind": "exact",
        "contact": "exact", "title": "fuzzy", "lines": None,
    }  # fmt: skip
    assert made["total"]["x-eval-transform"] == ["parse_number"]
    assert "x-eval-reason" not in made["title"]


def test_without_a_schema_one_is_suggested_and_judged_locally() -> None:
    class Sold(BaseModel):
        name: str
        total: float
        tags: list[str]

    gold = [{"name": "Anna Berg", "total": 1240.5, "tags": ["car", "red"]}]
    extracted = [{"name": "anna berg", "total": "1,240.50", "tags": ["red", "automobile"]}]
    by_hand = evaluate(gold, extracted, suggest_schema(gold), semantic="local")

    assert by_hand.mean_f1 == 1.0
    assert evaluate(gold, extracted).to_dict() == by_hand.to_dict()
    assert evaluate(gold, extracted, Sold).mean_f1 == 1.0


def test_recursive_fields_get_suggestions_from_the_values_below() -> None:
    kids = {"type": "array", "items": {"$ref": "#/$defs/Node"}}
    node = {"type": "object", "properties": {"born": {"type": "string"}, "kids": kids}}
    schema = {"$defs": {"Node": node}, "$ref": "#/$defs/Node"}
    made = suggest_schema([{"kids": [{"born": "2024-03-05"}, {"born": "2023-01-31"}]}], schema)

    below = made["$defs"]["Node"]["properties"]
    assert below["born"]["x-eval-compare"] == {"date": {"pivot": 1950}}
    assert below["kids"]["x-eval-align"] == {"match_by": "hungarian"}
