"""How the pair judge reads values: units, dates, lists, JSON; and the model it weighs them by."""

from __future__ import annotations

import json

import pytest

from factcheck.judges.local.pairs import compare_values
from factcheck.judges.local.pairs.judge import alternatives, read_list, read_value
from factcheck.judges.local.pairs.normal import SAME, VAGUE, read_dates, tidy
from factcheck.judges.local.pairs.reading import read
from factcheck.judges.local.pairs.texts import PairModel, load_pair_model
from factcheck.judges.ports import Specificity, ValuePair


@pytest.mark.parametrize(
    ("specificity", "probability"),
    [("exact", VAGUE), ("allow_more_specific", SAME), ("allow_less_specific", VAGUE)],
)
def test_a_bare_number_only_says_less_than_a_measured_one(
    specificity: Specificity, probability: float
) -> None:
    found = compare_values(ValuePair("40", "40 lb", specificity=specificity))
    assert found.probability == probability


@pytest.mark.parametrize(
    ("text", "optional"), [("about 5 km", ["about"]), ("(film)", []), ("Doctor", [])]
)
def test_some_units_are_optional_where_others_are_left(text: str, optional: list[str]) -> None:
    units = read(tidy(text), "en").units
    assert [unit.text for unit in units if unit.is_optional] == optional


@pytest.mark.parametrize("text", ["", "Paris", "May I?", "13/13/2021", "3 apples", "1:2:3"])
def test_what_is_no_date_is_not_read_as_one(text: str) -> None:
    assert read_dates(text) == ()


def test_what_is_no_list_and_has_no_alternatives_is_whole() -> None:
    clauses = "When at last the long rain of that year ended, they went out to see the river"
    assert [read_list(text) for text in (clauses, "1,200 m", "")] == [()] * 3
    assert read_list("- apples\r\n- pears") == ("apples", "pears")
    assert all(alternatives(text) == (text,) for text in ("N / A", "AC/DC", ""))
    assert [unit.text for unit in read("1 200 000", "en").units] == ["1200000"]


def test_json_is_read_as_written() -> None:
    assert read_value('["a", 1.50, true, null]') == ("a", "1.50", "true", "null")
    assert read_value('{"b": {"d": 1, "c": [2, 3]}, "a": "x"}') == ("a: x", "b: c: 2, 3, d: 1")
    assert read_value("[1, 2") == "[1, 2"
    assert read_value("[see above]") == "[see above]"
    assert read_value('"quoted"') == '"quoted"'
    deep = "[" * 100 + "]" * 100
    assert read_value(deep) == deep


def test_deep_structures_are_compared_too() -> None:
    def same(one: str, other: str) -> bool:
        gold, extracted = (json.dumps({"a": [{"b": [{"c": [leaf]}]}]}) for leaf in (one, other))
        return compare_values(ValuePair(gold, extracted)).equivalent

    assert same("Red", "red")
    assert not same("5 red", "6 red")


def test_what_the_networks_read_counts_in_one_direction() -> None:
    model = load_pair_model()
    assert model.probability([-2.0, -1.0, 0.0]) < model.probability([1.0, 1.0, 0.0])
    assert model.probability([0.0, 0.0, 2.0]) < model.probability([0.0, 0.0, 0.0])


def test_a_hopeless_pair_has_no_overflow() -> None:
    assert PairModel(-1e6, (0.0,), "").probability([1.0]) == 0.06
    assert PairModel(1e6, (0.0,), "").probability([1.0]) == 1.0
