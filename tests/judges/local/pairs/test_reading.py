"""How the pair judge reads quantities, moments and structures, and the model it weighs them by."""

from __future__ import annotations

import json

import pytest

from factcheck.judges.local.pairs import compare_values
from factcheck.judges.local.pairs.amounts import compare_amounts, read_amounts
from factcheck.judges.local.pairs.model import (
    LEAST,
    OTHER,
    SAME,
    SIMILAR,
    VAGUE,
    Finding,
    PairModel,
    load_pair_model,
)
from factcheck.judges.local.pairs.moments import compare_moments, read_ends
from factcheck.judges.local.pairs.normal import tidy
from factcheck.judges.local.pairs.structures import alternatives, read_list, read_value
from factcheck.judges.ports import Specificity, ValuePair


def found(
    one: str, other: str, specificity: Specificity = "exact", language: str = "en"
) -> Finding:
    finding = compare_amounts(tidy(one), tidy(other), language, specificity)
    assert finding is not None
    return finding


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,200 m", "1.2 km"), ("1200 metres", "1.2km"), ("$1,200.00", "US$ 1,200"),
        ("£5", "5 pounds"), ("5 lb", "5 pounds"), ("1.234,56 €", "EUR 1,234.56"),
        ("€5m", "5 million euros"), ("5 M€", "EUR 5,000,000"), ("5m", "5 million"),
        ("50 %", "50 per cent"), ("1.5×10⁶", "1500000"), ("10^6", "1,000,000"), ("3½", "3.5"),
        ("1/2", "0.5"), ("half a year", "six months"), ("1 h 30 min", "90 minutes"),
        ("1h30", "1.5 hours"), ("5 ft 11 in", "5'11\""), ("20 °C", "68 °F"),
        ("90 km/h", "25 m/s"), ("5 mg/dl", "50 mg/l"), ("1200 sq ft", "1,200 square feet"),
        ("nineteen eighty-four", "1984"), ("one thousand, nine hundred and twelve", "1912"),
        ("three point five", "3.5"), ("a dozen", "12"), ("at least 5", "≥5"), ("5 or more", "5+"),
        ("18 or older", "min. 18"), ("not more than 5", "up to 5"),
        ("approx. 3 km", "about 3 kilometres"), ("10-20", "between 10 and 20"),
        ("5-10 kg", "5 kg to 10 kg"), ("1939-45", "1939–1945"), ("2 x 3 m", "2 m × 3 m"),
        ("minus 5 °C", "−5 °C"), (".5", "0.50"),
    ],
)  # fmt: skip
def test_one_quantity_has_many_notations(one: str, other: str) -> None:
    assert found(one, other).probability == SAME
    assert found(other, one).probability == SAME


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12 km", "12 m"), ("$5", "5 €"), ("100 CAD", "100 USD"), ("-5", "5"), ("10-20", "20-10"),
        ("3-1", "1-3"), ("1.5", "15"), ("5 µm", "5 mm"), ("11 years", "12 years"),
        ("100 hours", "6010 minutes"), ("100 inches", "101 inches"),
        ("16 GB", "16 GiB"),
    ],
)  # fmt: skip
def test_another_number_or_unit_is_another_quantity(one: str, other: str) -> None:
    assert found(one, other).probability == OTHER
    assert found(one, other).reason == f"{tidy(one)} against {tidy(other)}"


@pytest.mark.parametrize(
    ("one", "other"), [(">5", "5"), (">5", "<5"), ("at least 5", "more than 5"), ("5+", "5")]
)
def test_another_limit_is_another_quantity(one: str, other: str) -> None:
    assert found(one, other).probability < SIMILAR / 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("50%", "0.5"), ("5'11\"", "180 cm"), ("1 mile", "1.6 km"), ("62 mph", "100 km/h"),
    ],
)  # fmt: skip
def test_what_is_nearly_the_same_is_less_sure(one: str, other: str) -> None:
    assert found(one, other).probability == SIMILAR


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("4 MB", "4 Mb"), ("3 mg", "3 Mg"), ("5 mW", "5 MW"), ("7 mm", "7 Mm"), ("9 mV", "9 MV"),
        ("20 bps", "20 %"), ("6 kW", "6 kWh"), ("60 km/h", "60 km"), ("15 °C", "15 °F"),
    ],
)  # fmt: skip
def test_the_case_of_a_symbol_makes_another_unit(one: str, other: str) -> None:
    assert found(one, other).probability == OTHER
    assert found(other, one).probability == OTHER


@pytest.mark.parametrize(
    ("one", "other"), [("5 KG", "5 kg"), ("20 bps", "0.2 %"), ("4 Mb", "0.5 MB"), ("2 GB", "2 gb")]
)
def test_a_symbol_may_be_written_in_another_case(one: str, other: str) -> None:
    assert found(one, other).probability == SAME


def test_a_bare_number_only_says_less_than_a_measured_one() -> None:
    assert found("40", "40 lb").probability == VAGUE
    assert found("40", "40 lb", "allow_more_specific").probability == SAME
    assert found("40", "40 lb", "allow_less_specific").probability == VAGUE


def test_a_point_divides_thousands_only_where_it_is_written_so() -> None:
    assert found("1.234", "1234").probability == OTHER
    assert found("1.234", "1234", language="de").probability == SAME
    assert found("1.234 €", "1234 €").probability == SAME


def test_more_digits_say_more() -> None:
    assert found("3.14", "3.14159").probability < SIMILAR
    assert found("3.14", "3.14159", "allow_more_specific").probability == SAME
    assert found("3.14159", "3.14", "allow_more_specific").probability < SIMILAR


@pytest.mark.parametrize(
    "text",
    [
        "", "Paris", "5 pieces", "030 123456", "192.168.0.1", "1, 2, 3", "5 in stock", "1" * 40,
        "ca.",
    ],
)  # fmt: skip
def test_what_is_no_quantity_is_not_read_as_one(text: str) -> None:
    assert not read_amounts(text, "en")


def test_quantities_of_another_shape_are_not_comparable() -> None:
    assert compare_amounts("5", "5-6", "en", "exact") is None


def moment(one: str, other: str) -> float | None:
    finding = compare_moments(tidy(one), tidy(other), "exact")
    return None if finding is None else finding.probability


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 May 2021", "2021-05-03"), ("May 3rd, 2021", "3. Mai 2021"),
        ("Monday, 3 May 2021", "2021/05/03"), ("03/05/2021", "3 May 2021"),
        ("03/05/2021", "5 March 2021"), ("13/05/2021", "05/13/2021"),
        ("3.5.2021", "3 de mayo de 2021"), ("3.5.21", "03-MAY-21"),
        ("31/12/99", "31 December 1999"), ("May 3 '21", "20210503"),
        ("1er janvier 2020", "2020-01-01"), ("Dez. 2020", "12/2020"), ("30th April", "April 30"),
        ("2021-05-03T00:00:00", "3 May 2021"), ("2021-05-03T14:30:00", "3 May 2021, 2:30 pm"),
        ("2021-05-03T14:30:00+02:00", "2021-05-03T12:30:00Z"), ("14:30 Uhr", "2.30 pm"),
        ("14h30", "14:30:00"), ("noon", "12:00"), ("4 a.m.", "4 AM"),
        ("3-5 May 2021", "3 May 2021 to 5 May 2021"), ("8:00-17:00", "8 am to 5 pm"),
        ("1.1.2020-31.12.2020", "2020-01-01 - 2020-12-31"), ("44 BC", "44 v. Chr."),
    ],
)  # fmt: skip
def test_one_moment_has_many_notations(one: str, other: str) -> None:
    assert moment(one, other) == SAME
    assert moment(other, one) == SAME


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 May 2021", "5 May 2021"), ("3 May 2021", "3 March 2021"),
        ("03/05/2021", "05/03/2021"), ("10.12.2020", "October 12, 2020"), ("4 am", "4 pm"),
        ("14:30", "14:35"), ("2020-01-01T12:00:00+01:00", "2020-01-01T12:00:00Z"),
        ("3-5 May 2021", "3-6 May 2021"), ("44 BC", "45 BC"),
    ],
)  # fmt: skip
def test_another_moment_is_another_one(one: str, other: str) -> None:
    assert moment(one, other) == OTHER


def test_two_dates_in_the_same_digits_are_read_in_the_same_order() -> None:
    assert moment("03/05/2021", "03-05-2021") == SAME
    assert moment("03/05/2021", "05-03-2021") == OTHER


def test_a_part_of_a_date_says_less() -> None:
    assert moment("May 2021", "3 May 2021") == VAGUE
    assert moment("2021", "3 May 2021") == VAGUE
    assert moment("3 May", "May 2021") == OTHER


def test_a_time_may_be_in_either_half_of_the_day() -> None:
    assert moment("2:30", "14:30") == SIMILAR
    assert moment("02:30", "14:30") == OTHER


@pytest.mark.parametrize("text", ["", "Paris", "5", "May I?", "13/13/2021", "3 apples", "1:2:3"])
def test_what_is_no_moment_is_not_read_as_one(text: str) -> None:
    assert read_ends(text) == ()


def test_two_lone_years_are_just_numbers() -> None:
    assert moment("2021", "2022") is None


def same(gold: str, extracted: str) -> bool:
    return compare_values(ValuePair(gold, extracted)).equivalent


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("A / B", ("A", "B")),
        ("27 / twenty-seven / 27", ("27", "twenty-seven")),
        ("AC/DC", ("AC/DC",)),
        ("N / A", ("N / A",)),
        ("https://example.com/a/example", ("https://example.com/a/example",)),
        ("/usr/local/user", ("/usr/local/user",)),
        ("", ("",)),
    ],
)
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


@pytest.mark.parametrize(
    ("gold", "extracted"),
    [
        ('["red", "green"]', "green and red"), ('["red"]', "red"), ("[1, 2, 3]", "3, 2, 1"),
        ("1, 2, 3", "3; 2; 1"), ("[]", ""), ("[null]", "null"),
        ('[["a", "b"], ["c"]]', '[["c"], ["b", "a"]]'),
        ('{"name": "Anna Berg", "age": 30}', '{"Age": "30", "NAME": "anna berg"}'),
        ('{"name": "Anna Berg", "born": 1990}', "Anna Berg, 1990"), ("true", "yes"),
        ("42", "42.0"),
    ],
)  # fmt: skip
def test_structure_is_compared_part_by_part(gold: str, extracted: str) -> None:
    assert same(gold, extracted)
    assert same(extracted, gold)


@pytest.mark.parametrize(
    ("gold", "extracted"),
    [
        ('["red", "green"]', "red"), ("[1, 2, 3]", "1, 2, 4"), ("[1, 1]", "[1]"),
        ('{"a": 1}', '{"a": 2}'), ('{"a": 1}', '{"b": 1}'), ('[["a"], ["b"]]', '[["a", "b"]]'),
        ("Budapest, Vienna and Bratislava", "Vienna, Budapest and Belgrade"),
        ("red car; blue bike", "blue car; red bike"),
    ],
)  # fmt: skip
def test_every_part_has_to_be_met(gold: str, extracted: str) -> None:
    assert not same(gold, extracted)
    assert not same(extracted, gold)


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
