"""Quantities of values: numbers, units, limits, ranges."""

from __future__ import annotations

import pytest

from factcheck.judges.local.pairs.amounts import compare_amounts, read_amounts
from factcheck.judges.local.pairs.findings import OTHER, SAME, SIMILAR, Finding
from factcheck.judges.local.pairs.text import tidy
from factcheck.judges.ports import Specificity


def found(
    one: str, other: str, specificity: Specificity = "exact", language: str = "en"
) -> Finding:
    amounts = read_amounts(tidy(one), language), read_amounts(tidy(other), language)
    assert amounts[0] is not None
    assert amounts[1] is not None
    finding = compare_amounts(amounts[0], amounts[1], specificity)
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
        ("5 kg", "5"),
        ("50%", "0.5"),
        ("5'11\"", "180 cm"),
        ("1 mile", "1.6 km"),
        ("62 mph", "100 km/h"),
    ],
)
def test_what_is_nearly_the_same_is_less_sure(one: str, other: str) -> None:
    assert found(one, other).probability == SIMILAR


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
    assert read_amounts(text, "en") is None


def test_quantities_of_another_shape_are_not_comparable() -> None:
    one, other = read_amounts("5", "en"), read_amounts("5-6", "en")
    assert one is not None
    assert other is not None
    assert compare_amounts(one, other, "exact") is None
