"""Numbers are read from texts, and never guessed."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.fields.comparators.numbers import read_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,240.00 EUR", 1240.0), ("1.240,00", 1240.0), ("1.240,00 €", 1240.0), ("42", 42.0),
        ("  42  ", 42.0), ("007", 7.0), ("1.5", 1.5), ("1,5", 1.5), ("0.125", 0.125),
        ("0,125", 0.125), ("1234.567", 1234.567), ("1240,500", 1240.5), ("1,240,000", 1240000.0),
        ("1.240.000", 1240000.0), ("12,34,567", 1234567.0), ("1.240,000", 1240.0),
        ("1 240", 1240.0), ("1 240 000,50", 1240000.5), ("1\u00a0240,500", 1240.5),
        ("1'240.500", 1240.5), ("1\u2019240.00", 1240.0), ("1_000", 1000.0), ("-5", -5.0),
        ("\u22125", -5.0), ("\u20135 °C", -5.0), ("+5", 5.0), ("-$5.00", -5.0), ("$-5", -5.0),
        ("$ -5", -5.0), ("-EUR 5,50", -5.5), ("EUR1,240.50", 1240.5), ("US$5", 5.0),
        ("₹ 12,34,567", 1234567.0), (".5", 0.5), ("-.5", -0.5), (",5", 0.5), ("Rs.500", 500.0),
        ("5,- EUR", 5.0), ("It costs 5.", 5.0), ("5 %", 5.0), ("5kg", 5.0), ("5-star", 5.0),
        ("3 millimetres", 3.0), ("300 K", 300.0), ("120 m2", 120.0), ("5 m²", 5.0),
        ("5 W m⁻²", 5.0), ("CO2: 5 ppm", 5.0), ("Q3 2024", 2024.0), ("(5 items)", 5.0),
        ("1e5", 100000.0), ("1.5e-3 mol", 0.0015), ("٤٢", 42.0),
    ],
)  # fmt: skip
def test_the_one_number_of_a_text(text: str, number: float) -> None:
    read = read_number(text)
    assert read == number
    assert type(read) is float


@pytest.mark.parametrize("text", ["1,240", "1.240", "3.125", "€12.345", "123,456 items", "-1,240"])
def test_a_mark_that_can_be_either_has_to_be_told(text: str) -> None:
    with pytest.raises(TypeError, match="is ambiguous; set 'decimal' to"):
        read_number(text)


@pytest.mark.parametrize("text", ["£38,000", "38,000 GBP", "$ 38,000", "¥38,000", "(₹38,000)"])
def test_a_comma_after_some_currencies_groups(text: str) -> None:
    assert abs(read_number(text)) == 38_000


@pytest.mark.parametrize("text", ["38,000", "38,000 €", "38,000.00", "38.000,00"])
def test_the_grouping_mark_that_is_told_decides_only_what_is_ambiguous(text: str) -> None:
    assert read_number(text, grouping=",") == 38_000
    assert read_number("1,5", grouping=",") == 1.5
    with pytest.raises(TypeError, match="ambiguous"):
        read_number("38.000", grouping=",")


@pytest.mark.parametrize(
    ("text", "decimal", "number"),
    [
        ("1,240", ".", 1240.0), ("1,240", ",", 1.24), ("3.125", ".", 3.125), ("3.125", ",", 3125.0),
        ("1.240.000", ",", 1240000.0), ("1,240.00", ".", 1240.0),
    ],
)  # fmt: skip
def test_the_decimal_mark_that_is_told(text: str, decimal: str, number: float) -> None:
    assert read_number(text, decimal) == number


@pytest.mark.parametrize(
    ("text", "decimal"),
    [("1,240.00", ","), ("1.240,00", "."), ("1.240.000", "."), (".5", ","), ("1.5", ",")],
)
def test_a_text_that_contradicts_the_decimal_mark_is_refused(text: str, decimal: str) -> None:
    with pytest.raises(TypeError, match="is not a well-formed number"):
        read_number(text, decimal)


@pytest.mark.parametrize(
    "text", ["", " ", "abc", "nan", "inf", "B12", "item_3", "COVID-19", "v1.2.3", "e5", "..."]
)
def test_a_text_without_number_is_refused(text: str) -> None:
    with pytest.raises(TypeError, match="there is no number in"):
        read_number(text)


@pytest.mark.parametrize(
    "text",
    ["3 of 5", "5-10", "10:30", "24/7", "page 1/2", "2024-03-15", "5 ± 0.1", "1, 2", "5 100 2",
     "2^10"],
)  # fmt: skip
def test_a_text_with_several_numbers_is_refused(text: str) -> None:
    with pytest.raises(TypeError, match="there is more than one number in"):
        read_number(text)


@pytest.mark.parametrize(
    "text", ["1.2.3", "1,240,00", "1.24,000", "1,240.00.0", "1..2", "0,240,000", "12_34", "1'2"]
)
def test_digits_that_are_grouped_wrongly_are_refused(text: str) -> None:
    with pytest.raises(TypeError, match="is not a well-formed number"):
        read_number(text)


@pytest.mark.parametrize(
    ("reason", "texts"),
    [
        ("it is a bound or a range", ["<5", "≥ 5", "±5", "about <5k"]),
        ("its minus may be a dash", ["- 5", "- $5"]), ("it has two signs", ["--5", "+-5", "-5-"]),
        ("its sign comes after it", ["5+", "5k+"]), ("its minus is a word", ["minus 5"]),
        ("it is a reference", ["see page 2", "See the note in section 4", "cf. table 12"]),
        ("its minus is not directly before the digits", ["-US$5"]),
        ("its parentheses may mean a minus", ["total (5)", "(5) total", "(-5)", "(5)-"]),
        ("'m' may multiply it or be a unit", ["5m"]),
        ("' M' may multiply it or be a unit", ["5 M"]), ("'mil' multiplies it", ["2 mil"]),
        ("'dozen' multiplies it", ["2 dozen"]), ("'³' is part of it", ["10³"]),
        ("there are letters among its digits", ["0x1F", "120m2"]),
    ],
)  # fmt: skip
def test_what_changes_a_number_is_not_dropped_and_the_reason_names_it(
    reason: str, texts: list[str]
) -> None:
    for text in texts:
        with pytest.raises(TypeError, match=f"cannot read .*: {reason}; write plain digits"):
            read_number(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("(5)", -5.0), ("(1,240.00)", -1240.0), ("($5)", -5.0), ("$ (5.00)", -5.0),
        ("(5,50) EUR", -5.5), ("( 12 % )", -12.0), ("(3k)", -3000.0), ("5k", 5000.0),
        ("about 5k", 5000.0), ("1.5 k EUR", 1500.0), ("-2k", -2000.0),
        ("9007199254740993k", 9007199254740993000), ("1.2 million", 1.2e6), ("3-million", 3e6),
        ("1.2M", 1.2e6), ("300K", 300000.0), ("1.2 M€", 1.2e6), ("(1.2M)", -1.2e6),
        ("5 bn", 5e9), ("5 Mrd. EUR", 5e9), ("1,5 millones", 1.5e6), ("5-", -5.0), ("5- EUR", -5.0),
        ("1,240.00-", -1240.0), ("1/2", 0.5), ("1 1/2 cups", 1.5), ("1½", 1.5), ("-½", -0.5),
        ("12 %", 12.0), ("12%", 12.0), ("about 5", 5.0),
    ],
)  # fmt: skip
def test_numbers_are_read_as_accounts_write_them(text: str, number: float) -> None:
    """Brackets are a minus, k is thousand; a percent sign is a unit like any other."""
    assert read_number(text) == number


@pytest.mark.parametrize(
    ("text", "number"), [("12 %", 0.12), ("5 ‰", 0.005), ("12 percent", 0.12), ("0.12", 0.12)]
)
def test_percent_are_a_fraction_where_that_is_told(text: str, number: float) -> None:
    assert read_number(text, percent_is_fraction=True) == number


def test_there_is_no_negative_zero() -> None:
    assert [math.copysign(1, read_number(text)) for text in ("(0)", "-0.00")] == [1, 1]


@pytest.mark.parametrize(
    "text",
    [
        "1e400", "1e-400", "1E999999999999", pytest.param("9" * 400, id="400 digits"),
        pytest.param("9" * 10_000, id="10000 digits"),
    ],
)  # fmt: skip
def test_a_number_beyond_floats_is_refused(text: str) -> None:
    with pytest.raises(TypeError, match="is out of range for a float"):
        read_number(text)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (5, 5.0), (1.5, 1.5), (2**53, 2**53), (-(10**400), -(10**400)), (math.inf, math.inf),
        (Decimal("2.50"), 2.5), ("12345678901234567891", 12345678901234567891),
        ("-12345678901234567890123456789012345", -12345678901234567890123456789012345),
        ("12,345,678,901,234,567,891.00", 12345678901234567891),
    ],
)  # fmt: skip
def test_no_digit_of_a_whole_number_is_lost(value: Any, number: float) -> None:
    read = read_number(value)
    assert read == number
    assert type(read) is type(number)


@pytest.mark.parametrize("value", [True, None, [5], {"a": 5}, b"5", 1j])
def test_what_is_neither_text_nor_number_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="parse_number requires a string or a number, not"):
        read_number(value)


@given(st.integers(-(2**53) + 1, 2**53 - 1), st.integers(0, 99))
def test_every_way_of_grouping_says_the_same_number(whole: int, cents: int) -> None:
    english = f"{whole:,}.{cents:02}"
    wanted = float(english.replace(",", ""))
    for groups, mark in (",.", ".,", " ,", "'.", "_."):
        text = english.replace(",", "|").replace(".", mark).replace("|", groups)
        assert read_number(f"EUR {text}") == wanted


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_any_float_is_read_back_from_its_text(number: float) -> None:
    try:
        read = read_number(repr(number), ".")
    except TypeError:
        assert number != 0
        assert not 1e-300 < abs(number) < 1e300
    else:
        assert float(read) == number


@given(st.text("0123456789.,' -+$€kKm½²(e)/", max_size=12), st.sampled_from([None, ".", ","]))
def test_any_text_is_a_finite_number_or_refused(text: str, decimal: str | None) -> None:
    try:
        number = read_number(text, decimal)
    except TypeError as error:
        assert str(error).startswith("parse_number: ")
    else:
        assert math.isfinite(number)
