"""The transforms of the package, and the numbers they read from texts."""

from __future__ import annotations

import math
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.errors import ParameterError
from factcheck.fields.comparators.transforms import TRANSFORMS, read_number

OF_TEXT = (
    "lowercase", "strip", "normalize_whitespace", "sort_tokens", "unicode_nfkc",
    "strip_punctuation", "casefold", "strip_accents", "plain_marks", "letters_and_digits",
)  # fmt: skip


def transform(name: str, value: Any, **params: Any) -> Any:
    return TRANSFORMS[name](value, params)


def test_each_transform_keeps_null() -> None:
    assert all(one(None, {"nonsense": 1}) is None for one in TRANSFORMS.values())


@pytest.mark.parametrize(
    ("name", "value", "changed"),
    [
        ("lowercase", "ÄbC", "äbc"), ("strip", "\t a b \n", "a b"),
        ("normalize_whitespace", " a \n\t b\u2003c\u00a0", "a b c"),
        ("normalize_whitespace", " \n ", ""), ("sort_tokens", " b  a\nC a ", "C a a b"),
        ("unicode_nfkc", "ﬁ １２ e\u0301 ²", "fi 12 é 2"),
        ("casefold", "STRASSE Straße", "strasse strasse"),
        ("strip_accents", "Łódź é ñ", "Łodz e n"),
        ("plain_marks", "a\u200bb “c” ‘d’ 1–2\u00a0€", "ab \"c\" 'd' 1-2 €"),
        ("strip_punctuation", "Hello, “world”! (yes…)", "Hello world yes"),
        ("strip_punctuation", "U.S.A.", "USA"), ("strip_punctuation", "...", ""),
        ("strip_punctuation", "don't well-known a_b", "dont wellknown ab"),
        ("strip_punctuation", "v1.2 A-5 C#, AT&T", "v1.2 A5 C# AT&T"),
        ("letters_and_digits", "+49 (30) 1-2é", "493012é"),
    ],
)  # fmt: skip
def test_texts(name: str, value: str, changed: str) -> None:
    assert transform(name, value) == changed


def test_the_marks_of_numbers_are_no_punctuation() -> None:
    """Else "-5" would equal "5", and "1.5" equal "15"."""
    for number in (
        "-5", "3.14", "1,240.50", ".5", "-.5", "-$5", "\u20135", "10:30", "2024-03-15", "5%", "5 %",
    ):  # fmt: skip
        assert transform("strip_punctuation", number) == number
        assert transform("strip_punctuation", f"({number}).") == number


@pytest.mark.parametrize(
    ("value", "digits", "rounded"),
    [
        (1.256, 2, 1.26), (2.5, 0, 2.0), (1234, -2, 1200), (True, 0, 1), (1.25, "1", 1.2),
        (10**400 + 1, -1, 10**400), (Decimal("1.25"), 1, Decimal("1.2")),
    ],
)  # fmt: skip
def test_round_digits_rounds_as_python_does(value: Any, digits: Any, rounded: Any) -> None:
    assert transform("round_digits", value, digits=digits) == rounded


@pytest.mark.parametrize(
    ("value", "target", "converted"),
    [
        ("42", "int", 42), (" 42 ", "int", 42), (3.7, "int", 3), (True, "int", 1),
        ("1e3", "float", 1000.0), (2, "float", 2.0), (2, "str", "2"), (True, "str", "True"),
        (None, "int", None), (True, "bool", True), (0, "bool", False), ("1", "bool", True),
        (" FALSE ", "bool", False), ("true", "bool", True),
    ],
)  # fmt: skip
def test_type_convert_converts_as_python_does_but_for_booleans(
    value: Any, target: str, converted: Any
) -> None:
    made = transform("type_convert", value, to=target)
    assert (made, type(made)) == (converted, type(converted))


@pytest.mark.parametrize(
    ("value", "target"),
    [
        ("42.0", "int"), (math.nan, "int"), ([1], "float"), (10**400, "float"),
        pytest.param(10**5000, "str", id="5001 digits"), ("yes", "bool"), (1.0, "bool"),
    ],
)  # fmt: skip
def test_what_cannot_be_converted_is_an_error(value: Any, target: str) -> None:
    with pytest.raises(TypeError, match=f"Cannot convert .* to {target}: "):
        transform("type_convert", value, to=target)


def test_a_value_of_the_wrong_type_is_an_error_that_says_what_to_do() -> None:
    for name in OF_TEXT:
        with pytest.raises(TypeError, match=f"{name} requires a string, not 5; put"):
            transform(name, 5)
    with pytest.raises(TypeError, match=r"round_digits requires a number, not .*; put"):
        transform("round_digits", "1.5", digits=1)


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("round_digits", {}, "round_digits requires 'digits'"),
        *(
            ("round_digits", {"digits": odd}, "'digits' must be an integer from -1000 to")
            for odd in (1.5, True, "x", math.inf, 10**9)
        ),
        ("type_convert", {}, "type_convert requires 'to', one of 'float', 'int'"),
        ("type_convert", {"to": int}, "'to' must be one of 'float', 'int', 'str' and"),
        ("parse_number", {"decimal": ""}, r"'decimal' must be one of '.' and ',', not"),
        ("strip", {"nonsense": 1}, "strip: unknown parameter 'nonsense'; it takes no parameters"),
        ("parse_number", {"percent": "x"}, "'percent' must be one of 'number' and 'fraction'"),
    ],
)
def test_parameters_are_checked(name: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        TRANSFORMS[name].bind(params)


def test_the_one_number_of_a_text() -> None:
    for text, number in {
        "1,240.00 EUR": 1240, "1.240,00": 1240, "1.240,00 €": 1240, "42": 42, "  42  ": 42,
        "007": 7, "1.5": 1.5, "1,5": 1.5, "0.125": 0.125, "0,125": 0.125, "1234.567": 1234.567,
        "1240,500": 1240.5, "1,240,000": 1240000, "1.240.000": 1240000, "12,34,567": 1234567,
        "1.240,000": 1240, "1 240": 1240, "1 240 000,50": 1240000.5, "1\u00a0240,500": 1240.5,
        "1'240.500": 1240.5, "1\u2019240.00": 1240, "1_000": 1000, "-5": -5, "\u22125": -5,
        "\u20135 °C": -5, "+5": 5, "-$5.00": -5, "$-5": -5, "$ -5": -5, "-EUR 5,50": -5.5,
        "EUR1,240.50": 1240.5, "US$5": 5, "₹ 12,34,567": 1234567, ".5": 0.5, "-.5": -0.5,
        ",5": 0.5, "Rs.500": 500, "5,- EUR": 5, "It costs 5.": 5, "5 %": 5, "5kg": 5, "5-star": 5,
        "3 millimetres": 3, "300 K": 300, "120 m2": 120, "5 m²": 5, "84m²": 84, "5 W m⁻²": 5,
        "CO2: 5 ppm": 5, "Q3 2024": 2024, "(5 items)": 5, "1e5": 1e5, "1.5e-3 mol": 0.0015,
        "٤٢": 42, "#5": 5, "total\n5": 5,
        # as accounts write them
        "(5)": -5, "(1,240.00)": -1240, "($5)": -5, "$ (5.00)": -5, "(5,50) EUR": -5.5,
        "( 12 % )": -12, "(3k)": -3000, "5k": 5000, "about 5k": 5000, "1.5 k EUR": 1500,
        "-2k": -2000, "1.2 million": 1.2e6, "3-million": 3e6, "1.2M": 1.2e6, "300K": 300000,
        "1.2 M€": 1.2e6, "(1.2M)": -1.2e6, "5 bn": 5e9, "5 Mrd. EUR": 5e9, "1,5 millones": 1.5e6,
        "5-": -5, "5- EUR": -5, "1,240.00-": -1240, "1/2": 0.5, "1 1/2 cups": 1.5, "1½": 1.5,
        "-½": -0.5, "12 %": 12, "about 5": 5, "\uff0d5": -5, "\u20115": -5, "overall 5": 5,
        # a comma beside some currencies groups
        "£38,000": 38000, "38,000 GBP": 38000, "$ 38,000": 38000, "¥38,000": 38000,
        "(₹38,000)": -38000,
    }.items():  # fmt: skip
        read = read_number(text)
        assert (read, type(read)) == (number, float), text
    assert [math.copysign(1, read_number(text)) for text in ("(0)", "-0.00")] == [1, 1]


def test_how_to_read_a_text_can_be_told() -> None:
    for text, decimal, number in (
        ("1,240", ".", 1240), ("1,240", ",", 1.24), ("3.125", ".", 3.125), ("3.125", ",", 3125),
        ("1.240.000", ",", 1240000), ("1,240.00", ".", 1240),
    ):  # fmt: skip
        assert read_number(text, decimal) == number
    for text in ("38,000", "38,000 €", "38,000.00", "38.000,00"):
        assert read_number(text, grouping=",") == 38_000
    assert read_number("1,5", grouping=",") == 1.5
    for text, fraction in {"12 %": 0.12, "5 ‰": 0.005, "12 percent": 0.12, "0.12": 0.12}.items():
        assert read_number(text, percent_is_fraction=True) == fraction


@pytest.mark.parametrize(
    ("reason", "texts"),
    [
        ("there is no number in", (
            "", " ", "abc", "nan", "inf", "B12", "item_3", "COVID-19", "v1.2.3", "e5", "...",
        )),
        ("there is more than one number in", (
            "3 of 5", "5-10", "10:30", "24/7", "page 1/2", "2024-03-15", "5 ± 0.1", "1, 2",
            "5 100 2", "2^10",
        )),
        ("is not a well-formed number", (
            "1.2.3", "1,240,00", "1.24,000", "1,240.00.0", "1..2", "0,240,000", "12_34", "1'2",
        )),
        ("is ambiguous; set 'decimal' to", (
            "1,240", "1.240", "3.125", "€12.345", "123,456 items", "-1,240",
        )),
        ("is out of range for a float", (
            "1e400", "1e-400", "1E999999999999", "9" * 400, "9" * 10_000,
        )),
        ("what stands beside the number may change it", (
            "<5", "<= 5", "≥ 5", "±5", "about <5k", "√5", "not 5", "at least 5", "up to $5",
            "more than -5", "- 5", "- $5", "—5", "--5", "+-5", "-5-", "5+", "5k+",
            "5 °C below zero", "minus 5", "see page 2", "See the note in section 4",
            "cf. table 12", "-US$5", "total (5)", "(5) total", "(-5)", "(5)-", "5m", "5 M",
            "2 mil", "2 dozen", "5 hundred", "10³", "0x1F", "120m2",
        )),
    ],
)  # fmt: skip
def test_a_text_that_may_mean_another_number_is_refused(reason: str, texts: list[str]) -> None:
    for text in texts:
        with pytest.raises(TypeError, match=reason):
            read_number(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1,240.00", {"decimal": ","}), ("1.240,00", {"decimal": "."}), (".5", {"decimal": ","}),
        ("1.240.000", {"decimal": "."}), ("1.5", {"decimal": ","}), ("38.000", {"grouping": ","}),
    ],
)  # fmt: skip
def test_a_text_that_contradicts_what_is_told_is_refused(text: str, told: dict[str, str]) -> None:
    with pytest.raises(TypeError, match=r"is not a well-formed number|is ambiguous"):
        read_number(text, **told)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (5, 5.0), (1.5, 1.5), (2**53, 2**53), (-(10**400), -(10**400)), (math.inf, math.inf),
        (Decimal("2.50"), 2.5), ("12345678901234567891", 12345678901234567891),
        ("12,345,678,901,234,567,891.00", 12345678901234567891),
        ("9007199254740993k", 9007199254740993000),
    ],
)  # fmt: skip
def test_no_digit_of_a_whole_number_is_lost(value: Any, number: float) -> None:
    read = read_number(value)
    assert (read, type(read)) == (number, type(number))


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


@given(st.text("0123456789.,' -+$€kKm½²(e)/#", max_size=12), st.sampled_from([None, ".", ","]))
def test_any_text_is_a_finite_number_or_refused(text: str, decimal: str | None) -> None:
    try:
        number = read_number(text, decimal)
    except TypeError as error:
        assert str(error).startswith("parse_number: ")
    else:
        assert math.isfinite(number)


@pytest.mark.parametrize("part", ["see ", "- ", "(", " ", "<", "²", "$", "not ", "5-", "a"])
def test_a_long_text_takes_no_longer_than_its_length(part: str) -> None:
    """Patterns that backtrack would take minutes."""
    for text in (part * 20_000 + "5", "5" + part * 20_000, "see " + part * 20_000):
        with suppress(TypeError):
            read_number(text)
