"""A pydantic model is a schema, its instances are records, and both fit together."""

from __future__ import annotations

import enum
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

import pytest
from pydantic import BaseModel, Field, RootModel, computed_field

from factcheck.errors import InputError, SchemaError
from factcheck.fields import (
    SchemaNode,
    annotate_xeval,
    evaluate,
    infer_schema,
    parse_eval_schema,
    resolve_schema_references,
    validate_gold,
)
from factcheck.fields.schemas.references import as_schema
from factcheck.fields.values import as_record

T = TypeVar("T")


Colour = enum.Enum("Colour", {"RED": "red", "BLUE": "blue"})
Mixed = enum.Enum("Mixed", {"ONE": 1, "TWO": "two"})


class Item(BaseModel):
    """A model inside another one."""

    name: str = Field(description="what it is called")
    price: Decimal


class Cat(BaseModel):
    """One of two."""

    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    """The other."""

    kind: Literal["dog"]
    tricks: list[str]


class Order(BaseModel):
    """Every kind of field that people extract."""

    number: int = Field(alias="orderNumber")
    note: str | None = Field(
        default=None,
        description="free text",
        json_schema_extra={"x-eval-transform": ["strip"], "x-eval-compare": "exact"},
    )
    colour: Colour
    maybe_colour: Colour | None = Field(default=None, json_schema_extra={"x-eval-weight": 2})
    mixed: Mixed
    level: Literal["low", "high"]
    only: Literal["x"]
    item: Item
    maybe_item: Item | None = Field(default=None, description="one more")
    items: list[Item] | None = Field(
        default=None, json_schema_extra={"x-eval-align": {"match_by": "hungarian"}}
    )
    day: date
    at: datetime | None
    price: Decimal
    maybe_price: Decimal | None
    code: int | str | None
    anything: Any
    table: dict[str, Item]
    tags: set[str]
    pair: tuple[int, str]
    nothing: None
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    secret: str = Field(default="", exclude=True)

    @computed_field
    def twice(self) -> int:
        return 2 * self.number


ORDER = Order(
    orderNumber=7, note="n", colour=Colour.RED, mixed=Mixed.ONE, level="low", only="x",
    item=Item(name="a", price=Decimal("1.50")),
    items=[Item(name="a", price=Decimal(2)), Item(name="b", price=Decimal(3))],
    day=date(2024, 1, 2), at=None, price=Decimal("0.10"), maybe_price=None, code="c",
    anything=[1, {"a": None}], table={"t": Item(name="a", price=Decimal(1))}, tags={"p", "q"},
    pair=(1, "a"), nothing=None, pet=Cat(kind="cat", lives=9),
)  # fmt: skip


def fields_of(node: SchemaNode) -> dict[str, SchemaNode]:
    found = {}
    for child in node.children:
        found[child.path] = child
        found |= fields_of(child)
    return found


FIELDS = fields_of(parse_eval_schema(Order))


def test_every_kind_of_field_has_a_type_and_a_comparator() -> None:
    for expected, paths in {
        ("string", "exact"): "note colour maybe_colour level only item.name maybe_item.name day"
        " table[].name tags[] pet.kind pet.tricks[]",
        ("integer", "numeric"): "orderNumber pet.lives", ("string", "date"): "at",
        ("multi", "numeric"): "items[].price price maybe_price", ("multi", "exact"): "mixed code",
        ("any", "exact"): "anything", ("null", "exact"): "nothing", ("object", ""): "item table",
        ("array", ""): "items tags", ("array", "exact"): "pair",
    }.items():  # fmt: skip
        for path in paths.split():
            assert (FIELDS[path].json_type, FIELDS[path].comparator.name) == expected, path


def test_settings_come_from_the_fields() -> None:
    assert [t.name for t in FIELDS["note"].transforms] == ["strip"]
    assert FIELDS["note"].description == "free text"
    assert FIELDS["item.name"].description == "what it is called"
    assert FIELDS["maybe_item"].description == "one more"
    assert FIELDS["maybe_colour"].weight == 2
    assert FIELDS["items"].align == FIELDS["tags"].align == {"match_by": "hungarian"}
    assert FIELDS["twice"].skip
    assert "secret" not in FIELDS


def test_what_a_field_says_itself_wins() -> None:
    class Own(BaseModel):
        price: Decimal = Field(json_schema_extra={"x-eval-compare": "exact"})
        tags: frozenset[str] = Field(json_schema_extra={"x-eval-align": {"ordered": True}})
        number: int

        @computed_field(json_schema_extra={"x-eval-skip": False, "x-eval-compare": "numeric"})
        def half(self) -> float:
            return self.number / 2

    fields = fields_of(parse_eval_schema(Own))

    assert fields["price"].comparator.name == "exact"
    assert fields["tags"].align == {"ordered": True}
    assert not fields["half"].skip


def test_a_record_is_what_json_holds_under_the_names_of_serialization() -> None:
    class Renamed(BaseModel):
        a: int = Field(validation_alias="in", serialization_alias="out")

    assert list(as_schema(Renamed)["properties"]) == ["out"]
    assert as_record(Renamed.model_validate({"in": 1})) == {"out": 1}
    odd = Item.model_construct(name=5, price=["cheap"])
    assert as_record(odd) == {"name": 5, "price": ["cheap"]}
    with pytest.raises(InputError, match="must be a list"):
        infer_schema(odd)
    record = as_record(ORDER)
    assert (record["orderNumber"], record["day"]) == (7, "2024-01-02")
    assert record["item"] == {"name": "a", "price": "1.50"}
    assert {*as_schema(Order)["properties"]} - {*record} == {"maybe_colour", "maybe_item"}
    assert infer_schema([ORDER.item, {"more": 1}])["properties"] == {
        "more": {"type": "integer"}, "name": {"type": "string"}, "price": {"type": "string"},
    }  # fmt: skip


def test_an_instance_and_the_json_it_was_read_from_are_the_same_record() -> None:
    text = ORDER.model_dump_json(by_alias=True, exclude_unset=True)
    plain = as_record(Order.model_validate_json(text)) | {"price": 0.1, "tags": ["q", "p"]}
    validate_gold([ORDER], Order, "orderNumber", strict_types=True)
    run = evaluate([ORDER], [plain], Order)
    assert run.records[0].gold is ORDER
    assert run.mean_f1 == 1.0


def test_a_record_that_json_cannot_hold_is_an_error() -> None:
    class Holder(BaseModel):
        value: Any

    ring = Holder(value=None)
    ring.value = ring
    for holder in (ring, Holder(value=object()), Holder(value=b"\xff")):
        with pytest.raises(InputError, match="Holder cannot be written as JSON"):
            as_record(holder)


def test_a_model_without_usable_schema_is_an_error() -> None:
    class Uncallable(BaseModel):
        value: Callable[[], int]

    for use in (annotate_xeval, parse_eval_schema, resolve_schema_references):
        with pytest.raises(SchemaError, match="Uncallable has no JSON schema"):
            use(Uncallable)


def test_root_and_generic_models_are_schemas_too() -> None:
    class Box(BaseModel, Generic[T]):
        value: T

    class Boxes(RootModel[list[Box[int]]]):
        model_config: ClassVar = {"title": "Boxes"}

    boxes = Boxes([Box[int](value=1)])

    assert fields_of(parse_eval_schema(Boxes))["[].value"].json_type == "integer"
    assert as_record(boxes) == [{"value": 1}]
    validate_gold([boxes], Boxes, strict_types=True)
