"""How the pair judge reads quantities, moments and structures, and the model it weighs them by."""

from __future__ import annotations

import json

import pytest

from factcheck.judges.local.pairs import compare_values
from factcheck.judges.local.pairs.model import (
    LEAST,
    OTHER,
    SAME,
    VAGUE,
    Finding,
    PairModel,
    load_pair_model,
)
from factcheck.judges.local.pairs.normal import tidy
from factcheck.judges.local.pairs.quantities import compare_amounts, read_amounts, read_ends
from factcheck.judges.local.pairs.structures import alternatives, read_list, read_value
from factcheck.judges.ports import Specificity, ValuePair


def found(
    one: str, other: str, specificity: Specificity = "exact", language: str = "en"
) -> Finding:
    finding = compare_amounts(tidy(one), tidy(other), language, specificity)
    assert finding is not None
    return finding


def test_a_bare_number_only_says_less_than_a_measured_one() -> None:
    assert found("40", "40 lb").probability == VAGUE
    assert found("40", "40 lb", "allow_more_specific").probability == SAME
    assert found("40", "40 lb", "allow_less_specific").probability == VAGUE


def test_a_point_divides_thousands_only_where_it_is_written_so() -> None:
    assert found("1.234", "1234").probability == OTHER
    assert found("1.234", "1234", language="de").probability == SAME


@pytest.mark.parametrize(
    "text",
    [
        "", "Paris", "5 pieces", "030 123456", "192.168.0.1", "1, 2, 3", "5 in stock", "1" * 40,
        "ca.",
    ],
)  # fmt: skip
def test_what_is_no_quantity_is_not_read_as_one(text: str) -> None:
    assert not read_amounts(text, "en")


@pytest.mark.parametrize("text", ["", "Paris", "5", "May I?", "13/13/2021", "3 apples", "1:2:3"])
def test_what_is_no_moment_is_not_read_as_one(text: str) -> None:
    assert read_ends(text) == ()


def same(gold: str, extracted: str) -> bool:
    return compare_values(ValuePair(gold, extracted)).equivalent


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("A / B", ("A", "B")), ("27 / twenty-seven / 27", ("27", "twenty-seven")),
        ("AC/DC", ("AC/DC",)), ("N / A", ("N / A",)), ("", ("",)),
        ("https://example.com/a/example", ("https://example.com/a/example",)),
    ],
)  # fmt: skip
def test_a_slash_between_spaces_joins_alternatives(text: str, parts: tuple[str, ...]) -> None:
    assert alternatives(text) == parts


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("a, b and c", ("a", "b", "c")), ("c; a; b", ("c", "a", "b")),
        ("1. France\n2. Germany", ("France", "Germany")),
        ("- apples\r\n- pears", ("apples", "pears")), ("salt and pepper", ("salt", "pepper")),
        ("1,200 m", ()), ("Paris", ()), ("", ()),
        ("When at last the long rain of that year ended, they went out to see the river", ()),
    ],
)  # fmt: skip
def test_a_text_may_be_a_list(text: str, items: tuple[str, ...]) -> None:
    assert read_list(text).items == items


def test_json_is_read_as_written() -> None:
    assert read_value('["a", 1.50, true, null]') == ("a", "1.50", "true", "null")
    assert read_value('{"a": {"b": []}}') == {"a": {"b": ()}}
    assert read_value("[1, 2") == "[1, 2"
    assert read_value("[see above]") == "[see above]"
    assert read_value('"quoted"') == '"quoted"'
    deep = "[" * 100 + "]" * 100
    assert read_value(deep) == deep


def test_deep_structures_are_compared_too() -> None:
    def nested(leaf: str) -> str:
        return json.dumps({"a": [{"b": [{"c": [leaf, "other"]}]}]})

    assert same(nested("Red"), nested("red"))
    assert not same(nested("5 red"), nested("6 red"))


def test_what_the_networks_read_counts_in_one_direction() -> None:
    model = load_pair_model()
    assert model.probability([-2.0, -1.0, 0.0]) < model.probability([1.0, 1.0, 0.0])
    assert model.probability([0.0, 0.0, 2.0]) < model.probability([0.0, 0.0, 0.0])


def test_a_hopeless_pair_has_no_overflow() -> None:
    assert PairModel(-1e6, (0.0,), "").probability([1.0]) == LEAST
    assert PairModel(1e6, (0.0,), "").probability([1.0]) == 1.0
